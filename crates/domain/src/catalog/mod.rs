//! Departments, and the attributes that observations are tagged with (decisions G).

pub mod attribute;
pub mod department;
mod starter;

pub use attribute::{Attribute, Tone};
pub use department::Department;
pub use starter::starter_set;

use crate::refusal::DomainError;

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
