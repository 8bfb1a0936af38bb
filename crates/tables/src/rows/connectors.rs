//! Mapping of connectors, and their lists.

use candor_domain::fields::Word;
use candor_domain::id::{ConnectorKind, Id};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::params::Bounds;
use candor_domain::people::Connector;
use candor_domain::people::connector::Sync;
use candor_domain::time::Timestamp;

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing};

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("type", Type::Text),
        column("hris_source", Type::Text),
        column("mapped_custom_field_keys", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("last_sync_at", Type::Time),
        column("last_sync_status", Type::Text),
        column("last_sync_message", Type::Text),
    ],
    indexes: &[Index::on(&["created_at", "id"]), Index::on(&["updated_at", "id"])],
    ..Table::named("connectors")
};

impl Stored for Connector {
    type Kind = ConnectorKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.word(self.kind);
        out.text(&self.hris_source);
        out.json(&self.mapped_custom_field_keys);
        out.time(self.created_at);
        out.time(self.updated_at);
        let sync = self.last_sync.as_ref();
        out.opt_time(sync.map(|it| it.at));
        out.opt_text(sync.map(|it| it.status.word().to_owned()).as_ref());
        out.opt_text(sync.and_then(|it| it.message.as_ref()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            kind: row.word()?,
            hris_source: row.text()?,
            mapped_custom_field_keys: row.parse(|text| serde_json::from_str(text).ok())?,
            created_at: row.time()?,
            updated_at: row.time()?,
            last_sync: sync(row)?,
        })
    }
}

fn sync(row: &mut Reader<'_>) -> Result<Option<Sync>, Corrupt> {
    let (at, status, message) = (row.opt_time()?, row.opt_parse(|text| Word::from_word(text).ok())?, row.opt_text()?);
    Ok(at.zip(status).map(|(at, status)| Sync { at, status, message }))
}

/// List of `GET /connectors` (decision G).
#[must_use]
pub fn list(changed: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> TypedListing<Connector> {
    Listing::changed::<Connector>(changed, sort, page).alone()
}
