//! Organizations, with their settings per data set.

use candor_domain::id::OrganizationKind;
use candor_domain::organization::Organization;

use crate::flat::{Column, Table, Type};
use crate::read::LookupColumn;
use crate::stored::stored;

stored! {
    Organization, id: OrganizationKind, row: organization;
    columns {
        id: IdColumn,
        name: TextColumn,
        objective_review: OneOfColumn,
        summary_review: OneOfColumn,
        created_at: Time,
        updated_at: Time,
        retention: Json,
        retention_starts: Json,
        retention_due_at: Option<Time>,
        visible_custom_fields: Option<Json>,
    }
    table Table {
        ..Table::with_name("organizations")
    };
}

/// Lookup of the organizations of all tenants whose retention run is due.
pub const RETENTION_DUE: LookupColumn<Organization> = LookupColumn::column(DUE.name, DUE.kind);
/// Column with the time of the next retention run. A run sets it without a new version of the organization.
pub const DUE: Column = Column::new("retention_due_at", Type::Time);
