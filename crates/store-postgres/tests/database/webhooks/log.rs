//! The delivery log has one partition per day if the role may create partitions.

use candor_domain::time::Timestamp;
use candor_port_storage::queue::{Queue, Webhooks};
use candor_store_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::Client;

use super::receiver::Receiver;
use crate::support;

const DAY: i64 = 86_400;
const NOON: Timestamp = Timestamp::from_millis(1_772_452_800_000);
/// Partitions that exist after upkeep at noon of 2026-03-02.
const DAYS: [&str; 5] = [
    "deliveries_20260302",
    "deliveries_20260303",
    "deliveries_20260304",
    "deliveries_20260305",
    "deliveries_default",
];

async fn partitions(client: &Client) -> Vec<String> {
    let names =
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'deliveries'::regclass ORDER BY 1";
    client.query(names, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// Returns the number of entries of each partition that has any.
async fn entries(client: &Client) -> Vec<(String, i64)> {
    let counts = "SELECT tableoid::regclass::text, count(*) FROM deliveries GROUP BY 1 ORDER BY 1";
    client.query(counts, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn rows(counts: &[(&str, i64)]) -> Vec<(String, i64)> {
    counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn log_partitions_exist_for_coming_days_only() {
    let Some(database) = support::database() else { return };
    let (store, other) = (support::store(&database, None).await, support::client(database.url()).await);
    let to = Receiver::new(&store, 1).await;
    assert_eq!(partitions(&other).await, ["deliveries_default"]);
    let first = Timestamp::from_millis(0);
    for _ in 0..2 {
        assert_eq!(store.keep_log(NOON, first, 10).await.unwrap(), 0);
        assert_eq!(partitions(&other).await, DAYS);
    }
    let midnight = NOON.plus_seconds(DAY / 2);
    let attempt_times =
        [NOON, Timestamp::from_millis(midnight.millis() - 1), midnight, NOON.plus_seconds(4 * DAY)];
    for at in attempt_times {
        let entry = to.attempt(at).await;
        assert_eq!(store.delivery(to.tenant, to.to.id, entry.entry.id).await.unwrap(), Some(entry.entry));
    }
    let expected_partitions = [("deliveries_20260302", 2), ("deliveries_20260303", 1), ("deliveries_default", 1)];
    assert_eq!(entries(&other).await, rows(&expected_partitions));

    // A day's partition is dropped once all its entries are old. Days with entries in the default partition get no
    // partition of their own.
    let later_day = NOON.plus_seconds(3 * DAY);
    assert_eq!(store.keep_log(later_day, Timestamp::from_millis(midnight.millis() - 1), 10).await.unwrap(), 0);
    assert_eq!(entries(&other).await, rows(&expected_partitions));
    assert_eq!(store.keep_log(later_day, midnight, 10).await.unwrap(), 0);
    assert_eq!(entries(&other).await, rows(&expected_partitions[1..]));
    let names = ["0303", "0304", "0305", "0307", "0308"].map(|name| format!("deliveries_2026{name}")).into_iter();
    assert_eq!(partitions(&other).await, names.chain(["deliveries_default".to_owned()]).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_log_maintenance_does_each_step_once() {
    let Some(database) = support::database() else { return };
    let (one, two) = (support::store(&database, None).await, support::store(&database, None).await);
    let other = support::client(database.url()).await;
    let to = Receiver::new(&one, 2).await;
    for days in [0, 1, 40] {
        let (now, before) = (NOON.plus_seconds(days * DAY), NOON.plus_seconds((days - 30) * DAY));
        to.attempt(NOON.plus_seconds(-9 * DAY)).await;
        let maintenance_results = tokio::join!(
            one.keep_log(now, before, 10),
            two.keep_log(now, before, 10),
            one.keep_log(now, before, 10)
        );
        assert_eq!(
            maintenance_results.0.unwrap() + maintenance_results.1.unwrap() + maintenance_results.2.unwrap(),
            if days == 40 { 3 } else { 0 }
        );
        let names = partitions(&other).await;
        // Partitions may be missing: a call that gave up on a lock leaves its change to the next one.
        assert!(names.len() <= 5 + usize::from(days == 1), "{names:?}");
        one.keep_log(now, before, 10).await.unwrap();
        assert_eq!(partitions(&other).await.len(), 5 + usize::from(days == 1));
    }
    assert_eq!(entries(&other).await, rows(&[]));
}

#[tokio::test(flavor = "multi_thread")]
async fn long_log_read_keeps_its_partition_and_blocks_nothing() {
    let Some(database) = support::database() else { return };
    let (store, other) = (support::store(&database, None).await, support::client(database.url()).await);
    let to = Receiver::new(&store, 3).await;
    store.keep_log(NOON, NOON.plus_seconds(-30 * DAY), 10).await.unwrap();
    to.attempt(NOON).await;
    let reader = support::client(database.url()).await;
    reader.batch_execute("BEGIN; SELECT count(*) FROM deliveries").await.unwrap();
    let (now, before) = (NOON.plus_seconds(31 * DAY), NOON.plus_seconds(DAY));
    assert_eq!(store.keep_log(now, before, 10).await.unwrap(), 0);
    assert_eq!(partitions(&other).await, DAYS);
    to.attempt(NOON.plus_seconds(1)).await;
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(store.keep_log(now, before, 10).await.unwrap(), 0);
    assert!(!partitions(&other).await.contains(&DAYS[0].to_owned()));
    assert_eq!(entries(&other).await, rows(&[]));
}

#[tokio::test(flavor = "multi_thread")]
async fn role_without_create_privilege_uses_the_default_partition() {
    let Some(database) = support::database() else { return };
    let other = support::client(database.url()).await;
    let role = format!("limited_{}", std::process::id());
    let grants = format!(
        "CREATE ROLE {role}; REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
    );
    other.batch_execute(&grants).await.unwrap();
    let sign = if database.url().contains('?') { '&' } else { '?' };
    let url = format!("{}{sign}options=-c%20role%3D{role}", database.url());
    let store = PostgresStore::connect(&PostgresOptions::new(url, support::POOL)).await.unwrap();
    let to = Receiver::new(&store, 4).await;
    for day in 0..9 {
        to.attempt(NOON.plus_seconds(day * DAY)).await;
    }
    // Entries are deleted in portions, oldest first.
    for (left, gone) in [(5, 4), (3, 2), (3, 0)] {
        let maintenance =
            store.keep_log(NOON.plus_seconds(31 * DAY), NOON.plus_seconds(6 * DAY), 4).await.unwrap();
        assert_eq!((maintenance, entries(&other).await), (gone, rows(&[("deliveries_default", left)])));
    }
    assert_eq!(partitions(&other).await, ["deliveries_default"]);
    drop((to, store));
    other.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}
