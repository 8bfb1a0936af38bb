//! Headers of every answer, successes and errors alike (§7, §8, decisions A6, A14).

use std::collections::BTreeSet;

use candor_domain::access::{Environment, Permission};
use candor_http::table::{Body, ROUTES};
use serde_json::json;

use crate::resources::{Resources, method, needs_sign_in};
use crate::support::{Request, TestApi, TestResponse};

/// Checks the common headers of an answer, and that its request id is unique.
fn judge(answered: &TestResponse, seen: &mut BTreeSet<String>, what: &str) {
    let id = answered.header("x-request-id").unwrap_or_else(|| panic!("{what}: no request id")).to_owned();
    assert!(id.starts_with("req_") && id.len() == 4 + 26, "{what}: {id}");
    assert!(seen.insert(id), "{what}: the request id is not new");
    let number = |name: &str| answered.header(name).and_then(|value| value.parse::<i64>().ok());
    let (limit, remaining) = (number("x-ratelimit-limit"), number("x-ratelimit-remaining"));
    assert!(
        limit.is_some_and(|limit| limit > 0) && remaining <= limit && remaining >= Some(0),
        "{what}: {limit:?} {remaining:?}"
    );
    assert!(number("x-ratelimit-reset").is_some(), "{what}");
    assert_eq!(answered.header("x-content-type-options"), Some("nosniff"), "{what}");
    assert!(answered.header("cache-control").is_some(), "{what}");
    if answered.body.is_empty() {
        assert!(answered.header("content-type").is_none(), "{what}: an empty body has no type");
        return;
    }
    if answered.header("content-type") == Some("application/x-ndjson") {
        assert!(answered.status == 200 && matches!(what, "exportData" | "getPersonalData"), "{what}");
        return;
    }
    let media_type = if what.starts_with("scim.") { "application/scim+json" } else { "application/json" };
    assert_eq!(answered.header("content-type"), Some(media_type), "{what}");
    if answered.status >= 400 {
        answered.code();
        let is_final = answered.status < 500 && answered.status != 408 && answered.header("retry-after").is_none();
        let should_retry = answered.header("candor-should-retry");
        assert_eq!(should_retry == Some("false"), is_final, "{what}: {should_retry:?}");
    } else {
        assert!(answered.json().get("error").is_none(), "{what}");
    }
}

#[tokio::test]
async fn success_carries_request_id_and_quota_headers() {
    for route in ROUTES
        .iter()
        .filter(|route| !route.access.is_public() && route.access.environment() != Some(Environment::Test))
        .filter(|route| !needs_sign_in(route))
    {
        let (world, mut seen) = (TestApi::new().await, BTreeSet::new());
        let resources = Resources::make(&world, &world.admin).await;
        resources.begin(&world, route).await;
        let request = resources.ask(&world, route);
        let response = resources.fill(request, route).send().await;
        assert_eq!(response.status, route.status, "{}: {}", route.operation, response.text());
        judge(&response, &mut seen, route.operation);
        assert_eq!(response.header("cache-control"), Some("no-store"), "{}", route.operation);
        assert_eq!(response.body.is_empty(), response.status == 204, "{}", route.operation);
    }
}

/// Sets a raw JSON text as the request body.
fn with_raw_body<'w>(request: Request<'w>, body: &str) -> Request<'w> {
    request.header("content-type", "application/json").body(body.to_owned())
}

#[tokio::test]
async fn refusal_carries_request_id_quota_and_error_envelope() {
    let (world, mut seen) = (TestApi::new().await, BTreeSet::new());
    let reader = world.scoped(&[Permission::ObservationsRead]).await;
    let id = world.observation("ada@example.com").await;
    let path = format!("/v1/observations/{id}");
    let large = format!("\"{}\"", "x".repeat(300_000));
    let tag = world.get(&path).await.header("etag").unwrap().to_owned();
    let empty = json!({});
    let requests = [
        (304, world.ask("GET", &path).header("if-none-match", &tag)),
        (204, world.bare("OPTIONS", &path)),
        (400, world.ask("GET", "/v1/observations?limit=0")),
        (400, with_raw_body(world.ask("PATCH", &path), "{")),
        (401, world.bare("GET", &path)),
        (403, world.ask("PATCH", &path).key(&reader).json(&empty)),
        (404, world.ask("GET", "/v1/nothing")),
        (404, world.ask("GET", "/elsewhere")),
        (404, world.bare("GET", "/v1/nothing")),
        (404, world.ask("GET", "/v1/observations/obs_00000000000000000000000001")),
        (405, world.ask("PUT", &path)),
        (409, world.ask("POST", &format!("{path}/restore"))),
        (412, world.ask("PATCH", &path).header("if-match", "\"x\"").json(&empty)),
        (413, with_raw_body(world.ask("PATCH", &path), &large)),
        (415, world.ask("PATCH", &path).header("content-type", "text/plain").body("{}")),
        (
            422,
            world
                .ask("POST", "/v1/observations")
                .json(&json!({"employee_id": "x", "type": "strength", "observation": "x"})),
        ),
        (431, world.ask("GET", &path).header("x-padding", &"a".repeat(50_000))),
    ];
    for (status, request) in requests {
        let response = request.send().await;
        assert_eq!(response.status, status, "{}", response.text());
        judge(&response, &mut seen, &status.to_string());
        assert_eq!(response.header("cache-control"), Some("no-store"), "{status}");
        assert_eq!(response.header("www-authenticate"), (status == 401).then_some("Bearer"), "{status}");
        assert_eq!(response.header("allow").is_some(), [204, 405].contains(&status), "{status}");
        if [401, 404, 405, 412, 413, 415].contains(&status) {
            assert!(response.json()["error"].get("details").is_none(), "{status}: the error has no details");
        }
    }
}

#[tokio::test]
async fn exhausted_quota_carries_request_id_and_quota_headers() {
    let (world, mut seen) = (TestApi::new().await, BTreeSet::new());
    let key = world.ordinary_key().await;
    for _ in 0..6 {
        let upload = world.bare("POST", "/v1/employees/csv").key(&key).header("content-type", "text/csv");
        judge(&upload.body("email\n").send().await, &mut seen, "within the quota");
    }
    let route = ROUTES.iter().find(|route| route.body == Body::Csv).unwrap();
    let response = world.bare(method(route), "/v1/employees/csv").key(&key).send().await;
    assert_eq!(response.refusal(), (429, "rate_limited".to_owned()));
    judge(&response, &mut seen, "beyond the quota");
    assert!(
        response
            .header("retry-after")
            .and_then(|value| value.parse::<u32>().ok())
            .is_some_and(|seconds| (1..=60).contains(&seconds))
    );
}
