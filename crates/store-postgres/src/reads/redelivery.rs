//! Query for the events to deliver again.

use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EventId, Id};
use candor_port_storage::StorageError;
use candor_port_storage::queue::{EventToRedeliver, QueueKey, RedeliveryFilter};
use candor_subscriptions::Status;
use candor_tables::flat::{CellReader, SqlValue, Stored, Type};

use crate::failure::Failure;
use crate::sql::Sql;
use crate::sql::row as read_row;

/// Builds the query for the events to deliver again. Failed deliveries come from an index that has them in the order of
/// their events.
pub(super) fn sql(
    (tenant, webhook): QueueKey,
    which: &RedeliveryFilter,
    after: Option<EventId>,
    most: u16,
) -> Sql {
    let mut sql = Sql::default();
    let (tenant, webhook) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
    let (above, below) = which.id_range(after);
    let (above, below) = (sql.id(above.to_bytes()), sql.id(below.to_bytes()));
    let (since, until) = (sql.bind(SqlValue::Time(which.since)), sql.bind(SqlValue::Time(which.until)));
    let types =
        sql.many(Type::Text, which.types.iter().map(|event_type| SqlValue::Text(event_type.word().to_owned())));
    let most = sql.bind(SqlValue::Int(i64::from(most)));
    let now = sql.bind(SqlValue::Time(which.now));
    let job = |what: &str| {
        format!(
            "(SELECT {what} FROM delivery_jobs AS j WHERE j.tenant_id = {tenant} AND j.webhook_id = {webhook} AND j.event_id = e.id)"
        )
    };
    // A parked delivery has no due time.
    let waits = format!(
        "COALESCE(j.attempt > 1 AND j.due_at > {now} AND (j.leased_until IS NULL OR j.leased_until <= {now}), false)"
    );
    let event_condition = format!(
        "e.created_at >= {since} AND e.created_at < {until} AND e.type = ANY({types}) AND COALESCE({}, true)",
        job(&waits)
    );
    let is_queued = format!("COALESCE({}, false) AS queued", job("true"));
    let text = if which.only_failed {
        // An attempt is never older than its event, so earlier partitions need not be read. Each order is the
        // order of a single index, which keeps the planner from other indexes with the same first columns.
        let log = format!(
            "deliveries AS d WHERE d.tenant_id = {tenant} AND d.webhook_id = {webhook} AND d.created_at >= {since} AND d.status"
        );
        let failures = Status::ALL.iter().filter(|status| **status != Status::Success).map(|status| status.word()).map(|word| {
            format!(
                "(SELECT d.event_id FROM {log} = '{word}' AND d.event_id > {above} AND d.event_id < {below} ORDER BY d.event_id)"
            )
        });
        format!(
            "SELECT e.id, e.type, e.queued FROM (SELECT DISTINCT f.event_id FROM ({failures}) AS f ORDER BY f.event_id) AS f \
             CROSS JOIN LATERAL (SELECT e.id, e.type, {is_queued} FROM events AS e WHERE e.tenant_id = {tenant} \
             AND e.id >= f.event_id AND e.id <= f.event_id AND {event_condition} ORDER BY e.id LIMIT 1) AS e \
             WHERE (SELECT true FROM {log} = '{success}' AND d.event_id >= f.event_id AND d.event_id <= f.event_id \
             ORDER BY d.event_id LIMIT 1) IS NULL ORDER BY f.event_id LIMIT {most}",
            failures = failures.collect::<Vec<_>>().join(" UNION ALL "),
            success = Status::Success.word(),
        )
    } else {
        format!(
            "SELECT e.id, e.type, {is_queued} FROM events AS e WHERE e.tenant_id = {tenant} AND e.id > {above} AND e.id < {below} \
             AND {event_condition} ORDER BY e.id LIMIT {most}"
        )
    };
    sql.push(&text);
    sql
}

/// Reads the id and the type of an event, and a flag that is `true` if its delivery is queued.
pub(super) fn event(row: &mut dyn CellReader) -> Result<EventToRedeliver, Failure> {
    let id = Id::from_bytes(read_row::id(row)?);
    let word = row.text().map_err(Failure::Other)?.unwrap_or_default();
    let reason = || format!("unexpected value {word:?}");
    let corrupt = |_| StorageError::Corrupt { table: Event::TABLE.name, column: "type", reason: reason() };
    let event_type = EventType::from_word(&word).map_err(corrupt)?;
    Ok(EventToRedeliver { event_id: id, event_type, is_queued: read_row::flag(row)? })
}
