//! Mapping of departments, and their lists.

use candor_domain::catalog::Department;
use candor_domain::catalog::department::Filter;
use candor_domain::id::DepartmentKind;
use candor_domain::page::{PageRequest, Sort};

use crate::flat::{Index, SqlValue, Table, Type};
use crate::listing::{Listing, NAME_KEY, TypedListing, UPDATED_AT};
use crate::read::LookupColumn;
use crate::stored::stored;

stored! {
    Department, id: DepartmentKind, row: department;
    columns {
        id: IdColumn,
        name: TextColumn,
        created_at: Time,
        updated_at: Time,
        archived_at: Option<Time>,
        twin: Option<FlagColumn> = department.is_twin.then_some(true),
    }
    derived {
        name_key: TextColumn = department.name_key(),
        archived: FlagColumn = department.archived_at.is_some(),
    }
    fields { is_twin: twin.unwrap_or_default() }
    table Table {
        indexes: &[
            Index::unique(&["name_key"]),
            Index::of_columns(&["archived", "name_key", "id"]),
            Index::of_columns(&["archived", "created_at", "id"]),
            Index::of_columns(&["archived", "updated_at", "id"]),
            Index::of_columns(&["twin", "id"]),
        ],
        held_open: true,
        ..Table::with_name("departments")
    };
}

/// Lookup by the key of a name.
pub const BY_NAME: LookupColumn<Department> = LookupColumn::column("name_key", Type::Text);

/// List of `GET /departments` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Department> {
    let mut it = Listing::new::<Department>(sort, page);
    it.restrict_to_archived(filter.archived);
    it.is(NAME_KEY, filter.name.clone());
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.into_list()
}
