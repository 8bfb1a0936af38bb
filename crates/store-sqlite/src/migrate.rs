//! The schema, which travels in the binary.

use diesel::migration::MigrationSource;
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use candor_port_storage::StorageError;

use crate::open::{Place, Source};
use crate::sql::Db;

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Applies what is pending and names it.
///
/// # Errors
/// The database cannot be opened, or a migration fails.
pub fn migrate(place: &Place) -> Result<Vec<String>, StorageError> {
    apply(&mut Source::of(place)?.writer()?)
}

/// Names what is pending, and applies nothing of it.
///
/// # Errors
/// The database cannot be opened.
pub fn pending_migrations(place: &Place) -> Result<Vec<String>, StorageError> {
    if matches!(place, Place::File(path) if !path.exists()) {
        let all = MigrationSource::<Sqlite>::migrations(&MIGRATIONS).map_err(broken)?;
        return Ok(all.iter().map(|it| it.name().to_string()).collect());
    }
    pending(&mut Source::of(place)?.writer()?)
}

/// Applies what is pending and names it.
pub(crate) fn apply(db: &mut Db) -> Result<Vec<String>, StorageError> {
    let names = pending(db)?;
    db.connection().run_pending_migrations(MIGRATIONS).map_err(broken)?;
    Ok(names)
}

fn pending(db: &mut Db) -> Result<Vec<String>, StorageError> {
    let pending = db.connection().pending_migrations(MIGRATIONS).map_err(broken)?;
    Ok(pending.iter().map(|it| it.name().to_string()).collect())
}

fn broken(error: impl std::fmt::Display) -> StorageError {
    StorageError::Failed(format!("migrations: {error}"))
}
