//! Search (decision G): results, highlighting, and visibility.

mod found;
mod refused;

use candor_domain::access::AccessLevel;
use serde_json::{Value, json};

use crate::objectives::{key_for, person};
use crate::support::{TestApi, TestResponse};

/// Returns the path of a search, percent-encoded as by a browser.
fn path(query: &[(&str, &str)]) -> String {
    let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    format!("/v1/search?{}", query.join("&"))
}

fn escape(text: &str) -> String {
    text.bytes()
        .map(
            |text| {
                if text.is_ascii_alphanumeric() { char::from(text).to_string() } else { format!("%{text:02X}") }
            },
        )
        .collect()
}

async fn search(world: &TestApi, query: &[(&str, &str)]) -> TestResponse {
    search_as(world, &world.admin, query).await
}

async fn search_as(world: &TestApi, key: &str, query: &[(&str, &str)]) -> TestResponse {
    world.bare("GET", &path(query)).key(key).send().await
}

/// Returns the ids of the results, in order.
fn ids(answered: &TestResponse) -> Vec<String> {
    assert_eq!(answered.status, 200, "{}", answered.text());
    let data = answered.json()["data"].clone();
    data.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

async fn observation(world: &TestApi, about: &str, text: &str) -> String {
    let body = json!({"employee_id": about, "type": "strength", "observation": text});
    world.made("/v1/observations", body).await
}

async fn summary(world: &TestApi, about: &str, text: &str) -> String {
    world.made("/v1/summaries", json!({"employee_id": about, "title": "First half", "body": text})).await
}

async fn objective(world: &TestApi, owner: &str, title: &str) -> String {
    let body =
        json!({"owner_id": owner, "title": title, "period_start": "2026-04-01", "period_end": "2026-06-30"});
    world.made("/v1/employee-objectives", body).await
}

/// Creates a standard key bound to a person.
async fn bound_key(world: &TestApi, person: &str) -> String {
    key_for(world, person, AccessLevel::Standard).await
}

/// The parameter that searches all types.
const ALL: (&str, &str) = ("types", "observations,objectives,employees,summaries");

/// Creates a person, optionally below a manager.
async fn report(world: &TestApi, name: &str, manager: Option<&str>) -> String {
    person(world, name, "employee", manager).await
}

fn without_request_id(mut body: Value) -> Value {
    body["error"].as_object_mut().map(|error| error.remove("request_id"));
    body
}
