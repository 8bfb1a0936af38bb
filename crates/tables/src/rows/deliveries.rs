//! Mapping of the delivery log and the delivery queue.

use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, DeliveryKind, WebhookId};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::time::Timestamp;
use candor_subscriptions::{AllDeliveriesFilter, Delivery, DeliveryFilter, Job, Status};

use super::column;
use crate::codec::{self, IdColumn, Time};
use crate::flat::{Index, SqlValue, Table, Type};
use crate::listing::{ATTEMPTED_AT, Listing, STATUS, TypedListing};
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
        request_id: Option<TextColumn>,
        failure_detail: Option<TextColumn>,
    }
    // The time in the id of the attempt.
    derived { created_at: Time = delivery.logged_at() }
    fields { attempted_at: attempted_at.unwrap_or_else(|| time_of(id)) }
    table Table {
        versioned: false,
        indexes: &[
            Index::unique(&["webhook_id", "status", "created_at", "id"]),
            Index::of_columns(&["webhook_id", "status", "event_type", "created_at", "id"]),
            Index::of_columns(&["webhook_id", "status", "event_id", "created_at", "id"]),
            Index::of_columns(&["webhook_id", "status", "attempted_at", "id", "response_duration_ms", "failure"]),
            Index::of_columns(&["status", "attempted_at", "id"]),
        ],
        parameters: &[("webhook_id", "subscription_id")],
        // A list over all subscriptions skips the entries of deleted ones.
        looked_at: &["webhook_id"],
        ..Table::with_name("deliveries")
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
    it.runs(STATUS, statuses(filter));
    it.is(column("event_type", Type::Text), filter.event_type.map(|event_type| event_type.word().to_owned()));
    it.is(column("event_id", Type::Id), filter.event_id);
    it.into_list()
}

/// List of `GET /deliveries` over the existing subscriptions of the tenant (§4.4).
#[must_use]
pub fn list_all(
    filter: &AllDeliveriesFilter,
    existing: &[WebhookId],
    sort: Sort,
    page: &PageRequest,
) -> TypedListing<Delivery> {
    let mut it = Listing::new::<Delivery>(sort, page);
    let webhook = column("webhook_id", Type::Id);
    let AllDeliveriesFilter { webhook_id, attempted_at, log } = filter;
    match webhook_id {
        Some(only) if !existing.contains(only) => return TypedListing::from_parts(vec![]),
        None if existing.is_empty() => return TypedListing::from_parts(vec![]),
        Some(only) => it.is(webhook, Some(*only)),
        // Deleted subscriptions leave their entries in the log until these expire.
        None => it.one_of(webhook, existing.iter().map(|id| SqlValue::from(*id)).collect()),
    }
    it.runs(STATUS, statuses(log));
    it.is(column("event_type", Type::Text), log.event_type.map(|event_type| event_type.word().to_owned()));
    it.is(column("event_id", Type::Id), log.event_id);
    it.restrict_to_bounds(ATTEMPTED_AT, *attempted_at, SqlValue::Time);
    it.into_list()
}

/// Excludes the attempts of these types from a list of the log. Such attempts must be few, because a read skips
/// them row by row.
#[must_use]
pub fn hide_types(list: TypedListing<Delivery>, hidden: &[EventType]) -> TypedListing<Delivery> {
    let mut parts = list.into_parts();
    for part in &mut parts {
        hidden.iter().for_each(|kind| part.is_not(column("event_type", Type::Text), kind.word().to_owned()));
    }
    TypedListing::from_parts(parts)
}

/// Returns the words of the selected statuses.
fn statuses(filter: &DeliveryFilter) -> impl Iterator<Item = &'static str> {
    let is_wanted = |status: &&Status| filter.status.is_none_or(|wanted| wanted == **status);
    Status::ALL.iter().filter(is_wanted).map(|status| status.word())
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
    ..Table::with_name("delivery_jobs")
};
