//! Measures the storage of the largest organizations, for metrics.
//!
//! A round visits both environments of every organization, table by table and piece by piece. It rests after
//! each piece, so that it uses only a small share of one connection.

use std::time::Duration;

use candor_domain::access::{Environment, Tenant};
use candor_domain::id::OrganizationId;
use candor_tables::copy::CopyTable;
use candor_tables::sizes::measured_tables;

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::tenant_sizes::TenantSize;

/// Number of organizations in the metrics. More labels would burden the monitoring systems that scrape them.
const SHOWN: usize = 20;
/// Number of organizations read per query.
const PAGE: u16 = 100;
/// Rest after a piece, as a multiple of the time that the piece took: a round uses a tenth of one connection.
const REST: u32 = 9;

/// Measures every organization once, while `goes_on` returns `true`. An interrupted round keeps the previous
/// result.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the previous result stays.
pub async fn measure_all(services: &Services, goes_on: impl Fn() -> bool) -> Result<(), Error> {
    let (tables, mut largest, mut after) = (measured_tables(), Vec::new(), None);
    loop {
        let page = services.store.replica().organizations(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        for organization in &page {
            let Some(size) = measure(services, organization.id, &tables, &goes_on).await? else { return Ok(()) };
            largest.push(size);
            largest.sort_by_key(|size: &TenantSize| std::cmp::Reverse((size.bytes, size.rows)));
            largest.truncate(SHOWN);
        }
    }
    services.tenant_sizes.set(largest);
    Ok(())
}

/// Measures one organization. Returns `None` if the round was interrupted.
async fn measure(
    services: &Services,
    organization: OrganizationId,
    tables: &[CopyTable],
    goes_on: &impl Fn() -> bool,
) -> Result<Option<TenantSize>, Error> {
    let mut size = TenantSize { organization, rows: 0, bytes: 0 };
    for environment in [Environment::Live, Environment::Test] {
        let tenant = Tenant { organization, environment };
        for table in tables {
            let mut next_id = Some([0; 16]);
            while let Some(id) = next_id {
                if !goes_on() {
                    return Ok(None);
                }
                let start = services.clock.steady();
                let piece = services.store.replica().measure(tenant, table, id).await?;
                size.rows += piece.rows;
                size.bytes += piece.bytes();
                next_id = piece.last;
                rest_after(services.clock.steady().saturating_sub(start)).await;
            }
        }
    }
    Ok(Some(size))
}

async fn rest_after(work: Duration) {
    tokio::time::sleep(work * REST).await;
}
