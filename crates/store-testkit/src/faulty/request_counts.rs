//! Request counts in a store that fails when a test asks it to.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::request_stats::RequestCount;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_port_storage::request_counts::RequestCounts;

use super::{Faulty, FaultyCall, faulty};

faulty! {
    RequestCounts {
        Upkeep: add_request_counts(tenant: Tenant, counts: &[RequestCount], oldest: i64) -> Read<()>;
        List: request_counts(tenant: Tenant, since: i64) -> Read<Vec<RequestCount>>;
    }
}
