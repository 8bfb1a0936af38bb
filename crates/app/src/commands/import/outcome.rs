//! How much of a file is in when an import ends early.

use std::fmt;

/// How much of a file was imported before the import ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportOutcome {
    /// It was only tried.
    DryRun,
    /// Nothing.
    Nothing,
    /// Perhaps something: a part was sent and not answered.
    Unknown,
    /// Some rows.
    Some,
}

impl fmt::Display for ImportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DryRun => "dry run, nothing was written",
            Self::Nothing => "no rows were imported",
            Self::Unknown => {
                "it is unknown whether rows were imported; import the same file again: imported rows are skipped"
            }
            Self::Some => "imported rows stay; import the same file again: imported rows are skipped",
        })
    }
}
