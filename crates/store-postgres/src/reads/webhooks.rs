//! Reads of webhook subscriptions and of their delivery log.

use std::collections::BTreeSet;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::time::Timestamp;
use candor_port_storage::Versioned;
use candor_port_storage::error::Read;
use candor_port_storage::queue::{EventToRedeliver, QueueKey, RedeliveryFilter, Webhooks};
use candor_subscriptions::{Delivery, Job, LogFigures, Status, Subscribers, Subscription};
use candor_tables::flat::{CellReader, Reader, SqlValue, Stored};
use candor_tables::rows::{JOB_TABLE, read_job, without_types};
use futures_util::future::try_join_all;

use super::redelivery;
use crate::nodes::transaction::Transaction;
use crate::sql::Sql;
use crate::sql::row::{columns, int, owner, read_versioned};
use crate::store::PostgresStore;

#[async_trait]
impl Webhooks for PostgresStore {
    async fn subscribers(&self, tenant: Tenant) -> Read<Subscribers> {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        sql.push(&format!("SELECT wanted FROM webhooks WHERE tenant_id = {tenant}"));
        Ok(Subscribers::new(self.read(&sql, int).await?))
    }

    async fn every_webhook(
        &self,
        after: Option<QueueKey>,
        most: u16,
    ) -> Read<Vec<(Tenant, Versioned<Subscription>)>> {
        let mut sql = Sql::default();
        let ids = after.map_or_else(Default::default, |(tenant, webhook)| (tenant.to_bytes(), webhook.to_bytes()));
        let (tenant, webhook, most) = (sql.id(ids.0), sql.id(ids.1), sql.bind(SqlValue::Int(i64::from(most))));
        let columns = columns(Subscription::TABLE, "");
        sql.push(&format!(
            "SELECT tenant_id, {columns} FROM webhooks WHERE (tenant_id, id) > ({tenant}, {webhook}) \
             ORDER BY tenant_id, id LIMIT {most}"
        ));
        self.run_exclusive(&sql, |row| Ok((owner(row)?, read_versioned(row)?))).await
    }

    async fn delivery(&self, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>> {
        let mut sql = Sql::default();
        let (tenant, queue) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
        let (at, delivery) = (sql.bind(SqlValue::Time(begun_at(id))), sql.id(id.to_bytes()));
        let columns = columns(Delivery::TABLE, "");
        let deliveries_with = |word: &&str| {
            format!(
                "(SELECT * FROM deliveries WHERE tenant_id = {tenant} AND webhook_id = {queue} \
                 AND status = '{word}' AND created_at = {at} AND id = {delivery} LIMIT 1)"
            )
        };
        let runs: Vec<_> = Status::words().iter().map(deliveries_with).collect();
        sql.push(&format!("SELECT {columns} FROM ({}) AS r LIMIT 1", runs.join(" UNION ALL ")));
        let delivery_row: Option<Versioned<Delivery>> = self.find(&sql, read_versioned).await?;
        Ok(delivery_row.map(|row| row.value))
    }

    async fn events_by_id(&self, wanted: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>> {
        let mut by_scope = vec![];
        for scope in self.layout.scopes(wanted.iter().map(|(tenant, _)| *tenant)) {
            let own_events = wanted.iter().filter(|(tenant, _)| scope.is_none_or(|scope| scope == *tenant));
            by_scope.push(events_sql(scope, own_events));
        }
        let reads = by_scope.iter().map(|sql| self.read(sql, |row| Ok((owner(row)?, read_versioned(row)?.value))));
        Ok(try_join_all(reads).await?.into_iter().flatten().collect())
    }

    async fn log_figures(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        range: (Timestamp, Timestamp),
        hidden: &[EventType],
    ) -> Read<LogFigures> {
        self.figures((tenant, webhook), range, &without_types(hidden)).await
    }

    async fn queued_delivery(&self, tenant: Tenant, webhook: WebhookId, event: EventId) -> Read<Option<Job>> {
        let mut sql = Sql::default();
        let (tenant, webhook) = (sql.tenant(tenant), sql.id(webhook.to_bytes()));
        let (event, columns) = (sql.id(event.to_bytes()), columns(JOB_TABLE, ""));
        sql.push(&format!(
            "SELECT {columns} FROM delivery_jobs WHERE tenant_id = {tenant} AND webhook_id = {webhook} \
             AND event_id = {event}"
        ));
        let read = |row: &mut dyn CellReader| Ok(read_job(&mut Reader::new(row, JOB_TABLE))?);
        Ok(self.send(Transaction::with_index_plans(vec![sql]), read).await?.into_iter().next())
    }

    async fn to_deliver_again(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        which: &RedeliveryFilter,
        after: Option<EventId>,
        most: u16,
    ) -> Read<Vec<EventToRedeliver>> {
        let transaction =
            Transaction::with_index_plans(vec![redelivery::sql((tenant, webhook), which, after, most)]);
        self.send(transaction, redelivery::event).await
    }
}

/// Builds the query for events by id: of one tenant, or of several in one statement.
fn events_sql<'w>(scope: Option<Tenant>, wanted: impl Iterator<Item = &'w (Tenant, EventId)>) -> Sql {
    let event_keys: BTreeSet<_> = wanted.map(|(tenant, event)| (tenant.to_bytes(), event.to_bytes())).collect();
    let mut sql = Sql::default();
    if let Some(tenant) = scope {
        let (tenant, ids) = (sql.tenant(tenant), sql.ids(event_keys.iter().map(|(_, id)| *id)));
        let columns = columns(Event::TABLE, "");
        sql.push(&format!(
            "SELECT tenant_id, {columns} FROM events WHERE tenant_id = {tenant} AND id = ANY({ids})"
        ));
        return sql;
    }
    let tenants = sql.ids(event_keys.iter().map(|(tenant, _)| *tenant));
    let ids = sql.ids(event_keys.iter().map(|(_, id)| *id));
    let columns = columns(Event::TABLE, "e.");
    // Only the primary key has this order; the index of the feed begins with the tenant too.
    sql.push(&format!(
        "SELECT u.tenant_id, {columns} FROM UNNEST({tenants}, {ids}) AS u (tenant_id, id) CROSS JOIN LATERAL \
         (SELECT * FROM events WHERE tenant_id = u.tenant_id AND id >= u.id AND id <= u.id ORDER BY id \
         LIMIT 1) AS e"
    ));
    sql
}

/// Returns the time in the id of an attempt.
fn begun_at(id: DeliveryId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}
