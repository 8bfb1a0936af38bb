//! Layout of one server: a change set is one statement, and locked rows are found again by `ctid`.

use candor_domain::access::Tenant;
use candor_domain::idempotency::Replay;
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::{SqlValue, Table, Type};

use super::idempotency::{IdempotencyKeyState, REPLAY_COLUMNS, REPLAY_TAKEN, REPLAYED, take};
use super::rows::Entry;
use super::statement::{Item, assert_sql, select_leased};
use super::{Address, ExpectedSubscribers, LateEvents, Layout, Statement};
use crate::sql::Sql;
use crate::sql::planner_settings::{STEER, UNFLUSHED};
use crate::sql::reporting_lines::{MAX_DEPTH, manager_of};

/// Layout with every table on one server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneServer;

/// Lock timeout of a statement for several change sets.
const SHORT_WAIT: &str = "100ms";

impl Layout for OneServer {
    fn spans_tenants(&self) -> bool {
        true
    }

    fn runs_parts_in_order(&self) -> bool {
        false
    }

    fn needs_analyze(&self) -> bool {
        true
    }

    fn most_values(&self) -> usize {
        1
    }

    /// Returns 0: all members of a row are one array, so the statement is the same for any number of them.
    fn most_member_values(&self) -> usize {
        0
    }

    fn address(&self, _: &'static [&'static str]) -> Address {
        Address::Place
    }

    fn finish(&self, statement: Statement, leases: bool) -> Vec<(Sql, bool)> {
        let (mut sql, items, queued) = statement.into_parts();
        let (mut parts, mut checks) = (vec![], vec![]);
        for item in items {
            match item {
                Item::Part { name, form, text } => parts.push(format!("{name} AS {form}({text})")),
                Item::Check(expression) => checks.push(expression),
            }
        }
        let checks = if checks.is_empty() { "1".to_owned() } else { checks.join(", ") };
        let with = if parts.is_empty() { String::new() } else { format!("WITH {} ", parts.join(", ")) };
        let text = if leases { select_leased(&checks, &queued) } else { format!("SELECT {checks}") };
        sql.push(&format!("{with}{text}"));
        vec![(sql, leases)]
    }

    fn take_key(&self, statement: &mut Statement, replay: &Replay, _: IdempotencyKeyState) {
        let key_row = take(&mut statement.sql, &statement.tenant, replay);
        statement.named_part("replay", "", &key_row);
        statement.gate(&assert_sql("(SELECT count(*) FROM replay) = 1", REPLAYED));
    }

    fn take_keys(&self, statement: &mut Statement, replays: &[&Replay]) {
        let hurry = format!("set_config('lock_timeout', '{SHORT_WAIT}', true)");
        if replays.is_empty() {
            return statement.gate(&hurry);
        }
        let count = statement.sql.bind(SqlValue::Int(i64::try_from(replays.len()).unwrap_or(i64::MAX)));
        let mut many = |kind, cell: &dyn Fn(&Replay) -> SqlValue| {
            statement.sql.many(kind, replays.iter().map(|replay| cell(replay)))
        };
        let columns = [
            many(Type::Text, &|replay| SqlValue::Text(replay.key.as_str().to_owned())),
            many(Type::Bytes, &|replay| SqlValue::Bytes(replay.fingerprint.to_bytes().to_vec())),
            many(Type::Int, &|replay| SqlValue::Int(i64::from(replay.status))),
            many(Type::Bytes, &|replay| SqlValue::Bytes(replay.sealed.clone())),
            many(Type::Time, &|replay| SqlValue::Time(replay.created_at)),
            many(Type::Time, &|replay| SqlValue::Time(replay.expires_at())),
        ];
        let (tenant, columns) = (&statement.tenant, columns.join(", "));
        let replay = format!(
            "INSERT INTO replays AS r (tenant_id, {REPLAY_COLUMNS}) SELECT {tenant}, u.* \
             FROM (SELECT {hurry} AS set) AS hurry, UNNEST({columns}) AS u ({REPLAY_COLUMNS}) \
             WHERE hurry.set <> '' \
             {REPLAY_TAKEN} excluded.status WHERE r.expires_at <= excluded.created_at RETURNING 1"
        );
        statement.named_part("replay", "", &replay);
        statement.gate(&assert_sql(&format!("(SELECT count(*) FROM replay) = {count}"), REPLAYED));
    }

    /// Leaves the events among the other rows and returns none: their feed position follows from the transaction id,
    /// so they need not be written last.
    fn split_off_events(&self, _: &mut Vec<AnyRow>) -> Vec<AnyRow> {
        vec![]
    }

    fn event_statements(&self, _: Tenant, _: &LateEvents) -> Result<Vec<(Sql, bool)>, RowWriteError> {
        Ok(vec![])
    }

    fn name_secrets(&self, _: &mut Statement, _: &Table, _: &str, _: &[&Entry<'_>]) {}

    /// Returns one statement. It deletes by `ctid`: any other form makes the planner scan all reporting lines.
    fn moved_lines(&self, tenant: Tenant, moved: &[[u8; 16]]) -> Vec<Sql> {
        let mut sql = Sql::default();
        let (tenant, moved) = (sql.tenant(tenant), sql.ids(moved.iter().copied()));
        sql.push(&format!(
            "WITH RECURSIVE moved AS MATERIALIZED (SELECT u.id FROM UNNEST({moved}) AS u (id)), \
             below AS MATERIALIZED (SELECT id FROM moved UNION SELECT l.descendant_id FROM moved AS m \
             CROSS JOIN LATERAL \
             (SELECT descendant_id FROM reporting_lines WHERE tenant_id = {tenant} AND ancestor_id = m.id \
             OFFSET 0) AS l), line (descendant_id, ancestor_id, depth) AS (\
             SELECT b.id, e.manager_id, 1::bigint FROM below AS b CROSS JOIN LATERAL {first} \
             WHERE e.manager_id IS NOT NULL \
             UNION ALL SELECT s.descendant_id, e.manager_id, s.depth + 1 FROM line AS s CROSS JOIN LATERAL {next} \
             WHERE e.manager_id IS NOT NULL AND s.depth < {MAX_DEPTH}), \
             gone AS (DELETE FROM reporting_lines WHERE ctid = ANY(ARRAY(\
             SELECT o.ctid FROM below AS b CROSS JOIN LATERAL (SELECT l.ctid, l.descendant_id, l.ancestor_id \
             FROM reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.descendant_id = b.id OFFSET 0) AS o \
             WHERE NOT EXISTS (SELECT 1 FROM line AS n \
             WHERE n.descendant_id = o.descendant_id AND n.ancestor_id = o.ancestor_id)))) \
             INSERT INTO reporting_lines AS l (tenant_id, ancestor_id, descendant_id, depth) \
             SELECT {tenant}, n.ancestor_id, n.descendant_id, n.depth FROM line AS n \
             ON CONFLICT (tenant_id, ancestor_id, descendant_id) DO UPDATE SET depth = excluded.depth \
             WHERE l.depth <> excluded.depth",
            first = manager_of(&tenant, "b.id"),
            next = manager_of(&tenant, "s.ancestor_id"),
        ));
        vec![sql]
    }

    /// Returns `Any`: an assumption would save only one lookup in a small index.
    fn expected_subscribers(&self) -> ExpectedSubscribers {
        ExpectedSubscribers::Any
    }

    fn lease_settings(&self) -> &'static [&'static str] {
        &[STEER, UNFLUSHED]
    }

    fn record_settings(&self) -> &'static [&'static str] {
        &[STEER]
    }

    fn partition_settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns `None`: unique indexes find the row by the hash.
    fn tenant_of_secret(&self, _: &str, _: SqlValue) -> Option<Sql> {
        None
    }

    /// Returns the position of the oldest running transaction, at or after which more events may still appear.
    fn feed_horizon(&self) -> &'static str {
        "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + feed_offset()"
    }

    fn feed_end(&self) -> &'static str {
        "SELECT greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint + feed_offset() - 1, \
         (SELECT max(position) FROM events))"
    }

    fn fill_uncopied_tables_script(&self, _: i64) -> Option<String> {
        None
    }

    fn refusal_of_replicas(&self) -> Option<&'static str> {
        None
    }
}
