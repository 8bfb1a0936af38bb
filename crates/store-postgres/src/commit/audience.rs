//! Whether anybody subscribes to what happens in a data set, as far as this process knows.
//!
//! Most data sets have no webhooks. On one server finding none is a look into a small index, which is part of the only
//! statement; on a cluster the statement that queues deliveries takes a fifth of a change. So nobody is expected at first:
//! the function that counts the position of an event fails where that is wrong, and for a while the deliveries are queued at once.

use std::time::Duration;

use candor_domain::access::Tenant;
use moka::sync::Cache;

use crate::layout::Layout;
use crate::tenant_cache::tenant_cache;

/// For so long deliveries are queued without a look.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Who is expected to want events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Whoever there is.
    Anybody,
    /// Nobody; the statements fail with a word where there is somebody.
    Nobody,
}

/// The data sets of which somebody wanted an event lately. Clones are the same.
#[derive(Clone)]
pub(super) struct Audiences(Cache<Tenant, ()>);

impl Audiences {
    pub(super) fn new() -> Self {
        Self(tenant_cache(REMEMBERED))
    }

    /// Who is to be expected.
    pub(super) fn of(&self, layout: Layout, tenant: Tenant) -> Audience {
        let is_found = || self.0.contains_key(&tenant);
        if !layout.is_by_tenant() || is_found() { Audience::Anybody } else { Audience::Nobody }
    }

    /// Somebody wants events of this data set.
    pub(super) fn found(&self, tenant: Tenant) {
        self.0.insert(tenant, ());
    }
}

#[cfg(test)]
mod tests {
    use candor_store_testkit::Fixtures;

    use super::*;

    #[test]
    fn on_a_cluster_nobody_is_expected_until_somebody_is_found() {
        let (make, audiences) = (Fixtures::new(1), Audiences::new());
        let (one, other) = (make.tenant(), make.tenant());
        assert_eq!(audiences.of(Layout::OneServer, one), Audience::Anybody);
        assert_eq!(audiences.of(Layout::ByTenant, one), Audience::Nobody);
        audiences.clone().found(one);
        assert_eq!(audiences.of(Layout::ByTenant, one), Audience::Anybody);
        assert_eq!(audiences.of(Layout::ByTenant, other), Audience::Nobody);
    }
}
