//! Schema migrations, embedded in the binary.

use std::collections::HashSet;

use diesel::migration::MigrationSource;
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use candor_port_storage::StorageError;
use candor_port_storage::upkeep::MasterKey;

use crate::connection::open::{DatabaseLocation, Source};
use crate::keyed_texts::replace_former_keys;
use crate::reads::upkeep;
use crate::sql::{Db, Sql};

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Applies the pending migrations and returns their names.
///
/// # Errors
/// The database cannot be opened, or a migration fails.
pub fn migrate(place: &DatabaseLocation) -> Result<Vec<String>, StorageError> {
    apply(&mut Source::new(place)?.writer()?)
}

/// Returns the names of the pending migrations without applying them.
///
/// # Errors
/// The database cannot be opened.
pub fn pending_migrations(place: &DatabaseLocation) -> Result<Vec<String>, StorageError> {
    if matches!(place, DatabaseLocation::File(path) if !path.exists()) {
        let all = MigrationSource::<Sqlite>::migrations(&MIGRATIONS).map_err(broken_migration)?;
        return Ok(all.iter().map(|migration| migration.name().to_string()).collect());
    }
    pending(&mut Source::new(place)?.writer()?)
}

/// Returns the versions of applied migrations that this program does not have; none if there is no database.
///
/// # Errors
/// The database cannot be opened.
pub fn unknown_migrations(place: &DatabaseLocation) -> Result<Vec<String>, StorageError> {
    if matches!(place, DatabaseLocation::File(path) if !path.exists()) {
        return Ok(vec![]);
    }
    unknown_versions(&mut Source::new(place)?.writer()?)
}

/// Returns the version of the newest migration of this program.
///
/// # Errors
/// The embedded migrations cannot be read.
pub fn newest_migration() -> Result<String, StorageError> {
    let all = MigrationSource::<Sqlite>::migrations(&MIGRATIONS).map_err(broken_migration)?;
    Ok(all.iter().map(|migration| migration.name().version().to_string()).max().unwrap_or_default())
}

/// Returns the master keys that sealed data in a database of any schema version; empty if there is no
/// database.
///
/// # Errors
/// The database cannot be opened.
pub fn master_keys(place: &DatabaseLocation) -> Result<Vec<MasterKey>, StorageError> {
    read_existing(place, "master_keys", upkeep::master_keys)
}

/// Returns `true` if the database has no organization or does not exist.
///
/// # Errors
/// The database cannot be opened.
pub fn is_empty(place: &DatabaseLocation) -> Result<bool, StorageError> {
    let organizations = |db: &mut Db| db.rows(Sql::new("SELECT 1 FROM organizations LIMIT 1"), |_| Ok(()));
    Ok(read_existing(place, "organizations", organizations)?.is_empty())
}

/// Reads from a table. Returns an empty list if the file or the table does not exist.
pub(crate) fn read_existing<T>(
    place: &DatabaseLocation,
    table: &str,
    read: impl FnOnce(&mut Db) -> Result<Vec<T>, StorageError>,
) -> Result<Vec<T>, StorageError> {
    if matches!(place, DatabaseLocation::File(path) if !path.exists()) {
        return Ok(vec![]);
    }
    let mut db = Source::new(place)?.writer()?;
    let sql = Sql::new("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").bind(table);
    if db.exists(sql)? { read(&mut db) } else { Ok(vec![]) }
}

/// Applies the pending migrations and returns their names. Then computes the keys of rows from earlier versions.
pub(crate) fn apply(db: &mut Db) -> Result<Vec<String>, StorageError> {
    let names = pending(db)?;
    db.connection().run_pending_migrations(MIGRATIONS).map_err(broken_migration)?;
    replace_former_keys(db)?;
    Ok(names)
}

/// Returns the names of the pending migrations.
pub(crate) fn pending(db: &mut Db) -> Result<Vec<String>, StorageError> {
    let pending = db.connection().pending_migrations(MIGRATIONS).map_err(broken_migration)?;
    Ok(pending.iter().map(|migration| migration.name().to_string()).collect())
}

/// Returns the versions of applied migrations that this program does not have.
pub(crate) fn unknown_versions(db: &mut Db) -> Result<Vec<String>, StorageError> {
    let all = MigrationSource::<Sqlite>::migrations(&MIGRATIONS).map_err(broken_migration)?;
    let known_versions: HashSet<String> =
        all.iter().map(|migration| migration.name().version().to_string()).collect();
    let applied_migrations = db.connection().applied_migrations().map_err(broken_migration)?;
    Ok(applied_migrations
        .iter()
        .map(ToString::to_string)
        .filter(|version| !known_versions.contains(version))
        .collect())
}

fn broken_migration(error: impl std::fmt::Display) -> StorageError {
    StorageError::Failed(format!("cannot read or apply the migrations: {error}"))
}
