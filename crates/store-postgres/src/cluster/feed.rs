//! The event feed of a cluster: each event gets the next position of its tenant, counted in a row of
//! [`FEED_POSITIONS`].
//!
//! A transaction locks that row until its end, so events are committed in the order of their positions on every
//! node. Statements on the row come last in the transaction, so that the lock is short. The row also holds the
//! event types that active subscriptions want, as bits. If a change set assumes that there are no subscriptions,
//! but a subscription wants its events, the statement of the change set on this row fails.

use candor_domain::access::Tenant;
use candor_domain::event::Event;
use candor_tables::AnyRow;
use candor_tables::RowWriteError;
use candor_tables::flat::{SqlValue, Stored, Table};

use super::tables::{FEED_POSITIONS, NEXT_POSITION, count_up};
use super::{Cluster, MOST_VALUES};
use crate::layout::rows::{Entry, array_columns, bind_arrays, column_names};
use crate::layout::statement::assert_sql;
use crate::layout::{LateEvents, Statement};
use crate::sql::Sql;

/// Name of the check that fails if an active subscription wants an event of a change set that assumed no
/// subscriptions.
pub(crate) const SUBSCRIBED: &str = "subscribed";

/// Takes the events out of the rows to add, and returns them. They are inserted last, see [`statements`].
pub(super) fn take_events(added: &mut Vec<AnyRow>) -> Vec<AnyRow> {
    let (events, others) = added.drain(..).partition(|row| row.table().name == Event::TABLE.name);
    *added = others;
    events
}

/// Builds the statements that record the wanted event types, and insert events at the next positions of their
/// tenant. The flags are `false`: no row is part of a result.
pub(super) fn statements(tenant: Tenant, events: &LateEvents) -> Result<Vec<(Sql, bool)>, RowWriteError> {
    let mut statement = Statement::new(&Cluster, tenant);
    if events.changes_subscriptions {
        record_wanted(&mut statement);
    }
    let rows = events.rows.iter().map(Entry::new).collect::<Result<Vec<_>, _>>()?;
    match rows.len() {
        0 => {}
        1..=MOST_VALUES => insert_values(&mut statement, Event::TABLE, &rows, events.unwanted),
        _ => {
            insert_arrays(&mut statement, Event::TABLE, &rows);
            check_unwanted(&mut statement, events.unwanted);
        }
    }
    Ok(statement.finish(false))
}

/// Inserts events, each at a position of its own.
fn insert_values(statement: &mut Statement, table: &Table, rows: &[Entry<'_>], unwanted: i64) {
    let (tenant, unwanted) = (statement.tenant.clone(), statement.sql.bind(SqlValue::Int(unwanted)));
    let row = |entry: &Entry<'_>| {
        let values = entry.bind_cells(statement);
        format!("{tenant}, {values}, {NEXT_POSITION}({tenant}, {unwanted})")
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    let rows = statement.rows(&rows);
    let columns = column_names(table);
    statement.part(&format!("INSERT INTO {} (tenant_id, {columns}, position) {rows}", table.name));
}

/// Inserts many events at one position. The feed orders events of one position by id.
fn insert_arrays(statement: &mut Statement, table: &Table, rows: &[Entry<'_>]) {
    let tenant = statement.tenant.clone();
    statement.part(&count_up(&tenant));
    let all: Vec<_> = rows.iter().collect();
    let (source, values) = (bind_arrays(statement, table, &all), array_columns(table).join(", "));
    let text = format!(
        "INSERT INTO {} (tenant_id, {}, position) SELECT f.tenant_id, {values}, f.position \
         FROM {FEED_POSITIONS} AS f, {source} WHERE f.tenant_id = {tenant}",
        table.name,
        column_names(table)
    );
    statement.part(&text);
}

/// Adds a check that fails if an active subscription of the tenant wants an event of these types. An earlier part has
/// locked the tenant's row of positions.
fn check_unwanted(statement: &mut Statement, unwanted: i64) {
    if unwanted == 0 {
        return;
    }
    let (tenant, unwanted) = (statement.tenant.clone(), statement.sql.bind(SqlValue::Int(unwanted)));
    let none_wanted = assert_sql("wanted = 0", SUBSCRIBED);
    statement.part(&format!(
        "SELECT {none_wanted} FROM {FEED_POSITIONS} WHERE tenant_id = {tenant} AND wanted & {unwanted} <> 0"
    ));
}

/// Records the event types that the tenant's active subscriptions want. The row is locked before the subscriptions
/// are read: of two concurrent transactions that change subscriptions, the later one sees both changes.
fn record_wanted(statement: &mut Statement) {
    let tenant = statement.tenant.clone();
    statement.part(&format!(
        "INSERT INTO {FEED_POSITIONS} AS f (tenant_id, position) VALUES ({tenant}, 0) \
             ON CONFLICT (tenant_id) DO UPDATE SET position = f.position"
    ));
    statement.part(&format!(
        "UPDATE {FEED_POSITIONS} SET wanted = coalesce((SELECT bit_or(w.wanted) FROM webhooks AS w \
             WHERE w.tenant_id = {tenant}), 0) WHERE tenant_id = {tenant}"
    ));
}
