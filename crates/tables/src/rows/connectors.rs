//! Mapping of connectors, and their lists.

use candor_domain::id::ConnectorKind;
use candor_domain::page::{PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;
use candor_provisioning::Connector;
use candor_provisioning::connector::{Brake, Sync};

use super::column;
use crate::flat::{Index, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, TypedListing};
use crate::stored::stored;

stored! {
    Connector, id: ConnectorKind, row: connector;
    columns {
        id: IdColumn,
        type as kind: OneOfColumn,
        hris_source: TextColumn,
        mapped_custom_field_keys: Json,
        created_at: Time,
        updated_at: Time,
        last_sync_at: Option<Time> = connector.last_sync.as_ref().map(|sync| sync.at),
        last_sync_status: Option<OneOfColumn> = connector.last_sync.as_ref().map(|sync| sync.status),
        last_sync_message: Option<TextColumn> = connector.last_sync.as_ref().and_then(|sync| sync.message.clone()),
        brake_percent: Int = connector.brake.percent,
        brake_at_least: Int = connector.brake.at_least,
        custom_field_mappings: Json,
        paused_at: Option<Time>,
        resumed_at: Option<Time>,
    }
    derived { incomplete_at: Option<Time> = connector.incomplete_at() }
    fields {
        last_sync: last_sync_at.zip(last_sync_status).map(|(at, status)| Sync {
            at,
            status,
            message: last_sync_message,
        }),
        brake: Brake { percent: brake_percent, at_least: brake_at_least },
    }
    table Table {
        indexes: &[
            Index::of_columns(&["created_at", "id"]),
            Index::of_columns(&["updated_at", "id"]),
            Index::of_columns(&["paused_at", "id"]),
            Index::of_columns(&["incomplete_at", "id"]),
        ],
        ..Table::with_name("connectors")
    };
}

/// List of the paused connectors, the last paused one first (decision A21).
#[must_use]
pub fn list_paused(limit: u16) -> TypedListing<Connector> {
    with_time("paused_at", limit)
}

/// List of the connectors whose newest sync was incomplete, the newest sync first (decision A21).
#[must_use]
pub fn list_incomplete(limit: u16) -> TypedListing<Connector> {
    with_time("incomplete_at", limit)
}

/// Returns the list of the connectors that have a time in this column.
fn with_time(name: &'static str, limit: u16) -> TypedListing<Connector> {
    let time = column(name, Type::Time);
    let mut connectors = Listing::new_ordered::<Connector>(time, true, limit);
    connectors.conditions.push(Condition::AtLeast(time, SqlValue::Time(Timestamp::from_millis(0))));
    connectors.into_list()
}

/// List of `GET /connectors` (decision G).
#[must_use]
pub fn list(changed: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> TypedListing<Connector> {
    Listing::list_by_update_time::<Connector>(changed, sort, page).into_list()
}
