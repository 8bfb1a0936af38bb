//! Opens and migrates the database of the configuration.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use candor_port_storage::Storage;
use candor_port_storage::upkeep::MasterKey;
use candor_store_postgres::{ConnectError, PostgresOptions, PostgresStore};
use candor_store_sqlite::{DatabaseLocation, SqliteOptions, SqliteStore};
use tokio::time::sleep;

use candor_cli::error::CommandError;
use candor_settings::{Config, DatabaseUrl};

mod failure;

pub(crate) use failure::{StoreError, is_damage, known_remedy, shorten};

/// Time limit for the database server to answer at start.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two connection attempts.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// Interval of the log messages about waiting.
const TELL_AGAIN: Duration = Duration::from_secs(5);

/// Opens the store. An embedded database is created and migrated as needed; the schema on a server must be
/// current. Replaces the keys of texts that an earlier version computed.
///
/// # Errors
/// [`StoreError::SchemaOld`], [`StoreError::SchemaNew`], or [`StoreError::Unusable`] if the database does not
/// answer; [`StoreError::Damaged`]; [`StoreError::UnfinishedCopy`].
pub(crate) async fn open(config: &Config) -> Result<Arc<dyn Storage>, CommandError> {
    expect_known_schema(config).await?;
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            expect_no_unfinished_copy(config).await?;
            let options = SqliteOptions::file(path);
            let store_result = run_blocking(move || SqliteStore::open(&options)).await?;
            Ok(Arc::new(store_result.map_err(|error| unusable(config, &error))?))
        }
        DatabaseUrl::Postgres(_) => {
            let pending = pending(config).await?;
            expect_no_unfinished_copy(config).await?;
            if !pending.is_empty() {
                return Err(StoreError::SchemaOld { database: config.database.mask_password(), pending }.into());
            }
            let replacement = candor_store_postgres::replace_former_keys(&postgres(config)).await;
            replacement.map_err(|error| unusable(config, &error))?;
            let store_result = PostgresStore::connect(&postgres(config)).await;
            Ok(Arc::new(store_result.map_err(|error| unusable(config, &error))?))
        }
    }
}

/// Refuses a database whose schema is newer than this program: the program would not write what later versions rely on.
///
/// # Errors
/// [`StoreError::SchemaNew`]; [`StoreError::Unusable`]; [`StoreError::Damaged`].
pub(crate) async fn expect_known_schema(config: &Config) -> Result<(), CommandError> {
    let unknown = match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let unknown = run_blocking(move || candor_store_sqlite::unknown_migrations(&place)).await?;
            unknown.map_err(|error| unusable(config, &error))?
        }
        DatabaseUrl::Postgres(_) => {
            let unknown = candor_store_postgres::unknown_migrations(&postgres(config)).await;
            unknown.map_err(|error| unusable(config, &error))?
        }
    };
    if unknown.is_empty() {
        return Ok(());
    }
    // Both stores have the same migrations.
    let newest = candor_store_sqlite::newest_migration().map_err(|error| unusable(config, &error))?;
    Err(StoreError::SchemaNew { database: config.database.mask_password(), unknown, newest }.into())
}

/// Refuses a database that holds an incomplete copy.
async fn expect_no_unfinished_copy(config: &Config) -> Result<(), CommandError> {
    let is_unfinished = match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let is_partial = run_blocking(move || candor_store_sqlite::is_copy_unfinished(&place)).await?;
            is_partial.map_err(|error| unusable(config, &error))?
        }
        DatabaseUrl::Postgres(_) => {
            let is_partial = candor_store_postgres::is_copy_unfinished(&postgres(config)).await;
            is_partial.map_err(|error| unusable(config, &error))?
        }
    };
    if is_unfinished { Err(StoreError::UnfinishedCopy(config.database.mask_password()).into()) } else { Ok(()) }
}

/// Returns the master keys that sealed something in the database, whatever its schema; none if the database does
/// not exist.
///
/// # Errors
/// [`StoreError::Unusable`]; [`StoreError::Damaged`].
pub(crate) async fn master_keys(config: &Config) -> Result<Vec<MasterKey>, CommandError> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let keys = run_blocking(move || candor_store_sqlite::master_keys(&place)).await?;
            keys.map_err(|error| unusable(config, &error))
        }
        DatabaseUrl::Postgres(_) => {
            let keys = candor_store_postgres::master_keys(&postgres(config)).await;
            keys.map_err(|error| unusable(config, &error))
        }
    }
}

/// Returns `true` if the embedded database at this path is empty or does not exist.
///
/// # Errors
/// [`StoreError::Unusable`]; [`StoreError::Damaged`].
pub(crate) async fn is_empty(config: &Config, path: &Path) -> Result<bool, CommandError> {
    let place = place(path);
    let empty = run_blocking(move || candor_store_sqlite::is_empty(&place)).await?;
    empty.map_err(|error| unusable(config, &error))
}

/// Requires that an embedded database exists. A command that only uses the database must not create another one at
/// a mistyped path.
///
/// # Errors
/// [`StoreError::NoDatabase`] with the path of the embedded database.
pub(crate) fn expect_database(config: &Config) -> Result<(), CommandError> {
    match &config.database {
        DatabaseUrl::Sqlite(path) if !path.exists() => {
            Err(StoreError::NoDatabase(std::path::absolute(path).unwrap_or_else(|_| path.clone())).into())
        }
        DatabaseUrl::Sqlite(_) | DatabaseUrl::Postgres(_) => Ok(()),
    }
}

/// Waits for a database server that is still starting, and logs the waiting. Fails at once if the server refuses
/// the connection, for instance because of a wrong password.
///
/// # Errors
/// [`StoreError::Unusable`] with the last reason.
pub(crate) async fn wait_until_it_answers(config: &Config) -> Result<(), CommandError> {
    if matches!(config.database, DatabaseUrl::Sqlite(_)) {
        return Ok(());
    }
    let (database, options, begun) = (config.database.mask_password(), postgres(config), Instant::now());
    let mut last_report: Option<Instant> = None;
    loop {
        let reason = match candor_store_postgres::probe(&options).await {
            Ok(()) => return Ok(()),
            Err(ConnectError::NotYet(reason)) if begun.elapsed() < PATIENCE => reason,
            Err(error) => return Err(unusable(config, &error)),
        };
        if last_report.is_none_or(|instant| instant.elapsed() >= TELL_AGAIN) {
            last_report = Some(Instant::now());
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

/// Applies the pending migrations and returns their names.
///
/// # Errors
/// [`StoreError::Unusable`]; [`StoreError::Damaged`].
pub(crate) async fn migrate(config: &Config) -> Result<Vec<String>, CommandError> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let migration = run_blocking(move || candor_store_sqlite::migrate(&place)).await?;
            migration.map_err(|error| unusable(config, &error))
        }
        DatabaseUrl::Postgres(_) => {
            let migration = candor_store_postgres::migrate(&postgres(config)).await;
            migration.map_err(|error| unusable(config, &error))
        }
    }
}

/// Distributes the tables over the nodes of a cluster and returns the names of the steps.
///
/// # Errors
/// [`StoreError::Unusable`], or [`CommandError::Refused`] for an embedded database.
pub(crate) async fn distribute(config: &Config, shards: u16) -> Result<Vec<String>, CommandError> {
    match &config.database {
        DatabaseUrl::Sqlite(_) => Err(CommandError::Refused {
            what: "distribute the database".to_owned(),
            reason: "it is an embedded database".to_owned(),
            remedy: "set CANDOR_DATABASE_URL to the coordinator of the cluster, or run `candor migrate` without \
                     --distribute",
        }),
        DatabaseUrl::Postgres(_) => {
            let distribution = candor_store_postgres::distribute(&postgres(config), shards).await;
            distribution.map_err(|error| unusable(config, &error))
        }
    }
}

/// Rewrites the tables that had rows of erased people, and returns their names. Rewrites the whole file of an
/// embedded database, and returns `None`. `begin` is called with the name of each table before its rewrite.
///
/// # Errors
/// [`StoreError::Unusable`]; [`StoreError::Damaged`].
pub(crate) async fn rewrite_erased(
    config: &Config,
    begin: impl Fn(&str),
) -> Result<Option<Vec<&'static str>>, CommandError> {
    if let DatabaseUrl::Sqlite(path) = config.database.clone() {
        let rewrite_result = run_blocking(move || candor_store_sqlite::rewrite(&path)).await?;
        return rewrite_result.map(|()| None).map_err(|error| unusable(config, &error));
    }
    let rewrite_result = candor_store_postgres::rewrite_erased(&postgres(config), begin).await.map(Some);
    rewrite_result.map_err(|error| unusable(config, &error))
}

/// Returns the names of the pending migrations without applying them.
///
/// # Errors
/// [`StoreError::Unusable`]; [`StoreError::Damaged`].
pub(crate) async fn pending(config: &Config) -> Result<Vec<String>, CommandError> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let place = place(path);
            let pending = run_blocking(move || candor_store_sqlite::pending_migrations(&place)).await?;
            pending.map_err(|error| unusable(config, &error))
        }
        DatabaseUrl::Postgres(_) => {
            let pending = candor_store_postgres::pending(&postgres(config)).await;
            pending.map_err(|error| unusable(config, &error))
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
    let replica_url =
        config.database_replica.as_ref().map(|database_replica| database_replica.reveal().to_owned());
    PostgresOptions { replica_url, ..PostgresOptions::new(url, config.database_pool) }
}

/// Checks the configured replica. Returns `None` without a replica, and the reason as an inner error if the
/// replica cannot be read.
///
/// # Errors
/// [`StoreError::Unusable`] if the primary does not answer.
pub(crate) async fn examine_replica(config: &Config) -> Result<Option<Result<(), String>>, CommandError> {
    if config.database_replica.is_none() {
        return Ok(None);
    }
    match PostgresStore::connect(&postgres(config)).await {
        Ok(store) => Ok(Some(store.examine_replica().await)),
        Err(ConnectError::Replica(reason)) => Ok(Some(Err(reason))),
        Err(error) => Err(unusable(config, &error)),
    }
}

/// Runs blocking work, such as opening SQLite, on a thread outside the async runtime.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CommandError> {
    let task_result = tokio::task::spawn_blocking(work).await;
    task_result.map_err(|error| CommandError::Defect { what: "open the database", reason: error.to_string() })
}

fn unusable(config: &Config, error: &dyn std::fmt::Display) -> CommandError {
    let (database, reason) = (config.database.mask_password(), error.to_string());
    if is_damage(&reason) {
        return StoreError::Damaged { database, reason }.into();
    }
    StoreError::Unusable { database, reason }.into()
}

/// Checks the pages, indexes and references of the embedded database. Does nothing for a server.
///
/// # Errors
/// [`StoreError::Damaged`]; [`StoreError::Unusable`].
pub(crate) async fn expect_undamaged(config: &Config) -> Result<(), CommandError> {
    let DatabaseUrl::Sqlite(path) = &config.database else { return Ok(()) };
    let path = path.clone();
    let check_result = run_blocking(move || candor_store_sqlite::check_database(&path)).await?;
    check_result.map_err(|error| unusable(config, &error))
}
