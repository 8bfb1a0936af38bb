//! Events, which are append-only. Each store adds a column for their commit order.

use candor_domain::event::Event;
use candor_domain::id::{EventKind, Id};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("type", Type::Text),
        column("created_at", Type::Time),
        column("data", Type::Text),
    ],
    versioned: false,
    indexes: &[Index::on(&["position", "id"])],
    ..Table::named("events")
};

impl Stored for Event {
    type Kind = EventKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.word(self.kind);
        out.put(Cell::Time(self.created_at));
        out.text(&self.data);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self { id: row.id()?, kind: row.word()?, created_at: row.time()?, data: row.text()? })
    }
}
