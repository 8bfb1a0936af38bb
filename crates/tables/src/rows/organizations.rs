//! Organizations, with their settings per data set.

use candor_domain::id::{Id, OrganizationKind};
use candor_domain::organization::Organization;

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cells, Reader, Stored, Table, Type};

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("name", Type::Text),
        column("objective_review", Type::Text),
        column("summary_review", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    ..Table::named("organizations")
};

impl Stored for Organization {
    type Kind = OrganizationKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.name);
        out.word(self.objective_review);
        out.word(self.summary_review);
        out.time(self.created_at);
        out.time(self.updated_at);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            name: row.text()?,
            objective_review: row.word()?,
            summary_review: row.word()?,
            created_at: row.time()?,
            updated_at: row.time()?,
        })
    }
}
