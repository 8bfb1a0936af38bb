//! Walks through the rows that are due, batch by batch.

use std::future::Future;

use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::flat::Stored;
use candor_tables::read::LookupColumn;

use crate::context::error::Error;
use crate::context::services::Services;

/// Number of rows read per query.
const READ: u16 = 100;

/// Handles every row whose time in a column has come, while `goes_on` returns `true`. Returns the number of rows for
/// which `handle` returned `true`: its commit has ended their being due. It returns `false` for a row that another
/// instance handled first.
///
/// # Errors
/// Errors of the store and of `handle`; the next call continues with the rest.
pub(super) async fn handle_due<T: Stored, F: Future<Output = Result<bool, Error>>>(
    services: &Services,
    column: impl Fn() -> LookupColumn<T>,
    goes_on: impl Fn() -> bool,
    handle: impl Fn(Tenant, Versioned<T>, Timestamp) -> F,
) -> Result<u64, Error> {
    let mut handled_count = 0;
    loop {
        let now = services.clock.now();
        let due = services.store.due(column(), now, READ).await?;
        let is_all = due.len() < usize::from(READ);
        let count_before = handled_count;
        for (tenant, row) in due {
            if !goes_on() {
                return Ok(handled_count);
            }
            handled_count += u64::from(handle(tenant, row, now).await?);
        }
        // If other instances were faster with the whole batch, the next sweep continues.
        if is_all || handled_count == count_before {
            return Ok(handled_count);
        }
    }
}
