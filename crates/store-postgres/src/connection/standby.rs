//! Checks that a connection leads to a standby of the database.

use std::sync::Arc;

use candor_tables::flat::CellReader;
use diesel_async::AsyncPgConnection;

use crate::connection::session::run;
use crate::failure::Failure;
use crate::sql::Sql;
use crate::sql::row::{flag, int};

/// Query for the state of a standby, sent after each read. A server that is then still in recovery cannot have
/// accepted writes of its own. The second column is the replication lag in milliseconds: the age of the last
/// replayed change, or 0 if a connected standby has replayed everything received.
pub(crate) const STANDING: &str = "SELECT pg_is_in_recovery(), \
    (CASE WHEN EXISTS (SELECT 1 FROM pg_stat_wal_receiver) \
    AND pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 \
    ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000 END)::bigint";
/// Query for the identity of a database, which a standby shares only with its primary.
pub(crate) const IDENTITY: &str = "SELECT (SELECT system_identifier FROM pg_control_system()), \
    (SELECT oid::bigint FROM pg_database WHERE datname = current_database())";

/// Identity of a database, equal on the primary and its standbys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    server: i64,
    database: i64,
}

impl Identity {
    pub(crate) fn read(row: &mut dyn CellReader) -> Result<Self, Failure> {
        Ok(Self { server: int(row)?, database: int(row)? })
    }

    /// Checks that a connection leads to a standby of this database.
    ///
    /// # Errors
    /// The reason to reject the connection.
    async fn check(self, connection: &AsyncPgConnection) -> Result<(), String> {
        if one(connection, &Sql::plain(IDENTITY), Self::read).await? != self {
            return Err("the server is no copy of this database".to_owned());
        }
        if !one(connection, &Sql::plain(STANDING), flag).await? {
            return Err("the server is no standby: it takes writes of its own".to_owned());
        }
        Ok(())
    }
}

/// Requirements for a new connection: it leads to a standby of this database, and the standby has the newest
/// migration.
#[derive(Debug, Clone)]
pub(crate) struct StandbyOf {
    pub(crate) identity: Identity,
    /// Name of the newest migration.
    pub(crate) migration: String,
    /// Query that returns `true` if the database has the migration.
    pub(crate) has_migration: Arc<Sql>,
}

impl StandbyOf {
    /// Checks that a new connection leads to a standby of this database with the required schema.
    ///
    /// # Errors
    /// The reason to reject the connection.
    pub(crate) async fn check(&self, connection: &AsyncPgConnection) -> Result<(), String> {
        self.identity.check(connection).await?;
        match one(connection, &self.has_migration, flag).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(format!("migration {} has not arrived on the standby yet", self.migration)),
        }
    }
}

/// Reads the only row of a statement.
///
/// # Errors
/// The failure as a text, also if there is no row.
pub(crate) async fn one<T: Send>(
    connection: &AsyncPgConnection,
    sql: &Sql,
    read: impl Fn(&mut dyn CellReader) -> Result<T, Failure> + Send,
) -> Result<T, String> {
    let rows = run(connection, sql, read).await.map_err(Failure::text)?;
    rows.into_iter().next().ok_or_else(|| "the server returned no row".to_owned())
}
