//! Statements about conversations and notifications.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::conversation::Conversation;
use candor_domain::id::{ConversationId, EmployeeId};
use candor_domain::notification::MAX_READ_AT_ONCE;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Write};
use candor_tables::flat::{SqlValue, Stored, Type};

use super::STALE;
use crate::layout::Statement;
use crate::sql::Sql;

/// Sets the time of the last message of conversations, which must not be archived. The update waits for a
/// transaction that changes the conversation. Several conversations are locked in the order of their ids, so that
/// transactions cannot deadlock.
pub(super) fn add_messages(statement: &mut Statement, changes: &[&ChangeSet]) {
    let mut newest: BTreeMap<ConversationId, Timestamp> = BTreeMap::new();
    for write in changes.iter().flat_map(|change| &change.writes) {
        if let Write::MessageAdded(id, at) = write {
            let newest = newest.entry(*id).or_insert(*at);
            *newest = (*newest).max(*at);
        }
    }
    if newest.len() <= 1 || statement.layout.runs_parts_in_order() {
        newest.into_iter().for_each(|(id, at)| add_message(statement, id, at));
        return;
    }
    let count = statement.sql.bind(SqlValue::Int(i64::try_from(newest.len()).unwrap_or(i64::MAX)));
    let ids = statement.sql.ids(newest.keys().map(|id| id.to_bytes()));
    let times = statement.sql.many(Type::Time, newest.values().map(|at| SqlValue::Time(*at)));
    let (tenant, from) =
        (statement.tenant.clone(), statement.source_clause(&format!("UNNEST({ids}, {times}) AS u (id, at)")));
    let locked_conversations = statement.materialized_part(&format!(
        "SELECT c.id, u.at {from} JOIN conversations AS c ON c.tenant_id = {tenant} AND c.id = u.id \
             ORDER BY c.id FOR NO KEY UPDATE OF c"
    ));
    let part = statement.part(&format!(
            "UPDATE conversations AS t SET last_message_at = greatest(t.last_message_at, h.at) FROM {locked_conversations} AS h \
             WHERE t.tenant_id = {tenant} AND t.id = h.id AND NOT t.archived RETURNING 1"
        ),
    );
    statement.check(&format!("(SELECT count(*) FROM {part}) = {count}"), STALE);
}

fn add_message(statement: &mut Statement, id: ConversationId, at: Timestamp) {
    let (id, at) = (statement.sql.id(id.to_bytes()), statement.sql.bind(SqlValue::Time(at)));
    let (tenant, from) = (statement.tenant.clone(), statement.source_clause(""));
    let part = statement.part(&format!(
        "UPDATE conversations AS t SET last_message_at = greatest(t.last_message_at, {at}) {from} \
             WHERE t.tenant_id = {tenant} AND t.id = {id} AND NOT t.archived RETURNING 1"
    ));
    statement.check(&format!("(SELECT count(*) FROM {part}) = 1"), STALE);
}

/// Statements that lock changed conversations before anything else of the transaction. A message that was added
/// meanwhile then has the older transaction id, so the feed shows the message before the change, such as the
/// archiving of the conversation. The flag is `false`: no row is part of a result.
pub(super) fn hold(tenant: Tenant, change: &ChangeSet) -> Vec<(Sql, bool)> {
    let mut ids: Vec<[u8; 16]> = change.writes.iter().filter_map(changed_conversation).collect();
    if ids.is_empty() {
        return vec![];
    }
    ids.sort_unstable();
    let mut sql = Sql::default();
    let (tenant, ids) = (sql.tenant(tenant), sql.ids(ids));
    sql.push(&format!(
        "SELECT 1 FROM conversations WHERE tenant_id = {tenant} AND id = ANY({ids}) ORDER BY id FOR NO KEY UPDATE"
    ));
    vec![(sql, false)]
}

/// Returns the id of the conversation that a write changes. `None` for other writes.
fn changed_conversation(write: &Write) -> Option<[u8; 16]> {
    let Write::Put(row) = write else { return None };
    (row.table().name == Conversation::TABLE.name && row.version_read().is_some()).then(|| row.id())
}

/// Marks the oldest unread notifications of a person as read: at most [`MAX_READ_AT_ONCE`].
pub(super) fn read_notifications(statement: &mut Statement, person: EmployeeId, at: Timestamp) {
    let (person, at) = (statement.sql.id(person.to_bytes()), statement.sql.bind(SqlValue::Time(at)));
    let (tenant, from) = (statement.tenant.clone(), statement.source_clause(""));
    statement.part(&format!(
        "UPDATE notifications AS t SET read_at = {at}, unread = false, version = t.version + 1 {from} \
             WHERE t.tenant_id = {tenant} AND t.id IN (SELECT n.id FROM notifications AS n \
             WHERE n.tenant_id = {tenant} AND n.recipient_id = {person} AND n.unread \
             ORDER BY n.created_at, n.id LIMIT {MAX_READ_AT_ONCE})"
    ));
}
