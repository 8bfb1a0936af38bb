//! Statements on subscriptions and the delivery queue, beyond writes of subscription rows.

use candor_domain::access::Tenant;
use candor_domain::event::Event;
use candor_domain::fields::StringEnum;
use candor_domain::id::WebhookId;
use candor_domain::time::Timestamp;
use candor_port_storage::ExpediteDelivery;
use candor_port_storage::queue::Lease;
use candor_port_storage::{ChangeSet, Write};
use candor_subscriptions::{DeliveryOrigin, Job, Subscription};
use candor_tables::flat::{SqlValue, Stored, Type};

use super::STALE;
use super::bound_events::{self, BoundEvents};
use crate::layout::statement::assert_sql;
use crate::layout::{SharedLayout, Statement};
use crate::sql::Sql;
use crate::sql::planner_settings::STEER;

/// Columns written for a queued delivery.
const COLUMNS: &str = "tenant_id, webhook_id, event_id, event_type, attempt, first_due_at, origin, delivery_id, \
    due_at, worker, leased_until";

/// Resets the failure streak of a subscription, which is not part of its version. A statement of its own, because
/// the same change set may write the subscription's row.
pub(super) fn reset_streak(tenant: Tenant, id: WebhookId) -> Sql {
    let mut sql = Sql::default();
    let (tenant, id) = (sql.tenant(tenant), sql.id(id.to_bytes()));
    sql.push(&format!(
        "UPDATE webhooks SET failures = NULL, failing_since = NULL, is_failing = NULL \
         WHERE tenant_id = {tenant} AND id = {id}"
    ));
    sql
}

/// Makes queued deliveries due at `at` if they are due later and not leased, in the order of their keys. The
/// lookup has the form of the queue's own statements, whose plans stay fast with a long queue.
pub(super) fn bring_forward(
    layout: SharedLayout,
    tenant: Tenant,
    sooner: &[ExpediteDelivery],
    at: Timestamp,
) -> Vec<Sql> {
    let mut expeditions: Vec<_> = sooner.iter().collect();
    expeditions
        .sort_unstable_by_key(|expedition| (expedition.webhook_id.to_bytes(), expedition.event_id.to_bytes()));
    let mut sql = Sql::default();
    let (tenant, at) = (sql.tenant(tenant), sql.bind(SqlValue::Time(at)));
    let announced_ids = || expeditions.iter().map(|expedition| expedition.promised);
    let arrays = [
        sql.ids(expeditions.iter().map(|expedition| expedition.webhook_id.to_bytes())),
        sql.ids(expeditions.iter().map(|expedition| expedition.event_id.to_bytes())),
        sql.many(
            Type::Int,
            announced_ids().map(|promise| {
                promise.map_or(SqlValue::Null(Type::Int), |(promise, _)| SqlValue::Int(i64::from(promise)))
            }),
        ),
        sql.many(
            Type::Id,
            announced_ids().map(|id| id.map_or(SqlValue::Null(Type::Id), |(_, id)| SqlValue::Id(id.to_bytes()))),
        ),
    ];
    let count = sql.bind(SqlValue::Int(i64::try_from(announced_ids().flatten().count()).unwrap_or(i64::MAX)));
    let all = assert_sql(&format!("(SELECT count(*) FROM sooner WHERE delivery_id IS NOT NULL) = {count}"), STALE);
    let arrays = arrays.join(", ");
    let (u, promise) = (
        "u (webhook_id, event_id, attempt, delivery_id)",
        "(u.delivery_id IS NULL OR (j.attempt = u.attempt AND (j.delivery_id IS NULL \
         OR j.delivery_id = u.delivery_id)))",
    );
    let address = layout.address(&["webhook_id", "event_id"]);
    let (columns, names, is_found) = (address.columns(), address.names("j"), address.is_same("j", "f", &tenant));
    let matching_jobs = format!(
        "SELECT {names}, u.delivery_id FROM UNNEST({arrays}) AS {u} CROSS JOIN LATERAL \
         (SELECT {columns} FROM delivery_jobs AS j WHERE j.tenant_id = {tenant} AND j.webhook_id = u.webhook_id \
         AND j.event_id >= u.event_id AND j.event_id <= u.event_id AND {promise} \
         ORDER BY j.event_id LIMIT 1 FOR UPDATE) AS j"
    );
    sql.push(&format!(
        "WITH found AS MATERIALIZED ({matching_jobs}), \
         sooner AS (UPDATE delivery_jobs AS j SET delivery_id = COALESCE(f.delivery_id, j.delivery_id), \
         due_at = CASE WHEN j.due_at > {at} AND (j.leased_until IS NULL OR j.leased_until <= {at}) THEN {at} \
         ELSE j.due_at END FROM found AS f WHERE {is_found} RETURNING f.delivery_id) SELECT {all}",
    ));
    vec![Sql::plain(STEER), sql]
}

/// Marks the event about a failing subscription as fired.
pub(super) fn report_failing(statement: &mut Statement, id: WebhookId) {
    let (id, tenant) = (statement.sql.id(id.to_bytes()), statement.tenant.clone());
    let from = statement.source_clause("");
    let part = statement.part(&format!(
        "UPDATE webhooks AS t SET failing_due = NULL {from} WHERE t.tenant_id = {tenant} AND t.id = {id} \
             AND t.failing_due IS NOT NULL RETURNING 1"
    ));
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}

/// Queues requested deliveries in the order of their keys, so that concurrent requests for the same deliveries
/// cannot deadlock.
pub(super) fn enqueue(statement: &mut Statement, jobs: &[Job], lease: Option<Lease>) {
    if jobs.is_empty() {
        return;
    }
    let mut jobs: Vec<_> = jobs.iter().collect();
    jobs.sort_unstable_by_key(|job| (job.webhook_id.to_bytes(), job.event_id.to_bytes()));
    let sql = &mut statement.sql;
    let arrays = [
        sql.ids(jobs.iter().map(|job| job.webhook_id.to_bytes())),
        sql.ids(jobs.iter().map(|job| job.event_id.to_bytes())),
        sql.many(Type::Text, jobs.iter().map(|job| text(job.event_type))),
        sql.many(Type::Int, jobs.iter().map(|job| SqlValue::Int(i64::from(job.attempt)))),
        sql.many(Type::Time, jobs.iter().map(|job| SqlValue::Time(job.first_due_at))),
        sql.many(Type::Text, jobs.iter().map(|job| text(job.origin))),
        sql.many(
            Type::Id,
            jobs.iter()
                .map(|job| job.delivery_id.map_or(SqlValue::Null(Type::Id), |job| SqlValue::Id(job.to_bytes()))),
        ),
    ];
    let (due, tenant) = (due_and_lease(statement, lease, "u.due_at"), statement.tenant.clone());
    let from = statement.source_clause(&format!(
        "UNNEST({}) AS u (webhook_id, event_id, event_type, attempt, due_at, origin, delivery_id)",
        arrays.join(", ")
    ));
    queue(
        statement,
        &format!(
            "SELECT {tenant}, u.webhook_id, u.event_id, u.event_type, u.attempt, u.due_at, u.origin, \
             u.delivery_id, {due} {from}"
        ),
    );
    let count_of_announced = jobs.iter().filter(|job| job.delivery_id.is_some()).count();
    if let (Some(queued), 1..) = (statement.queued.last(), count_of_announced) {
        // A bind instead of a literal: each literal count would be a new prepared statement.
        let announced_count =
            statement.sql.bind(SqlValue::Int(i64::try_from(count_of_announced).unwrap_or(i64::MAX)));
        let has_all_announced =
            format!("(SELECT count(*) FROM {queued} WHERE delivery_id IS NOT NULL) = {announced_count}");
        statement.check(&has_all_announced, STALE);
    }
}

/// Queues events for every active subscription of the tenant that wants them, except the `written` ones and those
/// whose filter an event does not meet. For tenants without subscriptions this costs one index lookup.
pub(super) fn fan_out(statement: &mut Statement, events: &[&Event], written: &[WebhookId], lease: Option<Lease>) {
    let BoundEvents { source, columns: [event, kind, at, bit], is_permitted } = match events {
        [] => return,
        [one] => bound_events::bind_one(statement, one),
        many => bound_events::bind_several(statement, many),
    };
    let (due, tenant) = (due_and_lease(statement, lease, &at), statement.tenant.clone());
    let from = statement.source_clause(&format!("webhooks AS w{source}"));
    // Reading the earlier parts makes this part run after them: a delivery requested in the same change set keeps
    // its origin. Layouts that run parts in order need no such condition.
    let earlier_parts = if statement.layout.runs_parts_in_order() { &[][..] } else { &statement.queued };
    let after_parts: String =
        earlier_parts.iter().map(|table| format!(" AND (SELECT count(*) FROM {table}) >= 0")).collect();
    // No condition without written subscriptions: most change sets then share one prepared statement.
    let others = if written.is_empty() {
        String::new()
    } else {
        let subscription_ids = statement.sql.ids(written.iter().map(|id| id.to_bytes()));
        format!(" AND w.id <> ALL({subscription_ids})")
    };
    queue(
        statement,
        &format!(
            "SELECT w.tenant_id, w.id, {event}, {kind}, 1, {at}, '{origin}', NULL, {due} {from} \
             WHERE w.tenant_id = {tenant} AND w.wanted <> 0 AND w.wanted & {bit} <> 0 \
             AND {is_permitted}{others}{after_parts}",
            origin = DeliveryOrigin::Event.word(),
        ),
    );
}

/// Returns `true` if a change set writes subscriptions.
pub(super) fn are_changed(change: &ChangeSet) -> bool {
    let is_row = |write: &Write| matches!(write, Write::Put(row) if row.table().name == Subscription::TABLE.name);
    change.writes.iter().any(|write| is_row(write) || matches!(write, Write::WebhookRemoved(..)))
}

pub(super) fn text(word: impl StringEnum) -> SqlValue {
    SqlValue::Text(word.word().to_owned())
}

/// SQL for the due time, the worker and the end of the lease of a delivery.
fn due_and_lease(statement: &mut Statement, lease: Option<Lease>, at: &str) -> String {
    match lease {
        None => format!("{at}, NULL, NULL"),
        Some(Lease { worker, until }) => {
            format!("{at}, {}, {}", statement.sql.id(worker.0), statement.sql.bind(SqlValue::Time(until)))
        }
    }
}

fn queue(statement: &mut Statement, rows: &str) {
    let part = statement.part(&format!(
        "INSERT INTO delivery_jobs ({COLUMNS}) {rows} ON CONFLICT DO NOTHING \
             RETURNING webhook_id, event_id, delivery_id"
    ));
    statement.queued.push(part);
}
