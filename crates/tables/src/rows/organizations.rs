//! Organizations, with their settings per data set.

use candor_domain::id::OrganizationKind;
use candor_domain::organization::Organization;

use crate::flat::Table;
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
    }
    table Table {
        ..Table::named("organizations")
    };
}
