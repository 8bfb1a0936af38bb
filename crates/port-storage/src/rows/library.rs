//! Organizations, departments and attributes as rows.

use candor_domain::library::{Attribute, Department};
use candor_domain::organization::Organization;
use candor_domain::text::folded;

use super::column;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::store::StorageError;

const ORGANIZATIONS: Table = Table {
    name: "organizations",
    columns: &[
        column("id", Type::Id),
        column("name", Type::Text),
        column("objective_review", Type::Text),
        column("summary_review", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    derived: &[],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[],
};

impl Stored for Organization {
    const TABLE: &'static Table = &ORGANIZATIONS;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.name);
        out.word(self.objective_review);
        out.word(self.summary_review);
        out.time(self.created_at);
        out.time(self.updated_at);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
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

const DEPARTMENTS: Table = Table {
    name: "departments",
    columns: &[
        column("id", Type::Id),
        column("name", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("archived_at", Type::Time),
    ],
    derived: &[column("name_key", Type::Text), column("archived", Type::Flag)],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[
        Index::unique(&["name_key"]),
        Index::on(&["archived", "name_key", "id"]),
        Index::on(&["archived", "created_at", "id"]),
        Index::on(&["archived", "updated_at", "id"]),
    ],
};

impl Stored for Department {
    const TABLE: &'static Table = &DEPARTMENTS;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.name);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.archived_at);
        out.text(folded(&self.name));
        out.put(Cell::Flag(self.archived_at.is_some()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            name: row.text()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_at: row.opt_time()?,
        })
    }
}

const ATTRIBUTES: Table = Table {
    name: "attributes",
    columns: &[
        column("id", Type::Id),
        column("name", Type::Text),
        column("category", Type::Text),
        column("tone", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("archived_at", Type::Time),
    ],
    derived: &[column("name_key", Type::Text), column("archived", Type::Flag)],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[
        Index::unique(&["name_key"]),
        Index::on(&["archived", "name_key", "id"]),
        Index::on(&["archived", "created_at", "id"]),
        Index::on(&["archived", "updated_at", "id"]),
    ],
};

impl Stored for Attribute {
    const TABLE: &'static Table = &ATTRIBUTES;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.text(&self.name);
        out.text(&self.category);
        out.word(self.tone);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.archived_at);
        out.text(folded(&self.name));
        out.put(Cell::Flag(self.archived_at.is_some()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            name: row.text()?,
            category: row.text()?,
            tone: row.word()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_at: row.opt_time()?,
        })
    }
}
