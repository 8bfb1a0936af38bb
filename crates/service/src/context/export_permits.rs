//! Limits the exports that run at the same time, so that they leave connections and memory to other requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::id::OrganizationId;
use metrics::gauge;

/// Maximum number of exports of one organization at the same time.
const MAX_PER_ORGANIZATION: usize = 2;
/// Maximum number of exports of this process at the same time. Each holds some megabytes of rows.
const MAX_IN_ALL: usize = 8;
/// Gauge metric of the running exports.
const RUNNING: &str = "candor_exports_running";

/// Numbers of running exports by organization. Clones share the numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExportPermits(Arc<Mutex<HashMap<OrganizationId, usize>>>);

/// Permit for one running export. When it is dropped, the export no longer counts as running.
#[derive(Debug)]
pub(crate) struct ExportPermit {
    permits: ExportPermits,
    organization: OrganizationId,
}

impl ExportPermits {
    /// Returns a permit for an export of this organization, or `None` if too many exports are running.
    pub(crate) fn take(&self, organization: OrganizationId) -> Option<ExportPermit> {
        let mut running = self.lock();
        let own = running.get(&organization).copied().unwrap_or_default();
        if own >= MAX_PER_ORGANIZATION || running.values().sum::<usize>() >= MAX_IN_ALL {
            return None;
        }
        running.insert(organization, own + 1);
        gauge!(RUNNING).increment(1.0);
        Some(ExportPermit { permits: self.clone(), organization })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrganizationId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ExportPermit {
    fn drop(&mut self) {
        let mut running = self.permits.lock();
        gauge!(RUNNING).decrement(1.0);
        match running.get_mut(&self.organization) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                running.remove(&self.organization);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn organization(number: u8) -> OrganizationId {
        OrganizationId::from_bytes([number; 16])
    }

    #[test]
    fn two_exports_per_organization_and_eight_in_all_are_permitted() {
        let permits = ExportPermits::default();
        let mut permits_in_use: Vec<_> =
            (1..=4).flat_map(|number| [number, number]).map(|n| permits.take(organization(n))).collect();
        assert!(permits_in_use.iter().all(Option::is_some));
        assert!(permits.take(organization(5)).is_none(), "eight in all");
        permits_in_use.pop();
        assert!(permits.take(organization(1)).is_none(), "two of one organization");
        assert!(permits.take(organization(5)).is_some());
        permits_in_use.clear();
        assert!(permits.lock().is_empty());
    }
}
