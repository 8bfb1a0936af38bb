//! Rate leases of subscriptions.

use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::queue::{Lease, QueueKey, RateLease};
use candor_subscriptions::Subscription;
use candor_tables::flat::{CellReader, Reader, Stored};

use crate::sql::{Db, Sql};

const LEASE: &str = "UPDATE webhooks SET rate_worker = ?1, rate_until = ?2 WHERE tenant_id = ?3 AND id = ?4 \
    AND (rate_worker IS NULL OR rate_worker = ?1 OR rate_until <= ?5)";

const HELD_UNTIL: &str = "SELECT rate_until FROM webhooks WHERE tenant_id = ? AND id = ?";

/// Takes or renews the rate lease of a subscription, unless another worker holds it.
pub(crate) fn lease_rate(
    db: &mut Db,
    (tenant, webhook): QueueKey,
    lease: Lease,
    now: Timestamp,
) -> Result<RateLease, StorageError> {
    let sql = Sql::new(LEASE).bind(lease.worker.0).bind(lease.until).bind(tenant).bind(webhook).bind(now);
    if db.run(&sql)? > 0 {
        return Ok(RateLease::Held);
    }
    let read_end = |row: &mut dyn CellReader| Ok(Reader::new(row, Subscription::TABLE).opt_time()?);
    let end_of_lease = db.first(Sql::new(HELD_UNTIL).bind(tenant).bind(webhook), read_end)?.flatten();
    Ok(end_of_lease.map_or(RateLease::Held, |until| RateLease::HeldElsewhere { until }))
}
