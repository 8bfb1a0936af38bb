//! Statistics of the delivery log of one subscription.

use candor_domain::access::Tenant;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::fields::StringEnum;
use candor_domain::id::{Id, WebhookId};
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_subscriptions::{LogFigures, MAX_QUEUED_COUNT, Status};
use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::rows::add_figure;

use crate::failure::Failure;
use crate::sql::Sql;
use crate::sql::row::int;
use crate::store::PostgresStore;

/// Parameter that the error names if the statistics exceed the limits of slow reads.
const WINDOW: &str = "window";

impl PostgresStore {
    /// Reads the figures of the attempts in a time range, and of the queue. `without_hidden` is a condition on both.
    pub(super) async fn figures(
        &self,
        (tenant, webhook): (Tenant, WebhookId),
        range: (Timestamp, Timestamp),
        without_hidden: &str,
    ) -> Read<LogFigures> {
        let rows = self
            .slowly(tenant, &[WINDOW.to_owned()], &attempts((tenant, webhook), range, without_hidden), |row| {
                let mut figures = LogFigures::default();
                add_figure(row, &mut figures)?;
                Ok(figures)
            })
            .await?;
        let mut figures =
            self.find(&queue(tenant, webhook, without_hidden), read_queue).await?.unwrap_or_default();
        for row in rows {
            figures.counts.extend(row.counts);
            figures.durations.extend(row.durations);
        }
        Ok(figures)
    }
}

/// Builds the query for the attempts. The index of the subscription contains every column that the query reads.
fn attempts(
    (tenant, webhook): (Tenant, WebhookId),
    (since, until): (Timestamp, Timestamp),
    without_hidden: &str,
) -> Sql {
    let mut sql = Sql::default();
    let (tenant, webhook) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
    let (since, until) = (sql.bind(SqlValue::Time(since)), sql.bind(SqlValue::Time(until)));
    let statuses: Vec<_> = Status::words().iter().map(|word| format!("'{word}'")).collect();
    let from = format!(
        "FROM deliveries WHERE tenant_id = {tenant} AND webhook_id = {webhook} AND status IN ({}) \
         AND attempted_at >= {since} AND attempted_at < {until}{without_hidden}",
        statuses.join(", ")
    );
    let too_late = FailureReason::TooLate.word();
    sql.push(&format!(
        "SELECT false, (floor(extract(epoch FROM attempted_at) / 3600))::bigint, status, failure, count(*) {from} \
         GROUP BY 2, 3, 4 UNION ALL SELECT true, response_duration_ms, NULL::text, NULL::text, count(*) {from} \
         AND failure IS DISTINCT FROM '{too_late}' GROUP BY 2"
    ));
    sql
}

/// Builds the query for the queue. It counts at most [`MAX_QUEUED_COUNT`] rows, and reads the first row of two
/// indexes.
fn queue(tenant: Tenant, webhook: WebhookId, without_hidden: &str) -> Sql {
    let mut sql = Sql::default();
    let (tenant, webhook) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
    let queue_source =
        format!("FROM delivery_jobs WHERE tenant_id = {tenant} AND webhook_id = {webhook}{without_hidden}");
    sql.push(&format!(
        "SELECT (SELECT count(*) FROM (SELECT 1 {queue_source} LIMIT {MAX_QUEUED_COUNT}) AS counted), \
         (SELECT event_id {queue_source} ORDER BY event_id LIMIT 1), \
         (SELECT due_at {queue_source} AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)"
    ));
    sql
}

fn read_queue(row: &mut dyn CellReader) -> Result<LogFigures, Failure> {
    let queued_count = u32::try_from(int(row)?).unwrap_or(MAX_QUEUED_COUNT);
    let oldest_queued = row.id().map_err(Failure::Other)?.map(Id::from_bytes);
    let next_due_at = row.time().map_err(Failure::Other)?;
    Ok(LogFigures { queued: queued_count, oldest_queued, next_due_at, ..LogFigures::default() })
}
