//! Webhook subscriptions and their delivery log.

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
use candor_tables::flat::{CellReader, Reader, Stored};
use candor_tables::read::read_versioned;
use candor_tables::rows::without_types;

use super::{log_figures, redelivery};
use crate::sql::row::tenant_of;
use crate::sql::{Db, Sql, Value};
use crate::table;
use crate::{SqliteStore, queue};

#[async_trait]
impl Webhooks for SqliteStore {
    async fn subscribers(&self, tenant: Tenant) -> Read<Subscribers> {
        self.look_up(tenant, move |db| subscribers(db, tenant)).await
    }

    async fn every_webhook(
        &self,
        after: Option<QueueKey>,
        most: u16,
    ) -> Read<Vec<(Tenant, Versioned<Subscription>)>> {
        self.read(None, move |db| subscriptions_after(db, after, most)).await
    }

    async fn delivery(&self, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>> {
        self.look_up(tenant, move |db| attempt(db, tenant, webhook, id)).await
    }

    async fn events_by_id(&self, wanted: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>> {
        let event_keys = wanted.to_vec();
        self.look_up_all(None, event_keys.len(), move |db| events(db, event_keys)).await
    }

    async fn log_figures(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        range: (Timestamp, Timestamp),
        hidden: &[EventType],
    ) -> Read<LogFigures> {
        let conditions = vec![log_figures::WINDOW.to_owned()];
        let without_hidden = without_types(hidden);
        self.slowly(tenant, conditions, move |db| log_figures::read(db, (tenant, webhook), range, &without_hidden))
            .await
    }

    async fn queued_delivery(&self, tenant: Tenant, webhook: WebhookId, event: EventId) -> Read<Option<Job>> {
        self.look_up(tenant, move |db| queue::read_queued(db, (tenant, webhook), event)).await
    }

    async fn to_deliver_again(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        which: &RedeliveryFilter,
        after: Option<EventId>,
        most: u16,
    ) -> Read<Vec<EventToRedeliver>> {
        let which = which.clone();
        self.read(tenant, move |db| redelivery::events(db, (tenant, webhook), &which, after, most)).await
    }
}

/// Reads one attempt. The primary key includes the status, so all statuses are queried.
pub(crate) fn attempt(db: &mut Db, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>> {
    let columns = &db.statements(Delivery::TABLE).columns;
    let statuses: Vec<_> = Status::words().iter().map(|word| format!("'{word}'")).collect();
    let text = format!(
        "SELECT {columns} FROM deliveries WHERE tenant_id = ? AND webhook_id = ? AND status IN ({}) \
         AND created_at = ? AND id = ?",
        statuses.join(", ")
    );
    let begun_at = Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX));
    db.first(Sql::new(text).bind(tenant).bind(webhook).bind(begun_at).bind(id), table::value)
}

/// Returns the selected event types of each subscription of a tenant.
pub(crate) fn subscribers(db: &mut Db, tenant: Tenant) -> Read<Subscribers> {
    let read_number = |row: &mut dyn CellReader| Ok(Reader::new(row, Subscription::TABLE).int()?);
    let sql = Sql::new("SELECT wanted FROM webhooks WHERE tenant_id = ?").bind(tenant);
    Ok(Subscribers::new(db.rows(sql, read_number)?))
}

/// Returns the subscriptions of all tenants after a key.
pub(crate) fn subscriptions_after(
    db: &mut Db,
    after: Option<QueueKey>,
    most: u16,
) -> Read<Vec<(Tenant, Versioned<Subscription>)>> {
    let columns = &db.statements(Subscription::TABLE).columns;
    let text = format!(
        "SELECT tenant_id, {columns} FROM webhooks WHERE (tenant_id, id) > (?, ?) ORDER BY tenant_id, id LIMIT ?"
    );
    // An empty blob sorts before every id.
    let start = || Value::Blob(vec![]);
    let sql = Sql::new(text)
        .bind(after.map_or_else(start, |(tenant, _)| tenant.into()))
        .bind(after.map_or_else(start, |(_, webhook)| webhook.into()));
    db.rows(sql.bind(i64::from(most)), |row| Ok((tenant_of(row, Subscription::TABLE.name)?, read_versioned(row)?)))
}

/// Returns the events that exist among `wanted`.
pub(crate) fn events(db: &mut Db, mut wanted: Vec<(Tenant, EventId)>) -> Read<Vec<(Tenant, Event)>> {
    wanted.sort_unstable_by_key(|(tenant, id)| (tenant.to_bytes(), *id));
    wanted.dedup();
    let mut events = Vec::with_capacity(wanted.len());
    for (tenant, id) in wanted {
        events.extend(table::one::<Event>(db, tenant, id.to_bytes())?.map(|event| (tenant, event)));
    }
    Ok(events)
}
