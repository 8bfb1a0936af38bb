//! The changes of one request are committed in steps, each with a bounded number of rows and bytes.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_store_testkit::FaultyCall;
use serde_json::{Map, Value, json};

use crate::retention::Faulty;
use crate::stores::every_faulty_store;
use crate::support::{TestApi, TestResponse};

/// Returns the number of these calls of the store during a request, and the answer to the request.
async fn calls(
    faulty: &Faulty,
    call: FaultyCall,
    request: impl Future<Output = TestResponse>,
) -> (usize, TestResponse) {
    let calls_before = faulty.calls(call);
    let response = request.await;
    assert_eq!(response.status, 200, "{}", response.text());
    (faulty.calls(call) - calls_before, response)
}

async fn commits(faulty: &Faulty, request: impl Future<Output = TestResponse>) -> (usize, TestResponse) {
    calls(faulty, FaultyCall::Commit, request).await
}

async fn upload(world: &TestApi, file: String, query: &str) -> TestResponse {
    let request = world.ask("POST", &format!("/v1/employees/csv{query}"));
    request.header("content-type", "text/csv").body(file).send().await
}

/// Returns a CSV file that gives all these people this first name.
fn names(people: std::ops::Range<usize>, first_name: &str) -> String {
    let rows = people.map(|number| format!("person{number}@example.com,{first_name},Moreau\n"));
    std::iter::once("email,first_name,last_name\n".to_owned()).chain(rows).collect()
}

#[tokio::test]
async fn commit_of_a_file_ends_after_a_mebibyte_of_people() {
    for (world, faulty, _database) in every_faulty_store().await {
        let (small, _) = commits(&faulty, upload(&world, names(0..24, "Ada"), "")).await;
        let (unchanged, _) = commits(&faulty, upload(&world, names(0..24, "Eve"), "")).await;
        assert_eq!(small, unchanged, "24 small people fit into one commit");
        // Each person has 131 KB, so eight people have more than 1 MiB.
        let fields: Map<String, Value> =
            (0..32).map(|number| (format!("field{number}"), "\u{1f600}".repeat(1024).into())).collect();
        for number in 0..24 {
            let page = world.get(&format!("/v1/employees?filter[email]=person{number}@example.com")).await.json();
            let path = format!("/v1/employees/{}", page["data"][0]["id"].as_str().unwrap());
            assert_eq!(world.patch(&path, json!({"custom_fields": fields})).await.status, 200);
        }
        world.clock.advance_seconds(61);
        let (large, answered) = commits(&faulty, upload(&world, names(0..24, "Ida"), "")).await;
        assert_eq!(answered.json()["data"]["updated"], 24);
        assert_eq!(large, small + 2, "three commits of eight people");
    }
}

#[tokio::test]
async fn release_and_reset_are_committed_in_steps() {
    for (world, faulty, _database) in every_faulty_store().await {
        let connector = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "okta"})).await;
        let query = format!("?connector_id={connector}");
        assert_eq!(upload(&world, names(0..120, "Ada"), &query).await.status, 200);
        let release = format!("/v1/connectors/{connector}/release");
        let (steps, answered) = commits(&faulty, world.post(&release, json!({}))).await;
        assert_eq!((steps, &answered.json()["released"]), (3, &json!(120)), "50, 50 and 20 people");

        let key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
        let file = world.bare("POST", "/v1/employees/csv").key(&key).header("content-type", "text/csv");
        assert_eq!(file.body(names(0..250, "Ada")).send().await.status, 200);
        let reset = world.bare("POST", "/v1/test-data/reset").key(&key).json(&json!({})).send();
        let (steps, answered) = calls(&faulty, FaultyCall::Itself, reset).await;
        assert_eq!(answered.json()["complete"], true);
        let removed_count = answered.json()["removed"].as_u64().unwrap();
        assert!(removed_count >= 500, "250 people and their events: {removed_count}");
        assert!(steps >= 5 + 3, "at most 100 rows in each of {steps} steps");
    }
}
