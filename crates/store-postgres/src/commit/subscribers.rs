//! Cache of tenants that are known to have subscriptions.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_fair_share::ExpiringCache;

use crate::layout::ExpectedSubscribers;

/// Time for which a tenant is assumed to have subscriptions after one was found.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Maximum number of remembered tenants, some ten megabytes. For further ones, the assumption of the layout applies.
const MOST_REMEMBERED: usize = 100_000;

/// Tenants with a recently found subscription. Clones share the cache.
#[derive(Clone)]
pub(super) struct SubscriberCache {
    /// Result of [`SubscriberCache::expect`] for tenants that are not in the cache.
    unknown: ExpectedSubscribers,
    found: ExpiringCache<Tenant, ()>,
}

impl SubscriberCache {
    /// Creates an empty cache, with the assumption about tenants that are not in it.
    pub(super) fn new(unknown: ExpectedSubscribers) -> Self {
        Self { unknown, found: ExpiringCache::new(MOST_REMEMBERED, REMEMBERED) }
    }

    /// Returns the assumption for the next change set of a tenant.
    pub(super) fn expect(&self, tenant: Tenant) -> ExpectedSubscribers {
        let is_found = || self.found.get(&tenant).is_some();
        if self.unknown == ExpectedSubscribers::Any || is_found() {
            ExpectedSubscribers::Any
        } else {
            self.unknown
        }
    }

    /// Notes that a tenant has subscriptions.
    pub(super) fn note(&self, tenant: Tenant) {
        self.found.insert(tenant, ());
    }
}

#[cfg(test)]
mod tests {
    use candor_store_testkit::Fixtures;

    use super::*;

    #[test]
    fn subscribers_are_not_expected_until_one_is_found() {
        let (make, cache) = (Fixtures::new(1), SubscriberCache::new(ExpectedSubscribers::None));
        let (one, other) = (make.tenant(), make.tenant());
        assert_eq!(cache.expect(one), ExpectedSubscribers::None);
        cache.clone().note(one);
        assert_eq!(cache.expect(one), ExpectedSubscribers::Any);
        assert_eq!(cache.expect(other), ExpectedSubscribers::None);
    }

    #[test]
    fn unknown_tenant_has_the_subscribers_of_the_layout() {
        let (make, cache) = (Fixtures::new(1), SubscriberCache::new(ExpectedSubscribers::Any));
        assert_eq!(cache.expect(make.tenant()), ExpectedSubscribers::Any);
    }
}
