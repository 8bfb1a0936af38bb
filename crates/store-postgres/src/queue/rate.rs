//! Statements of the rate leases of subscriptions.

use candor_domain::time::Timestamp;
use candor_port_storage::queue::{Lease, QueueKey};
use candor_tables::flat::{CellReader, SqlValue};

use crate::failure::Failure;
use crate::sql::Sql;

/// Statement that takes or renews a rate lease. It returns a row, unless another worker holds the lease or the
/// subscription no longer exists.
pub(super) fn lease((tenant, webhook): QueueKey, lease: Lease, now: Timestamp) -> Sql {
    let mut sql = Sql::default();
    let (tenant, webhook) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
    let (worker, until) = (sql.id(lease.worker.0), sql.bind(SqlValue::Time(lease.until)));
    let now = sql.bind(SqlValue::Time(now));
    sql.push(&format!(
        "UPDATE webhooks SET rate_worker = {worker}, rate_until = {until} WHERE tenant_id = {tenant} \
         AND id = {webhook} AND (rate_worker IS NULL OR rate_worker = {worker} OR rate_until <= {now}) RETURNING 1"
    ));
    sql
}

/// Query for the end of a rate lease.
pub(super) fn held_until((tenant, webhook): QueueKey) -> Sql {
    let mut sql = Sql::default();
    let (tenant, webhook) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
    sql.push(&format!("SELECT rate_until FROM webhooks WHERE tenant_id = {tenant} AND id = {webhook}"));
    sql
}

/// Reads the end of a rate lease.
pub(super) fn read_lease_end(row: &mut dyn CellReader) -> Result<Option<Timestamp>, Failure> {
    row.time().map_err(Failure::Other)
}
