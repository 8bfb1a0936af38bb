//! A map that clients fill, with bounds of bytes: of the whole map, and of the entries of one organization, so that no
//! organization fills the memory or evicts the entries of others.

use std::collections::HashMap;
use std::hash::Hash;

use candor_domain::id::OrganizationId;

/// Bounds of a map, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Size of all entries.
    pub(crate) all: usize,
    /// Size of the entries of one organization.
    pub(crate) organization: usize,
}

/// An entry with its organization and its size in bytes.
struct Sized<V> {
    organization: OrganizationId,
    size: usize,
    value: V,
}

/// A map from which a new entry without room evicts all entries of its organization, or all entries. So clients that
/// invent entries cause no search for the oldest one.
pub(crate) struct BoundedMap<K, V> {
    bounds: Bounds,
    entries: HashMap<K, Sized<V>>,
    size: usize,
    sizes: HashMap<OrganizationId, usize>,
}

impl<K: Eq + Hash + Copy, V> BoundedMap<K, V> {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, entries: HashMap::new(), size: 0, sizes: HashMap::new() }
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.entries.get(&key).map(|entry| &entry.value)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.values_mut().map(|entry| &mut entry.value)
    }

    pub(crate) fn remove(&mut self, key: K) {
        let Some(entry) = self.entries.remove(&key) else { return };
        self.size -= entry.size;
        let rest = self.sizes.get(&entry.organization).map_or(0, |size| size - entry.size);
        if rest == 0 {
            self.sizes.remove(&entry.organization);
        } else {
            self.sizes.insert(entry.organization, rest);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.sizes.clear();
        self.size = 0;
    }

    /// Adds an entry of this size in bytes, or replaces the entry of the key.
    pub(crate) fn insert(&mut self, key: K, organization: OrganizationId, size: usize, value: V) {
        self.remove(key);
        if self.size_of(organization) + size > self.bounds.organization {
            self.entries.retain(|_, entry| entry.organization != organization);
            self.size -= self.sizes.remove(&organization).unwrap_or(0);
        }
        if self.size + size > self.bounds.all {
            self.clear();
        }
        self.size += size;
        *self.sizes.entry(organization).or_insert(0) += size;
        self.entries.insert(key, Sized { organization, size, value });
    }

    fn size_of(&self, organization: OrganizationId) -> usize {
        self.sizes.get(&organization).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    fn organization(number: u128) -> OrganizationId {
        OrganizationId::from_ulid(Ulid(number))
    }

    fn map() -> BoundedMap<u32, &'static str> {
        BoundedMap::new(Bounds { all: 100, organization: 40 })
    }

    #[test]
    fn full_share_evicts_entries_of_its_organization_alone() {
        let mut map = map();
        map.insert(1, organization(1), 20, "other");
        (2..1_000).for_each(|key| map.insert(key, organization(2), 20, "hostile"));
        assert_eq!(
            (map.get(1), map.get(997), map.get(998), map.get(999)),
            (Some(&"other"), None, Some(&"hostile"), Some(&"hostile"))
        );
        assert_eq!((map.entries.len(), map.size, map.size_of(organization(2))), (3, 60, 40));
    }

    #[test]
    fn sizes_follow_replacements_removals_and_evictions() {
        let mut map = map();
        for size in [10, 30, 20] {
            map.insert(1, organization(1), size, "replaced");
            assert_eq!((map.size, map.size_of(organization(1))), (size, size));
        }
        map.remove(1);
        map.remove(1);
        assert_eq!((map.size, map.sizes.len(), map.get(1)), (0, 0, None));
        (1..=4).for_each(|number| map.insert(u32::try_from(number).unwrap(), organization(number), 30, "one"));
        assert_eq!((map.size, map.entries.len()), (30, 1), "the whole map was full");
        assert!(map.values_mut().all(|value| *value == "one"));
    }
}
