//! Subscriptions, and a queue of deliveries that is filled in the database.

use crate::data::{self, numbers};
use crate::measures::*;
use crate::service::wait_until;
use candor_domain::id::WebhookId;

/// Type of event that a create causes.
const CREATED: &str = "observation.created";
/// Number of events that can be queued.
pub(super) const EVENTS: u32 = 100_000;
/// Seed of the create that ensures an event to copy. No measured turn has this seed, so none repeats the create.
const FIRST_SEED: u64 = 2_000;
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// The service on one store, with its database.
pub(super) struct DeliveryQueue<'a> {
    pub(super) instance: &'a Instance,
    database: Database,
    /// JSON data of the event of a create.
    pub(super) event_data: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Subscription(WebhookId);

impl<'a> DeliveryQueue<'a> {
    /// Stores events like that of a create, if they are not stored yet.
    pub(super) fn prepare(data: &DataSet<'_>, instance: &'a Instance) -> Result<Self> {
        burst(instance.service.address, &instance.creates(data.size), Shape::for_requests(1, FIRST_SEED))?;
        let (database, store) = (instance.database()?, instance.store);
        let last = store.bytes(data::EVENTS.id(EVENTS - 1));
        let event_data = format!("(SELECT max(data) FROM events WHERE type = '{CREATED}')");
        if database.number(&format!("(SELECT count(*) FROM events WHERE id = {last})"))? == 0 {
            database.run(&format!(
                "INSERT INTO events (tenant_id, id, type, created_at, data) {} SELECT {}, {}, '{CREATED}', {}, \
                 {event_data} FROM n",
                numbers(EVENTS),
                store.bytes(instance.tenant),
                store.id(data::EVENTS, "k"),
                store.minutes_ago(10),
            ))?;
            database.checkpoint()?;
        }
        Ok(Self { instance, event_data: database.text(&event_data)?, database })
    }

    /// Subscribes a receiver to the events of creates.
    pub(super) fn subscribe(&self, url: &str) -> Result<Subscription> {
        self.create(&json!({"url": url, "event_types": [CREATED]}))
    }

    /// Subscribes a receiver that gets only what [`fill`](Self::fill) queues: its filter names no stored person.
    pub(super) fn subscribe_to_filled(&self, url: &str) -> Result<Subscription> {
        let filter = json!({"employee_id": ["emp_00000000000000000000000000"]});
        self.create(&json!({"url": url, "event_types": [CREATED], "filter": filter}))
    }

    fn create(&self, body: &serde_json::Value) -> Result<Subscription> {
        Ok(Subscription(self.instance.api.create("/v1/webhooks", body)?.parse()?))
    }

    pub(super) fn set_active(&self, subscription: &Subscription, active: bool) -> Result {
        let path = format!("/v1/webhooks/{}", subscription.0);
        self.instance.api.send("PATCH", &path, &json!({"active": active})).map(drop)
    }

    /// Queues the first `count` events. They are due since a minute ago.
    pub(super) fn fill(&self, to: &Subscription, count: u32) -> Result {
        let store = self.instance.store;
        let due_at = store.minutes_ago(1);
        self.database.run(&format!(
            "INSERT INTO delivery_jobs (tenant_id, webhook_id, event_id, event_type, attempt, first_due_at, \
             origin, delivery_id, due_at, worker) {} SELECT {}, {}, {}, '{CREATED}', 1, {due_at}, 'event', NULL, {due_at}, \
             NULL FROM n",
            numbers(count),
            store.bytes(self.instance.tenant),
            store.bytes(to.0.to_bytes()),
            store.id(data::EVENTS, "k"),
        ))?;
        self.database.checkpoint()
    }

    /// Deletes the deliveries that are queued for a subscription.
    pub(super) fn empty(&self, of: &Subscription) -> Result {
        self.database.run(&format!("DELETE FROM delivery_jobs WHERE {}", self.condition(of)))?;
        self.database.checkpoint()?;
        // Without this, autovacuum would remove the dead rows, perhaps during a turn.
        self.database.run_by_store("VACUUM delivery_jobs", "")
    }

    /// Waits until no delivery is queued for a subscription.
    pub(super) fn wait_until_empty(&self, of: &Subscription) -> Result {
        let any = format!("EXISTS (SELECT 1 FROM delivery_jobs WHERE {})", self.condition(of));
        let remaining_rows = format!("(SELECT CASE WHEN {any} THEN 1 ELSE 0 END)");
        wait_until("every attempt is recorded", PATIENCE, || Ok(self.database.number(&remaining_rows)? == 0))
    }

    fn condition(&self, subscription: &Subscription) -> String {
        let store = self.instance.store;
        let (tenant, webhook) = (store.bytes(self.instance.tenant), store.bytes(subscription.0.to_bytes()));
        format!("tenant_id = {tenant} AND webhook_id = {webhook}")
    }
}
