//! Mapping of the delivery log and the delivery queue.

use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, DeliveryKind, WebhookId};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, DeliveryFilter, Job, Status};

use super::column;
use crate::codec::{self, IdColumn, Time};
use crate::flat::{Index, Table, Type};
use crate::listing::{Listing, STATUS, TypedListing};
use crate::stored::{columns_read, stored};

stored! {
    Delivery, id: DeliveryKind, row: delivery;
    // Columns that were added later are nullable: old rows have no value.
    columns {
        id: IdColumn,
        webhook_id as subscription_id: IdColumn,
        event_id: IdColumn,
        event_type: OneOfColumn,
        attempt: Int,
        status: OneOfColumn,
        request_url: TextColumn,
        response_status: Int,
        response_duration_ms: Int,
        next_attempt_at: Option<Time>,
        delivered_at: Option<Time>,
        attempted_at: Option<Time> = Some(delivery.attempted_at),
        failure: Option<OneOfColumn>,
    }
    // The time in the id of the attempt.
    derived { created_at: Time = delivery.logged_at() }
    fields { attempted_at: attempted_at.unwrap_or_else(|| time_of(id)) }
    table Table {
        versioned: false,
        indexes: &[
            Index::unique(&["webhook_id", "status", "created_at", "id"]),
            Index::on(&["webhook_id", "status", "event_type", "created_at", "id"]),
            Index::on(&["webhook_id", "status", "event_id", "created_at", "id"]),
        ],
        ..Table::named("deliveries")
    };
}

/// Returns the time in the id of an attempt.
fn time_of(id: DeliveryId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}

/// List of `GET /webhooks/{id}/deliveries` (§4.4).
#[must_use]
pub fn list(
    webhook: WebhookId,
    filter: &DeliveryFilter,
    sort: Sort,
    page: &PageRequest,
) -> TypedListing<Delivery> {
    let mut it = Listing::new::<Delivery>(sort, page);
    it.is(column("webhook_id", Type::Id), Some(webhook));
    let statuses = Status::ALL.iter().filter(|status| filter.status.is_none_or(|wanted| wanted == **status));
    it.runs(STATUS, statuses.map(|status| status.word()));
    it.is(column("event_type", Type::Text), filter.event_type.map(|event_type| event_type.word().to_owned()));
    it.is(column("event_id", Type::Id), filter.event_id);
    it.alone()
}

columns_read! {
    const JOB_COLUMNS;
    pub fn read_job -> Job;
    tenant_id: IdColumn,
    webhook_id: IdColumn,
    event_id: IdColumn,
    event_type: OneOfColumn,
    attempt: Int,
    first_due_at: Time,
    origin: OneOfColumn,
    delivery_id: Option<IdColumn>,
    => Job { tenant: tenant_id, webhook_id, event_id, event_type, attempt, first_due_at, origin, delivery_id }
}

/// The delivery queue, which change sets do not write row by row. Its columns are in the order of [`read_job`].
pub const JOB_TABLE: &Table = &Table {
    columns: JOB_COLUMNS,
    derived: &[
        codec::column::<Option<Time>>("due_at"),
        codec::column::<Option<IdColumn>>("worker"),
        codec::column::<Option<Time>>("leased_until"),
    ],
    versioned: false,
    indexes: &[Index::unique(&["webhook_id", "event_id"])],
    ..Table::named("delivery_jobs")
};
