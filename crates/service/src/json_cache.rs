//! What pages inline again and again, as it was rendered: each time it is used, the store has just said that it is
//! still of the same version, so nothing here is ever out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::id::{Id, Kind};
use candor_port_storage::{Version, Versioned, Wanted};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::Error;

/// About what an entry takes besides its text: key, version, and its place in the table.
const BESIDES: u64 = 160;
/// About what an entry takes.
const USUAL_BYTES: u64 = 1024;

#[derive(Clone)]
struct Rendering {
    version: Version,
    text: Arc<RawValue>,
}

#[derive(Clone)]
struct Bytes;

impl<K> Weighter<(Tenant, Id<K>), Rendering> for Bytes {
    fn weight(&self, _: &(Tenant, Id<K>), it: &Rendering) -> u64 {
        it.text.get().len() as u64 + BESIDES
    }
}

/// The resources of one kind that were rendered lately, as far as there is room for them.
pub(crate) struct JsonCache<K: Kind>(Cache<(Tenant, Id<K>), Rendering, Bytes>);

/// The resources that a page refers to: what is known of them, and by which version.
pub(crate) struct CacheLookup<K: Kind> {
    /// What the store is asked for.
    pub(crate) wanted: Vec<Wanted<K>>,
    known: Shown<K>,
}

/// Resources as they are shown.
pub(crate) type Shown<K> = BTreeMap<Id<K>, Arc<RawValue>>;

impl<K: Kind> JsonCache<K> {
    /// With room for so many bytes.
    pub(crate) fn of_at_most(bytes: u64) -> Self {
        let entries = usize::try_from(bytes / USUAL_BYTES).unwrap_or_default();
        Self(Cache::with_weighter(entries, bytes, Bytes))
    }

    /// What the store has to be asked for, to show these resources.
    pub(crate) fn seek(&self, tenant: Tenant, ids: BTreeSet<Id<K>>) -> CacheLookup<K> {
        let mut known = BTreeMap::new();
        let wanted = ids.into_iter().map(|id| {
            let Some(it) = self.0.get(&(tenant, id)) else { return id.into() };
            known.insert(id, it.text);
            Wanted { id, unless: Some(it.version) }
        });
        CacheLookup { wanted: wanted.collect(), known }
    }

    /// The resources that are there: those that the store found, and the others as they are known.
    ///
    /// # Errors
    /// [`Error::Bug`] if one cannot be rendered.
    pub(crate) fn show<T: Serialize>(
        &self,
        tenant: Tenant,
        sought: CacheLookup<K>,
        found: Vec<Versioned<T>>,
        id: impl Fn(&T) -> Id<K>,
    ) -> Result<Shown<K>, Error> {
        let mut shown = sought.known;
        for Versioned { value, version } in found {
            let text: Arc<RawValue> = to_raw_value(&value).map_err(|it| Error::Bug(it.to_string()))?.into();
            let id = id(&value);
            self.0.insert((tenant, id), Rendering { version, text: Arc::clone(&text) });
            shown.insert(id, text);
        }
        Ok(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::{AttributeId, AttributeKind};
    use ulid::Ulid;

    const ROOM: u64 = 100_000;

    fn tenant(number: u8) -> Tenant {
        Tenant::from_bytes([number; 16])
    }

    fn id(number: u128) -> AttributeId {
        Id::from_ulid(Ulid(number))
    }

    fn texts(shown: &Shown<AttributeKind>) -> Vec<&str> {
        shown.values().map(|it| it.get()).collect()
    }

    fn row(text: &str, version: i64) -> Versioned<String> {
        Versioned { value: text.to_owned(), version: Version(version) }
    }

    fn sought(all: &JsonCache<AttributeKind>, tenant: Tenant) -> CacheLookup<AttributeKind> {
        all.seek(tenant, BTreeSet::from([id(1)]))
    }

    #[test]
    fn what_is_known_is_shown_until_the_store_has_another_version() {
        let all = JsonCache::of_at_most(ROOM);
        let first = sought(&all, tenant(1));
        assert_eq!(first.wanted, [Wanted::from(id(1))]);
        let shown = all.show(tenant(1), first, vec![row("a", 1)], |_| id(1)).unwrap();
        assert_eq!(texts(&shown), ["\"a\""]);

        let second = sought(&all, tenant(1));
        assert_eq!(second.wanted, [Wanted { id: id(1), unless: Some(Version(1)) }]);
        assert_eq!(texts(&all.show(tenant(1), second, Vec::<Versioned<String>>::new(), |_| id(1)).unwrap()), ["\"a\""]);

        let third = sought(&all, tenant(1));
        assert_eq!(texts(&all.show(tenant(1), third, vec![row("b", 2)], |_| id(1)).unwrap()), ["\"b\""]);
        assert_eq!(sought(&all, tenant(1)).wanted[0].unless, Some(Version(2)));
    }

    #[test]
    fn what_is_not_there_is_not_shown_and_another_tenant_knows_nothing() {
        let all = JsonCache::of_at_most(ROOM);
        let missing = sought(&all, tenant(1));
        assert_eq!(texts(&all.show(tenant(1), missing, Vec::<Versioned<String>>::new(), |_| id(1)).unwrap()), [""; 0]);
        let found = sought(&all, tenant(1));
        all.show(tenant(1), found, vec![row("a", 1)], |_| id(1)).unwrap();
        assert_eq!(sought(&all, tenant(2)).wanted, [Wanted::from(id(1))]);
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let all: JsonCache<AttributeKind> = JsonCache::of_at_most(ROOM);
        for number in 0..1_000 {
            let one = all.seek(tenant(1), BTreeSet::from([id(number)]));
            all.show(tenant(1), one, vec![row(&"x".repeat(1_000), 1)], |_| id(number)).unwrap();
        }
        assert!(all.0.weight() <= ROOM, "{}", all.0.weight());
        assert!(!all.0.is_empty());
    }
}
