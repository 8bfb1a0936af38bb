//! Whether anybody subscribes to what happens in a data set, as far as this process knows.
//!
//! Most data sets have no webhooks. On one server finding none is a look into a small index, which is part of the only
//! statement; on a cluster the statement that queues deliveries takes a fifth of a change. So nobody is expected at first: a
//! plain look fails the transaction where that is wrong, and for a while the deliveries are queued at once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use candor_domain::access::Tenant;

use crate::layout::Layout;

/// For so long deliveries are queued without a look.
const REMEMBERED: Duration = Duration::from_secs(60);
/// So many data sets are remembered at the most; of all it is found out again then.
const MOST_TENANTS: usize = 100_000;

/// Who is expected to want events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Whoever there is.
    Anybody,
    /// Nobody; the statements fail with a word where there is somebody.
    Nobody,
}

/// The data sets of which somebody wanted an event lately, and when that was found. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Audiences(Arc<RwLock<HashMap<Tenant, Instant>>>);

impl Audiences {
    /// Who is to be expected.
    pub(super) fn of(&self, layout: Layout, tenant: Tenant) -> Audience {
        if layout.is_by_tenant() && !self.is_remembered(tenant, Instant::now()) {
            return Audience::Nobody;
        }
        Audience::Anybody
    }

    /// Somebody wants events of this data set.
    pub(super) fn found(&self, tenant: Tenant) {
        self.remember(tenant, Instant::now());
    }

    fn is_remembered(&self, tenant: Tenant, now: Instant) -> bool {
        let found = self.0.read().unwrap_or_else(PoisonError::into_inner);
        found.get(&tenant).is_some_and(|at| now.duration_since(*at) < REMEMBERED)
    }

    fn remember(&self, tenant: Tenant, now: Instant) {
        let mut found = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if found.len() >= MOST_TENANTS {
            found.clear();
        }
        found.insert(tenant, now);
    }
}

#[cfg(test)]
mod tests {
    use candor_store_testkit::Fixtures;

    use super::*;

    #[test]
    fn on_a_cluster_somebody_is_expected_for_a_while_after_being_found() {
        let (make, audiences) = (Fixtures::new(1), Audiences::default());
        let (one, other) = (make.tenant(), make.tenant());
        assert_eq!(audiences.of(Layout::OneServer, one), Audience::Anybody);
        assert_eq!(audiences.of(Layout::ByTenant, one), Audience::Nobody);
        audiences.clone().found(one);
        assert_eq!(audiences.of(Layout::ByTenant, one), Audience::Anybody);
        assert_eq!(audiences.of(Layout::ByTenant, other), Audience::Nobody);
        let now = Instant::now();
        audiences.remember(other, now);
        assert!(audiences.is_remembered(other, now + REMEMBERED - Duration::from_millis(1)));
        assert!(!audiences.is_remembered(other, now + REMEMBERED));
    }

    #[test]
    fn no_more_data_sets_are_remembered_than_there_is_room_for() {
        let audiences = Audiences::default();
        let tenant = |it: usize| Tenant::live(candor_domain::id::Id::from_bytes((it as u128).to_be_bytes()));
        (0..=MOST_TENANTS).for_each(|it| audiences.found(tenant(it)));
        assert_eq!(audiences.0.read().unwrap().len(), 1);
        assert_eq!(audiences.of(Layout::ByTenant, tenant(MOST_TENANTS)), Audience::Anybody);
    }
}
