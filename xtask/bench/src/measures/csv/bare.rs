//! The minimal cost of the rows of people, in the same table with the same indexes and checks: one insert of all
//! of them on PostgreSQL; on SQLite, where a statement is only a call, a prepared one for each row in one
//! transaction.

use super::PEOPLE;
use crate::measures::*;
use diesel::RunQueryDsl;
use diesel::connection::Connection;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::BigInt;
use diesel::sqlite::{Sqlite, SqliteConnection};
use std::time::Instant;

/// Statement that inserts the row of the table `bare` with this `rowid`.
#[derive(QueryId)]
struct OneRow(i64);

impl QueryFragment<Sqlite> for OneRow {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT INTO employees SELECT * FROM bare WHERE rowid = ");
        out.push_bind_param::<BigInt, _>(&self.0)
    }
}

impl RunQueryDsl<SqliteConnection> for OneRow {}

pub(super) struct Bare<'a> {
    instance: &'a Instance,
    database: Database,
}

impl<'a> Bare<'a> {
    pub(super) fn new(instance: &'a Instance) -> Result<Self> {
        let database = instance.database()?;
        // Settings of the service's own connection, where writes do not run checkpoints either.
        database.run_by_store(
            "",
            "PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = on; \
             PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; PRAGMA temp_store = memory",
        )?;
        Ok(Self { instance, database })
    }

    /// Inserts the people whose addresses begin with `name` once more, as people of another organization. Returns
    /// the seconds of the insert.
    pub(super) fn insert(&self, name: &str, number: usize) -> Result<f64> {
        let store = self.instance.store;
        let mut tenant = self.instance.tenant;
        tenant[8] ^= u8::try_from(number + 1)?;
        let (own, other) = (store.bytes(self.instance.tenant), store.bytes(tenant));
        // SQLite inserts row by row, so managers must precede their reports: `rowid` has the order of the service.
        let order = store.pick("id", "rowid");
        self.database.run(&format!(
            "CREATE TEMP TABLE bare_departments AS SELECT * FROM departments WHERE tenant_id = {own}; \
             UPDATE bare_departments SET tenant_id = {other}; \
             INSERT INTO departments SELECT * FROM bare_departments; \
             CREATE TEMP TABLE bare AS SELECT * FROM employees WHERE tenant_id = {own} \
             AND email_key LIKE '{name}%' \
             ORDER BY {order}; UPDATE bare SET tenant_id = {other}"
        ))?;
        let started = Instant::now();
        match &self.database {
            Database::Postgres(_) => self.database.run("INSERT INTO employees SELECT * FROM bare")?,
            Database::Sqlite { connection, .. } => connection.borrow_mut().transaction(|connection| {
                (1..=i64::from(PEOPLE)).try_for_each(|row| OneRow(row).execute(connection).map(drop))
            })?,
        }
        let seconds = started.elapsed().as_secs_f64();
        self.database.run("DROP TABLE bare; DROP TABLE bare_departments")?;
        Ok(seconds)
    }
}
