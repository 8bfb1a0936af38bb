//! Numbers of answered requests, which the service collects in memory and adds to the store in batches.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::request_stats::RequestCount;

use crate::error::Read;

/// Operations on the numbers of requests of a data set.
#[async_trait]
pub trait RequestCounts {
    /// Adds to the stored numbers, and removes the numbers of hours before `oldest`. A batch that is sent again
    /// because its answer was lost may be counted twice.
    async fn add_request_counts(&self, tenant: Tenant, counts: &[RequestCount], oldest: i64) -> Read<()>;
    /// Returns the numbers from this hour on, in any order.
    async fn request_counts(&self, tenant: Tenant, since: i64) -> Read<Vec<RequestCount>>;
}
