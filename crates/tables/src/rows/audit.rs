//! Audit entries, which are append-only.

use std::collections::BTreeSet;

use candor_domain::audit::{Actor, AuditEntry, Filter, KeyUsed, Origin, Target};
use candor_domain::id::{AuditKind, Id};
use candor_domain::page::{PageRequest, Sort};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, Reader, Stored, Table, Type};
use crate::listing::{Listing, OCCURRED_AT, TypedListing};

/// Maximum number of filter values that are read as separate runs. Each number of runs is another prepared
/// statement.
const MOST_RUNS: usize = 8;

const TABLE: Table = Table {
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
    versioned: false,
    indexes: &[
        Index::on(&["occurred_at", "id"]),
        Index::on(&["target_id", "occurred_at", "id"]),
        Index::on(&["actor_id", "occurred_at", "id"]),
        Index::on(&["action", "occurred_at", "id"]),
    ],
    ..Table::named("audit_entries")
};

impl Stored for AuditEntry {
    type Kind = AuditKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.time(self.occurred_at);
        out.text(&self.action);
        out.word(self.actor.kind);
        out.opt_text(self.actor.id.as_ref());
        out.text(&self.actor.name);
        out.text(&self.target.kind);
        out.text(&self.target.id);
        out.json(&self.changes);
        out.opt_text(self.comment.as_ref());
        out.opt_text(self.request_id.as_ref());
        out.opt_text(self.context.ip.as_ref());
        out.opt_text(self.context.user_agent.as_ref());
        let key = self.context.api_key.as_ref();
        out.opt_text(key.map(|it| &it.id));
        out.opt_text(key.map(|it| &it.name));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
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

fn key_used(row: &mut Reader<'_>) -> Result<Option<KeyUsed>, Corrupt> {
    match (row.opt_text()?, row.opt_text()?) {
        (Some(id), Some(name)) => Ok(Some(KeyUsed { id, name })),
        (None, _) => Ok(None),
        (Some(_), None) => Err(row.corrupt("null")),
    }
}

/// List of `GET /audit-log` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<AuditEntry> {
    let mut it = Listing::new::<AuditEntry>(sort, page);
    it.is(column("target_id", Type::Text), filter.target_id.clone());
    it.is(column("actor_id", Type::Text), filter.actor_id.clone());
    let actions: BTreeSet<&String> = filter.actions.iter().collect();
    let actions: Vec<_> = actions.into_iter().cloned().map(Cell::Text).collect();
    let action = column("action", Type::Text);
    let is_led = filter.target_id.is_some() || filter.actor_id.is_some();
    // No stored text contains NUL, and stores differ in comparing it.
    let is_plain = !filter.actions.iter().any(|it| it.contains('\0'));
    if is_led || !is_plain || actions.is_empty() || actions.len() > MOST_RUNS {
        it.one_of(action, actions);
    } else {
        // An index contains the entries of each action ordered by time.
        it.runs = Some((action, actions));
    }
    it.within(OCCURRED_AT, filter.occurred_at, Cell::Time);
    it.alone()
}
