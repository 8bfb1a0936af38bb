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

/// Names what is pending, and changes nothing.
///
/// # Errors
/// The database cannot be opened.
pub fn pending_migrations(place: &Place) -> Result<Vec<String>, StorageError> {
    if matches!(place, Place::File(path) if !path.exists()) {
        let all = MigrationSource::<Sqlite>::migrations(&MIGRATIONS).map_err(broken)?;
        return Ok(all.iter().map(|it| it.name().to_string()).collect());
    }
    let mut db = Source::of(place)?.writer()?;
    let pending = db.connection().pending_migrations(MIGRATIONS).map_err(broken)?;
    Ok(pending.iter().map(|it| it.name().to_string()).collect())
}

/// Applies what is pending.
pub(crate) fn apply(db: &mut Db) -> Result<Vec<String>, StorageError> {
    let applied = db.connection().run_pending_migrations(MIGRATIONS).map_err(broken)?;
    Ok(applied.iter().map(ToString::to_string).collect())
}

fn broken(error: impl std::fmt::Display) -> StorageError {
    StorageError::Failed(format!("migrations: {error}"))
}
