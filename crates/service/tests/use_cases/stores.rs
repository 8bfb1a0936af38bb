//! Stores on SQLite that start as copies of one migrated file.

use std::path::{Path, PathBuf};

use candor_store_sqlite::{DatabaseLocation, SqliteOptions, SqliteStore, migrate};
use candor_store_testkit::sqlite_image;

fn image() -> PathBuf {
    sqlite_image(|path| migrate(&DatabaseLocation::File(path.to_owned()))).unwrap()
}

/// Creates a store in memory.
pub(crate) fn in_memory() -> SqliteStore {
    SqliteStore::open(&SqliteOptions::copy_in_memory(image())).unwrap()
}

/// Opens the store in a file, which is created if it does not exist.
pub(crate) fn in_file(path: &Path) -> SqliteStore {
    if !path.exists() {
        std::fs::copy(image(), path).unwrap();
    }
    SqliteStore::open(&SqliteOptions::file(path)).unwrap()
}
