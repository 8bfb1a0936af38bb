//! Rows of newly created, growing tables are found by index.

use candor_port_storage::Storage;
use candor_port_storage::{Row, Write};
use candor_store_postgres::PostgresStore;
use candor_store_testkit::Fixtures;
use candor_store_testkit::fixtures::joins;
use candor_test_postgres::{TestDatabase, is_spread};
use tokio_postgres::Client;

use crate::support;

/// Number of people, enough for more than one page of the table, inserted one by one.
const PEOPLE: usize = 150;

/// Planner settings of the service's sessions. Bitmap scans are off as well, so that a plan begins with its index.
const PLANNING: &str =
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off";

/// Returns the first line of the plan that finds a row by its key.
async fn key_lookup_plan(table: &str, client: &Client) -> String {
    let find = format!("PREPARE found (uuid, uuid) AS SELECT * FROM {table} WHERE tenant_id = $1 AND id = $2");
    client.batch_execute(&format!("DEALLOCATE ALL; {find}")).await.unwrap();
    let id = "'00000000-0000-0000-0000-000000000000'";
    let rows = client.query(&format!("EXPLAIN EXECUTE found ({id}, {id})"), &[]).await.unwrap();
    rows[0].get(0)
}

/// Returns `true` if the table has ever been analyzed.
async fn is_known(table: &str, client: &Client) -> bool {
    let statistics_query = format!("SELECT reltuples >= 0 FROM pg_class WHERE oid = '{table}'::regclass");
    client.query_one(&statistics_query, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn row_of_a_young_table_is_found_by_its_primary_key() {
    // Skipped on a cluster, whose nodes analyze their shards by themselves.
    let Some(database) = support::database().filter(|_| !is_spread()) else { return };
    let watcher = support::client(database.url()).await;
    watcher.batch_execute(PLANNING).await.unwrap();
    for table in ["employees", "invitations"] {
        assert!(!is_known(table, &watcher).await, "{table} has no statistics before the test");
    }
    invite_people(&database).await;
    for table in ["employees", "invitations"] {
        assert!(is_known(table, &watcher).await, "{table}");
        let plan = key_lookup_plan(table, &watcher).await;
        assert!(plan.contains(&format!("Index Scan using {table}_pkey")), "{plan}");
    }
}

/// Invites people, one change set each.
async fn invite_people(database: &TestDatabase) {
    let (store, make): (PostgresStore, _) = (support::store(database, None).await, Fixtures::new(1));
    let tenant = make.tenant();
    for _ in 0..PEOPLE {
        let person = make.employee();
        let invitation = make.invitation(person.id);
        let change = make.change(vec![joins(person), Write::put(&Row::new(invitation))]);
        store.commit(tenant, change).await.unwrap();
    }
}
