//! Mapping of notifications, and their lists.

use candor_domain::audit::Target;
use candor_domain::id::{Id, NotificationKind};
use candor_domain::notification::{Filter, Notification};
use candor_domain::page::{PageRequest, Sort};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, TypedListing};

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("recipient_id", Type::Id),
        column("type", Type::Text),
        column("title", Type::Text),
        column("body", Type::Text),
        column("target_type", Type::Text),
        column("target_id", Type::Text),
        column("created_at", Type::Time),
        column("read_at", Type::Time),
    ],
    derived: &[column("unread", Type::Flag)],
    indexes: &[Index::on(&["recipient_id", "unread", "created_at", "id"]), Index::on(&["unread", "created_at", "id"])],
    ..Table::named("notifications")
};

impl Stored for Notification {
    type Kind = NotificationKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.recipient_id);
        out.word(self.kind);
        out.text(&self.title);
        out.text(&self.body);
        out.text(&self.target.kind);
        out.text(&self.target.id);
        out.time(self.created_at);
        out.opt_time(self.read_at);
        out.put(Cell::Flag(self.read_at.is_none()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            recipient_id: row.id()?,
            kind: row.word()?,
            title: row.text()?,
            body: row.text()?,
            target: Target { kind: row.text()?, id: row.text()? },
            created_at: row.time()?,
            read_at: row.opt_time()?,
        })
    }
}

/// List of `GET /notifications` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<Notification> {
    let mut it = Listing::new::<Notification>(sort, page);
    let values = filter.unread.map_or(vec![true, false], |it| vec![it]);
    it.runs = Some((column("unread", Type::Flag), values.into_iter().map(Cell::Flag).collect()));
    it.is(column("recipient_id", Type::Id), filter.recipient_id);
    it.alone()
}
