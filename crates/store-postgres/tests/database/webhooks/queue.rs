//! Claims and records beside a long queue and beside concurrent change sets.

use std::time::Duration;

use candor_domain::people::Employee;
use candor_port_storage::Storage;
use candor_port_storage::queue::{AttemptResult, Claim, Queue, QueueWalk, Webhooks};
use candor_port_storage::{Row, StorageExt, Write};
use candor_store_postgres::{PostgresOptions, PostgresStore};
use candor_subscriptions::{AttemptOutcome, HealthDelta, Status, Subscription};
use tokio_postgres::Client;

use super::receiver::Receiver;
use crate::support;

const DEADLINE: Duration = Duration::from_secs(100);

/// Repeats a query until it returns `true`.
async fn wait_until(client: &Client, question: &str) {
    let question_loop = async { while !client.query_one(question, &[]).await.unwrap().get::<_, bool>(0) {} };
    tokio::time::timeout(DEADLINE, question_loop).await.unwrap_or_else(|_| panic!("never: {question}"));
}

const WAITING: &str = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() \
    AND application_name = 'candor' AND wait_event_type = 'Lock')";
const IDLE: &str = "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() \
    AND application_name = 'candor' AND state <> 'idle')";
const GONE: &str = "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() \
    AND application_name = 'candor')";

/// Queues 20,000 deliveries of one subscription and 20 of each of 99 other subscriptions. The deliveries of every
/// second subscription are parked.
const FILL: &str = "INSERT INTO delivery_jobs \
    SELECT '00000000-0000-0000-0000-000000000001', lpad(to_hex(w), 32, '0')::uuid, \
    lpad(to_hex(e), 32, '0')::uuid, 'employee.created', 1, '2026-03-01', 'event', NULL, \
    CASE WHEN w % 2 = 0 THEN timestamptz '2026-03-01' + e * interval '1 ms' END \
    FROM (SELECT 50 AS w, e FROM generate_series(1, 20000) AS e \
    UNION ALL SELECT w, e FROM generate_series(1, 100) AS w, generate_series(1, 20) AS e WHERE w <> 50) AS q";

fn walk(queues: u16, each: u16) -> QueueWalk {
    QueueWalk { after: None, queues, each, busy: vec![], limited: vec![] }
}

async fn read(client: &Client, what: &str) -> i64 {
    client.query_one(what, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn long_queue_is_not_scanned_with_a_plan_for_a_short_one() {
    let Some(database) = support::database() else { return };
    let other = support::client(database.url()).await;
    let store = PostgresStore::connect(&PostgresOptions::new(database.url(), 3)).await.unwrap();
    let it = Receiver::new(&store, 1).await;
    let claims = [Claim::Oldest { most: 50 }, Claim::SubscriptionQueues(walk(8, 5)), Claim::Parked(walk(8, 5))];
    let now = it.make.tick();
    for claim in &claims {
        assert_eq!(store.claim(it.lease(now), now, claim).await.unwrap().jobs, []);
    }
    it.attempt(now).await;

    other.batch_execute(FILL).await.unwrap();
    let now = it.make.tick();
    let mut claimed_jobs = vec![];
    for (claim, count) in claims.iter().zip([50, 40, 40]) {
        let claim_result = store.claim(it.lease(now), now, claim).await.unwrap();
        assert_eq!(
            (claim_result.jobs.len(), claim_result.next.is_some()),
            (count, !matches!(claim, Claim::Oldest { .. }))
        );
        claimed_jobs.extend(claim_result.jobs);
    }
    let results = claimed_jobs.iter().map(|job| (*job, AttemptResult::Back(now))).collect();
    assert_eq!(store.record(it.worker, results, vec![]).await.unwrap().lost, 0);

    // A connection reports its index reads at the latest when it ends.
    drop((it, store));
    wait_until(&other, GONE).await;
    let indexes = "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = 'delivery_jobs'";
    wait_until(&other, &format!("SELECT ({indexes}) >= 130")).await;
    let read = (
        read(&other, indexes).await,
        read(
            &other,
            "SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables \
             WHERE relname IN ('delivery_jobs', 'webhooks')",
        )
        .await,
    );
    assert!(read.0 < 1_000 && read.1 == 0, "{read:?} rows were read");
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_updates_no_index() {
    let Some(database) = support::database() else { return };
    let other = support::client(database.url()).await;
    other.batch_execute(FILL).await.unwrap();
    let store = PostgresStore::connect(&PostgresOptions::new(database.url(), 3)).await.unwrap();
    let it = Receiver::new(&store, 1).await;
    let now = it.make.tick();
    let mut claimed_count = 0;
    for claim in [Claim::Oldest { most: 500 }, Claim::SubscriptionQueues(walk(100, 500))] {
        claimed_count += store.claim(it.lease(now), now, &claim).await.unwrap().jobs.len();
    }
    assert!(claimed_count > 1_000, "{claimed_count}");

    // A connection reports its writes at the latest when it ends.
    drop((it, store));
    wait_until(&other, GONE).await;
    let table_figure =
        |how: &str| format!("SELECT {how} FROM pg_stat_user_tables WHERE relname = 'delivery_jobs'");
    wait_until(&other, &format!("SELECT ({}) >= {claimed_count}", table_figure("n_tup_upd"))).await;
    assert_eq!(read(&other, &table_figure("n_tup_upd - n_tup_hot_upd")).await, 0, "of {claimed_count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_skips_locked_deliveries() {
    let Some(database) = support::database() else { return };
    let (store, other) = (support::store(&database, None).await, support::client(database.url()).await);
    let it = Receiver::new(&store, 2).await;
    let jobs = [it.queue_and_lease().await, it.queue_and_lease().await, it.queue_and_lease().await];
    let now = it.make.tick().plus_seconds(60);
    let lock = format!(
        "BEGIN; SELECT * FROM delivery_jobs WHERE event_id = '{:032x}' FOR UPDATE",
        u128::from_be_bytes(jobs[0].event_id.to_bytes())
    );
    other.batch_execute(&lock).await.unwrap();
    let oldest_jobs = store.claim(it.lease(now), now, &Claim::Oldest { most: 9 }).await.unwrap();
    assert_eq!(oldest_jobs.jobs, jobs[1..]);
    for claim in [Claim::Oldest { most: 9 }, Claim::SubscriptionQueues(walk(9, 9))] {
        assert_eq!(store.claim(it.lease(now), now, &claim).await.unwrap().jobs, []);
    }
    other.batch_execute("COMMIT").await.unwrap();
    let claimed_jobs = store.claim(it.lease(now), now, &Claim::SubscriptionQueues(walk(9, 9))).await.unwrap();
    assert_eq!(claimed_jobs.jobs, jobs[..1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_deliveries_do_not_block_a_change_set() {
    let Some(database) = support::database() else { return };
    let (other, watcher) = (support::client(database.url()).await, support::client(database.url()).await);
    let store = PostgresStore::connect(&PostgresOptions::new(database.url(), 3)).await.unwrap();
    let it = Receiver::new(&store, 3).await;
    other.batch_execute("BEGIN; SELECT * FROM webhooks FOR UPDATE").await.unwrap();
    let timeout_outcome = AttemptOutcome::Failed(candor_domain::attempt_failure::FailureReason::Timeout);
    let delta = HealthDelta::from_attempt(timeout_outcome, Status::Failed, true, it.make.tick());
    let queue = (it.tenant, it.to.id);
    let records: Vec<_> = (0..4)
        .map(|_| {
            let (store, worker) = (store.clone(), it.worker);
            tokio::spawn(async move { store.record(worker, vec![], vec![(queue, delta)]).await })
        })
        .collect();
    wait_until(&watcher, WAITING).await;

    let person = it.make.employee();
    let change = it.make.change(vec![Write::employee(&Row::new(person.clone()), None)]);
    tokio::time::timeout(DEADLINE, store.commit(it.tenant, change)).await.expect("in time").unwrap();
    assert!(store.row::<Employee>(it.tenant, person.id).await.unwrap().is_some());
    assert!(records.iter().all(|record| !record.is_finished()));
    other.batch_execute("COMMIT").await.unwrap();
    for record in records {
        assert_eq!(record.await.unwrap().unwrap().streaks.len(), 1);
    }
    let streak = store.row::<Subscription>(it.tenant, it.to.id).await.unwrap().unwrap().value.streak;
    assert_eq!((streak.failures, streak.since), (4, delta.streak.since));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_record_is_carried_out_and_leaves_nothing_open() {
    let Some(database) = support::database() else { return };
    let (store, other) = (support::store(&database, None).await, support::client(database.url()).await);
    let it = Receiver::new(&store, 4).await;
    let job = it.queue_and_lease().await;
    other.batch_execute("BEGIN; SELECT * FROM delivery_jobs FOR UPDATE").await.unwrap();
    let attempt_result = it.acknowledge(&job, it.make.tick());
    let results = vec![(job, AttemptResult::Settled(Box::new(attempt_result.clone())))];
    let (caller, worker) = (store.clone(), it.worker);
    let record = tokio::spawn(async move { caller.record(worker, results, vec![]).await });
    let watcher = support::client(database.url()).await;
    wait_until(&watcher, WAITING).await;
    record.abort();
    assert!(record.await.unwrap_err().is_cancelled(), "it waits for the lock");
    other.batch_execute("COMMIT").await.unwrap();
    wait_until(&watcher, "SELECT NOT EXISTS (SELECT 1 FROM delivery_jobs)").await;
    wait_until(&watcher, IDLE).await;
    assert_eq!(
        store.delivery(it.tenant, it.to.id, attempt_result.entry.id).await.unwrap(),
        Some(attempt_result.entry)
    );
}
