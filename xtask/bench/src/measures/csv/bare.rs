//! The least that the rows of people cost, in the same table with the same indexes and checks: one insert of all of them
//! on PostgreSQL, and on SQLite, where a statement is only a call, a prepared one for each row in one transaction.

use crate::Outcome;
use crate::admin::Admin;
use crate::data::Dialect;
use crate::options::Store;
use crate::stage::{Side, Stage};
use diesel::RunQueryDsl;
use diesel::connection::{Connection, SimpleConnection};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::BigInt;
use diesel::sqlite::{Sqlite, SqliteConnection};
use std::cell::RefCell;
use std::time::Instant;

use super::people::PEOPLE;

/// The insert of one row.
#[derive(QueryId)]
struct OneRow(i64);

impl QueryFragment<Sqlite> for OneRow {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT INTO employees SELECT * FROM bare WHERE rowid = ");
        out.push_bind_param::<BigInt, _>(&self.0)
    }
}

impl RunQueryDsl<SqliteConnection> for OneRow {}

/// The database that a service runs on.
pub(super) struct Bare<'a> {
    side: &'a Side,
    database: Database<'a>,
}

enum Database<'a> {
    Server(&'a Admin),
    File(RefCell<SqliteConnection>),
}

impl<'a> Bare<'a> {
    pub(super) fn new(stage: &'a Stage, side: &'a Side) -> Outcome<Self> {
        let database = match side.store {
            Store::Postgres => Database::Server(&stage.reference.as_ref().ok_or("no database server")?.admin),
            Store::Sqlite => {
                let path = side.database.trim_start_matches("sqlite://");
                let mut connection = SqliteConnection::establish(path)?;
                // As the service's own connection; the log is moved outside of what is measured, as there.
                connection.batch_execute(
                    "PRAGMA busy_timeout = 5000; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0; \
                     PRAGMA foreign_keys = on; PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; \
                     PRAGMA temp_store = memory",
                )?;
                Database::File(RefCell::new(connection))
            }
        };
        Ok(Self { side, database })
    }

    /// Inserts the people whose addresses begin with a name once more, as another organization's; the seconds that the
    /// insert takes.
    pub(super) fn insert(&self, name: &str, number: usize) -> Outcome<f64> {
        // Row by row, managers have to come first, as the service wrote them.
        let (dialect, order) = match self.side.store {
            Store::Postgres => (Dialect::Postgres, "id"),
            Store::Sqlite => (Dialect::Sqlite, "rowid"),
        };
        let mut tenant = self.side.tenant;
        tenant[8] ^= u8::try_from(number + 1)?;
        let (own, other) = (dialect.bytes(self.side.tenant), dialect.bytes(tenant));
        self.run(&format!(
            "CREATE TEMP TABLE bare_departments AS SELECT * FROM departments WHERE tenant_id = {own}; \
             UPDATE bare_departments SET tenant_id = {other}; INSERT INTO departments SELECT * FROM bare_departments; \
             CREATE TEMP TABLE bare AS SELECT * FROM employees WHERE tenant_id = {own} AND email_key LIKE '{name}%' \
             ORDER BY {order}; UPDATE bare SET tenant_id = {other}"
        ))?;
        let begun = Instant::now();
        match &self.database {
            Database::Server(admin) => admin.run("INSERT INTO employees SELECT * FROM bare")?,
            Database::File(connection) => connection
                .borrow_mut()
                .transaction(|it| (1..=i64::from(PEOPLE)).try_for_each(|row| OneRow(row).execute(it).map(drop)))?,
        }
        let seconds = begun.elapsed().as_secs_f64();
        self.run("DROP TABLE bare; DROP TABLE bare_departments")?;
        Ok(seconds)
    }

    fn run(&self, statements: &str) -> Outcome {
        match &self.database {
            Database::Server(admin) => admin.run(statements),
            Database::File(connection) => Ok(connection.borrow_mut().batch_execute(statements)?),
        }
    }
}
