//! Mapping of connectors, and their lists.

use candor_domain::id::ConnectorKind;
use candor_domain::page::{PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::time::Timestamp;
use candor_provisioning::Connector;
use candor_provisioning::connector::{Brake, Sync};

use crate::flat::{Index, Table};
use crate::listing::{Listing, TypedListing};
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
    fields {
        last_sync: last_sync_at.zip(last_sync_status).map(|(at, status)| Sync {
            at,
            status,
            message: last_sync_message,
        }),
        brake: Brake { percent: brake_percent, at_least: brake_at_least },
    }
    table Table {
        indexes: &[Index::of_columns(&["created_at", "id"]), Index::of_columns(&["updated_at", "id"])],
        ..Table::with_name("connectors")
    };
}

/// List of `GET /connectors` (decision G).
#[must_use]
pub fn list(changed: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> TypedListing<Connector> {
    Listing::list_by_update_time::<Connector>(changed, sort, page).into_list()
}
