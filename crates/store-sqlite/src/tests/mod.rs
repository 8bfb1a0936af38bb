//! Tests of SQLite specifics: query plans, group commits, migrations and the write-ahead log.

mod backfill;
mod backup;
mod groups;
mod lines;
mod lists;
mod migrations;
mod places;
mod rebuild;
mod schema;
mod slow;
mod valid_keys;
mod webhooks;

use std::path::PathBuf;

use candor_domain::access::Tenant;
use candor_port_storage::Write;
use candor_store_testkit::{Fixtures, sqlite_image};

use crate::commit;
use crate::connection::open::{DatabaseLocation, Source};
use crate::sql::Db;
use crate::{SqliteOptions, SqliteStore, migrate};

/// Returns the migrated file that databases of tests copy.
fn image() -> PathBuf {
    sqlite_image(|path| migrate(&DatabaseLocation::File(path.to_owned()))).unwrap()
}

/// Creates a migrated database in memory, without the threads of a store.
fn database() -> Db {
    Source::new(&DatabaseLocation::CopyInMemory(image())).unwrap().writer().unwrap()
}

/// Creates a store in memory.
fn in_memory() -> SqliteStore {
    SqliteStore::open(&SqliteOptions::copy_in_memory(image())).unwrap()
}

/// Saves writes as one change set.
fn save(db: &mut Db, make: &Fixtures, tenant: Tenant, writes: Vec<Write>) {
    commit::carry_out(db, tenant, &make.change(writes)).unwrap();
}
