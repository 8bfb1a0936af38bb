//! Key sets of all providers in use, within bounds.

use std::collections::HashMap;
use std::sync::Arc;

use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::time::Timestamp;

use super::keys::ProviderKeys;

/// Maximum number of key sets of one organization: more than it may have providers.
const MAX_SETS_OF_ORGANIZATION: usize = 8;
/// Maximum number of key sets of all organizations.
const MAX_SETS: usize = 4_000;
/// Size of all key sets, in bytes, above which a new one replaces the one that was not used for the longest time.
const MAX_KEY_BYTES: usize = 32 * 1024 * 1024;

/// The keys of a provider with their last use.
struct UsedKeys {
    organization: OrganizationId,
    keys: Arc<ProviderKeys>,
    used_at: Timestamp,
}

/// The keys of providers. Those of deleted providers are replaced by newer ones.
#[derive(Default)]
pub(super) struct KeySets(HashMap<IdentityProviderId, UsedKeys>);

impl KeySets {
    /// Returns the keys of a provider, which are empty at the first time.
    pub(super) fn get(
        &mut self,
        (organization, provider): (OrganizationId, IdentityProviderId),
        now: Timestamp,
    ) -> Arc<ProviderKeys> {
        if let Some(entry) = self.0.get_mut(&provider) {
            entry.used_at = now;
            return Arc::clone(&entry.keys);
        }
        let is_own = |entry: &UsedKeys| entry.organization == organization;
        while self.0.values().filter(|entry| is_own(entry)).count() >= MAX_SETS_OF_ORGANIZATION {
            self.remove_oldest(is_own);
        }
        while self.0.len() >= MAX_SETS || self.size() > MAX_KEY_BYTES {
            self.remove_oldest(|_| true);
        }
        let keys = Arc::<ProviderKeys>::default();
        self.0.insert(provider, UsedKeys { organization, keys: Arc::clone(&keys), used_at: now });
        keys
    }

    fn size(&self) -> usize {
        self.0.values().map(|entry| entry.keys.size()).sum()
    }

    fn remove_oldest(&mut self, is_candidate: impl Fn(&UsedKeys) -> bool) {
        let candidates = self.0.iter().filter(|(_, entry)| is_candidate(entry));
        let oldest = candidates.min_by_key(|(id, entry)| (entry.used_at, **id)).map(|(id, _)| *id);
        oldest.and_then(|id| self.0.remove(&id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    fn organization(number: u128) -> OrganizationId {
        OrganizationId::from_ulid(Ulid(number))
    }

    #[test]
    fn key_sets_of_an_organization_are_bounded() {
        let mut sets = KeySets::default();
        let provider = |number: usize| IdentityProviderId::from_ulid(Ulid(u128::try_from(number).unwrap()));
        let time = |number: usize| Timestamp::from_millis(i64::try_from(number).unwrap());
        let other = sets.get((organization(1), provider(0)), time(0));
        for number in 1..100 {
            sets.get((organization(2), provider(number)), time(number));
            // The first one is used again, so it stays.
            sets.get((organization(2), provider(1)), time(number));
        }
        assert_eq!(sets.0.len(), MAX_SETS_OF_ORGANIZATION + 1);
        assert!(sets.0.contains_key(&provider(1)) && sets.0.contains_key(&provider(99)));
        assert!(Arc::ptr_eq(&other, &sets.get((organization(1), provider(0)), time(100))));
    }

    #[test]
    fn key_sets_of_all_organizations_are_bounded() {
        let mut sets = KeySets::default();
        for number in 0..u128::try_from(MAX_SETS).unwrap() + 2 {
            sets.get(
                (organization(number), IdentityProviderId::from_ulid(Ulid(number))),
                Timestamp::from_millis(0),
            );
        }
        assert_eq!(sets.0.len(), MAX_SETS);
    }
}
