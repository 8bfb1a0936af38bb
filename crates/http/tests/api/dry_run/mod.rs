//! Dry runs: every write with `dry_run=true` describes its effects and changes nothing (decision A18).

pub(crate) mod compare;
pub(crate) mod generated;
mod watched;

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_http::table::{DryRun, Method, ROUTES, Route};
use serde_json::{Value, json};

use crate::differential::agreed;
use crate::resources::{Resources, absent, method, routes_of_v1};
use crate::support::{TestApi, TestResponse};
use compare::{Comparison, Trial};
use watched::WatchedService;

/// Returns a valid request for a route, sent with the admin key.
fn trial(world: &TestApi, resources: &Resources, route: &Route) -> Trial {
    Trial {
        method: method(route),
        path: resources.path(route),
        key: world.admin.clone(),
        body: resources.body(route),
        if_match: None,
    }
}

/// Returns the writes with this response to dry runs.
fn routes_with(dry_run: DryRun) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |route| route.dry_run == dry_run)
}

#[test]
fn every_write_has_a_response_to_dry_runs() {
    for route in routes_of_v1() {
        assert_eq!(route.dry_run == DryRun::Ignored, route.method == Method::Get, "{}", route.operation);
    }
    let names = |dry_run| routes_with(dry_run).map(|route| route.operation).collect::<Vec<_>>();
    assert_eq!(names(DryRun::OwnForm), ["upsertEmployees"]);
    let mut impossible = names(DryRun::NotPossible);
    impossible.sort_unstable();
    let expected_operations = [
        "acceptInvitation",
        "beginSignIn",
        "checkIdentityProvider",
        "endSignIn",
        "exchangePortalLink",
        "inviteEmployee",
        "redeliver",
        "replayEvents",
        "resetTestData",
        "testWebhook",
    ];
    assert_eq!(impossible, expected_operations);
}

#[tokio::test]
async fn every_dry_run_describes_the_effects_of_its_request() {
    for route in routes_with(DryRun::Effects) {
        let mut responses = vec![];
        for watched in WatchedService::every().await {
            let world = &watched.world;
            let resources = Resources::make(world, &world.admin).await;
            resources.begin(world, route).await;
            world.clock.advance_millis(1);
            let mut comparison = Comparison::new(&watched).await;
            let state_before = watched.state().await;
            let real = comparison.compare(&trial(world, &resources, route), true).await;
            assert_eq!(real.status, route.status, "{}: {}", route.operation, real.text());
            assert_ne!(watched.state().await, state_before, "{}: the real request changes rows", route.operation);
            responses.push(agreed(&real));
        }
        assert!(responses.windows(2).all(|pair| pair[0] == pair[1]), "{}: {responses:#?}", route.operation);
    }
}

#[tokio::test]
async fn impossible_dry_run_is_refused() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let test_key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    for route in routes_with(DryRun::NotPossible) {
        let is_for_tests = route.access.environment() == Some(Environment::Test);
        let key = if is_for_tests { &test_key } else { &world.admin };
        let request = world.bare(method(route), &format!("{}?dry_run=true", resources.path(route))).key(key);
        let response = resources.fill(request, route).send().await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{}", route.operation);
        assert_eq!(
            response.problems(),
            [("dry_run".to_owned(), "not_possible".to_owned())],
            "{}",
            route.operation
        );
        assert_eq!(response.header("x-dry-run"), Some("true"), "{}", route.operation);
    }
    let ping = format!("/v1/webhooks/{}/test?dry_run=false", resources.id("webhooks"));
    assert_eq!(world.ask("POST", &ping).send().await.status, 200, "`dry_run=false` performs the request");
}

#[tokio::test]
async fn dry_run_must_be_true_or_false_on_writes() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let test_key = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await;
    for route in ROUTES.iter().filter(|route| route.dry_run != DryRun::Ignored) {
        let is_for_tests = route.access.environment() == Some(Environment::Test);
        let key = if is_for_tests { &test_key } else { &world.admin };
        for value in ["maybe", "TRUE", "1", ""] {
            let path = format!("{}?dry_run={value}", resources.path(route));
            let response = resources.fill(world.bare(method(route), &path).key(key), route).send().await;
            assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{path}");
            assert_eq!(response.problems(), [("dry_run".to_owned(), "invalid_enum".to_owned())], "{path}");
            assert_eq!(response.header("x-dry-run"), None, "{path}");
        }
    }
    let read = world.get("/v1/employees?dry_run=maybe").await;
    assert_eq!((read.status, read.header("x-dry-run")), (200, None));
    assert_eq!(world.get("/v1/employees?dry_run=true").await.header("x-dry-run"), None, "a read has no dry run");
}

async fn send_dry_run(world: &TestApi, method: &str, path: &str, body: Value) -> TestResponse {
    let response = world.ask(method, &format!("{path}?dry_run=true")).json(&body).send().await;
    assert_eq!(response.header("x-dry-run"), Some("true"), "{path}");
    response
}

#[tokio::test]
async fn ids_and_secrets_that_a_request_makes_are_null() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let data = async |method: &str, path: &str, body: Value| {
        let response = send_dry_run(&world, method, path, body).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    };
    let employee = resources.id("employees");
    let creation =
        data("POST", "/v1/employees", json!({"email": "x@example.com", "first_name": "X", "last_name": "Y"}));
    let creation = creation.await;
    assert_eq!((&creation["data"]["id"], &creation["status"]), (&Value::Null, &json!(201)));
    assert_eq!((&creation["data"]["email"], &creation["changes"]), (&json!("x@example.com"), &json!({})));
    assert_eq!(creation["events"], json!(["employee.created"]));
    let key =
        data("POST", "/v1/api-keys", json!({"name": "New", "scopes": ["employees:read"]})).await["data"].clone();
    assert_eq!([&key["id"], &key["key"], &key["last4"]], [&Value::Null; 3]);
    let rotation = data("POST", &format!("/v1/api-keys/{}/rotate", resources.id("api-keys")), json!({})).await;
    assert_eq!([&rotation["data"]["key"], &rotation["data"]["last4"]], [&Value::Null; 2]);
    assert_eq!(rotation["data"]["id"], json!(resources.id("api-keys")));
    let body = json!({"url": "https://another.example/", "event_types": ["*"]});
    let webhook = data("POST", "/v1/webhooks", body).await["data"].clone();
    assert_eq!([&webhook["id"], &webhook["secret"]], [&Value::Null; 2]);
    let submissions = format!("/v1/assignments/{}/submissions", resources.id("assignments"));
    let observation = json!({"type": "strength", "observation": "Helps."});
    let body = json!({"reviewer_id": employee, "observations": [observation, observation]});
    let submission_data = data("POST", &submissions, body).await;
    let submission = &submission_data["data"]["submissions"].as_array().unwrap()[0];
    assert_eq!(submission["observation_ids"], json!([null, null]));
    let webhook = format!("/v1/webhooks/{}", resources.id("webhooks"));
    let removal = data("DELETE", &webhook, json!({})).await;
    assert_eq!((&removal["status"], &removal["data"]), (&json!(204), &Value::Null));
}

#[tokio::test]
async fn dry_run_leaves_the_idempotency_key_for_the_real_request() {
    let world = TestApi::new().await;
    let body = json!({"name": "Care"});
    let send = async |query: &str| {
        let request = world.ask("POST", &format!("/v1/departments{query}")).header("idempotency-key", "once");
        request.json(&body).send().await
    };
    assert_eq!(send("?dry_run=true").await.status, 200);
    let real = send("").await;
    assert_eq!((real.status, real.header("idempotent-replayed")), (201, None));
    assert_eq!(send("").await.header("idempotent-replayed"), Some("true"));
    assert_eq!(send("?dry_run=true").await.refusal(), (409, "conflict".to_owned()), "the name is taken now");
    let malformed_request = world.ask("POST", "/v1/departments?dry_run=true").header("idempotency-key", "a b");
    assert_eq!(malformed_request.json(&body).send().await.refusal(), (400, "bad_request".to_owned()));
}

#[tokio::test]
async fn dry_run_counts_against_the_write_quota() {
    let world = TestApi::new().await;
    let key = world.ordinary_key().await;
    let remaining = async |query: &str| {
        let path = format!("/v1/observations{query}");
        let response = world.bare("POST", &path).key(&key).json(&json!({})).send().await;
        response.header("x-ratelimit-remaining").unwrap().parse::<u32>().unwrap()
    };
    let first = remaining("").await;
    assert_eq!([remaining("?dry_run=true").await, remaining("").await], [first - 1, first - 2]);
}

#[tokio::test]
async fn refused_dry_run_has_the_header() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let reader = world.scoped(&[Permission::EmployeesRead]).await;
    for route in routes_with(DryRun::Effects) {
        let path = format!("{}?dry_run=true", resources.path(route));
        world.clock.advance_seconds(60);
        let anonymous = resources.fill(world.bare(method(route), &path), route).send().await;
        assert_eq!((anonymous.status, anonymous.header("x-dry-run")), (401, Some("true")), "{path}");
        let response = resources.fill(world.bare(method(route), &path).key(&reader), route).send().await;
        assert_eq!((response.status, response.header("x-dry-run")), (403, Some("true")), "{path}");
        if route.path.contains("{id}") {
            let missing = format!("{}?dry_run=true", crate::resources::path(route, absent(route), absent(route)));
            let missing = resources.fill(world.ask(method(route), &missing), route).send().await;
            assert_eq!((missing.status, missing.header("x-dry-run")), (404, Some("true")), "{path}");
        }
    }
}

#[tokio::test]
async fn precondition_of_a_dry_run_is_checked() {
    let world = TestApi::new().await;
    let path = format!("/v1/employees/{}?dry_run=true", world.employee("ada@example.com").await);
    let send = async |tag: &str| {
        world.ask("PATCH", &path).header("if-match", tag).json(&json!({"first_name": "X"})).send().await
    };
    assert_eq!(send("\"nonsense\"").await.refusal(), (412, "conflict".to_owned()));
    assert_eq!(send("*").await.status, 200);
}

#[tokio::test]
async fn dry_run_of_a_release_counts_all_people() {
    let world = TestApi::new().await;
    let connector = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
    let rows: String = (0..450).map(|row| format!("p{row}@example.com,Pat,Row{row}\n")).collect();
    let upload = world.ask("POST", &format!("/v1/employees/csv?connector_id={connector}"));
    let file = format!("email,first_name,last_name\n{rows}");
    let upload_response = upload.header("content-type", "text/csv").body(file).send().await;
    assert_eq!(upload_response.json()["data"]["created"], 450, "{}", upload_response.text());
    let release = format!("/v1/connectors/{connector}/release");
    let plan = send_dry_run(&world, "POST", &release, json!({})).await.json();
    assert_eq!(plan["data"], json!({"released": 450}));
    assert_eq!(plan["events"].as_array().unwrap().len(), 450);
    assert_eq!(world.post(&release, json!({})).await.json(), plan["data"], "the dry run released no person");
    assert_eq!(send_dry_run(&world, "POST", &release, json!({})).await.json()["data"], json!({"released": 0}));
}

#[tokio::test]
async fn dry_run_of_a_file_keeps_its_own_form() {
    let world = TestApi::new().await;
    let upload = async |query: &str| {
        let request = world.ask("POST", &format!("/v1/employees/csv{query}")).header("idempotency-key", "file");
        let file = "email,first_name,last_name\nnew@example.com,New,Person\n";
        request.header("content-type", "text/csv").body(file).send().await
    };
    let dry = upload("?dry_run=true").await;
    assert_eq!((dry.status, dry.header("x-dry-run")), (200, Some("true")));
    assert_eq!((&dry.json()["data"]["created"], dry.json()["plan"].is_array()), (&json!(1), true));
    assert_eq!(upload("").await.json()["data"]["created"], 1, "the dry run did not use the idempotency key");
    let second_response = upload("?dry_run=true").await;
    assert_eq!((second_response.status, second_response.header("idempotent-replayed")), (200, None));
}
