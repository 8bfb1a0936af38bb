//! Translation of constraint violations into commit errors.

use diesel::result::{DatabaseErrorKind, Error};

use candor_port_storage::{CommitError, Unique};
use candor_tables::rows::UNIQUES;

use crate::sql::{classify_error, violation};

/// Returns the commit error for a failed statement.
pub(crate) fn commit_error(error: &Error) -> CommitError {
    match violation(error) {
        Some((DatabaseErrorKind::ForeignKeyViolation, _)) => CommitError::Missing,
        Some((DatabaseErrorKind::UniqueViolation, columns)) => {
            find_taken(columns).map_or_else(|| CommitError::Storage(classify_error(error)), CommitError::Taken)
        }
        _ => CommitError::Storage(classify_error(error)),
    }
}

fn find_taken(columns: &str) -> Option<Unique> {
    let matching_unique = UNIQUES.iter().find(|column| column.is_reported_as(columns)).map(|column| column.unique);
    matching_unique.or_else(|| columns.ends_with(".id").then_some(Unique::Id))
}
