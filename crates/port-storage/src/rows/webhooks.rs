//! Webhook subscriptions, and the log of attempts, as rows.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::fields::Word;
use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, SealedSecret, Streak, Subscription, Topics};
use serde::{Deserialize, Serialize};

use super::column;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::store::StorageError;

const WEBHOOKS: Table = Table {
    name: "webhooks",
    columns: &[
        column("id", Type::Id),
        column("url", Type::Text),
        column("event_types", Type::Text),
        column("active", Type::Flag),
        column("description", Type::Text),
        column("secrets", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    // What is looked up for every event: the types it wants as bits, none while it is not active.
    derived: &[column("wanted", Type::Int)],
    recorded: &[
        column("last_delivery_at", Type::Time),
        column("last_delivery_status", Type::Text),
        column("failures", Type::Int),
        column("failing_since", Type::Time),
    ],
    versioned: true,
    members: None,
    indexes: &[Index::on(&["created_at", "id"]), Index::on(&["updated_at", "id"])],
};

/// A sealed secret as it stands in its column.
#[derive(Serialize, Deserialize)]
struct Sealed {
    sealed: String,
    ends_at: Option<i64>,
}

fn seals(secrets: &[SealedSecret]) -> String {
    let seal =
        |it: &SealedSecret| Sealed { sealed: STANDARD.encode(&it.sealed), ends_at: it.ends_at.map(|it| it.millis()) };
    serde_json::to_string(&secrets.iter().map(seal).collect::<Vec<_>>()).unwrap_or_default()
}

fn secrets(text: &str) -> Option<Vec<SealedSecret>> {
    let seals: Vec<Sealed> = serde_json::from_str(text).ok()?;
    let secret = |it: Sealed| {
        Some(SealedSecret { sealed: STANDARD.decode(it.sealed).ok()?, ends_at: it.ends_at.map(Timestamp::from_millis) })
    };
    seals.into_iter().map(secret).collect()
}

impl Stored for Subscription {
    const TABLE: &'static Table = &WEBHOOKS;

    fn write(&self, out: &mut Cells) {
        let topics: Vec<_> = self.event_types.as_slice().iter().map(|it| it.word()).collect();
        out.id(self.id);
        out.text(&self.url);
        out.text(topics.join(" "));
        out.put(Cell::Flag(self.active));
        out.opt_text(self.description.as_ref());
        out.text(seals(&self.secrets));
        out.time(self.created_at);
        out.time(self.updated_at);
        out.put(Cell::Int(if self.active { self.event_types.bits() } else { 0 }));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        let mut it = Self {
            id: row.id()?,
            url: row.text()?,
            event_types: row.parse(|text| Topics::from_words(text.split(' ')).ok())?,
            active: row.flag()?,
            description: row.opt_text()?,
            secrets: row.parse(secrets)?,
            created_at: row.time()?,
            updated_at: row.time()?,
            last_delivery_at: None,
            last_delivery_status: None,
            streak: Streak::default(),
        };
        it.last_delivery_at = row.opt_time()?;
        it.last_delivery_status = row.opt_parse(|text| Word::from_word(text).ok())?;
        it.streak = Streak { failures: row.opt_small()?.unwrap_or_default(), since: row.opt_time()? };
        Ok(it)
    }
}

/// The log; `created_at` is the time inside the id of an attempt. Old rows lack what was added to their columns later.
const DELIVERIES: Table = Table {
    name: "deliveries",
    columns: &[
        column("id", Type::Id),
        column("webhook_id", Type::Id),
        column("event_id", Type::Id),
        column("event_type", Type::Text),
        column("attempt", Type::Int),
        column("status", Type::Text),
        column("request_url", Type::Text),
        column("response_status", Type::Int),
        column("response_duration_ms", Type::Int),
        column("next_attempt_at", Type::Time),
        column("delivered_at", Type::Time),
        column("attempted_at", Type::Time),
        column("failure", Type::Text),
    ],
    derived: &[column("created_at", Type::Time)],
    recorded: &[],
    versioned: false,
    members: None,
    indexes: &[
        Index::unique(&["webhook_id", "status", "created_at", "id"]),
        Index::on(&["webhook_id", "status", "event_type", "created_at", "id"]),
        Index::on(&["webhook_id", "status", "event_id", "created_at", "id"]),
    ],
};

impl Stored for Delivery {
    const TABLE: &'static Table = &DELIVERIES;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.subscription_id);
        out.id(self.event_id);
        out.word(self.event_type);
        out.put(Cell::Int(i64::from(self.attempt)));
        out.word(self.status);
        out.text(&self.request_url);
        out.put(Cell::Int(i64::from(self.response_status)));
        out.put(Cell::Int(i64::from(self.response_duration_ms)));
        out.opt_time(self.next_attempt_at);
        out.opt_time(self.delivered_at);
        out.time(self.attempted_at);
        out.opt_text(self.failure.map(|it| it.word().to_owned()).as_ref());
        out.time(self.logged_at());
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        let id: DeliveryId = row.id()?;
        Ok(Self {
            id,
            subscription_id: row.id()?,
            event_id: row.id()?,
            event_type: row.word()?,
            attempt: row.number()?,
            status: row.word()?,
            request_url: row.text()?,
            response_status: row.number()?,
            response_duration_ms: row.number()?,
            next_attempt_at: row.opt_time()?,
            delivered_at: row.opt_time()?,
            attempted_at: row.opt_time()?.unwrap_or_else(|| time_of(id)),
            failure: row.opt_parse(|text| Word::from_word(text).ok())?,
        })
    }
}

/// When the id of an attempt was made.
fn time_of(id: DeliveryId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}

const JOBS: Table = Table {
    name: "delivery_jobs",
    columns: &[
        column("tenant_id", Type::Id),
        column("webhook_id", Type::Id),
        column("event_id", Type::Id),
        column("event_type", Type::Text),
        column("attempt", Type::Int),
        column("first_due_at", Type::Time),
        column("origin", Type::Text),
        column("delivery_id", Type::Id),
    ],
    derived: &[column("due_at", Type::Time), column("worker", Type::Id), column("leased_until", Type::Time)],
    recorded: &[],
    versioned: false,
    members: None,
    indexes: &[Index::unique(&["webhook_id", "event_id"])],
};

/// The queue, which no change set writes row by row: its columns in the order in which [`read_job`] reads them.
pub const JOB_TABLE: &Table = &JOBS;

/// Reads a queued delivery.
///
/// # Errors
/// [`StorageError::Corrupt`] naming the column.
pub fn read_job(row: &mut Reader<'_>) -> Result<candor_domain::webhook::Job, StorageError> {
    Ok(candor_domain::webhook::Job {
        tenant: candor_domain::access::Tenant::from_bytes(row.bytes16()?),
        webhook_id: row.id()?,
        event_id: row.id()?,
        event_type: row.word()?,
        attempt: row.number()?,
        first_due_at: row.time()?,
        origin: row.word()?,
        delivery_id: row.opt_id()?,
    })
}
