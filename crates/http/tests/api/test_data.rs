//! Deletion of the test data set (decision B6).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use serde_json::json;

use crate::support::TestApi;

const LISTS: [&str; 8] = [
    "employees?filter[status]=all",
    "observations?filter[archived]=all",
    "departments",
    "employee-objectives",
    "webhooks",
    "events",
    "notifications",
    "conversations",
];

async fn count(world: &TestApi, key: &str, list: &str) -> usize {
    let page = world.bare("GET", &format!("/v1/{list}")).key(key).send().await;
    page.json()["data"].as_array().unwrap_or_else(|| panic!("{list}: {}", page.text())).len()
}

/// Creates a person with a manager and a department, and resources that refer to people.
async fn populate(world: &TestApi, key: &str) {
    let post = async |path: &str, body: serde_json::Value| {
        let response = world.bare("POST", &format!("/v1/{path}")).key(key).json(&body).send().await;
        assert_eq!(response.status, 201, "{path}: {}", response.text());
        response.json()["id"].as_str().unwrap().to_owned()
    };
    let hook = json!({"url": "https://hooks.example.com/a", "event_types": ["*"]});
    post("webhooks", hook).await;
    let department = post("departments", json!({"name": "Care"})).await;
    let boss = json!({"email": "boss@example.com", "first_name": "A", "last_name": "B", "role": "org_admin"});
    let boss = post("employees", boss).await;
    let person = post(
        "employees",
        json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "M", "manager_id": boss,
            "department_id": department, "custom_fields": {"grade": 1}}),
    )
    .await;
    let invitation_body =
        json!({"email": "new@example.com", "first_name": "N", "last_name": "M", "send_invite": true});
    post("employees", invitation_body).await;
    let attributes = world.bare("GET", "/v1/attributes").key(key).send().await.json();
    let tags = json!([attributes["data"][0]["id"]]);
    post(
        "observations",
        json!({"employee_id": person, "type": "strength", "observation": "Listens.", "attribute_ids": tags}),
    )
    .await;
    let goal =
        json!({"owner_id": boss, "title": "Goal", "period_start": "2026-01-01", "period_end": "2026-12-31"});
    post("employee-objectives", goal).await;
    post("conversations", json!({"title": "One to one", "participant_ids": [boss, person]})).await;
}

#[tokio::test]
async fn test_data_reset_empties_test_data_only() {
    let world = TestApi::new().await;
    let test = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    for key in [&world.admin, &test] {
        populate(&world, key).await;
    }
    let counts_before: Vec<_> = {
        let mut counts = vec![];
        for list in LISTS {
            counts.push(count(&world, &world.admin, list).await);
        }
        counts
    };
    let reset =
        world.bare("POST", "/v1/test-data/reset").key(&test).header("idempotency-key", "once").send().await;
    assert_eq!((reset.status, &reset.json()["complete"]), (200, &json!(true)), "{}", reset.text());
    assert!(reset.json()["removed"].as_u64().unwrap() > 20, "{}", reset.text());
    for (list, there) in LISTS.iter().zip(counts_before) {
        assert_eq!(count(&world, &test, list).await, 0, "{list}");
        assert_eq!(count(&world, &world.admin, list).await, there, "{list} of the live data set");
    }
    assert!(count(&world, &test, "attributes").await > 10, "the starter set is restored");
    assert_eq!(count(&world, &test, "audit-log?filter[action]=test_data.reset").await, 1);
    let second_reset =
        world.bare("POST", "/v1/test-data/reset").key(&test).header("idempotency-key", "once").send().await;
    assert_eq!(second_reset.json(), reset.json(), "a retry gets the same answer");
    populate(&world, &test).await;
    assert_eq!(count(&world, &test, "employees?filter[status]=all").await, 3, "the addresses are free again");
}

#[tokio::test]
async fn test_data_reset_requires_an_admin_level_key() {
    let world = TestApi::new().await;
    let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Test).await;
    let response = world.bare("POST", "/v1/test-data/reset").key(&standard).send().await;
    assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
}
