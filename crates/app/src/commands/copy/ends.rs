//! Source and target of a copy, opened exclusively.

use std::path::{Path, PathBuf};

use candor_port_storage::copy::CopyTarget;
use candor_store_postgres::{CopyDatabaseError, PostgresCopy, PostgresOptions};
use candor_store_sqlite::SqliteCopy;

use super::failure::CopyCommandError;
use crate::serving_lock::{LockError, ServingLock};
use crate::store::{self, StoreError};
use candor_cli::error::CommandError;
use candor_settings::DatabaseUrl;

/// Pool size of a database that is opened for the copy. Migrations use a single connection.
const CONNECTIONS: usize = 4;
/// Application name of the connections, as shown in `pg_stat_activity`.
const NAME: &str = "candor copy";

/// Locks that keep services from using the embedded databases during the copy.
#[derive(Debug)]
pub(super) struct Locks {
    _both: [Option<ServingLock>; 2],
}

impl Locks {
    /// Takes the locks of source and target.
    ///
    /// # Errors
    /// [`CopyCommandError::Same`], [`CopyCommandError::InUse`]; [`StoreError::NoDatabase`] if the source does not exist;
    /// [`LockError`] if a lock cannot be taken.
    pub(super) fn take(from: &DatabaseUrl, to: &DatabaseUrl) -> Result<Self, CommandError> {
        if identity(from) == identity(to) {
            return Err(CopyCommandError::Same(from.mask_password()).into());
        }
        if let DatabaseUrl::Sqlite(path) = from
            && !path.exists()
        {
            return Err(StoreError::NoDatabase(absolute(path)).into());
        }
        let take = |database: &DatabaseUrl| {
            ServingLock::take(database).map_err(|failure| match failure {
                LockError::AlreadyServed { database, process } => {
                    let process = if process.is_empty() {
                        "another process".to_owned()
                    } else {
                        format!("process {process}")
                    };
                    let reason = format!("{process} serves or copies the database");
                    CopyCommandError::InUse { database, reason }.into()
                }
                other @ (LockError::Linked { .. } | LockError::Io(_)) => CommandError::from(other),
            })
        };
        Ok(Self { _both: [take(from)?, take(to)?] })
    }
}

/// Opens the source for reading.
///
/// # Errors
/// [`CopyCommandError`] if the source cannot be read, has an old schema, or is used by a service;
/// [`StoreError::UnfinishedCopy`] if the source is an incomplete copy itself.
pub(super) async fn source(database: &DatabaseUrl) -> Result<Box<dyn CopyTarget>, CommandError> {
    let (source, pending): (Box<dyn CopyTarget>, _) = match database {
        DatabaseUrl::Sqlite(path) => {
            let path = path.clone();
            let source =
                store::run_blocking(move || SqliteCopy::source(&path)).await?.map_err(unusable(database))?;
            let pending = source.pending().await.map_err(unusable(database))?;
            (Box::new(source), pending)
        }
        DatabaseUrl::Postgres(url) => {
            let source_result = PostgresCopy::source(&options(url.reveal())).await;
            let source = source_result.map_err(|error| to_error(database, &error))?;
            let pending = source.pending().await.map_err(|error| to_error(database, &error))?;
            (Box::new(source), pending)
        }
    };
    if !pending.is_empty() {
        return Err(CopyCommandError::SourceOld { database: database.mask_password(), pending }.into());
    }
    match source.progress().await.map_err(unusable(database))? {
        None => Ok(source),
        Some(_) => Err(StoreError::UnfinishedCopy(database.mask_password()).into()),
    }
}

/// Opens the target. Creates the file of an embedded database if it does not exist, and migrates an empty
/// target.
///
/// # Errors
/// [`CopyCommandError`] if the target cannot be used, or a service or another copy uses the target.
pub(super) async fn target(database: &DatabaseUrl) -> Result<Box<dyn CopyTarget>, CommandError> {
    match database {
        DatabaseUrl::Sqlite(path) => {
            let path = path.clone();
            let target_result = store::run_blocking(move || SqliteCopy::target(&path)).await?;
            Ok(Box::new(target_result.map_err(unusable(database))?))
        }
        DatabaseUrl::Postgres(url) => {
            let target_result = PostgresCopy::target(&options(url.reveal())).await;
            Ok(Box::new(target_result.map_err(|error| to_error(database, &error))?))
        }
    }
}

/// Returns the identity of a database: its URL without the password.
pub(super) fn identity(database: &DatabaseUrl) -> String {
    match database {
        DatabaseUrl::Sqlite(path) => format!("sqlite://{}", absolute(path).display()),
        DatabaseUrl::Postgres(_) => database.mask_password(),
    }
}

fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.canonicalize().unwrap_or(path)
}

fn options(url: &str) -> PostgresOptions {
    PostgresOptions { application_name: NAME.to_owned(), ..PostgresOptions::new(url, CONNECTIONS) }
}

fn unusable<E: std::fmt::Display>(database: &DatabaseUrl) -> impl Fn(E) -> CommandError {
    let database = database.mask_password();
    move |reason| CopyCommandError::Stopped { database: database.clone(), reason: reason.to_string() }.into()
}

fn to_error(database: &DatabaseUrl, refusal: &CopyDatabaseError) -> CommandError {
    let (database, reason) = (database.mask_password(), refusal.to_string());
    match refusal {
        CopyDatabaseError::InUse(_) | CopyDatabaseError::Locked => {
            CopyCommandError::InUse { database, reason }.into()
        }
        CopyDatabaseError::Schema(_)
        | CopyDatabaseError::Old(_)
        | CopyDatabaseError::Spread(_)
        | CopyDatabaseError::Failed(_) => CopyCommandError::Stopped { database, reason }.into(),
    }
}
