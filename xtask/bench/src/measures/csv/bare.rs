//! The least that the rows of people cost: one insert of them, in the same table with the same indexes and checks.

use crate::Outcome;
use crate::admin::Admin;
use crate::data::Dialect;
use crate::options::Store;
use crate::stage::{Side, Stage};
use diesel::connection::{Connection, SimpleConnection};
use diesel::sqlite::SqliteConnection;
use std::cell::RefCell;
use std::time::Instant;

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
                     PRAGMA foreign_keys = on; PRAGMA cache_size = -16384; PRAGMA mmap_size = 1073741824; \
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
        let dialect = match self.side.store {
            Store::Postgres => Dialect::Postgres,
            Store::Sqlite => Dialect::Sqlite,
        };
        let mut tenant = self.side.tenant;
        tenant[8] ^= u8::try_from(number + 1)?;
        let (own, other) = (dialect.bytes(self.side.tenant), dialect.bytes(tenant));
        self.run(&format!(
            "CREATE TEMP TABLE bare_departments AS SELECT * FROM departments WHERE tenant_id = {own}; \
             UPDATE bare_departments SET tenant_id = {other}; INSERT INTO departments SELECT * FROM bare_departments; \
             CREATE TEMP TABLE bare AS SELECT * FROM employees WHERE tenant_id = {own} AND email_key LIKE '{name}%'; \
             UPDATE bare SET tenant_id = {other}"
        ))?;
        let begun = Instant::now();
        self.run("INSERT INTO employees SELECT * FROM bare")?;
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
