//! Objectives and notifications as rows.

use candor_domain::audit::Target;
use candor_domain::fields::Word;
use candor_domain::notification::Notification;
use candor_domain::objective::{Objective, Scope, Status};

use super::column;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::store::StorageError;

const OBJECTIVES: Table = Table {
    name: "objectives",
    columns: &[
        column("id", Type::Id),
        column("scope", Type::Text),
        column("owner_id", Type::Id),
        column("title", Type::Text),
        column("description", Type::Text),
        column("status", Type::Text),
        column("period_start", Type::Date),
        column("period_end", Type::Date),
        column("linked_summary_ids", Type::Ids),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("submitted_at", Type::Time),
        column("approved_at", Type::Time),
        column("completed_at", Type::Time),
        column("reviewed", Type::Text),
        column("held_back", Type::Flag),
    ],
    derived: &[column("shelf", Type::Text), column("scope_status", Type::Text), column("due_on", Type::Date)],
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[
        Index::on(&["shelf", "period_end", "id"]),
        Index::on(&["scope_status", "period_end", "id"]),
        Index::on(&["shelf", "created_at", "id"]),
        Index::on(&["scope_status", "created_at", "id"]),
        Index::on(&["shelf", "updated_at", "id"]),
        Index::on(&["scope_status", "updated_at", "id"]),
        Index::on(&["owner_id", "scope_status", "period_end", "id"]),
    ],
};

/// The default list of a family, which is that of everything in it that is not archived, is one run of an index.
#[must_use]
pub fn shelf(scope: Scope, archived: bool) -> String {
    let family = if scope == Scope::Employee { "employee" } else { "manager" };
    if archived { format!("{family}/archived") } else { family.to_owned() }
}

/// Every other list is a run per scope and status.
#[must_use]
pub fn scope_status(scope: Scope, status: Status) -> String {
    format!("{}/{}", scope.word(), status.word())
}

impl Stored for Objective {
    const TABLE: &'static Table = &OBJECTIVES;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.word(self.scope);
        out.id(self.owner_id);
        out.text(&self.title);
        out.opt_text(self.description.as_ref());
        out.word(self.status);
        out.put(Cell::Date(self.period_start));
        out.put(Cell::Date(self.period_end));
        out.ids(&self.linked_summary_ids);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.submitted_at);
        out.opt_time(self.approved_at);
        out.opt_time(self.completed_at);
        out.opt_text(self.reviewed.as_ref().and_then(|it| serde_json::to_string(it).ok()).as_ref());
        out.put(Cell::Flag(self.held_back));
        out.text(shelf(self.scope, self.status == Status::Archived));
        out.text(scope_status(self.scope, self.status));
        out.put(self.starts_on().map_or(Cell::Null(Type::Date), Cell::Date));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            scope: row.word()?,
            owner_id: row.id()?,
            title: row.text()?,
            description: row.opt_text()?,
            status: row.word()?,
            period_start: row.date()?,
            period_end: row.date()?,
            linked_summary_ids: row.ids()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            submitted_at: row.opt_time()?,
            approved_at: row.opt_time()?,
            completed_at: row.opt_time()?,
            reviewed: row.opt_parse(|text| serde_json::from_str(text).ok())?,
            held_back: row.flag()?,
        })
    }
}

const NOTIFICATIONS: Table = Table {
    name: "notifications",
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
    recorded: &[],
    versioned: true,
    members: None,
    indexes: &[Index::on(&["recipient_id", "unread", "created_at", "id"]), Index::on(&["unread", "created_at", "id"])],
};

impl Stored for Notification {
    const TABLE: &'static Table = &NOTIFICATIONS;

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

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
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
