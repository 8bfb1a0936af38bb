//! Resources that wait for a caller (decision A21).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use serde_json::{Value, json};

use crate::objectives::{create_objective, key_for, objective, person};
use crate::stores::every_store;
use crate::support::TestApi;

const DAY: i64 = 86_400;
const EMPLOYEES: (&str, &str) = ("employee-objectives", "employee");
const MANAGERS: (&str, &str) = ("manager-objectives", "manager");

async fn read_attention(world: &TestApi, key: &str) -> Value {
    let response = world.bare("GET", "/v1/attention").key(key).send().await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

/// Returns kind, title, name of the person and path of each matter.
fn matters(attention: &Value) -> Vec<[String; 4]> {
    let text = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    let data = attention["data"].as_array().unwrap().iter();
    data.map(|one| ["kind", "title", "employee_name", "path"].map(|member| text(&one[member]))).collect()
}

fn kinds(attention: &Value) -> Vec<(String, u64, bool)> {
    let data = attention["kinds"].as_array().unwrap().iter();
    data.map(|one| {
        (one["kind"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap(), one["has_more"] == json!(true))
    })
    .collect()
}

/// Sends a request that must succeed.
async fn must(world: &TestApi, path: &str, body: Value) {
    let response = world.post(path, body).await;
    assert!(response.status < 300, "{path}: {}", response.text());
}

async fn summary(world: &TestApi, author: &str, employee: &str, title: &str) -> String {
    let body = json!({"employee_id": employee, "author_id": author, "title": title, "body": "Calm."});
    format!("/v1/summaries/{}", world.made("/v1/summaries", body).await)
}

/// Makes an inactive subscription, a failing one, a connector with issues and a key that expires; returns their ids, and
/// the end of the key.
async fn fail_operations(world: &TestApi) -> [String; 5] {
    let hook = json!({"url": "https://hooks.example.com/a", "event_types": ["webhook.disabled"]});
    let hook = world.made("/v1/webhooks", hook).await;
    assert_eq!(world.patch(&format!("/v1/webhooks/{hook}"), json!({"active": false})).await.status, 200);
    let failing = json!({"url": "https://hooks.example.com/b", "event_types": ["department.created"]});
    let failing = world.made("/v1/webhooks", failing).await;
    world.made("/v1/departments", json!({"name": "Care"})).await;
    world.attempt_all(503).await;
    let connector = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
    let file = "email,first_name,last_name\nwrong,A,B\n";
    let upload = world.ask("POST", &format!("/v1/employees/csv?connector_id={connector}"));
    assert_eq!(upload.header("content-type", "text/csv").body(file).send().await.status, 200);
    let end = world.services.clock.now().plus_seconds(5 * DAY).to_string();
    let key = world.made("/v1/api-keys", json!({"name": "HR sync", "scopes": ["*"], "expires_at": end})).await;
    [hook, failing, connector, key, end]
}

/// Kinds of a key of the organization, with the numbers of matters in the first test.
const KIND_COUNTS: [(&str, u64); 9] = [
    ("webhook_inactive", 1),
    ("webhook_failing", 1),
    ("connector_paused", 0),
    ("connector_failing", 1),
    ("api_key_expiring", 1),
    ("objective_in_review", 2),
    ("summary_in_review", 1),
    ("assignment_overdue", 1),
    ("objective_quiet", 1),
];

#[tokio::test]
async fn attention_has_each_kind_of_matter_in_order() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        assert_eq!(read_attention(world, &world.admin).await["data"], json!([]), "{store}");
        let ada = person(world, "Ada", "manager", None).await;
        let bo = person(world, "Bo", "employee", Some(&ada)).await;
        let [hook, failing, connector, key, end] = fail_operations(world).await;
        let goal = objective(world, EMPLOYEES, &bo).await;
        // Ends later, so it is the first of the list.
        let later_goal = json!({"scope": "manager", "owner_id": ada, "title": "Answer within a day",
            "period_start": "2026-04-01", "period_end": "2026-07-31"});
        let wider = create_objective(world, MANAGERS, later_goal).await;
        for path in [&goal, &wider] {
            must(world, &format!("{path}/submit"), json!({})).await;
        }
        let review = summary(world, &ada, &bo, "Bo, first half").await;
        must(world, &format!("{review}/submit"), json!({})).await;
        let assignment = json!({"employee_id": bo, "requester_id": ada, "title": "How is Bo?", "reviewer_ids": [ada],
            "due_date": "2020-01-01"});
        let assignment = world.made("/v1/assignments", assignment).await;
        let quiet = objective(world, EMPLOYEES, &bo).await;
        must(world, &format!("{quiet}/approve"), json!({})).await;
        assert_eq!(world.patch(&quiet, json!({"status": "in_progress"})).await.status, 200, "{store}");

        let attention = read_attention(world, &world.admin).await;
        let of_api = |path: &str| path.trim_start_matches("/v1").to_owned();
        let expected_matters = [
            ["webhook_inactive", "https://hooks.example.com/a", "null", &format!("/webhooks/{hook}")],
            ["webhook_failing", "https://hooks.example.com/b", "null", &format!("/webhooks/{failing}")],
            ["connector_failing", "acme", "null", &format!("/connectors/{connector}")],
            ["api_key_expiring", "HR sync", "null", &format!("/api-keys/{key}")],
            ["objective_in_review", "Answer within a day", "Ada Example", &of_api(&wider)],
            ["objective_in_review", "Answer within a day", "Bo Example", &of_api(&goal)],
            ["summary_in_review", "Bo, first half", "Bo Example", &of_api(&review)],
            ["assignment_overdue", "How is Bo?", "Bo Example", &format!("/assignments/{assignment}")],
            ["objective_quiet", "Answer within a day", "Bo Example", &of_api(&quiet)],
        ];
        assert_eq!(matters(&attention), expected_matters.map(|one| one.map(ToOwned::to_owned)), "{store}");
        assert_eq!(attention["data"][3]["at"], json!(end), "{store}");
        assert_eq!(attention["data"][7]["due_date"], json!("2020-01-01"), "{store}");
        let expected_kinds = KIND_COUNTS.map(|(kind, count)| (kind.to_owned(), count, false));
        assert_eq!(kinds(&attention), expected_kinds, "{store}");
        for [.., path] in expected_matters {
            assert_eq!(world.get(&format!("/v1{path}")).await.status, 200, "{store}: {path}");
        }
    }
}

#[tokio::test]
async fn key_of_a_person_gets_the_own_matters() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        let boss = person(world, "Boss", "manager", None).await;
        let ada = person(world, "Ada", "manager", Some(&boss)).await;
        let bo = person(world, "Bo", "employee", Some(&ada)).await;
        let (key, other_key) =
            (key_for(world, &ada, AccessLevel::Standard).await, key_for(world, &bo, AccessLevel::Standard).await);
        let goal = objective(world, MANAGERS, &ada).await;
        let draft = summary(world, &ada, &bo, "Bo, first half").await;
        let shared_one = summary(world, &boss, &ada, "Ada, first half").await;
        for step in ["submit", "approve", "share"] {
            must(world, &format!("{shared_one}/{step}"), json!({})).await;
        }
        let request =
            json!({"employee_id": bo, "requester_id": boss, "title": "How is Bo?", "reviewer_ids": [ada, boss]});
        let assignment = world.made("/v1/assignments", request).await;
        for path in [&goal, &draft] {
            must(world, &format!("{path}/submit"), json!({})).await;
        }
        must(world, &format!("{goal}/reject"), json!({"reason": "Name a number."})).await;
        must(world, &format!("{draft}/return"), json!({"reason": "Say what follows."})).await;

        let own = read_attention(world, &key).await;
        let of_api = |path: &str| path.trim_start_matches("/v1").to_owned();
        let expected_matters = [
            ["objective_returned", "Answer within a day", "Ada Example", &of_api(&goal)],
            ["summary_returned", "Bo, first half", "Bo Example", &of_api(&draft)],
            ["feedback_requested", "How is Bo?", "Bo Example", &format!("/assignments/{assignment}")],
            ["summary_shared", "Ada, first half", "Ada Example", &of_api(&shared_one)],
        ];
        assert_eq!(matters(&own), expected_matters.map(|one| one.map(ToOwned::to_owned)), "{store}");
        let reasons: Vec<_> = own["data"].as_array().unwrap().iter().map(|one| one["reason"].clone()).collect();
        assert_eq!(reasons, [json!("Name a number."), json!("Say what follows."), Value::Null, Value::Null]);
        assert_eq!(matters(&read_attention(world, &other_key).await), Vec::<[String; 4]>::new(), "{store}");

        for path in [&goal, &draft] {
            must(world, &format!("{path}/submit"), json!({})).await;
        }
        let feedback = json!({"comment": "Thank you."});
        let response =
            world.bare("POST", &format!("{shared_one}/feedback")).key(&key).json(&feedback).send().await;
        assert_eq!(response.status, 200, "{store}: {}", response.text());
        let submission = json!({"observations": [{"type": "strength", "observation": "Calm."}]});
        let path = format!("/v1/assignments/{assignment}/submissions");
        let response = world.bare("POST", &path).key(&key).json(&submission).send().await;
        assert_eq!(response.status, 200, "{store}: {}", response.text());
        let kinds: Vec<_> =
            matters(&read_attention(world, &key).await).into_iter().map(|[kind, ..]| kind).collect();
        assert_eq!(kinds, ["objective_in_review", "summary_in_review"], "{store}");
    }
}

#[tokio::test]
async fn attention_ends_after_twenty_of_a_kind() {
    for shared in every_store().await {
        let world = &shared.world;
        let ada = person(world, "Ada", "manager", None).await;
        for _ in 0..21 {
            let goal = objective(world, EMPLOYEES, &ada).await;
            must(world, &format!("{goal}/submit"), json!({})).await;
        }
        let attention = read_attention(world, &world.admin).await;
        assert_eq!(attention["data"].as_array().unwrap().len(), 20, "{}", shared.name);
        let in_review = kinds(&attention).into_iter().find(|(kind, ..)| kind == "objective_in_review");
        assert_eq!(in_review, Some(("objective_in_review".to_owned(), 20, true)), "{}", shared.name);
    }
}

/// Number of newer resources of each kind, more than a page of their lists has.
const NEWER: usize = 101;
/// Number of newer subscriptions: a data set has 100 of them at most.
const NEWER_SUBSCRIPTIONS: usize = 98;

#[tokio::test]
async fn newer_resources_do_not_hide_an_old_matter() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        let [hook, failing, connector, key, _] = fail_operations(world).await;
        for number in 0..NEWER {
            if number < NEWER_SUBSCRIPTIONS {
                let url = format!("https://hooks.example.com/{number}");
                world.made("/v1/webhooks", json!({"url": url, "event_types": ["webhook.disabled"]})).await;
            }
            let source = format!("feed_{number}");
            world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": source})).await;
            world.made("/v1/api-keys", json!({"name": "Newer", "scopes": ["events:read"]})).await;
        }
        let paths: Vec<_> =
            matters(&read_attention(world, &world.admin).await).into_iter().map(|[.., path]| path).collect();
        let expected_paths = [
            format!("/webhooks/{hook}"),
            format!("/webhooks/{failing}"),
            format!("/connectors/{connector}"),
            format!("/api-keys/{key}"),
        ];
        assert_eq!(paths, expected_paths, "{store}");
    }
}

#[tokio::test]
async fn end_of_a_short_life_is_no_matter() {
    for shared in every_store().await {
        let world = &shared.world;
        for seconds in [3600, DAY] {
            let end = world.services.clock.now().plus_seconds(seconds).to_string();
            let key = json!({"name": "Portal link", "scopes": ["webhooks:read"], "expires_at": end});
            world.made("/v1/api-keys", key).await;
        }
        assert_eq!(read_attention(world, &world.admin).await["data"], json!([]), "{}", shared.name);
    }
}

#[tokio::test]
async fn attention_shows_kinds_that_the_key_may_read() {
    let world = TestApi::new().await;
    let ada = person(&world, "Ada", "manager", None).await;
    let goal = objective(&world, EMPLOYEES, &ada).await;
    must(&world, &format!("{goal}/submit"), json!({})).await;
    let key = world.scoped(&[Permission::ObjectivesRead]).await;
    let nameless = read_attention(&world, &key).await;
    assert_eq!(matters(&nameless)[0][2], "null", "a name needs `employees:read`");
    assert_eq!(nameless["data"][0]["employee_id"], json!(ada));
    let shown_kinds: Vec<_> = kinds(&nameless).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(shown_kinds, ["objective_in_review", "objective_quiet"]);
    let nothing = world.scoped(&[Permission::EventsRead]).await;
    assert_eq!(read_attention(&world, &nothing).await, json!({"data": [], "kinds": []}));
    let test_key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    let of_test = read_attention(&world, &test_key).await;
    assert_eq!(of_test["data"], json!([]));
    assert!(
        kinds(&of_test).iter().all(|(kind, ..)| !kind.starts_with("api_key") && !kind.starts_with("connector"))
    );
}
