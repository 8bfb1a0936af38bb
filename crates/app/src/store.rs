//! The store that the database URL names.

use std::path::Path;
use std::sync::Arc;

use candor_port_storage::Storage;
use candor_store_postgres::{Options as PostgresOptions, PostgresStore};
use candor_store_sqlite::{Options as SqliteOptions, Place, SqliteStore};

use crate::config::{Config, DatabaseUrl};
use crate::error::Error;

/// Opens the store. An embedded database is made and migrated when needed; a server's schema must be up to date.
///
/// # Errors
/// [`Error::SchemaOld`], or [`Error::Database`] if the database does not answer.
pub(crate) async fn open(config: &Config) -> Result<Arc<dyn Storage>, Error> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => {
            let options = SqliteOptions::file(path);
            let opened = blocking(move || SqliteStore::open(&options)).await?;
            Ok(Arc::new(opened.map_err(|it| unusable(config, &it))?))
        }
        DatabaseUrl::Postgres(_) => {
            let pending = pending(config).await?;
            if !pending.is_empty() {
                return Err(Error::SchemaOld { database: config.database.masked(), pending });
            }
            let opened = PostgresStore::connect(&postgres(config)).await;
            Ok(Arc::new(opened.map_err(|it| unusable(config, &it))?))
        }
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

fn place(path: &Path) -> Place {
    Place::File(path.to_owned())
}

fn postgres(config: &Config) -> PostgresOptions {
    let url = match &config.database {
        DatabaseUrl::Postgres(url) => url.reveal(),
        DatabaseUrl::Sqlite(_) => "",
    };
    PostgresOptions::new(url, config.database_pool)
}

/// SQLite works on threads; the runtime's are not for waiting.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|it| Error::Defect { what: "open the database", reason: it.to_string() })
}

fn unusable(config: &Config, error: &dyn std::fmt::Display) -> Error {
    Error::Database { database: config.database.masked(), reason: error.to_string() }
}
