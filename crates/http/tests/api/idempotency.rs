//! One effect per idempotency key, and the same answer for every retry (§8, decision B2).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_http::table::ROUTES;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::resources::{Resources, needs_sign_in};
use crate::support::{TestApi, TestResponse};

async fn post(world: &TestApi, path: &str, key: &str, body: &Value) -> TestResponse {
    world.ask("POST", path).header("idempotency-key", key).json(body).send().await
}

#[tokio::test]
async fn post_repeated_with_idempotency_key_has_one_effect_and_answer() {
    for route in ROUTES
        .iter()
        .filter(|route| route.is_idempotent() && route.access.environment() != Some(Environment::Test))
        .filter(|route| !needs_sign_in(route))
    {
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        resources.begin(&world, route).await;
        let ask = || {
            let request = resources.ask(&world, route).header("idempotency-key", "once");
            resources.fill(request, route).send()
        };
        let first = ask().await;
        assert_eq!(first.status, route.status, "{}: {}", route.operation, first.text());
        assert_eq!(first.header("idempotent-replayed"), None, "{}", route.operation);
        let entries = world.get("/v1/audit-log?limit=100").await.json()["data"].clone();
        world.clock.advance_seconds(3600);
        let second_response = ask().await;
        assert_eq!(
            (second_response.status, &second_response.body),
            (first.status, &first.body),
            "{}",
            route.operation
        );
        assert_eq!(second_response.header("idempotent-replayed"), Some("true"), "{}", route.operation);
        for name in ["etag", "location", "content-type"] {
            assert_eq!(second_response.header(name), first.header(name), "{}: {name}", route.operation);
        }
        assert_ne!(second_response.header("x-request-id"), first.header("x-request-id"), "{}", route.operation);
        assert_eq!(world.get("/v1/audit-log?limit=100").await.json()["data"], entries, "{}", route.operation);
    }
}

#[tokio::test]
async fn idempotency_key_with_another_request_is_a_conflict() {
    let world = TestApi::new().await;
    let body = json!({"name": "Care"});
    assert_eq!(post(&world, "/v1/departments", "k-1", &body).await.status, 201);
    for (path, body) in [
        ("/v1/departments", json!({"name": "care"})),
        ("/v1/departments?x=1", json!({"name": "Care"})),
        ("/v1/attributes", json!({"name": "Care", "category": "x"})),
        ("/v1/departments", json!({})),
    ] {
        let response = post(&world, path, "k-1", &body).await;
        assert_eq!(response.refusal(), (409, "idempotency_conflict".to_owned()), "{path} {body}");
        assert_eq!(response.json()["error"]["details"], json!([{"idempotency_key": "k-1"}]), "{path} {body}");
    }
    let respelled_request = world.ask("POST", "/v1/departments").header("idempotency-key", "\"k-1\"");
    let request = respelled_request
        .header("content-type", "application/json; charset=UTF-8")
        .body("{ \"name\" : \"C\\u0061re\"}");
    let response = request.send().await;
    assert_eq!(
        (response.status, response.header("idempotent-replayed")),
        (201, Some("true")),
        "another spelling of a request is the same request"
    );
}

#[tokio::test]
async fn idempotency_key_holds_24_hours_and_for_successes_only() {
    let world = TestApi::new().await;
    let body = json!({"name": "Care"});
    assert_eq!(post(&world, "/v1/departments", "k", &json!({"name": ""})).await.status, 400);
    assert_eq!(post(&world, "/v1/departments", "k", &body).await.status, 201, "a refusal is not stored");
    let key = { world.key(Permissions::ALL, AccessLevel::Admin, Environment::Test).await };
    let other =
        world.bare("POST", "/v1/departments").key(&key).header("idempotency-key", "k").json(&body).send().await;
    assert_eq!(
        (other.status, other.header("idempotent-replayed")),
        (201, None),
        "the test data set has its own idempotency keys"
    );
    world.clock.advance_seconds(24 * 3600 - 1);
    assert_eq!(post(&world, "/v1/departments", "k", &body).await.header("idempotent-replayed"), Some("true"));
    world.clock.advance_seconds(1);
    assert_eq!(
        post(&world, "/v1/departments", "k", &body).await.refusal(),
        (409, "conflict".to_owned()),
        "the name is taken"
    );
}

/// A success without changes is stored too: otherwise a later retry could have an effect that the first request
/// did not have.
#[tokio::test]
async fn success_without_changes_is_stored_for_replay() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let notification = format!("/v1/notifications/{}/read", resources.id("notifications"));
    assert_eq!(world.post(&notification, json!({})).await.status, 200);
    let read = post(&world, &notification, "read", &json!({})).await;
    assert_eq!((read.status, read.header("idempotent-replayed")), (200, None));
    let second_read = post(&world, &notification, "read", &json!({})).await;
    assert_eq!((&second_read.body, second_read.header("idempotent-replayed")), (&read.body, Some("true")));
    assert_eq!(post(&world, "/v1/departments", "read", &json!({"name": "A"})).await.status, 409);

    let upload = || {
        let request = world.ask("POST", "/v1/employees/csv").header("content-type", "text/csv");
        request.header("idempotency-key", "file").body("email,first_name\nada@example.com,Ada\n").send()
    };
    let first_upload = upload().await;
    assert_eq!(first_upload.json()["data"]["skipped"], 1, "{}", first_upload.text());
    let person = format!("/v1/employees/{}", resources.id("employees"));
    assert_eq!(world.patch(&person, json!({"first_name": "Augusta"})).await.status, 200);
    let second_upload = upload().await;
    assert_eq!(
        (&second_upload.body, second_upload.header("idempotent-replayed")),
        (&first_upload.body, Some("true"))
    );
    assert_eq!(world.get(&person).await.json()["first_name"], "Augusta");
}

#[tokio::test]
async fn concurrent_requests_with_one_idempotency_key_have_one_effect() {
    let world = TestApi::new().await;
    let employee = world.employee("ada@example.com").await;
    let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
    let responses = join_all((0..30).map(|_| post(&world, "/v1/observations", "twins", &body))).await;
    for answered in &responses {
        assert_eq!((answered.status, &answered.body), (201, &responses[0].body), "{}", answered.text());
    }
    let replay_count =
        responses.iter().filter(|response| response.header("idempotent-replayed").is_some()).count();
    assert_eq!(replay_count, 29);
    assert_eq!(world.get("/v1/observations").await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn malformed_idempotency_key_is_400() {
    let world = TestApi::new().await;
    for bad in ["", " ", "\"\"", "a b", &"k".repeat(256), "é"] {
        let response = post(&world, "/v1/departments", bad, &json!({"name": "Care"})).await;
        assert_eq!(response.refusal(), (400, "bad_request".to_owned()), "{bad:?}");
    }
    assert_eq!(post(&world, "/v1/departments", &"k".repeat(255), &json!({"name": "Care"})).await.status, 201);
}
