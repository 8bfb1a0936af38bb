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
            Self::DryRun => "nothing was to be written",
            Self::Nothing => "nothing went in",
            Self::Unknown => {
                "whether anything went in is not known; import the same file again: rows that are in are skipped"
            }
            Self::Some => "what went in stays; import the same file again: rows that are in are skipped",
        })
    }
}
