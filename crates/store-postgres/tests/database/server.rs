//! Behaviour specific to PostgreSQL: broken sessions, long transactions, locks.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::event::{EventType, FeedFilter, FeedStart};
use candor_domain::observation;
use candor_domain::page::{Key, PageRequest, Position, Sort, SortBy};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_domain::visibility::Viewer;
use candor_fair_share::SlowReads;
use candor_port_storage::store::{FeedPage, History};
use candor_port_storage::upkeep::Upkeep;
use candor_port_storage::{ChangeSet, CommitError, Write};
use candor_port_storage::{Row, StorageExt, Version};
use candor_port_storage::{SlowListError, Storage, StorageError, TooSlowError};
use candor_store_postgres::{ConnectError, PostgresOptions, PostgresStore};
use candor_store_testkit::Fixtures;
use candor_tables::rows;
use candor_test_postgres::is_spread;
use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::Client;

use crate::support;

const DEADLINE: Duration = Duration::from_secs(100);

/// Deadline of a read that does not end by itself.
const SHORT_DEADLINE: Duration = Duration::from_millis(20);

const LOCK_IS_AWAITED: &str = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity \
    WHERE datname = current_database() AND wait_event_type = 'Lock')";

/// Repeats a query until it returns `true`.
async fn wait_until(client: &Client, question: &str) {
    let question_loop = async { while !client.query_one(question, &[]).await.unwrap().get::<_, bool>(0) {} };
    tokio::time::timeout(DEADLINE, question_loop).await.unwrap_or_else(|_| panic!("never: {question}"));
}

fn with_event(fixtures: &Fixtures) -> ChangeSet {
    let mut change = fixtures.change(vec![Write::put(&Row::new(fixtures.department()))]);
    change.events.push(fixtures.event(EventType::ObservationCreated));
    change
}

async fn feed(store: &PostgresStore, tenant: Tenant, after: Option<&Position>) -> FeedPage {
    store
        .feed(tenant, &FeedFilter::default(), Timestamp::from_millis(0), &after.cloned().into(), 50)
        .await
        .unwrap()
}

/// Reads the next `count` events. Waits, because an open transaction of another test on the same server can
/// hold the feed back.
async fn read_events(store: &PostgresStore, tenant: Tenant, after: Option<&Position>, count: usize) -> FeedPage {
    let page_loop = async {
        loop {
            let page = feed(store, tenant, after).await;
            if page.events.len() >= count {
                return page;
            }
        }
    };
    tokio::time::timeout(DEADLINE, page_loop).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_server_fails_the_write_probe() {
    let Some(database) = support::database() else { return };
    let (other, at) = (support::client(database.url()).await, Fixtures::new(1).tick());
    support::store(&database, None).await.probe_write(at).await.unwrap();
    let only_reads = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', \
                      current_database()); END $$";
    other.batch_execute(only_reads).await.unwrap();
    let store = support::store(&database, None).await;
    assert!(store.master_keys().await.is_ok());
    let error = store.probe_write(at).await.unwrap_err().to_string();
    assert!(error.contains("read-only"), "{error}");
}

/// Returns the number of sequential scans of a table.
async fn whole_reads(client: &Client, table: &str) -> i64 {
    let scan_query = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = $1";
    client.query_one(scan_query, &[&table]).await.unwrap().get(0)
}

/// A session plans the check of a foreign key on first use, when the referenced table may be empty. A
/// sequential scan is cheapest then, and the cached plan would keep it while the table grows.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_key_check_planned_on_an_empty_table_uses_the_index() {
    let Some(database) = support::database().filter(|_| !is_spread()) else { return };
    let (other, fixtures) = (support::client(database.url()).await, Fixtures::new(1));
    let tenant = fixtures.tenant();
    // Without VACUUM the planner assumes ten pages for an empty table.
    other.batch_execute("VACUUM departments").await.unwrap();
    let reads_before = whole_reads(&other, "departments").await;
    let store = support::store(&database, None).await;
    for _ in 0..20 {
        let department = fixtures.department();
        let person = Employee { department_id: Some(department.id), ..fixtures.employee() };
        let writes = vec![Write::put(&Row::new(department)), Write::employee(&Row::new(person), None)];
        store.commit(tenant, fixtures.change(writes)).await.unwrap();
    }
    drop(store);
    // Sessions report their scans at the latest when they end.
    wait_until(
        &other,
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() \
         AND application_name = 'candor'",
    )
    .await;
    assert_eq!(whole_reads(&other, "departments").await, reads_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn store_recovers_after_all_connections_were_cut() {
    let Some(database) = support::database() else { return };
    let (store, other, fixtures) =
        (support::store(&database, None).await, support::client(database.url()).await, Fixtures::new(1));
    let tenant = fixtures.tenant();
    store.commit(tenant, with_event(&fixtures)).await.unwrap();
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE datname = current_database() AND application_name = 'candor'";
    assert!(other.query_one(cut, &[]).await.unwrap().get::<_, i64>(0) > 1);

    assert_eq!(store.row::<Employee>(tenant, fixtures.id()).await.unwrap(), None, "a read is repeated");
    // The store does not retry a commit whose effect is unknown, so the test repeats the commit. Usually the first
    // one succeeds, because the pool notices a closed connection before use.
    let commit_loop = async {
        while let Err(error) = store.commit(tenant, with_event(&fixtures)).await {
            assert!(matches!(error, CommitError::Storage(StorageError::Unavailable(_))), "{error}");
        }
    };
    tokio::time::timeout(DEADLINE, commit_loop).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_commit_is_carried_out_and_leaves_nothing_open() {
    let Some(database) = support::database() else { return };
    let (store, other, fixtures) =
        (support::store(&database, None).await, support::client(database.url()).await, Fixtures::new(2));
    let (tenant, mut person) = (fixtures.tenant(), fixtures.employee());
    store
        .commit(tenant, fixtures.change(vec![candor_store_testkit::fixtures::joins(person.clone())]))
        .await
        .unwrap();
    other
        .batch_execute("BEGIN; SELECT * FROM reporting_trees FOR UPDATE; SELECT * FROM employees FOR UPDATE")
        .await
        .unwrap();

    person.first_name = "Waited".to_owned();
    let lines = candor_port_storage::ReportingLineChange { seen: None };
    let write = Write::employee(&Row::at_version(person.clone(), Version::FIRST), Some(lines));
    let commit = store.commit(tenant, fixtures.change(vec![write]));
    let mut commit = Box::pin(commit);
    assert!((&mut commit).now_or_never().is_none(), "it waits for the lock");
    let watcher = support::client(database.url()).await;
    wait_until(&watcher, LOCK_IS_AWAITED).await;
    drop(commit);
    other.batch_execute("COMMIT").await.unwrap();

    wait_until(&watcher, "SELECT first_name = 'Waited' FROM employees").await;
    wait_until(
        &watcher,
        "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() \
         AND application_name = 'candor' AND state <> 'idle')",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn feed_waits_for_transactions_that_began_before() {
    let Some(database) = support::database() else { return };
    let (store, other, fixtures) =
        (support::store(&database, None).await, support::client(database.url()).await, Fixtures::new(3));
    let tenant = fixtures.tenant();
    let insert = format!(
        "BEGIN; INSERT INTO events (tenant_id, id, type, created_at, data) \
         VALUES ('{:032x}', '{:032x}', 'observation.created', now(), '{{}}')",
        u128::from_be_bytes(tenant.to_bytes()),
        7
    );
    other.batch_execute(&insert).await.unwrap();
    let change = with_event(&fixtures);
    let later_event = change.events[0].id;
    store.commit(tenant, change).await.unwrap();

    let early = feed(&store, tenant, None).await;
    assert_eq!(
        (early.events.len(), early.next.clone(), early.more),
        (0, None, false),
        "the event of the open transaction may come first"
    );
    other.batch_execute("COMMIT").await.unwrap();
    let ids: Vec<_> =
        read_events(&store, tenant, None, 2).await.events.iter().map(|event| event.id.to_bytes()).collect();
    assert_eq!(ids, [7_u128.to_be_bytes(), later_event.to_bytes()]);
}

/// Lists the observations of one type, a query without an index.
async fn list_by_type(store: &PostgresStore, tenant: Tenant) -> Result<(), StorageError> {
    let filter = observation::Filter { kind: Some(observation::Type::Strength), ..Default::default() };
    let page = PageRequest { limit: 10, after: None };
    store
        .page(
            tenant,
            rows::observations::list(&filter, Viewer::Everything, Sort::descending_by(SortBy::CreatedAt), &page),
        )
        .await
        .map(drop)
}

/// Returns the cause for which a list of one type was refused.
fn cause(found: Result<(), StorageError>) -> SlowListError {
    let Err(StorageError::TooSlow(TooSlowError { cause, conditions })) = found else { panic!("{found:?}") };
    assert_eq!(conditions, ["filter[type]"]);
    cause
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_list_has_its_own_slot() {
    let Some(database) = support::database() else { return };
    let limits = SlowReads { deadline: DEADLINE, wait: Duration::ZERO, ..SlowReads::with_places(2) };
    let (store, other, fixtures) =
        (support::store(&database, Some(limits)).await, support::client(database.url()).await, Fixtures::new(8));
    let (tenant, elsewhere) = (fixtures.tenant(), fixtures.tenant());
    other.batch_execute("BEGIN; LOCK TABLE observations IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let slow_read = tokio::spawn({
        let store = store.clone();
        async move { list_by_type(&store, tenant).await }
    });
    let watcher = support::client(database.url()).await;
    wait_until(&watcher, LOCK_IS_AWAITED).await;

    assert_eq!(
        cause(list_by_type(&store, tenant).await),
        SlowListError::NoPlace,
        "the share of the organization is taken"
    );
    store.commit(tenant, with_event(&fixtures)).await.unwrap();
    let rare = FeedFilter { kinds: vec![EventType::SummaryShared] };
    let feed = store.feed(elsewhere, &rare, Timestamp::from_millis(0), &FeedStart::Oldest, 10).await;
    assert!(feed.is_ok(), "another organization has the other slot: {feed:?}");
    other.batch_execute("COMMIT").await.unwrap();
    slow_read.await.unwrap().unwrap();
    list_by_type(&store, tenant).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_list_ends_at_its_deadline_and_frees_its_slot() {
    let Some(database) = support::database() else { return };
    let limits = SlowReads { deadline: SHORT_DEADLINE, wait: DEADLINE, ..SlowReads::with_places(2) };
    let store = support::store(&database, Some(limits)).await;
    let (other, tenant) = (support::client(database.url()).await, Fixtures::new(9).tenant());
    other.batch_execute("BEGIN; LOCK TABLE observations IN ACCESS EXCLUSIVE MODE").await.unwrap();
    for _ in 0..3 {
        assert_eq!(cause(list_by_type(&store, tenant).await), SlowListError::OutOfTime);
    }
    other.batch_execute("COMMIT").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_feed_continues_behind_its_events() {
    let Some(database) = support::database() else { return };
    let (store, other, fixtures) =
        (support::store(&database, None).await, support::client(database.url()).await, Fixtures::new(4));
    let (tenant, options) = (fixtures.tenant(), PostgresOptions::new(database.url(), 3));
    store.commit(tenant, with_event(&fixtures)).await.unwrap();
    other.batch_execute("UPDATE events SET position = 1000000000000").await.unwrap();

    assert_eq!(candor_store_postgres::pending(&options).await.unwrap().len(), 1);
    assert_eq!(candor_store_postgres::migrate(&options).await.unwrap().len(), 1);
    assert_eq!(candor_store_postgres::pending(&options).await.unwrap(), [""; 0]);
    let restored_page = read_events(&store, tenant, None, 1).await;
    assert_eq!(restored_page.next.as_ref().map(|position| &position.key), Some(&Key::Rank(1_000_000_000_000)));
    let change = with_event(&fixtures);
    let new = change.events.clone();
    store.commit(tenant, change).await.unwrap();
    assert_eq!(read_events(&store, tenant, restored_page.next.as_ref(), 1).await.events, new);
}

#[tokio::test]
async fn server_without_tls_is_refused_if_tls_is_required() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 8];
            let _ = stream.read_exact(&mut request).await;
            let _ = stream.write_all(b"N").await;
        }
    });
    let options = PostgresOptions::new(format!("postgres://me:secret@127.0.0.1:{port}/d?sslmode=require"), 3);
    let refusal = PostgresStore::connect(&options).await.unwrap_err();
    assert!(matches!(refusal, ConnectError::Unreachable(_)));
    let text = refusal.to_string();
    assert!(text.contains("does not support TLS") && !text.contains("secret"), "{text}");
}

#[tokio::test]
async fn invalid_url_is_refused_without_its_password() {
    for url in ["postgres://me:secret@h:port/d", "postgres://me:secret@h/d?colour=red", "mysql://me:secret@h/d"] {
        let text = PostgresStore::connect(&PostgresOptions::new(url, 3)).await.unwrap_err().to_string();
        assert!(text.contains("URL") && !text.contains("secret"), "{text}");
    }
}
