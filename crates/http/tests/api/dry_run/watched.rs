//! A service whose database the test watches for changes, on each store.

use std::cell::RefCell;
use std::sync::Arc;

use candor_test_postgres::{TestDatabase, is_spread};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::stores;
use crate::support::TestApi;

/// A service and a second connection to its database.
pub(super) struct WatchedService {
    pub(super) name: &'static str,
    pub(super) world: TestApi,
    database: Database,
}

enum Database {
    File { connection: RefCell<SqliteConnection>, _folder: TempDir },
    Server { client: Client, contents: String, _database: TestDatabase },
}

#[derive(QueryableByName)]
struct DataVersion {
    #[diesel(sql_type = Integer)]
    data_version: i32,
}

impl WatchedService {
    /// Creates a service on each available store, or only on the cluster if the tests run on one.
    pub(super) async fn every() -> Vec<Self> {
        let mut all = vec![];
        if !is_spread() {
            all.push(Self::on_sqlite().await);
        }
        all.extend(Self::on_postgres().await);
        all
    }

    pub(super) async fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = stores::in_folder(folder.path());
        let connection = RefCell::new(SqliteConnection::establish(store.address()).unwrap());
        let world = TestApi::on(Arc::new(store), crate::support::patient_settings()).await;
        Self { name: "sqlite", world, database: Database::File { connection, _folder: folder } }
    }

    /// Creates a service on PostgreSQL, or returns `None` if this machine has no server.
    pub(super) async fn on_postgres() -> Option<Self> {
        let (store, database) = stores::on_a_server().await?;
        let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
        tokio::spawn(connection);
        let tables =
            client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1", &[]).await;
        let rows = tables.unwrap().into_iter().map(|row| {
            let table: String = row.get(0);
            format!("(SELECT string_agg(t::text, '|' ORDER BY t::text) FROM {table} AS t)")
        });
        let contents = format!("SELECT md5(concat_ws('#', {}))", rows.collect::<Vec<_>>().join(", "));
        let world = TestApi::on(store, crate::support::patient_settings()).await;
        Some(Self {
            name: "postgres",
            world,
            database: Database::Server { client, contents, _database: database },
        })
    }

    /// Returns a value that differs after any change of the stored rows: on SQLite the data version, which changes
    /// when another connection has committed, on PostgreSQL the digest of all rows.
    pub(super) async fn state(&self) -> String {
        match &self.database {
            Database::File { connection, .. } => {
                let query = diesel::sql_query("SELECT data_version FROM pragma_data_version");
                let version: DataVersion = query.get_result(&mut *connection.borrow_mut()).unwrap();
                version.data_version.to_string()
            }
            Database::Server { client, contents, .. } => client.query_one(contents, &[]).await.unwrap().get(0),
        }
    }
}
