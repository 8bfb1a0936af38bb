//! A service on each store: in-memory SQLite, and PostgreSQL if the machine has it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_fair_share::SlowReads;
use candor_port_clock::SeededIds;
use candor_port_storage::Storage;
use candor_service::context::vault::{self, Vault};
use candor_service::{ServiceSettings, Services};
use candor_store_postgres::{PostgresOptions, PostgresStore, SchemaError, distribute, migrate};
use candor_store_sqlite::{DatabaseLocation, SqliteOptions, SqliteStore};
use candor_store_testkit::{Faulty, sqlite_image};
use candor_test_postgres::{TestDatabase, is_spread, template};

use crate::support::{PUBLIC_URL, TestApi};

/// A service whose store other instances can share.
pub(crate) struct SharedService {
    pub(crate) name: &'static str,
    pub(crate) world: TestApi,
    store: Arc<dyn Storage>,
    _database: Option<TestDatabase>,
}

impl SharedService {
    async fn on(name: &'static str, store: Arc<dyn Storage>, database: Option<TestDatabase>) -> Self {
        let world = TestApi::on(Arc::clone(&store), crate::support::patient_settings()).await;
        Self { name, world, store, _database: database }
    }

    /// Creates another instance on the same store, with the same clock and master key.
    pub(crate) fn instance(&self, seed: u64) -> Services {
        let ids = Arc::new(SeededIds::new(seed));
        let vault = Vault::parse(&vault::generate(&SeededIds::new(1)).unwrap()).unwrap();
        let settings = ServiceSettings::with_public_url(PUBLIC_URL.to_owned());
        let receivers = self.world.receivers.clone();
        Services::new(Arc::clone(&self.store), self.world.clock.clone(), ids, vault, receivers, settings)
    }
}

/// Number of rows between two checkpoints of an export: few, so that an export is read in many parts.
const EXPORT_CHECKPOINT_ROWS: u16 = 3;

/// Creates a service on each available store, with a store that fails on request.
pub(crate) async fn every_faulty_store() -> Vec<(TestApi, Arc<Faulty<dyn Storage>>, Option<TestDatabase>)> {
    let mut stores: Vec<(Arc<dyn Storage>, _)> = vec![];
    if !is_spread() {
        stores.push((Arc::new(in_memory()), None));
    }
    stores.extend(on_a_server().await.map(|(store, database)| (store, Some(database))));
    let mut all = vec![];
    for (store, database) in stores {
        let faulty = Arc::new(Faulty::from_shared(store));
        let world = TestApi::exporting(Arc::clone(&faulty) as Arc<dyn Storage>, EXPORT_CHECKPOINT_ROWS).await;
        all.push((world, faulty, database));
    }
    all
}

/// Creates a service on each available store, or only on the cluster if the tests run on one.
pub(crate) async fn every_store() -> Vec<SharedService> {
    let mut all = vec![];
    if !is_spread() {
        all.push(SharedService::on("sqlite", Arc::new(in_memory()), None).await);
    }
    if let Some((store, database)) = on_a_server().await {
        all.push(SharedService::on("postgres", store, Some(database)).await);
    }
    all
}

/// Creates the store for tests that need only one: the cluster if there is one, else in-memory SQLite.
pub(crate) async fn usual() -> (Arc<dyn Storage>, Option<TestDatabase>) {
    let spread = if is_spread() { on_a_server().await } else { None };
    match spread {
        Some((store, database)) => (store, Some(database)),
        None => (Arc::new(in_memory()), None),
    }
}

/// Returns the migrated file that stores of tests copy.
fn image() -> PathBuf {
    sqlite_image(|path| candor_store_sqlite::migrate(&DatabaseLocation::File(path.to_owned()))).unwrap()
}

/// Creates a store in memory.
pub(crate) fn in_memory() -> SqliteStore {
    in_memory_with(SlowReads::with_places(2))
}

/// Creates a store in memory with these limits on slow reads.
pub(crate) fn in_memory_with(slow_reads: SlowReads) -> SqliteStore {
    SqliteStore::open(&SqliteOptions { slow_reads, ..SqliteOptions::copy_in_memory(image()) }).unwrap()
}

/// Creates a store in the file `candor.db` of a folder.
pub(crate) fn in_folder(folder: &Path) -> SqliteStore {
    let file = folder.join("candor.db");
    std::fs::copy(image(), &file).unwrap();
    SqliteStore::open(&SqliteOptions::file(file)).unwrap()
}

/// Creates a PostgreSQL database with its store; `None` if this machine has no server.
pub(crate) async fn on_a_server() -> Option<(Arc<dyn Storage>, TestDatabase)> {
    let create = || TestDatabase::create(&template("_http").unwrap(), migrated).unwrap();
    let database = tokio::task::spawn_blocking(create).await.unwrap()?;
    let store = PostgresStore::connect(&PostgresOptions::new(database.url(), 8)).await.unwrap();
    Some((Arc::new(store), database))
}

fn migrated(url: &str) -> Result<(), SchemaError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let options = PostgresOptions::new(url, 1);
    runtime.block_on(async {
        migrate(&options).await?;
        if is_spread() { distribute(&options, 4).await.map(drop) } else { Ok(()) }
    })
}
