//! A decision: the new state of a resource and its effects, saved as a whole.

use serde::Serialize;

use crate::access::Permission;
use crate::audit::AuditDraft;
use crate::event::EventType;
use crate::id::{EmployeeId, Id, Kind};
use crate::notification::Notice;
use crate::time::Timestamp;
use crate::visibility::LinkedId;

/// A thing with an id, a time of its last change and exactly one JSON form (§2).
pub trait Resource: Clone + PartialEq + Serialize + Send + Sync + 'static {
    /// The kind of the resource's id.
    type Kind: Kind;
    /// Singular name in audit entries and search hits.
    const NAME: &'static str = Self::Kind::NAME;

    /// Returns the id of the resource.
    fn id(&self) -> Id<Self::Kind>;
    /// Returns the time of the last change.
    fn updated_at(&self) -> Timestamp;

    /// Returns a number that changes with members that are shown but not counted by the version, such as the last
    /// use of a key. The `ETag` contains the number. 0 if there are no such members.
    fn mark(&self) -> u64 {
        0
    }

    /// Returns the number of changes that readers of the resource must not see, such as legal holds. The version of the
    /// row counts them, and the `ETag` does not.
    fn unseen_changes(&self) -> u32 {
        0
    }

    /// The permission that shows [`Resource::linked_ids`], in addition to the permission of the resource itself.
    const LINKS_PERMISSION: Option<Permission> = None;

    /// Returns the ids in the JSON form whose resources are hidden from some callers (decision B5).
    fn linked_ids(&self) -> Vec<LinkedId> {
        vec![]
    }

    /// Returns further ids in the JSON form whose resources are hidden from some callers. These ids are shown
    /// without [`Resource::LINKS_PERMISSION`].
    fn named_ids(&self) -> Vec<LinkedId> {
        vec![]
    }

    /// Removes the ids of [`Resource::linked_ids`] and [`Resource::named_ids`] for which `is_shown` is false. The
    /// result is for display and never saved.
    fn retain_linked(&mut self, _is_shown: &dyn Fn(LinkedId) -> bool) {}

    /// Returns the resource without the ids that need [`Resource::LINKS_PERMISSION`], as its events contain it. All
    /// readers get the same event, and not all of them have that permission (decision F8).
    #[must_use]
    fn without_linked_ids(&self) -> Self {
        let mut state = self.clone();
        if Self::LINKS_PERMISSION.is_some() {
            let linked_ids = self.linked_ids();
            state.retain_linked(&|id| !linked_ids.contains(&id));
        }
        state
    }

    /// Returns the person whose custom fields are in the JSON form. `None` if there are none.
    fn fields_of(&self) -> Option<EmployeeId> {
        None
    }

    /// Returns the keys of the custom fields in the JSON form.
    fn field_names(&self) -> Vec<&str> {
        vec![]
    }

    /// Returns the hash that the `ETag` contains beside the version: a function of what this form of the resource shows,
    /// so that the tag does not tell whether something is hidden.
    fn shown_mark(&self) -> u64 {
        let ids = self.linked_ids().into_iter().chain(self.named_ids());
        let linked_mark = mark_of_bytes(ids.flat_map(LinkedId::to_bytes));
        let parts = [linked_mark, mark_of_names(&self.field_names())].into_iter().filter(|part| *part != 0);
        parts.fold(self.mark(), |mark, part| mark.wrapping_mul(31).wrapping_add(part))
    }

    /// Removes the custom fields whose keys [`Resource::field_names`] returns and for which `is_shown` is false.
    /// The result is for display and never saved.
    fn retain_fields(&mut self, _is_shown: &dyn Fn(&str) -> bool) {}
}

/// Returns the [`Resource::mark`] of ids that are shown but not counted by a version; 0 for no ids.
#[must_use]
pub fn mark_of<K: Kind>(ids: &[Id<K>]) -> u64 {
    mark_of_bytes(ids.iter().flat_map(|id| id.to_bytes()))
}

/// Returns the [`Resource::mark`] of names that are shown but not counted by a version; 0 for no names.
#[must_use]
pub fn mark_of_names(names: &[&str]) -> u64 {
    mark_of_bytes(names.iter().flat_map(|name| name.bytes().chain([0])))
}

fn mark_of_bytes(bytes: impl Iterator<Item = u8>) -> u64 {
    // Constants of the FNV-1a hash.
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    let mut bytes = bytes.peekable();
    if bytes.peek().is_none() { 0 } else { bytes.fold(BASIS, hash).max(1) }
}

/// Writes the first members of a [`Resource`] with the members `id` and `updated_at`: its kind, and the functions that
/// return these two.
#[doc(hidden)]
#[macro_export]
macro_rules! __identity {
    ($kind:ty) => {
        type Kind = $kind;

        fn id(&self) -> $crate::id::Id<$kind> {
            self.id
        }

        fn updated_at(&self) -> $crate::time::Timestamp {
            self.updated_at
        }
    };
}

pub use __identity as identity;

/// The new state of a resource, with the events, audit entry and notices that its change causes.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing happens until a decision is committed"]
pub struct Decision<T> {
    /// The resource after the change.
    pub state: T,
    /// The events that fire. Each carries the new state as its `data` (decision F8).
    pub events: Vec<EventType>,
    /// The audit entry of the change.
    pub audit: AuditDraft,
    /// Notices for people, shown in the application.
    pub notices: Vec<Notice>,
}

impl<T: Resource> Decision<T> {
    /// Creates the decision that adds a new resource.
    pub fn for_creation(state: T, action: &'static str, events: Vec<EventType>) -> Self {
        let audit = AuditDraft::new(&state, action);
        Self { state, events, audit, notices: vec![] }
    }

    /// Creates the decision that changes a resource. The audit entry lists every member that differs.
    pub fn for_change(before: &T, state: T, action: &'static str, events: Vec<EventType>) -> Self {
        let audit = AuditDraft::new(&state, action).with_changes(before, &state);
        Self { state, events, audit, notices: vec![] }
    }
}
