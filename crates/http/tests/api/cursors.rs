//! A cursor, code or key that a client has changed, cut or used elsewhere shows no data beyond those that the key of
//! the request sees anyway (decisions A10, B8).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_http::table::{Method, ROUTES, Success};
use candor_service::usecases::operator;
use serde_json::{Value, json};

use crate::resources::provider_body;
use crate::support::{TestApi, TestResponse};

/// Minimum number of lists that return a cursor in this test.
const LEAST_LISTS: usize = 14;

fn lists() -> impl Iterator<Item = &'static str> {
    let is_list = |route: &&candor_http::table::Route| {
        route.method == Method::Get && matches!(route.response, Success::PageOf(_)) && !route.path.contains('{')
    };
    // The tests of the search cover its cursors, because it requires a query.
    ROUTES.iter().filter(is_list).map(|route| route.path).filter(|path| !path.ends_with("/search"))
}

async fn read(world: &TestApi, key: &str, path: &str, query: &str) -> TestResponse {
    world.bare("GET", &format!("/v1{path}?{query}")).key(key).send().await
}

/// Returns the entries of a page, or none if the request was refused.
fn entries(answered: &TestResponse) -> BTreeSet<String> {
    assert!(answered.status < 500, "{}", answered.text());
    if answered.status != 200 {
        return BTreeSet::new();
    }
    answered.json()["data"].as_array().unwrap().iter().map(Value::to_string).collect()
}

/// Returns all entries that a key sees in the default order of a list.
async fn read_all(world: &TestApi, key: &str, path: &str) -> BTreeSet<String> {
    let (mut all, mut after) = (BTreeSet::new(), String::new());
    loop {
        let page = read(world, key, path, &format!("limit=100{after}")).await;
        let more = entries(&page);
        let is_end = more.is_empty();
        all.extend(more);
        match page.json()["next_cursor"].as_str().filter(|_| !is_end) {
            Some(next) => after = format!("&cursor={next}"),
            None => return all,
        }
    }
}

/// Creates three people, and two resources of each other type that needs at most a person.
async fn populate(world: &TestApi, key: &str, name: &str) {
    let create = async |path: &str, body: Value| {
        world.clock.advance_millis(1);
        let response = world.bare("POST", path).key(key).json(&body).send().await;
        assert_eq!(response.status, 201, "{path}: {}", response.text());
        response.json()["id"].as_str().unwrap().to_owned()
    };
    let mut people = vec![];
    for number in 0..3 {
        let email = format!("{name}{number}@example.com");
        people
            .push(create("/v1/employees", json!({"email": email, "first_name": "Ada", "last_name": name})).await);
    }
    for number in 0..2 {
        let text = format!("{name} {number}");
        let url = format!("https://receiver.example/{number}");
        let about = &people[number];
        let period =
            json!({"owner_id": about, "title": text, "period_start": "2026-04-01", "period_end": "2026-06-30"});
        create("/v1/webhooks", json!({"url": url, "event_types": ["*"]})).await;
        create("/v1/departments", json!({"name": text})).await;
        create("/v1/attributes", json!({"name": text, "category": "Character"})).await;
        create("/v1/api-keys", json!({"name": text, "scopes": ["employees:read"]})).await;
        create("/v1/connectors", json!({"type": "csv_feed", "hris_source": format!("source{number}")})).await;
        create("/v1/identity-providers", provider_body()).await;
        create("/v1/conversations", json!({"title": text, "participant_ids": [people[0], people[1]]})).await;
        create("/v1/assignments", json!({"employee_id": about, "title": text, "reviewer_ids": [people[2]]})).await;
        create("/v1/summaries", json!({"employee_id": about, "title": text, "body": text})).await;
        create("/v1/observations", json!({"employee_id": about, "type": "strength", "observation": text})).await;
        create("/v1/employee-objectives", period.clone()).await;
        create("/v1/manager-objectives", period).await;
    }
    world.attempt_all(204).await;
}

/// Returns copies of a text with one changed character each, and some shorter and longer copies.
fn damage(text: &str) -> Vec<String> {
    let alter_at = |at: usize| {
        let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
        [&text[..at], other, &text[at + 1..]].concat()
    };
    let cut = [1, text.len() / 2, text.len() - 4, text.len() - 1].map(|length| text[..length].to_owned());
    (0..text.len()).map(alter_at).chain(cut).chain([format!("{text}A"), format!("{text}{text}")]).collect()
}

/// Returns the secret of a new bound key.
async fn bound_key(world: &TestApi) -> String {
    let person = world.employee("bound@example.com").await;
    let body = json!({"name": "Own", "scopes": ["*"], "employee_id": person, "access_level": "standard"});
    world.post("/v1/api-keys", body).await.json()["key"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn damaged_or_moved_cursor_shows_no_other_rows() {
    let world = TestApi::new().await;
    populate(&world, &world.admin, "own").await;
    let bound_key_text = bound_key(&world).await;
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let foreign = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let test = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    populate(&world, &foreign, "foreign").await;
    let mut cursors = BTreeMap::new();
    for path in lists() {
        let page = read(&world, &world.admin, path, "limit=1").await.json();
        if let Some(cursor) = page["next_cursor"].as_str() {
            cursors.insert(path, cursor.to_owned());
        }
    }
    assert!(cursors.len() >= LEAST_LISTS, "{:?}", cursors.keys());
    for (path, cursor) in &cursors {
        let own = read_all(&world, &world.admin, path).await;
        for text in damage(cursor) {
            let entries_of_damaged = entries(&read(&world, &world.admin, path, &format!("cursor={text}")).await);
            assert!(entries_of_damaged.is_subset(&own), "{path}: {text} shows {entries_of_damaged:?}");
        }
        for key in [&bound_key_text, &foreign, &test] {
            let own = read_all(&world, key, path).await;
            let entries_of_moved = entries(&read(&world, key, path, &format!("cursor={cursor}")).await);
            assert!(
                entries_of_moved.is_subset(&own),
                "{path}: the cursor of another key shows {entries_of_moved:?}"
            );
        }
        for (elsewhere, _) in cursors.iter().filter(|(elsewhere, _)| *elsewhere != path) {
            let response = read(&world, &world.admin, elsewhere, &format!("cursor={cursor}")).await;
            assert_eq!(response.status, 400, "{path}: used for {elsewhere}: {}", response.text());
        }
    }
}

#[tokio::test]
async fn damaged_code_or_key_opens_nothing() {
    let world = TestApi::new().await;
    let link = world.post("/v1/portal-links", json!({"scopes": ["observations:read"]})).await.json();
    let code = link["url"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned();
    let exchange = |code: &str| {
        // Stays below the limit on failed requests of an address.
        world.clock.advance_seconds(4);
        world.bare("POST", "/v1/portal-links/exchange").json(&json!({"code": code})).send()
    };
    for text in damage(&code) {
        assert_eq!(exchange(&text).await.status, 404, "{text}");
    }
    let exchange_response = exchange(&code).await;
    assert_eq!(
        exchange_response.status,
        200,
        "damaged copies do not use the code up: {}",
        exchange_response.text()
    );
    let key = exchange_response.json()["key"].as_str().unwrap().to_owned();
    assert_eq!(exchange(&code).await.status, 404, "a code is exchanged once");
    for text in damage(&key) {
        world.clock.advance_seconds(4);
        let response = world.bare("GET", "/v1/me").key(&text).send().await;
        assert_eq!(response.status, 401, "{text}");
    }
    assert_eq!(world.bare("GET", "/v1/me").key(&key).send().await.status, 200);
}
