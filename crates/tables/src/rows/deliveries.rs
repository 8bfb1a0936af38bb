//! The delivery log, and the delivery queue.

use candor_domain::access::Tenant;
use candor_domain::fields::Word;
use candor_domain::id::{DeliveryId, DeliveryKind, Id, WebhookId};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, DeliveryFilter, Job, Status};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, STATUS, TypedListing};

/// The delivery log. `created_at` is the time in the id of an attempt. Old rows have null in columns that
/// were added later.
const TABLE: Table = Table {
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
    versioned: false,
    indexes: &[
        Index::unique(&["webhook_id", "status", "created_at", "id"]),
        Index::on(&["webhook_id", "status", "event_type", "created_at", "id"]),
        Index::on(&["webhook_id", "status", "event_id", "created_at", "id"]),
    ],
    ..Table::named("deliveries")
};

impl Stored for Delivery {
    type Kind = DeliveryKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

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
        out.opt_word(self.failure);
        out.time(self.logged_at());
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
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

/// Returns the time in the id of an attempt.
fn time_of(id: DeliveryId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}

/// List of `GET /webhooks/{id}/deliveries` (§4.4).
#[must_use]
pub fn list(webhook: WebhookId, filter: &DeliveryFilter, sort: Sort, page: &PageRequest) -> TypedListing<Delivery> {
    let mut it = Listing::new::<Delivery>(sort, page);
    it.is(column("webhook_id", Type::Id), Some(webhook));
    let statuses = Status::ALL.iter().filter(|it| filter.status.is_none_or(|wanted| wanted == **it));
    it.runs(STATUS, statuses.map(|it| it.word()));
    it.is(column("event_type", Type::Text), filter.event_type.map(|it| it.word().to_owned()));
    it.is(column("event_id", Type::Id), filter.event_id);
    it.alone()
}

const JOBS: Table = Table {
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
    versioned: false,
    indexes: &[Index::unique(&["webhook_id", "event_id"])],
    ..Table::named("delivery_jobs")
};

/// The delivery queue, which change sets do not write as rows. Its columns have the order of [`read_job`].
pub const JOB_TABLE: &Table = &JOBS;

/// Decodes a queued delivery.
///
/// # Errors
/// [`Corrupt`] naming the column.
pub fn read_job(row: &mut Reader<'_>) -> Result<Job, Corrupt> {
    Ok(Job {
        tenant: Tenant::from_bytes(row.bytes16()?),
        webhook_id: row.id()?,
        event_id: row.id()?,
        event_type: row.word()?,
        attempt: row.number()?,
        first_due_at: row.time()?,
        origin: row.word()?,
        delivery_id: row.opt_id()?,
    })
}
