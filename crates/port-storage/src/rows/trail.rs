//! Audit entries and events as rows, which are only ever added.

use candor_domain::audit::{Actor, AuditEntry, KeyUsed, Origin, Target};
use candor_domain::event::Event;

use super::column;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::store::StorageError;

const AUDIT_ENTRIES: Table = Table {
    name: "audit_entries",
    columns: &[
        column("id", Type::Id),
        column("occurred_at", Type::Time),
        column("action", Type::Text),
        column("actor_type", Type::Text),
        column("actor_id", Type::Text),
        column("actor_name", Type::Text),
        column("target_type", Type::Text),
        column("target_id", Type::Text),
        column("changes", Type::Text),
        column("comment", Type::Text),
        column("request_id", Type::Text),
        column("ip", Type::Text),
        column("user_agent", Type::Text),
        column("api_key_id", Type::Text),
        column("api_key_name", Type::Text),
    ],
    derived: &[],
    recorded: &[],
    versioned: false,
    members: None,
    indexes: &[
        Index::on(&["occurred_at", "id"]),
        Index::on(&["target_id", "occurred_at", "id"]),
        Index::on(&["actor_id", "occurred_at", "id"]),
        Index::on(&["action", "occurred_at", "id"]),
    ],
};

impl Stored for AuditEntry {
    const TABLE: &'static Table = &AUDIT_ENTRIES;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.time(self.occurred_at);
        out.text(&self.action);
        out.word(self.actor.kind);
        out.opt_text(self.actor.id.as_ref());
        out.text(&self.actor.name);
        out.text(&self.target.kind);
        out.text(&self.target.id);
        out.text(serde_json::to_string(&self.changes).unwrap_or_default());
        out.opt_text(self.comment.as_ref());
        out.opt_text(self.request_id.as_ref());
        out.opt_text(self.context.ip.as_ref());
        out.opt_text(self.context.user_agent.as_ref());
        let key = self.context.api_key.as_ref();
        out.opt_text(key.map(|it| &it.id));
        out.opt_text(key.map(|it| &it.name));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: row.id()?,
            occurred_at: row.time()?,
            action: row.text()?,
            actor: Actor { kind: row.word()?, id: row.opt_text()?, name: row.text()? },
            target: Target { kind: row.text()?, id: row.text()? },
            changes: row.parse(|text| serde_json::from_str(text).ok())?,
            comment: row.opt_text()?,
            request_id: row.opt_text()?,
            context: Origin { ip: row.opt_text()?, user_agent: row.opt_text()?, api_key: key_used(row)? },
        })
    }
}

fn key_used(row: &mut Reader<'_>) -> Result<Option<KeyUsed>, StorageError> {
    let (id, name) = (row.opt_text()?, row.opt_text()?);
    Ok(id.map(|id| KeyUsed { id, name: name.unwrap_or_default() }))
}

/// The events; a store adds the column by which it knows their commit order.
pub const EVENT_TABLE: Table = Table {
    name: "events",
    columns: &[
        column("id", Type::Id),
        column("type", Type::Text),
        column("created_at", Type::Time),
        column("data", Type::Text),
    ],
    derived: &[],
    recorded: &[],
    versioned: false,
    members: None,
    indexes: &[Index::on(&["position", "id"])],
};

impl Stored for Event {
    const TABLE: &'static Table = &EVENT_TABLE;

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.word(self.kind);
        out.put(Cell::Time(self.created_at));
        out.text(&self.data);
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, StorageError> {
        Ok(Self { id: row.id()?, kind: row.word()?, created_at: row.time()?, data: row.text()? })
    }
}
