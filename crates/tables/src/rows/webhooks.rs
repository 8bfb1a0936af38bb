//! Mapping of webhook subscriptions, and their lists.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::fields::StringEnum;
use candor_domain::id::{DepartmentId, EmployeeId, WebhookId, WebhookKind};
use candor_domain::objective::Scope;
use candor_domain::observation;
use candor_domain::page::{PageRequest, Sort, Sortable};
use candor_domain::time::Timestamp;
use candor_subscriptions::{
    CustomHeaders, EventFilter, Filter, SealedHeader, SealedSecret, Status, Streak, Subscription, Topics,
};
use serde::{Deserialize, Serialize};

use super::column;
use crate::codec::{Codec, Layout};
use crate::error::CorruptRowError;
use crate::flat::{BackgroundWorker, Cells, Column, Index, Reader, SqlValue, Stored, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::read::LookupColumn;
use crate::stored::{columns_read, stored};

/// JSON form of a sealed secret in its column.
#[derive(Serialize, Deserialize)]
struct SealedColumn {
    sealed: String,
    ends_at: Option<i64>,
}

/// Codec of sealed secrets: JSON with their bytes in base64.
#[derive(Debug)]
struct SecretsColumn;

impl Layout for SecretsColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Vec<SealedSecret>> for SecretsColumn {
    fn write(value: &Vec<SealedSecret>, out: &mut Cells) {
        out.json(&sealed_columns(value));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Vec<SealedSecret>>, CorruptRowError> {
        row.opt_parse(secrets)
    }
}

/// Codec of event types: their words, separated by spaces.
#[derive(Debug)]
struct EventTypesColumn;

impl Layout for EventTypesColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Topics> for EventTypesColumn {
    fn write(value: &Topics, out: &mut Cells) {
        let words: Vec<_> = value.as_slice().iter().map(|topic| topic.word()).collect();
        out.put(SqlValue::Text(words.join(" ")));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Topics>, CorruptRowError> {
        row.opt_parse(|text| Topics::from_words(text.split(' ')).ok())
    }
}

/// JSON form of a custom header in its column.
#[derive(Serialize, Deserialize)]
struct HeaderColumn {
    name: String,
    masked: String,
    sealed: String,
}

/// Codec of custom headers: JSON with their sealed values in base64. Null if there are none.
#[derive(Debug)]
struct HeadersColumn;

impl Layout for HeadersColumn {
    const KIND: Type = Type::Text;
}

impl Codec<CustomHeaders> for HeadersColumn {
    fn write(value: &CustomHeaders, out: &mut Cells) {
        let column = |(name, header): (&String, &SealedHeader)| HeaderColumn {
            name: name.clone(),
            masked: header.masked.clone(),
            sealed: STANDARD.encode(&header.sealed),
        };
        out.json(&value.0.iter().map(column).collect::<Vec<_>>());
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<CustomHeaders>, CorruptRowError> {
        row.opt_parse(|text| {
            let columns: Vec<HeaderColumn> = serde_json::from_str(text).ok()?;
            let header = |column: HeaderColumn| {
                let sealed_value = STANDARD.decode(column.sealed).ok()?;
                Some((column.name, SealedHeader { masked: column.masked, sealed: sealed_value }))
            };
            columns.into_iter().map(header).collect::<Option<_>>().map(CustomHeaders)
        })
    }
}

/// Codec of the scopes of a filter: their words, separated by spaces.
#[derive(Debug)]
struct ScopesColumn;

impl Layout for ScopesColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Vec<Scope>> for ScopesColumn {
    fn write(value: &Vec<Scope>, out: &mut Cells) {
        let words: Vec<_> = value.iter().map(|scope| scope.word()).collect();
        out.put(SqlValue::Text(words.join(" ")));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Vec<Scope>>, CorruptRowError> {
        row.opt_parse(|text| text.split(' ').map(Scope::from_word).collect::<Result<_, _>>().ok())
    }
}

/// Returns a condition of the filter, or `None` if the subscription has no filter or the filter lacks this
/// condition.
fn condition<T>(webhook: &Subscription, pick: impl FnOnce(&EventFilter) -> Option<T>) -> Option<T> {
    webhook.filter.as_ref().and_then(pick)
}

/// Returns the filter with these conditions, or `None` for the nulls of a subscription without a filter.
fn stored_filter(
    employee_ids: Option<Vec<EmployeeId>>,
    department_ids: Option<Vec<DepartmentId>>,
    kind: Option<observation::Type>,
    scopes: Option<Vec<Scope>>,
) -> Option<EventFilter> {
    EventFilter { employee_ids, department_ids, kind, scopes }.some()
}

/// Returns the headers, or `None` for the null of a subscription without headers.
fn stored_headers(headers: &CustomHeaders) -> Option<CustomHeaders> {
    (!headers.0.is_empty()).then(|| headers.clone())
}

/// Returns the effective types, or `None` for the null of a subscription that keeps all of its types.
fn chosen_types(webhook: &Subscription) -> Option<Topics> {
    (!webhook.keeps_all_types).then(|| webhook.effective_event_types.clone())
}

/// Discards the columns of the rate lease, which only the queue uses.
const fn not_in_the_value(_: Option<[u8; 16]>, _: Option<Timestamp>) {}

stored! {
    Subscription, id: WebhookKind, row: webhook;
    columns {
        id: IdColumn,
        url: TextColumn,
        event_types: EventTypesColumn,
        active: FlagColumn,
        description: Option<TextColumn>,
        secrets: SecretsColumn,
        created_at: Time,
        updated_at: Time,
        payload: OneOfColumn,
        headers: Option<HeadersColumn> = stored_headers(&webhook.headers),
        filter_employee_ids: Option<IdsColumn> = condition(webhook, |filter| filter.employee_ids.clone()),
        filter_department_ids: Option<IdsColumn> = condition(webhook, |filter| filter.department_ids.clone()),
        filter_type: Option<OneOfColumn> = condition(webhook, |filter| filter.kind),
        filter_scopes: Option<ScopesColumn> = condition(webhook, |filter| filter.scopes.clone()),
        max_per_second: Option<Int>,
        effective_event_types: Option<EventTypesColumn> = chosen_types(webhook),
    }
    // Read for every event: the wanted event types as bits, 0 for an inactive subscription.
    derived { wanted: Int = if webhook.active { webhook.effective_event_types.bits() } else { 0 } }
    recorded {
        last_delivery_at: Option<Time>,
        last_delivery_status: Option<OneOfColumn>,
        failures: Option<Int>,
        failing_since: Option<Time>,
        is_failing: Option<FlagColumn>,
        failing_due: Option<Time>,
        rate_worker: Option<IdColumn>,
        rate_until: Option<Time>,
    }
    let () = not_in_the_value(rate_worker, rate_until);
    fields {
        keeps_all_types: effective_event_types.is_none(),
        effective_event_types: effective_event_types.unwrap_or_else(|| event_types.clone()),
        last_delivery_at,
        last_delivery_status,
        headers: headers.unwrap_or_default(),
        filter: stored_filter(filter_employee_ids, filter_department_ids, filter_type, filter_scopes),
        streak: Streak {
            failures: failures.unwrap_or_default(),
            since: failing_since,
            is_failing: is_failing.unwrap_or_default(),
        },
        failing_due,
    }
    table Table {
        indexes: &[
            Index::of_columns(&["created_at", "id"]),
            Index::of_columns(&["updated_at", "id"]),
            Index::of_columns(&["active", "created_at", "id"]),
            Index::of_columns(&["active", "last_delivery_status", "created_at", "id"]),
        ],
        wakes: Some(BackgroundWorker::Delivery),
        ..Table::with_name("webhooks")
    };
}

/// A subscription as the fan-out of events reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventReceiver {
    /// Id of the subscription.
    pub id: WebhookId,
    /// Wanted event types as bits.
    pub wanted: i64,
    /// Conditions that an event must meet; `None` for all events.
    pub filter: Option<EventFilter>,
}

columns_read! {
    /// Columns of an [`EventReceiver`].
    const RECEIVER_COLUMNS;
    pub fn read_event_receiver -> EventReceiver;
    id: IdColumn,
    wanted: Int,
    filter_employee_ids: Option<IdsColumn>,
    filter_department_ids: Option<IdsColumn>,
    filter_type: Option<OneOfColumn>,
    filter_scopes: Option<ScopesColumn>,
    => EventReceiver {
        id,
        wanted,
        filter: stored_filter(filter_employee_ids, filter_department_ids, filter_type, filter_scopes),
    }
}

/// Partial view of `webhooks` that [`read_event_receiver`] reads.
pub const EVENT_RECEIVER_TABLE: &Table =
    &Table { columns: RECEIVER_COLUMNS, ..Table::with_name(Subscription::TABLE.name) };

fn sealed_columns(secrets: &[SealedSecret]) -> Vec<SealedColumn> {
    let to_column = |sealed_secret: &SealedSecret| SealedColumn {
        sealed: STANDARD.encode(&sealed_secret.sealed),
        ends_at: sealed_secret.ends_at.map(|ends_at| ends_at.millis()),
    };
    secrets.iter().map(to_column).collect()
}

fn secrets(text: &str) -> Option<Vec<SealedSecret>> {
    let seals: Vec<SealedColumn> = serde_json::from_str(text).ok()?;
    let secret = |sealed: SealedColumn| {
        Some(SealedSecret {
            sealed: STANDARD.decode(sealed.sealed).ok()?,
            ends_at: sealed.ends_at.map(Timestamp::from_millis),
        })
    };
    seals.into_iter().map(secret).collect()
}

const ACTIVE: Column = column("active", Type::Flag);

/// Lookup of the subscriptions whose event `webhook.failing` is due.
pub const FAILING_DUE: LookupColumn<Subscription> = LookupColumn::column("failing_due", Type::Time);

/// List of the inactive subscriptions (decision A21).
#[must_use]
pub fn list_inactive(page: &PageRequest) -> TypedListing<Subscription> {
    let mut webhooks = Listing::new::<Subscription>(Subscription::DEFAULT, page);
    webhooks.is(ACTIVE, Some(SqlValue::Flag(false)));
    webhooks.into_list()
}

/// List of the active subscriptions whose newest delivery failed (decision A21).
#[must_use]
pub fn list_failing(page: &PageRequest) -> TypedListing<Subscription> {
    let mut webhooks = Listing::new::<Subscription>(Subscription::DEFAULT, page);
    webhooks.is(ACTIVE, Some(SqlValue::Flag(true)));
    webhooks
        .runs(column("last_delivery_status", Type::Text), [Status::Failed, Status::Dropped].map(|one| one.word()));
    webhooks.into_list()
}

/// List of `GET /webhooks` (§4.4).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Subscription> {
    Listing::list_by_update_time::<Subscription>(filter.updated_at, sort, page).into_list()
}
