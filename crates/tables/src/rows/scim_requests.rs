//! The newest SCIM requests of each connector.

use candor_domain::id::{ConnectorId, RequestKind};
use candor_domain::page::{PageRequest, Sort};
use candor_provisioning::connector::ScimRequest;

use super::column;
use crate::flat::{Index, Table, Type};
use crate::listing::{Listing, TypedListing};
use crate::stored::stored;

stored! {
    ScimRequest, id: RequestKind, row: request;
    columns {
        id: IdColumn,
        connector_id: IdColumn,
        occurred_at: Time,
        method: TextColumn,
        path: TextColumn,
        status: Int,
        scim_type: Option<TextColumn>,
        duration_ms: Int,
        user_agent: Option<TextColumn>,
    }
    table Table {
        versioned: false,
        indexes: &[Index::of_columns(&["connector_id", "occurred_at", "id"])],
        ..Table::with_name("scim_requests")
    };
}

/// List of `GET /connectors/{id}/requests`.
#[must_use]
pub fn list(connector: ConnectorId, sort: Sort, page: &PageRequest) -> TypedListing<ScimRequest> {
    let mut requests = Listing::new::<ScimRequest>(sort, page);
    requests.is(column("connector_id", Type::Id), Some(connector));
    requests.into_list()
}
