//! Statistics of the delivery log of one subscription.

use candor_domain::access::Tenant;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::fields::StringEnum;
use candor_domain::id::{Id, WebhookId};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_subscriptions::{LogFigures, MAX_QUEUED_COUNT, Status};
use candor_tables::flat::CellReader;
use candor_tables::rows::add_figure;

use crate::sql::Db;
use crate::text::Draft;

/// Parameter that the error names if the statistics exceed the limits of slow reads.
pub(super) const WINDOW: &str = "window";

/// Reads the figures of the attempts in a time range, and of the queue. `without_hidden` is a condition on both.
pub(super) fn read(
    db: &mut Db,
    (tenant, webhook): (Tenant, WebhookId),
    range: (Timestamp, Timestamp),
    without_hidden: &str,
) -> Read<LogFigures> {
    let mut queue = Draft::default();
    queue.add("SELECT (SELECT count(*) FROM (SELECT 1");
    of_queue(&mut queue, tenant, webhook)
        .add(without_hidden)
        .add(&format!(" LIMIT {MAX_QUEUED_COUNT})), (SELECT event_id"));
    of_queue(&mut queue, tenant, webhook).add(without_hidden).add(" ORDER BY event_id LIMIT 1), (SELECT due_at");
    of_queue(&mut queue, tenant, webhook)
        .add(without_hidden)
        .add(" AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)");
    let mut figures = db.first(queue.finish(), read_queue)?.unwrap_or_default();
    let mut attempts = Draft::default();
    attempts.add("SELECT 0, attempted_at / 3600000 AS hour, status, failure, count(*)");
    of_log(&mut attempts, tenant, webhook, range).add(without_hidden).add(" GROUP BY 2, 3, 4 UNION ALL ");
    attempts.add("SELECT 1, response_duration_ms, NULL, NULL, count(*)");
    of_log(&mut attempts, tenant, webhook, range)
        .add(without_hidden)
        .with(" AND failure IS NOT ", FailureReason::TooLate.word())
        .add(" GROUP BY 2");
    db.rows(attempts.finish(), |row| Ok(add_figure(row, &mut figures)?))?;
    Ok(figures)
}

fn of_queue(draft: &mut Draft, tenant: Tenant, webhook: WebhookId) -> &mut Draft {
    draft.with(" FROM delivery_jobs WHERE tenant_id = ", tenant).with(" AND webhook_id = ", webhook)
}

/// Adds the table and the conditions of the attempts in a time range. The index that answers them contains every
/// column that is read.
fn of_log(
    draft: &mut Draft,
    tenant: Tenant,
    webhook: WebhookId,
    (since, until): (Timestamp, Timestamp),
) -> &mut Draft {
    draft.with(" FROM deliveries WHERE tenant_id = ", tenant).with(" AND webhook_id = ", webhook);
    draft.any_of(" AND status", Status::words());
    draft.with(" AND attempted_at >= ", since).with(" AND attempted_at < ", until)
}

fn read_queue(row: &mut dyn CellReader) -> Read<LogFigures> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: "delivery_jobs", column, reason };
    let job_count = row.int().map_err(corrupt("event_id"))?.unwrap_or_default();
    let oldest_queued = row.id().map_err(corrupt("event_id"))?.map(Id::from_bytes);
    let next_due_at = row.time().map_err(corrupt("due_at"))?;
    let queued_count = u32::try_from(job_count).unwrap_or(MAX_QUEUED_COUNT);
    Ok(LogFigures { queued: queued_count, oldest_queued, next_due_at, ..LogFigures::default() })
}
