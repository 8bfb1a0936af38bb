//! Ids of resources in other systems: unique in a data set, so that an import can be sent again (decisions D10,
//! D11).

use std::collections::BTreeMap;

use crate::id::{Id, Kind};
use crate::params::{self, Param};
use crate::refusal::DomainError;
use crate::rule::{self, Text};

/// Length of the longest external id, in characters (decision D10).
pub const EXTERNAL_ID_CHARS: usize = 128;

/// The filter by the id in another system.
pub(crate) const FILTER: Param<String> = params::identifier_param(
    "filter[external_id]",
    "Only the entry with this id in another system. The whole id is compared.",
);

/// Creates the rule of an external id.
pub(crate) const fn rule() -> Text {
    rule::text(1..=EXTERNAL_ID_CHARS).with_trimming()
}

/// A resource, or the body of a change of one, that may have an id in another system.
pub trait ExternallyIdentified {
    /// Returns the id in another system; `None` if there is none.
    fn external_id(&self) -> Option<&str>;
}

/// Implements [`ExternallyIdentified`] for a resource with this member, and for the bodies whose content sets it.
macro_rules! externally_identified {
    ($resource:ty, $draft:ty $(, $patch:ty)?) => {
        impl $crate::external_id::ExternallyIdentified for $resource {
            fn external_id(&self) -> Option<&str> {
                self.external_id.as_deref()
            }
        }

        impl $crate::external_id::ExternallyIdentified for $draft {
            fn external_id(&self) -> Option<&str> {
                self.content.external_id.as_deref()
            }
        }

        $(impl $crate::external_id::ExternallyIdentified for $patch {
            fn external_id(&self) -> Option<&str> {
                self.content.external_id.as_ref()?.as_deref()
            }
        })?
    };
}

pub(crate) use externally_identified;

/// The stored resources that have the external ids of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalIdHolders<K: Kind>(BTreeMap<String, Holder<K>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder<K: Kind> {
    id: Id<K>,
    is_visible: bool,
}

impl<K: Kind> Default for ExternalIdHolders<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Kind> ExternalIdHolders<K> {
    /// Adds a holder. `is_visible` is `true` if the caller may see the holder.
    pub fn add(&mut self, external_id: &str, id: Id<K>, is_visible: bool) {
        self.0.insert(external_id.to_owned(), Holder { id, is_visible });
    }

    /// Requires that no resource other than `own` has the external id.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] with the id of the holder, if the caller sees the holder.
    pub(crate) fn require_free(&self, external_id: Option<&str>, own: Option<Id<K>>) -> Result<(), DomainError> {
        let Some(external_id) = external_id else { return Ok(()) };
        match self.0.get(external_id) {
            Some(holder) if Some(holder.id) != own => {
                let id = holder.is_visible.then_some(holder.id);
                Err(DomainError::already_taken("external_id", external_id, id))
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ObservationId, ObservationKind};
    use ulid::Ulid;

    #[test]
    fn external_id_of_another_resource_is_a_conflict() {
        let [one, other] = [1, 2].map(|number| ObservationId::from_ulid(Ulid(number)));
        let mut holders = ExternalIdHolders::<ObservationKind>::default();
        holders.add("crm-7", one, true);
        holders.add("crm-8", one, false);
        let named_conflict = holders.require_free(Some("crm-7"), Some(other)).unwrap_err();
        assert_eq!(named_conflict, DomainError::already_taken("external_id", "crm-7", Some(one)));
        assert!(serde_json::to_string(&conflict(named_conflict)).unwrap().contains("conflicting_id"));
        assert_eq!(holders.require_free(Some("crm-7"), Some(one)), Ok(()), "it keeps its own");
        assert_eq!(holders.require_free(Some("crm-9"), None), Ok(()));
        assert_eq!(holders.require_free(None, None), Ok(()));
        let hidden_conflict = holders.require_free(Some("crm-8"), None).unwrap_err();
        assert!(!serde_json::to_string(&conflict(hidden_conflict)).unwrap().contains("conflicting_id"));
    }

    fn conflict(refusal: DomainError) -> crate::refusal::Conflict {
        let DomainError::Conflict(conflict) = refusal else { panic!("{refusal}") };
        *conflict
    }
}
