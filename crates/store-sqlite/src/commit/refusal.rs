//! What a violated constraint says about the change set.

use diesel::result::{DatabaseErrorKind, Error};

use candor_port_storage::{CommitError, Unique};
use candor_tables::rows::UNIQUES;

use crate::sql::{failed, violation};

/// Why a statement of a change set was refused.
pub(crate) fn refused(error: &Error) -> CommitError {
    match violation(error) {
        Some((DatabaseErrorKind::ForeignKeyViolation, _)) => CommitError::Missing,
        Some((DatabaseErrorKind::UniqueViolation, columns)) => {
            taken(columns).map_or_else(|| CommitError::Storage(failed(error)), CommitError::Taken)
        }
        _ => CommitError::Storage(failed(error)),
    }
}

fn taken(columns: &str) -> Option<Unique> {
    let known = UNIQUES.iter().find(|(_, it, _)| *it == columns).map(|(_, _, unique)| *unique);
    known.or_else(|| columns.ends_with(".id").then_some(Unique::Id))
}
