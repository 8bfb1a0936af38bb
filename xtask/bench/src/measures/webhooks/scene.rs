//! Events that can be queued, subscriptions, and the queue itself.

use crate::Outcome;
use crate::burst::{Shape, burst};
use crate::data::{EVENTS, numbers};
use crate::database::Database;
use crate::http::Connection;
use crate::receiver::Receiver;
use crate::service::pause;
use crate::stage::{Side, Stage};
use crate::traffic;
use candor_domain::id::WebhookId;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;

/// What no request of any measure announces.
pub(super) const NEVER: &str = "employee.rehired";
/// What a create announces.
pub(super) const CREATED: &str = "observation.created";
/// Events that can be queued.
pub(super) const EVENTS_STORED: u32 = 100_000;
/// Not the seed of any turn, so that no request is a retry of another.
const SEED_OF_THE_FIRST: u64 = 2_000;
/// Nothing is waited for any longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// The service on one store, and its database.
pub(super) struct Scene<'a> {
    pub(super) side: &'a Side,
    db: Database,
    /// What the events say of what was created.
    pub(super) data: String,
}

/// A subscription that was created over the API.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subscription(WebhookId);

impl<'a> Scene<'a> {
    /// Stores events like the one of a create, if they are not there yet.
    pub(super) fn set(stage: &Stage, side: &'a Side) -> Outcome<Self> {
        let creates = traffic::create(&side.key, stage.size, side.attributes.clone());
        burst(side.service.address, &creates, Shape::of_few(1, SEED_OF_THE_FIRST))?;
        let db = side.database()?;
        let dialect = db.dialect;
        let last = dialect.bytes(EVENTS.id(EVENTS_STORED - 1));
        let data = format!("SELECT max(data) FROM events WHERE type = '{CREATED}'");
        if db.number(&format!("SELECT count(*) FROM events WHERE id = {last}"))? == 0 {
            db.run(&format!(
                "INSERT INTO events (tenant_id, id, type, created_at, data) {} SELECT {}, {}, '{CREATED}', {}, ({data}) FROM n",
                numbers(EVENTS_STORED),
                dialect.bytes(side.tenant),
                dialect.id(EVENTS, "k"),
                dialect.minutes_ago(10),
            ))?;
        }
        Ok(Self { side, data: db.text(&data)?, db })
    }

    /// Subscribes a receiver to events of one type.
    pub(super) fn subscribe(&self, receiver: &Receiver, event_type: &str) -> Outcome<Subscription> {
        let made = self.ask("POST /v1/webhooks", &json!({"url": receiver.url(), "event_types": [event_type]}))?;
        let id = made["id"].as_str().ok_or("a subscription without an id")?;
        Ok(Subscription(id.parse().map_err(|_| format!("{id} is no id of a subscription"))?))
    }

    pub(super) fn activate(&self, subscription: &Subscription, active: bool) -> Outcome {
        self.ask(&format!("PATCH /v1/webhooks/{}", subscription.0), &json!({"active": active})).map(drop)
    }

    fn ask(&self, line: &str, body: &Value) -> Outcome<Value> {
        let (body, key) = (body.to_string(), &self.side.key);
        let request = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let address = self.side.service.address;
        Builder::new_current_thread().enable_all().build()?.block_on(async {
            let mut connection = Connection::open(address).await?;
            let (status, body) = connection.exchange(request.as_bytes()).await?;
            if !(200..300).contains(&status) {
                return Err(format!("{line} answered {status}: {}", String::from_utf8_lossy(body)).into());
            }
            Ok(serde_json::from_slice(body)?)
        })
    }

    /// Queues the first so many events, due for a minute.
    pub(super) fn queue(&self, to: &Subscription, count: u32) -> Outcome {
        let dialect = self.db.dialect;
        let at = dialect.minutes_ago(1);
        self.db.run(&format!(
            "INSERT INTO delivery_jobs (tenant_id, webhook_id, event_id, event_type, attempt, first_due_at, origin, \
             delivery_id, due_at, worker) {} SELECT {}, {}, {}, '{CREATED}', 1, {at}, 'event', NULL, {at}, NULL FROM n",
            numbers(count),
            dialect.bytes(self.side.tenant),
            dialect.bytes(to.0.to_bytes()),
            dialect.id(EVENTS, "k"),
        ))
    }

    /// Takes out of the queue what is in it for a subscription.
    pub(super) fn unqueue(&self, of: &Subscription) -> Outcome {
        self.db.run(&format!("DELETE FROM delivery_jobs WHERE {}", self.of(of)))?;
        self.tidy()
    }

    /// What a server does by itself, but not in the middle of a turn.
    pub(super) fn tidy(&self) -> Outcome {
        match self.db.dialect {
            crate::data::Dialect::Postgres => self.db.run("VACUUM delivery_jobs"),
            crate::data::Dialect::Sqlite => Ok(()),
        }
    }

    /// Waits until nothing is queued for a subscription.
    pub(super) fn until_empty(&self, of: &Subscription) -> Outcome {
        let any = format!("SELECT count(*) FROM (SELECT 1 FROM delivery_jobs WHERE {} LIMIT 1) AS found", self.of(of));
        until_true("everything is recorded", || Ok(self.db.number(&any)? == 0))
    }

    fn of(&self, subscription: &Subscription) -> String {
        let Database { dialect, .. } = &self.db;
        let (tenant, webhook) = (dialect.bytes(self.side.tenant), dialect.bytes(subscription.0.to_bytes()));
        format!("tenant_id = {tenant} AND webhook_id = {webhook}")
    }
}

/// Waits for a condition.
pub(super) fn until(what: &str, is_so: impl Fn() -> bool) -> Outcome {
    until_true(what, || Ok(is_so()))
}

fn until_true(what: &str, is_so: impl Fn() -> Outcome<bool>) -> Outcome {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() > PATIENCE {
            return Err(format!("{PATIENCE:?} were not enough until {what}").into());
        }
        pause();
    }
    Ok(())
}
