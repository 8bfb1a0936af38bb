//! API keys, stored under the live tenant of their organization.

use candor_domain::access::api_key::{ApiKey, ApiKeyKind, Filter, KeyHash};
use candor_domain::access::{AllowedNetworks, Permissions};
use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeId, IdentityProviderId, KeyKind};
use candor_domain::page::{PageRequest, Sort, Sortable};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;

use super::column;
use crate::codec::{Codec, Layout};
use crate::error::CorruptRowError;
use crate::flat::{Cells, Column, Index, Reader, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, TypedListing};
use crate::read::LookupColumn;
use crate::stored::stored;

/// Codec of scopes: their words, separated by spaces.
#[derive(Debug)]
pub(super) struct ScopesColumn;

impl Layout for ScopesColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Permissions> for ScopesColumn {
    fn write(value: &Permissions, out: &mut Cells) {
        out.put(SqlValue::Text(value.words().join(" ")));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Permissions>, CorruptRowError> {
        row.opt_parse(|text| Permissions::from_words(text.split_whitespace()))
    }
}

/// Codec of networks: their texts, separated by spaces.
#[derive(Debug)]
struct NetworksColumn;

impl Layout for NetworksColumn {
    const KIND: Type = Type::Text;
}

impl Codec<AllowedNetworks> for NetworksColumn {
    fn write(value: &AllowedNetworks, out: &mut Cells) {
        out.put(SqlValue::Text(value.texts().collect::<Vec<_>>().join(" ")));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<AllowedNetworks>, CorruptRowError> {
        row.opt_parse(|text| AllowedNetworks::from_texts(text.split_whitespace()).ok())
    }
}

stored! {
    ApiKey, id: KeyKind, row: key;
    columns {
        id: IdColumn,
        name: TextColumn,
        environment: OneOfColumn,
        access_level: OneOfColumn,
        scopes: ScopesColumn,
        employee_id: Option<IdColumn>,
        last4: TextColumn,
        reads_per_minute: Option<Int>,
        writes_per_minute: Option<Int>,
        created_at: Time,
        updated_at: Time,
        expires_at: Option<Time>,
        last_used_at: Option<Time>,
        revoked_at: Option<Time>,
        hash: Bytes = key.hash.0,
        previous_hash: Option<Bytes> = key.previous.map(|(hash, _)| hash.0),
        previous_until: Option<Time> = key.previous.map(|(_, until)| until),
        remind_at: Option<Time>,
        expiring_due: Option<Time>,
        previous_expiring_due: Option<Time>,
        link_expires_at: Option<Time>,
        connector_id: Option<IdColumn>,
        scim_per_minute: Option<Int>,
        enabled_at: Option<Time>,
        allowed_networks: NetworksColumn,
        kind: OneOfColumn,
        session_id: Option<IdColumn>,
        identity_provider_id: Option<IdColumn>,
        identity_subject: Option<TextColumn>,
        identity_sid: Option<TextColumn>,
    }
    derived {
        session_ends_at: Option<Time> = key.session_end(),
        notable_end: Option<Time> = key.notable_end(),
    }
    fields {
        hash: KeyHash(hash),
        previous: previous_hash.map(KeyHash).zip(previous_until),
    }
    table Table {
        indexes: &[
            Index::of_columns(&["created_at", "id"]),
            Index::of_columns(&["updated_at", "id"]),
            Index::of_columns(&["employee_id", "created_at", "id"]),
            Index::of_columns(&["kind", "created_at", "id"]),
            Index::of_columns(&["kind", "updated_at", "id"]),
            Index::of_columns(&["employee_id", "kind", "created_at", "id"]),
            Index::of_columns(&["identity_provider_id", "identity_sid", "created_at", "id"]),
            Index::of_columns(&["employee_id", "session_ends_at", "id"]),
            Index::of_columns(&["notable_end", "id"]),
        ],
        of_organization: true,
        ..Table::with_name("api_keys")
    };
}

const KIND: Column = column("kind", Type::Text);
const SESSION_ENDS_AT: Column = column("session_ends_at", Type::Time);
const NOTABLE_END: Column = column("notable_end", Type::Time);

/// Lookup by id across all tenants.
pub const BY_ID: LookupColumn<ApiKey> = LookupColumn::column("id", Type::Id);

/// Lookup of the keys whose expiry reminder to the org admins is due.
pub const REMIND_AT: LookupColumn<ApiKey> = LookupColumn::column("remind_at", Type::Time);

/// Lookup of the keys whose event `api_key.expiring` is due.
pub const EXPIRING_DUE: LookupColumn<ApiKey> = LookupColumn::column("expiring_due", Type::Time);

/// Lookup of the keys whose event `api_key.expiring` is due for the secret before the newest rotation.
pub const PREVIOUS_EXPIRING_DUE: LookupColumn<ApiKey> = LookupColumn::column("previous_expiring_due", Type::Time);

/// List of `GET /api-keys` (§4.5).
#[must_use]
pub fn list(filter: Filter, sort: Sort, page: &PageRequest) -> TypedListing<ApiKey> {
    let mut keys = Listing::list_by_update_time::<ApiKey>(filter.updated_at, sort, page);
    keys.is(KIND, filter.kind.map(kind_value));
    keys.into_list()
}

/// List of the keys with a notable end within these bounds, in the order of their ends (decision A21).
#[must_use]
pub fn ending_within(bounds: Bounds<Timestamp>, limit: u16) -> TypedListing<ApiKey> {
    let mut keys = Listing::new_ordered::<ApiKey>(NOTABLE_END, false, limit);
    keys.restrict_to_bounds(NOTABLE_END, bounds, SqlValue::Time);
    keys.into_list()
}

/// List of the sessions of a person, including ended ones, the oldest first.
#[must_use]
pub fn oldest_sessions_of(person: EmployeeId, limit: u16) -> TypedListing<ApiKey> {
    let sort = Sort { descending: false, ..ApiKey::DEFAULT };
    let mut keys = Listing::new::<ApiKey>(sort, &PageRequest { limit, after: None });
    keys.is(column("employee_id", Type::Id), Some(person));
    keys.is(KIND, Some(kind_value(ApiKeyKind::Session)));
    keys.into_list()
}

/// List of the sessions of a person that are valid at a time, in the order of their ends.
#[must_use]
pub fn valid_sessions_of(person: EmployeeId, at: Timestamp, limit: u16) -> TypedListing<ApiKey> {
    let mut keys = Listing::new_ordered::<ApiKey>(SESSION_ENDS_AT, false, limit);
    keys.is(column("employee_id", Type::Id), Some(person));
    // A session is not valid at its end.
    let first_end = SqlValue::Time(Timestamp::from_millis(at.millis() + 1));
    keys.conditions.push(Condition::AtLeast(SESSION_ENDS_AT, first_end));
    keys.into_list()
}

/// List of the sessions that came from one session at a provider.
#[must_use]
pub fn sessions_of_sid(provider: IdentityProviderId, sid: &str, page: &PageRequest) -> TypedListing<ApiKey> {
    let mut keys = Listing::new::<ApiKey>(ApiKey::DEFAULT, page);
    keys.is(column("identity_provider_id", Type::Id), Some(provider));
    keys.is(column("identity_sid", Type::Text), Some(SqlValue::Text(sid.to_owned())));
    keys.into_list()
}

fn kind_value(kind: ApiKeyKind) -> SqlValue {
    SqlValue::Text(kind.word().to_owned())
}

/// List of the keys that act for a person, of both data sets.
#[must_use]
pub fn list_for_person(person: EmployeeId, page: &PageRequest) -> TypedListing<ApiKey> {
    let mut keys = Listing::new::<ApiKey>(ApiKey::DEFAULT, page);
    keys.is(column("employee_id", Type::Id), Some(person));
    keys.into_list()
}
