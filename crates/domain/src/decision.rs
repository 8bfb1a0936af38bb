//! A decision is new state and its effects, as one value that is saved whole.

use serde::Serialize;

use crate::access::Permission;
use crate::audit::AuditDraft;
use crate::event::EventType;
use crate::id::{Id, Kind};
use crate::notification::Notice;
use crate::time::Timestamp;
use crate::visibility::LinkedId;

/// A thing with an id, an age and a JSON form, which is the only one it has (§2).
pub trait Resource: Clone + PartialEq + Serialize + Send + Sync + 'static {
    /// What its id names.
    type Kind: Kind;
    /// The singular that audit entries and search hits use.
    const NAME: &'static str;

    /// Its id.
    fn id(&self) -> Id<Self::Kind>;
    /// When it last changed.
    fn updated_at(&self) -> Timestamp;

    /// A number for what its JSON form shows and its version does not count, such as when a key was last used: another
    /// one whenever that is shown differently, 0 where there is nothing of the kind.
    fn mark(&self) -> u64 {
        0
    }

    /// The permission without which none of [`Resource::linked_ids`] is shown, beside that of the resource itself.
    const LINKS_PERMISSION: Option<Permission> = None;

    /// Ids in its JSON form that name resources which not every caller sees (decision B5).
    fn linked_ids(&self) -> Vec<LinkedId> {
        vec![]
    }

    /// Removes those of [`Resource::linked_ids`] that `is_shown` denies, to show the rest. The result is never saved.
    fn retain_linked(&mut self, _is_shown: &dyn Fn(LinkedId) -> bool) {}
}

/// The [`Resource::mark`] of ids that are shown and that no version counts: 0 where there are none.
#[must_use]
pub fn mark_of<K: Kind>(ids: &[Id<K>]) -> u64 {
    // FNV-1a.
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    if ids.is_empty() { 0 } else { ids.iter().flat_map(|it| it.to_bytes()).fold(BASIS, hash).max(1) }
}

/// What is to be saved, and what the world is to be told.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing happens until a decision is committed"]
pub struct Decision<T> {
    /// The resource after the change.
    pub state: T,
    /// The events that fire; each carries the new state as its `data` (decision F8).
    pub events: Vec<EventType>,
    /// What the audit log says of it.
    pub audit: AuditDraft,
    /// Who is told in the application.
    pub notices: Vec<Notice>,
}

impl<T: Resource> Decision<T> {
    /// A new resource.
    pub fn created(state: T, action: &'static str, events: Vec<EventType>) -> Self {
        debug_assert!(events.iter().all(|it| it.is_live()), "{action} fires what is_live() denies");
        let audit = AuditDraft::of(&state, action);
        Self { state, events, audit, notices: vec![] }
    }

    /// A changed resource; the audit entry lists every member that differs.
    pub fn changed(before: &T, state: T, action: &'static str, events: Vec<EventType>) -> Self {
        debug_assert!(events.iter().all(|it| it.is_live()), "{action} fires what is_live() denies");
        let audit = AuditDraft::of(&state, action).with_changes(before, &state);
        Self { state, events, audit, notices: vec![] }
    }
}
