//! Departments, and the attributes that observations are tagged with (decisions G).

pub mod attribute;
pub mod department;
mod starter;

pub use attribute::{Attribute, Tone};
pub use department::Department;
pub use starter::starter_set;

use crate::refusal::DomainError;
use crate::time::Timestamp;

/// Requires that an attribute or department is not archived: only then can it be changed.
fn must_be_active(archived_at: Option<Timestamp>, attempted: &str) -> Result<(), DomainError> {
    if archived_at.is_none() {
        Ok(())
    } else {
        Err(DomainError::transition("archived_at", archived_at, attempted))
    }
}

/// Requires that an attribute or department is archived: only then can it be restored.
fn must_be_archived(archived_at: Option<Timestamp>) -> Result<(), DomainError> {
    if archived_at.is_some() {
        Ok(())
    } else {
        Err(DomainError::transition("archived_at", archived_at, "restore"))
    }
}

/// Requires a free name: names are unique by their keys, those of archived attributes and departments included.
/// `holder` has the name now, `own` is to get it.
fn must_be_free<K: crate::id::Kind>(
    name: &str,
    holder: Option<crate::id::Id<K>>,
    own: Option<crate::id::Id<K>>,
) -> Result<(), DomainError> {
    match holder {
        Some(id) if Some(id) != own => Err(DomainError::already_taken("name", name, Some(id))),
        _ => Ok(()),
    }
}
