//! Limits the exports that run at the same time, so that they leave connections and memory to other requests, and one
//! organization's exports keep out no other organization.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candor_domain::access::Tenant;
use candor_domain::id::OrganizationId;
use candor_fair_share::LargeWork;
use candor_fair_share::large_work::Turn;
use candor_port_storage::StorageError;
use metrics::gauge;

/// Maximum number of exports of one organization at the same time.
const MAX_PER_ORGANIZATION: usize = 2;
/// Maximum number of organizations whose exports run in this process. Each has a first export, whatever the others
/// do: a client may take hours for one. An export holds at most some 2 MB that its client has not taken.
const MAX_ORGANIZATIONS: usize = 32;
/// Number of running exports in this process from which no organization begins a second one.
const MAX_WITH_SECOND: usize = 8;
/// Number of exports that read a page at the same time. Each reads some megabytes of rows over a connection.
const READ_TURNS: usize = 8;
/// Gauge metric of the running exports.
const RUNNING: &str = "candor_exports_running";

/// Numbers of running exports by organization, and the turns in which they read. Clones share both.
#[derive(Debug, Clone)]
pub(crate) struct ExportPermits {
    running: Arc<Mutex<HashMap<OrganizationId, usize>>>,
    turns: LargeWork,
}

impl Default for ExportPermits {
    fn default() -> Self {
        Self { running: Arc::default(), turns: LargeWork::with_turns(READ_TURNS) }
    }
}

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
        let has_room = match own {
            0 => running.len() < MAX_ORGANIZATIONS,
            _ => own < MAX_PER_ORGANIZATION && running.values().sum::<usize>() < MAX_WITH_SECOND,
        };
        if !has_room {
            return None;
        }
        running.insert(organization, own + 1);
        gauge!(RUNNING).increment(1.0);
        Some(ExportPermit { permits: self.clone(), organization })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OrganizationId, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExportPermit {
    /// Waits for the turn of the organization to read a page. The turn must end before the client takes the page.
    ///
    /// # Errors
    /// [`StorageError::Failed`], which does not happen: a turn that is given up goes to the next caller.
    pub(crate) async fn read_turn(&self) -> Result<Turn, StorageError> {
        self.permits.turns.turn(Tenant::live(self.organization)).await
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
    use futures_util::FutureExt;

    fn organization(number: usize) -> OrganizationId {
        OrganizationId::from_bytes([u8::try_from(number).unwrap(); 16])
    }

    #[test]
    fn second_exports_leave_each_organization_its_first() {
        let permits = ExportPermits::default();
        let mut permits_in_use: Vec<_> =
            (1..=4).flat_map(|number| [number, number]).map(|n| permits.take(organization(n))).collect();
        assert!(permits_in_use.iter().all(Option::is_some));
        assert!(permits.take(organization(1)).is_none(), "two of one organization");
        permits_in_use.extend((5..=MAX_ORGANIZATIONS).map(|number| permits.take(organization(number))));
        assert!(permits_in_use.iter().all(Option::is_some), "a first one of each organization");
        assert!(permits.take(organization(5)).is_none(), "no second one beside eight");
        assert!(permits.take(organization(MAX_ORGANIZATIONS + 1)).is_none(), "bound of the memory");
        permits_in_use.pop();
        assert!(permits.take(organization(MAX_ORGANIZATIONS + 1)).is_some());
        permits_in_use.clear();
        assert!(permits.lock().is_empty());
    }

    #[tokio::test]
    async fn page_waits_for_a_turn_that_no_client_holds() {
        let permits = ExportPermits::default();
        let running: Vec<_> = (0..=READ_TURNS).map(|number| permits.take(organization(number)).unwrap()).collect();
        let mut turns = vec![];
        for permit in &running[..READ_TURNS] {
            turns.push(permit.read_turn().await.unwrap());
        }
        let mut last_turn = std::pin::pin!(running[READ_TURNS].read_turn());
        assert!(last_turn.as_mut().now_or_never().is_none());
        turns.pop();
        assert!(last_turn.await.is_ok());
    }
}
