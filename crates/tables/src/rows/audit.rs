//! Audit entries, which are append-only.

use std::collections::BTreeSet;

use candor_domain::audit::{Actor, AuditEntry, Filter, KeyUsed, Origin, Target, Via};
use candor_domain::id::AuditKind;
use candor_domain::page::{PageRequest, Sort};

use super::column;
use crate::error::CorruptRowError;
use crate::flat::{Index, SqlValue, Table, Type};
use crate::listing::{Listing, OCCURRED_AT, TypedListing};
use crate::stored::stored;

/// Maximum number of filter values that are read as separate runs. Each number of runs is another prepared
/// statement.
const MOST_RUNS: usize = 8;

stored! {
    AuditEntry, id: AuditKind, row: entry;
    columns {
        id: IdColumn,
        occurred_at: Time,
        action: TextColumn,
        actor_type: OneOfColumn = entry.actor.kind,
        actor_id: Option<TextColumn> = entry.actor.id,
        actor_name: TextColumn = entry.actor.name,
        target_type: TextColumn = entry.target.kind,
        target_id: TextColumn = entry.target.id,
        changes: Json,
        comment: Option<TextColumn>,
        request_id: Option<TextColumn>,
        ip: Option<TextColumn> = entry.context.ip,
        user_agent: Option<TextColumn> = entry.context.user_agent,
        api_key_id: Option<TextColumn> = entry.context.api_key.as_ref().map(|key| key.id.clone()),
        api_key_name: Option<TextColumn> = entry.context.api_key.as_ref().map(|key| key.name.clone()),
        identity_provider_id: Option<IdColumn> = entry.context.via.map(|via| via.identity_provider_id),
    }
    let api_key = key_used(api_key_id, api_key_name)?;
    let via = identity_provider_id.map(|identity_provider_id| Via { identity_provider_id });
    fields {
        actor: Actor { kind: actor_type, id: actor_id, name: actor_name },
        target: Target { kind: target_type, id: target_id },
        context: Origin { ip, user_agent, api_key, via },
    }
    table Table {
        versioned: false,
        indexes: &[
            Index::of_columns(&["occurred_at", "id"]),
            Index::of_columns(&["target_id", "occurred_at", "id"]),
            Index::of_columns(&["actor_id", "occurred_at", "id"]),
            Index::of_columns(&["action", "occurred_at", "id"]),
        ],
        ..Table::with_name("audit_entries")
    };
}

fn key_used(id: Option<String>, name: Option<String>) -> Result<Option<KeyUsed>, CorruptRowError> {
    let nameless =
        || CorruptRowError { table: "audit_entries", column: "api_key_name", reason: "null".to_owned() };
    id.map(|id| Ok(KeyUsed { id, name: name.ok_or_else(nameless)? })).transpose()
}

/// List of `GET /audit-log` (decision G).
#[must_use]
pub fn list(filter: &Filter, sort: Sort, page: &PageRequest) -> TypedListing<AuditEntry> {
    let mut it = Listing::new::<AuditEntry>(sort, page);
    it.is(column("target_id", Type::Text), filter.target_id.clone());
    it.is(column("actor_id", Type::Text), filter.actor_id.clone());
    let actions: BTreeSet<&String> = filter.actions.iter().collect();
    let actions: Vec<_> = actions.into_iter().cloned().map(SqlValue::Text).collect();
    let action = column("action", Type::Text);
    let is_led = filter.target_id.is_some() || filter.actor_id.is_some();
    // No stored text contains NUL, and the stores compare texts with NUL in different ways.
    let is_plain = !filter.actions.iter().any(|action| action.contains('\0'));
    if is_led || !is_plain || actions.is_empty() || actions.len() > MOST_RUNS {
        it.one_of(action, actions);
    } else {
        // An index contains the entries of each action ordered by time.
        it.runs = Some((action, actions));
    }
    it.restrict_to_bounds(OCCURRED_AT, filter.occurred_at, SqlValue::Time);
    it.into_list()
}
