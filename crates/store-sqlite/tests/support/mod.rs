//! Creation of a store for each case of the suite.

use std::sync::Arc;

use candor_fair_share::SlowReads;
use candor_store_sqlite::{DatabaseLocation, SqliteOptions, SqliteStore, migrate};
use candor_store_testkit::{EmptyStore, sqlite_image};
use diesel::connection::{Connection, SimpleConnection};
use diesel::sqlite::SqliteConnection;

/// Creates an empty store, in memory or in a file.
#[expect(
    clippy::expect_used,
    clippy::unused_async,
    reason = "a test without a store has failed; the suite awaits it"
)]
pub(crate) async fn fresh(in_memory: bool, slow_reads: SlowReads) -> Option<EmptyStore> {
    let folder = tempfile::tempdir().expect("a folder");
    let image = sqlite_image(|path| migrate(&DatabaseLocation::File(path.to_owned()))).expect("a file");
    let options = if in_memory {
        // The reporting lines of every move are completed in pieces afterwards.
        SqliteOptions { lines_at_once: 0, ..SqliteOptions::copy_in_memory(image) }
    } else {
        let path = folder.path().join("candor.db");
        std::fs::copy(image, &path).expect("a copy");
        SqliteOptions::file(path)
    };
    let store = SqliteStore::open(&SqliteOptions { slow_reads, ..options }).expect("a store");
    let address = store.address().to_owned();
    let sql = move |statement: String| {
        let mut connection = SqliteConnection::establish(&address).expect("a connection");
        connection.batch_execute("PRAGMA busy_timeout = 5000").expect("a time-out");
        connection.batch_execute(&statement).expect("a statement");
        Box::pin(std::future::ready(())) as _
    };
    Some(EmptyStore { store: Arc::new(store), sql: Arc::new(sql), keep: Box::new(folder) })
}
