//! Sources and targets of copies.

use std::path::{Path, PathBuf};

use candor_port_storage::copy::{CopyProgress, CopyTarget};
use candor_service::usecases::copy::{CopyError, CopyResult, CopyWatch, copy};
use candor_store_postgres::{
    PostgresCopy, PostgresOptions, PostgresStore, distribute, lay_out_by_tenant, migrate,
};
use candor_store_sqlite::{SqliteCopy, SqliteStore};
use candor_test_postgres::{TestDatabase, is_spread, template};
use tempfile::TempDir;

use super::rows::everything;
use crate::stores;

/// Identity of the source in the progress record.
pub(crate) const FROM: &str = "the source";

/// An SQLite database in a temporary folder, removed on drop.
pub(crate) struct File {
    folder: TempDir,
}

impl File {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("with ? and # and %.db")
    }

    pub(crate) fn target(&self) -> SqliteCopy {
        SqliteCopy::target(&self.path()).unwrap()
    }

    pub(crate) fn source(&self) -> SqliteCopy {
        SqliteCopy::source(&self.path()).unwrap()
    }

    pub(crate) fn store(&self) -> SqliteStore {
        stores::in_file(&self.path())
    }

    /// Creates a database with rows in every table.
    pub(crate) async fn full() -> Self {
        let file = Self::new();
        fill(&file.target()).await;
        file
    }
}

/// Inserts rows into every table of an empty database.
pub(crate) async fn fill(target: &dyn CopyTarget) {
    target.begin(("source".to_owned(), "nowhere".to_owned())).await.unwrap();
    for (table, rows) in everything() {
        target.write(&table, rows, (table.name.to_owned(), String::new())).await.unwrap();
    }
    target.finish(0).await.unwrap();
    target.accept().await.unwrap();
}

/// Number of shards per table on a cluster.
const SHARDS: u16 = 4;

/// Creates an empty database, distributed if the server is a cluster. Prints a notice and returns `None`
/// without PostgreSQL.
pub(crate) fn empty_postgres() -> Option<TestDatabase> {
    if !is_spread() {
        return TestDatabase::empty().unwrap();
    }
    let distribute_at = |url: &str| {
        let options = PostgresOptions::new(url, 1);
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            migrate(&options).await?;
            distribute(&options, SHARDS).await.map(drop)
        })
    };
    TestDatabase::create(&template("_copy").unwrap(), distribute_at).unwrap()
}

/// Creates an empty database with the table layout of a cluster, also on a single server. `None` without
/// PostgreSQL.
pub(crate) async fn empty_postgres_by_tenant() -> Option<TestDatabase> {
    let database = empty_postgres()?;
    if !is_spread() {
        migrate(&options(&database)).await.unwrap();
        lay_out_by_tenant(&options(&database)).await.unwrap();
    }
    Some(database)
}

pub(crate) fn options(database: &TestDatabase) -> PostgresOptions {
    PostgresOptions { application_name: "candor copy".to_owned(), ..PostgresOptions::new(database.url(), 4) }
}

pub(crate) async fn target_in(database: &TestDatabase) -> PostgresCopy {
    PostgresCopy::target(&options(database)).await.unwrap()
}

pub(crate) async fn source_in(database: &TestDatabase) -> PostgresCopy {
    PostgresCopy::source(&options(database)).await.unwrap()
}

pub(crate) async fn store(database: &TestDatabase) -> PostgresStore {
    PostgresStore::connect(&PostgresOptions::new(database.url(), 6)).await.unwrap()
}

/// A [`CopyWatch`] that ignores all progress.
pub(crate) struct NoProgress;

impl CopyWatch for NoProgress {
    fn begins(&self, _: u64, _: u64) {}
    fn copies(&self, _: &str) {}
    fn compares(&self, _: &str) {}
    fn goes_on(&self, _: u64) {}
    fn finishes(&self) {}
}

pub(crate) async fn copied(source: &dyn CopyTarget, target: &dyn CopyTarget) -> Result<CopyResult, CopyError> {
    copy(source, target, FROM, &NoProgress).await
}

/// Returns the progress record of a copy into an SQLite file. `None` if the file has no progress record.
pub(crate) async fn progress(path: &Path) -> Option<CopyProgress> {
    SqliteCopy::source(path).unwrap().progress().await.unwrap()
}
