//! Whether anybody subscribes to what happens in a data set, as far as this process knows.
//!
//! Most data sets have no webhooks. On one server finding none is a look into a small index, which is part of the only
//! statement; on a cluster the statement that queues deliveries takes a fifth of a change. So nobody is expected at first: a
//! plain look fails the transaction where that is wrong, and for a while the deliveries are queued at once.

use std::time::Duration;

use candor_domain::access::Tenant;
use moka::sync::Cache;

use crate::layout::Layout;

/// For so long deliveries are queued without a look.
const REMEMBERED: Duration = Duration::from_secs(60);
/// So many data sets are remembered at the most; of others it is found out again.
const MOST_TENANTS: u64 = 100_000;

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
        Self(Cache::builder().max_capacity(MOST_TENANTS).time_to_live(REMEMBERED).build())
    }

    /// Who is to be expected.
    pub(super) fn of(&self, layout: Layout, tenant: Tenant) -> Audience {
        match layout {
            Layout::OneServer => Audience::Anybody,
            Layout::ByTenant if self.0.contains_key(&tenant) => Audience::Anybody,
            Layout::ByTenant => Audience::Nobody,
        }
    }

    /// Somebody wants events of this data set.
    pub(super) fn found(&self, tenant: Tenant) {
        self.0.insert(tenant, ());
    }
}
