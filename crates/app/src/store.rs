//! The store that the database URL names.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use candor_port_storage::Storage;
use candor_port_storage::upkeep::MasterKey;
use candor_store_postgres::{ConnectError, PostgresOptions, PostgresStore};
use candor_store_sqlite::{DatabaseLocation, SqliteOptions, SqliteStore};

use tokio::time::sleep;

use crate::commands::copy::CopyFailure;
use crate::config::{Config, DatabaseUrl};
use crate::error::Error;

/// How long the start of the service waits for a database server that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it tries to reach the server meanwhile.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// How often it says in the log that it is waiting.
const TELL_AGAIN: Duration = Duration::from_secs(5);

/// Opens the store. An embedded database is made and migrated when needed; a server's schema must be up to date.
///
/// # Errors
/// [`Error::SchemaOld`], or [`Error::Database`] if the database does not answer; [`CopyFailure::Unfinished`].
pub(crate) async fn open(config: &Config) -> Result<Arc<dyn Storage>, Error> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            expect_no_unfinished_copy(config).await?;
            let options = SqliteOptions::file(path);
            let opened = blocking(move || SqliteStore::open(&options)).await?;
            Ok(Arc::new(opened.map_err(|it| unusable(config, &it))?))
        }
        DatabaseUrl::Postgres(_) => {
            let pending = pending(config).await?;
            expect_no_unfinished_copy(config).await?;
            if !pending.is_empty() {
                return Err(Error::SchemaOld { database: config.database.masked(), pending });
            }
            let opened = PostgresStore::connect(&postgres(config)).await;
            Ok(Arc::new(opened.map_err(|it| unusable(config, &it))?))
        }
    }
}

/// Expects that no copy into the database was begun and not completed: it has only a part of what it should have.
async fn expect_no_unfinished_copy(config: &Config) -> Result<(), Error> {
    let is_unfinished = match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let found = blocking(move || candor_store_sqlite::is_copy_unfinished(&place)).await?;
            found.map_err(|it| unusable(config, &it))?
        }
        DatabaseUrl::Postgres(_) => {
            let found = candor_store_postgres::is_copy_unfinished(&postgres(config)).await;
            found.map_err(|it| unusable(config, &it))?
        }
    };
    if is_unfinished { Err(CopyFailure::Unfinished(config.database.masked()).into()) } else { Ok(()) }
}

/// The master keys that have sealed something in the database, whatever its schema; none where there is none yet.
///
/// # Errors
/// [`Error::Database`].
pub(crate) async fn master_keys(config: &Config) -> Result<Vec<MasterKey>, Error> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let keys = blocking(move || candor_store_sqlite::master_keys(&place)).await?;
            keys.map_err(|it| unusable(config, &it))
        }
        DatabaseUrl::Postgres(_) => {
            let keys = candor_store_postgres::master_keys(&postgres(config)).await;
            keys.map_err(|it| unusable(config, &it))
        }
    }
}

/// Whether nobody has put anything into the embedded database at this path, or there is none.
///
/// # Errors
/// [`Error::Database`].
pub(crate) async fn is_empty(config: &Config, path: &Path) -> Result<bool, Error> {
    let place = place(path);
    let empty = blocking(move || candor_store_sqlite::is_empty(&place)).await?;
    empty.map_err(|it| unusable(config, &it))
}

/// Expects that there is a database: whoever only works with one makes none where they look by mistake.
///
/// # Errors
/// [`Error::NoDatabase`] naming where the embedded one was looked for.
pub(crate) fn expect(config: &Config) -> Result<(), Error> {
    match &config.database {
        DatabaseUrl::Sqlite(path) if !path.exists() => {
            Err(Error::NoDatabase(std::path::absolute(path).unwrap_or_else(|_| path.clone())))
        }
        DatabaseUrl::Sqlite(_) | DatabaseUrl::Postgres(_) => Ok(()),
    }
}

/// Waits for a database server that does not answer yet, as when both are started together, and says so. An embedded
/// database is not waited for, nor a server that answers with a refusal, such as of a wrong password.
///
/// # Errors
/// [`Error::Database`] with the last reason, when the time is up or there is no use in waiting.
pub(crate) async fn wait_until_it_answers(config: &Config) -> Result<(), Error> {
    if matches!(config.database, DatabaseUrl::Sqlite(_)) {
        return Ok(());
    }
    let (database, options, begun) = (config.database.masked(), postgres(config), Instant::now());
    let mut told: Option<Instant> = None;
    loop {
        let reason = match candor_store_postgres::probe(&options).await {
            Ok(()) => return Ok(()),
            Err(ConnectError::NotYet(reason)) if begun.elapsed() < PATIENCE => reason,
            Err(error) => return Err(unusable(config, &error)),
        };
        if told.is_none_or(|it| it.elapsed() >= TELL_AGAIN) {
            told = Some(Instant::now());
            let (waited, most) = (begun.elapsed().as_secs(), PATIENCE.as_secs());
            tracing::warn!(
                database,
                reason,
                "waiting for the database to answer, since {waited} s and for at most {most} s"
            );
        }
        sleep(TRY_AGAIN).await;
    }
}

/// Applies what is pending and names it.
///
/// # Errors
/// [`Error::Database`].
pub(crate) async fn migrate(config: &Config) -> Result<Vec<String>, Error> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let applied = blocking(move || candor_store_sqlite::migrate(&place)).await?;
            applied.map_err(|it| unusable(config, &it))
        }
        DatabaseUrl::Postgres(_) => {
            let applied = candor_store_postgres::migrate(&postgres(config)).await;
            applied.map_err(|it| unusable(config, &it))
        }
    }
}

/// Spreads the tables over the nodes of a cluster, and names what was done.
///
/// # Errors
/// [`Error::Database`], also for an embedded database, which is on one machine.
pub(crate) async fn distribute(config: &Config, shards: u16) -> Result<Vec<String>, Error> {
    match &config.database {
        DatabaseUrl::Sqlite(_) => Err(unusable(config, &"an embedded database cannot be distributed")),
        DatabaseUrl::Postgres(_) => {
            let done = candor_store_postgres::distribute(&postgres(config), shards).await;
            done.map_err(|it| unusable(config, &it))
        }
    }
}

/// Names what is pending and changes nothing.
///
/// # Errors
/// [`Error::Database`].
pub(crate) async fn pending(config: &Config) -> Result<Vec<String>, Error> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let pending = blocking(move || candor_store_sqlite::pending_migrations(&place)).await?;
            pending.map_err(|it| unusable(config, &it))
        }
        DatabaseUrl::Postgres(_) => {
            let pending = candor_store_postgres::pending(&postgres(config)).await;
            pending.map_err(|it| unusable(config, &it))
        }
    }
}

fn place(path: &Path) -> DatabaseLocation {
    DatabaseLocation::File(path.to_owned())
}

fn postgres(config: &Config) -> PostgresOptions {
    let url = match &config.database {
        DatabaseUrl::Postgres(url) => url.reveal(),
        DatabaseUrl::Sqlite(_) => "",
    };
    let replica_url = config.database_replica.as_ref().map(|it| it.reveal().to_owned());
    PostgresOptions { replica_url, ..PostgresOptions::new(url, config.database_pool) }
}

/// Whether the replica can be read, if there is one, or why not.
///
/// # Errors
/// [`Error::Database`] where the database itself does not answer.
pub(crate) async fn examine_replica(config: &Config) -> Result<Option<Result<(), String>>, Error> {
    if config.database_replica.is_none() {
        return Ok(None);
    }
    match PostgresStore::connect(&postgres(config)).await {
        Ok(store) => Ok(Some(store.examine_replica().await)),
        Err(ConnectError::Replica(reason)) => Ok(Some(Err(reason))),
        Err(error) => Err(unusable(config, &error)),
    }
}

/// Opening and migrating SQLite blocks its thread, so it gets one that is not the runtime's.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|it| Error::Defect { what: "open the database", reason: it.to_string() })
}

fn unusable(config: &Config, error: &dyn std::fmt::Display) -> Error {
    Error::Database { database: config.database.masked(), reason: error.to_string() }
}
