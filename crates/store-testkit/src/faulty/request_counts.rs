//! Request counts in a store that fails when a test asks it to.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::request_stats::RequestCount;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_port_storage::request_counts::RequestCounts;

use super::{Faulty, FaultyCall};

#[async_trait]
impl<S: Storage + ?Sized> RequestCounts for Faulty<S> {
    async fn add_request_counts(&self, tenant: Tenant, counts: &[RequestCount], oldest: i64) -> Read<()> {
        self.run_call(FaultyCall::Upkeep, self.store.add_request_counts(tenant, counts, oldest)).await
    }
    async fn request_counts(&self, tenant: Tenant, since: i64) -> Read<Vec<RequestCount>> {
        self.run_call(FaultyCall::List, self.store.request_counts(tenant, since)).await
    }
}
