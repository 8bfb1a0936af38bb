//! Measures how much the largest organizations store, for metrics.
//!
//! A round goes through every organization, both data sets of it, table by table and piece by piece. It rests after each
//! piece, so that it never takes more than a small share of one connection, however much is stored.

use std::time::Duration;

use candor_domain::access::{Environment, Tenant};
use candor_domain::id::OrganizationId;
use candor_tables::copy::CopyTable;
use candor_tables::sizes::measured_tables;

use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::tenant_sizes::TenantSize;

/// Organizations that are shown. More labels would cost every monitoring system that scrapes them.
const SHOWN: usize = 20;
/// Organizations read at once.
const PAGE: u16 = 100;
/// Rest after a piece, in times of what the piece took: a round has a tenth of one connection.
const REST: u32 = 9;

/// Measures every organization once, as long as `goes_on` says so. A round that is broken off shows nothing new.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what was found before stays.
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

/// Measures one organization; `None` if the round was broken off.
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
            let mut after = Some([0; 16]);
            while let Some(id) = after {
                if !goes_on() {
                    return Ok(None);
                }
                let begun = services.clock.steady();
                let piece = services.store.replica().measure(tenant, table, id).await?;
                size.rows += piece.rows;
                size.bytes += piece.bytes();
                after = piece.last;
                rest_after(services.clock.steady().saturating_sub(begun)).await;
            }
        }
    }
    Ok(Some(size))
}

async fn rest_after(work: Duration) {
    tokio::time::sleep(work * REST).await;
}
