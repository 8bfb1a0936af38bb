//! Limit of the connections whose response bodies are read after their attempts have ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::id::OrganizationId;

/// Maximum number of connections whose response bodies are read after their attempts. Each holds a socket in
/// addition to the sockets of the attempts.
const MOST: usize = 128;

/// Numbers of connections whose response bodies are read after their attempts, by organization. Clones share the
/// numbers.
#[derive(Debug, Clone)]
pub(crate) struct Drains {
    most: usize,
    owners: Arc<Mutex<HashMap<OrganizationId, usize>>>,
}

/// Permit to read a response body, until it is dropped.
#[derive(Debug)]
pub(crate) struct DrainPermit {
    drains: Drains,
    owner: OrganizationId,
}

impl Default for Drains {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl Drains {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, owners: Arc::default() }
    }

    /// Returns a permit if the organization has fewer permits than are free. So it has at most half of all
    /// permits, and slow responses to its webhooks do not close the connections of other organizations.
    pub(crate) fn permit(&self, owner: OrganizationId) -> Option<DrainPermit> {
        let mut owners = self.lock();
        let free = self.most.saturating_sub(owners.values().sum());
        let own = owners.get(&owner).copied().unwrap_or_default();
        if own >= free {
            return None;
        }
        owners.insert(owner, own + 1);
        drop(owners);
        Some(DrainPermit { drains: self.clone(), owner })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrganizationId, usize>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().values().sum()
    }
}

impl Drop for DrainPermit {
    fn drop(&mut self) {
        let mut owners = self.drains.lock();
        if let Some(own) = owners.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                owners.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn organization_gets_permits_while_more_are_free() {
        let drains = Drains::new(8);
        let owner = |number| OrganizationId::from_bytes([number; 16]);
        let take = |number| std::iter::from_fn(|| drains.permit(owner(number))).collect::<Vec<_>>();
        let permits = [take(1), take(2), take(3), take(4), take(5)];
        assert_eq!(permits.each_ref().map(Vec::len), [4, 2, 1, 1, 0]);
        assert_eq!(drains.len(), 8);
        drop(permits);
        assert!(drains.lock().is_empty());
        assert_eq!(take(5).len(), 4);
    }
}
