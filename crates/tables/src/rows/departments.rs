//! Mapping of departments, and their lists.

use candor_domain::id::{DepartmentKind, Id};
use candor_domain::library::Department;
use candor_domain::library::department::Filter;
use candor_domain::page::{PageRequest, Sort};
use candor_domain::text::folded;

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, NAME_KEY, TypedListing, UPDATED_AT};
use crate::read::By;

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("name", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("archived_at", Type::Time),
    ],
    derived: &[column("name_key", Type::Text), column("archived", Type::Flag)],
    indexes: &[
        Index::unique(&["name_key"]),
        Index::on(&["archived", "name_key", "id"]),
        Index::on(&["archived", "created_at", "id"]),
        Index::on(&["archived", "updated_at", "id"]),
    ],
    held_open: true,
    ..Table::named("departments")
};

impl Stored for Department {
    type Kind = DepartmentKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.name);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.archived_at);
        out.text(folded(&self.name));
        out.put(Cell::Flag(self.archived_at.is_some()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            name: row.text()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_at: row.opt_time()?,
        })
    }
}

/// Lookup by case-folded name.
pub const BY_NAME: By<Department> = By::column("name_key", Type::Text);

/// List of `GET /departments` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Department> {
    let mut it = Listing::new::<Department>(sort, page);
    it.archived(filter.archived);
    it.is(NAME_KEY, filter.name.clone());
    it.within(UPDATED_AT, filter.updated_at, Cell::Time);
    it.alone()
}
