//! The work on a page of users counts by what it reads, whatever attributes it shows (decision A17).

use candor_store_testkit::FaultyCall;
use serde_json::json;

use super::{Provider, user};
use crate::stores::every_faulty_store;

/// More users than a page reads first.
const USERS: usize = 45;

#[tokio::test]
async fn page_of_ids_of_large_users_is_read_in_parts() {
    for (world, faulty, _database) in every_faulty_store().await {
        let provider = Provider::new(&world).await;
        let mut ids = vec![];
        for number in 0..USERS {
            ids.push(provider.made(&user(&format!("u{number}"))).await);
        }
        let reads = async || {
            let calls_before = faulty.calls(FaultyCall::Batch);
            let page = provider.get("/Users?count=200&attributes=id").await;
            assert_eq!(page.json()["itemsPerPage"], USERS, "{}", page.text());
            faulty.calls(FaultyCall::Batch) - calls_before
        };
        let reads_of_small_users = reads().await;
        let fields: serde_json::Map<_, _> =
            (0..32).map(|number| (format!("f{number}"), json!("漢".repeat(1_024)))).collect();
        for id in &ids {
            let change = world.patch(&format!("/v1/employees/{id}"), json!({"custom_fields": fields})).await;
            assert_eq!(change.status, 200, "{}", change.text());
        }
        let reads_of_large_users = reads().await;
        // 25 users first, then all others, or 10 at a time.
        assert!(
            reads_of_large_users > reads_of_small_users,
            "{reads_of_large_users} reads of 100 kB each, {reads_of_small_users} of small users"
        );
    }
}
