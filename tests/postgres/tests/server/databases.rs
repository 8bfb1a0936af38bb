//! Tests of [`TestDatabase`].

use candor_test_postgres::{Error, TestDatabase};
use std::convert::Infallible;
use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio_postgres::NoTls;

fn on<T: tokio_postgres::types::FromSqlOwned>(
    url: &str,
    statement: &str,
) -> Result<Vec<T>, tokio_postgres::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        client.query(statement, &[]).await.map(|rows| rows.iter().map(|row| row.get(0)).collect())
    })
}

fn migrate(url: &str) -> Result<(), tokio_postgres::Error> {
    on::<i32>(url, "CREATE TABLE notes (id int)").map(drop)
}

#[test]
fn database_is_a_fresh_copy_of_the_template() {
    let Some(one) = TestDatabase::create("fresh_copy", migrate).unwrap() else { return };
    on::<i32>(one.url(), "INSERT INTO notes VALUES (1)").unwrap();
    let Some(other) = TestDatabase::create("fresh_copy", migrate).unwrap() else { return };
    assert_eq!(on::<i32>(one.url(), "SELECT id FROM notes").unwrap(), [1]);
    assert_eq!(on::<i32>(other.url(), "SELECT id FROM notes").unwrap(), []);
}

#[test]
fn database_is_dropped_with_its_value_despite_a_connection() {
    let Some(database) = TestDatabase::empty().unwrap() else { return };
    let url = database.url().to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_client, connection) = runtime.block_on(tokio_postgres::connect(&url, NoTls)).unwrap();
    runtime.spawn(connection);
    drop(database);
    let refusal = on::<i32>(&url, "SELECT 1").unwrap_err();
    assert!(refusal.source().unwrap().to_string().contains("does not exist"), "{refusal:?}");
}

#[test]
fn template_is_built_once_for_concurrent_callers() {
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    let count = |url: &str| {
        BUILT.fetch_add(1, Ordering::Relaxed);
        migrate(url)
    };
    let template = unique_template();
    let databases: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| TestDatabase::create(&template, count))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
    });
    if databases.iter().any(Option::is_none) {
        return;
    }
    assert_eq!(BUILT.load(Ordering::Relaxed), 1);
}

#[test]
fn failed_migration_leaves_no_template() {
    let template = unique_template();
    let fail = |_: &str| Err("no such column");
    match TestDatabase::create(&template, fail) {
        Ok(found) => assert!(found.is_none(), "a failed migration made a database"),
        Err(error) => {
            assert!(error.to_string().ends_with("migrate the template database: no such column"), "{error}");
            assert!(TestDatabase::create(&template, migrate).unwrap().is_some());
        }
    }
}

#[test]
fn migration_that_stays_connected_does_not_block_the_copies() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let linger = |url: &str| {
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(connection);
        std::mem::forget(client);
        Ok::<_, tokio_postgres::Error>(())
    };
    TestDatabase::create(&unique_template(), linger).unwrap();
}

#[tokio::test]
async fn database_can_be_created_within_a_runtime() {
    let Some(database) = TestDatabase::create("within_a_runtime", migrate).unwrap() else { return };
    assert!(database.url().starts_with("postgres"));
}

#[test]
fn template_name_that_needs_quotes_is_refused() {
    let nothing = |_: &str| Ok::<_, Infallible>(());
    for name in ["", "Candor", "a-b", "a b", "a\"b", &"a".repeat(41)] {
        assert!(matches!(TestDatabase::create(name, nothing), Err(Error::TemplateName(_))), "{name:?}");
    }
}

/// Returns a template name that no earlier run on a permanent server has used.
fn unique_template() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("unique_{:016x}", RandomState::new().hash_one(0))
}
