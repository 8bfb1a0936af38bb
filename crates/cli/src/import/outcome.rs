//! Extent of an import that ended early.

use std::fmt;

/// Extent to which a file was imported before the import ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportOutcome {
    /// A dry run, which imports nothing.
    DryRun,
    /// No row was imported.
    Nothing,
    /// Unknown: a part was sent, but not answered.
    Unknown,
    /// Some rows were imported.
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
