//! Mapping of departments, and their lists.

use candor_domain::catalog::Department;
use candor_domain::catalog::department::Filter;
use candor_domain::id::DepartmentKind;
use candor_domain::page::{PageRequest, Sort};
use candor_domain::text::folded;

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
    }
    derived {
        name_key: TextColumn = folded(&department.name),
        archived: FlagColumn = department.archived_at.is_some(),
    }
    table Table {
        indexes: &[
            Index::unique(&["name_key"]),
            Index::on(&["archived", "name_key", "id"]),
            Index::on(&["archived", "created_at", "id"]),
            Index::on(&["archived", "updated_at", "id"]),
        ],
        held_open: true,
        ..Table::named("departments")
    };
}

/// Lookup by case-folded name.
pub const BY_NAME: LookupColumn<Department> = LookupColumn::column("name_key", Type::Text);

/// List of `GET /departments` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Department> {
    let mut it = Listing::new::<Department>(sort, page);
    it.archived(filter.archived);
    it.is(NAME_KEY, filter.name.clone());
    it.within(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.alone()
}
