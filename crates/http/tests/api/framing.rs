//! Malformed requests (decision A5), on every route that takes a body.

use candor_domain::access::Environment;
use candor_http::table::{Body, Method, ROUTES, Route};
use serde_json::{Value, json};

use crate::resources::{self, Resources, absent, method, needs_sign_in, routes_of_v1};
use crate::support::{Request, TestApi, TestResponse};

async fn raw(request: Request<'_>, content_type: Option<&str>, body: &[u8]) -> TestResponse {
    let request = match content_type {
        Some(it) => request.header("content-type", it),
        None => request,
    };
    request.body(body.to_vec()).send().await
}

fn takes_json(route: &Route) -> bool {
    matches!(route.body, Body::Required(_) | Body::Optional(_))
}

#[tokio::test]
async fn unreadable_body_is_refused_on_every_route_with_a_body() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let json = Some("application/json");
    let large = format!("{{\"a\":\"{}\"}}", "a".repeat(256 * 1024));
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(128), "]".repeat(128));
    let cases: &[(Option<&str>, &[u8], u16)] = &[
        (json, b"{", 400),
        (json, b"{}{}", 400),
        (json, b"{\"a\":1,}", 400),
        (json, b"{'a':1}", 400),
        (json, b"NaN", 400),
        (json, b"{\"a\":1e999}", 400),
        (json, b"{\"a\":\"\xff\"}", 400),
        (json, b"{\"a\":\"\\ud800\"}", 400),
        (json, b"\xff\xfe{\0}\0", 400),
        (json, b"\xef\xbb\xbf", 400),
        (json, deep.as_bytes(), 400),
        (json, b"[]", 400),
        (json, b"null", 400),
        (json, b"\"text\"", 400),
        (json, b"1", 400),
        (json, b" ", 400),
        (None, b"{}", 400),
        (Some("text/plain"), b"{}", 415),
        (Some("application/x-www-form-urlencoded"), b"a=1", 415),
        (Some("application/json; charset=latin1"), b"{}", 415),
        (Some(""), b"{}", 415),
        (json, large.as_bytes(), 413),
    ];
    for route in ROUTES.iter().filter(|route| takes_json(route) && !route.access.is_public()) {
        for (content_type, body, status) in cases {
            let response = raw(resources.ask(&world, route), *content_type, body).await;
            let body_excerpt = String::from_utf8_lossy(&body[..body.len().min(40)]);
            assert_eq!(
                response.refusal(),
                (*status, "bad_request".to_owned()),
                "{} {body_excerpt}",
                route.operation
            );
        }
    }
}

#[tokio::test]
async fn missing_body_is_refused_only_where_required() {
    for route in ROUTES.iter().filter(|route| {
        route.method != Method::Get
            && !route.access.is_public()
            && route.access.environment() != Some(Environment::Test)
    }) {
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        let response = raw(resources.ask(&world, route), None, b"").await;
        if matches!(route.body, Body::Required(_) | Body::Csv) {
            assert_eq!(response.refusal(), (400, "bad_request".to_owned()), "{}", route.operation);
        } else {
            assert!(matches!(response.status, 200 | 202 | 204 | 409), "{}: {}", route.operation, response.text());
        }
    }
}

#[tokio::test]
async fn bodyless_action_accepts_empty_object_and_refuses_members() {
    let world = TestApi::new().await;
    let path = format!("/v1/observations/{}/archive", world.observation("ada@example.com").await);
    let response = world.post(&path, json!({"reason": "x"})).await;
    assert_eq!(response.refusal(), (400, "validation_error".to_owned()));
    assert_eq!(response.problems(), [("reason".to_owned(), "unknown_field".to_owned())]);
    assert_eq!(world.post(&path, json!({})).await.status, 200);
}

#[tokio::test]
async fn unexpected_members_are_checked_before_the_state() {
    for route in routes_of_v1().filter(|route| {
        route.method != Method::Get
            && route.body == Body::None
            && !needs_sign_in(route)
            && route.access.environment() != Some(Environment::Test)
    }) {
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        let path = resources.path(route);
        let ask = |path: &str, key: &str, body: Value| {
            world.ask(method(route), path).header("idempotency-key", key).json(&body).send()
        };
        let members = json!({"reason": "x", "force": true});
        let unknown = ["force", "reason"].map(|name| (name.to_owned(), "unknown_field".to_owned()));
        let nowhere = resources::path(route, absent(route), resources.id("deliveries"));
        assert_eq!(ask(&nowhere, "a", members.clone()).await.status, 404, "{}", route.operation);
        let response = ask(&path, "b", members.clone()).await;
        assert_eq!((response.status, response.problems()), (400, unknown.to_vec()), "{}", route.operation);
        resources.begin(&world, route).await;
        assert_eq!(ask(&path, "c", json!({})).await.status, route.status, "{}", route.operation);
        if route.is_idempotent() {
            let conflict_response = ask(&path, "c", members.clone()).await;
            assert_eq!(
                conflict_response.refusal(),
                (409, "idempotency_conflict".to_owned()),
                "{}",
                route.operation
            );
            let now = ask(&path, "d", members.clone()).await;
            assert_eq!((now.status, now.problems()), (400, unknown.to_vec()), "{}", route.operation);
        }
    }
}

#[tokio::test]
async fn unknown_field_is_named_on_every_route_with_a_body() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let unknown = [("unknown".to_owned(), "unknown_field".to_owned())];
    for route in routes_of_v1().filter(|route| takes_json(route)) {
        let mut body = resources.body(route).unwrap();
        body["unknown"] = json!(1);
        let response = world.ask(method(route), &resources.path(route)).json(&body).send().await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{}", route.operation);
        assert_eq!(response.problems(), unknown, "{}", route.operation);
    }
}

#[tokio::test]
async fn json_syntax_error_names_line_and_column() {
    let world = TestApi::new().await;
    let response = raw(world.ask("POST", "/v1/departments"), Some("application/json"), b"{\n  \"name\": }").await;
    let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("line 2 column 11"), "{message}");
}

#[tokio::test]
async fn undecodable_query_is_400_and_encoded_brackets_are_read() {
    let world = TestApi::new().await;
    for path in ["/v1/employees?a=%zz", "/v1/employees?a=%ff", "/v1/employees?%", "/v1/me?x=%e2%28%a1"] {
        assert_eq!(world.get(path).await.refusal(), (400, "bad_request".to_owned()), "{path}");
    }
    world.employee("ada@example.com").await;
    for path in [
        "/v1/employees?filter[email]=ADA@example.com",
        "/v1/employees?filter%5Bemail%5D=ada%40example.com",
        "/v1/employees?filter%5bemail]=ada%40example%2ecom&&other=1",
    ] {
        assert_eq!(world.get(path).await.json()["data"].as_array().unwrap().len(), 1, "{path}");
    }
}

#[tokio::test]
async fn oversized_head_is_431_with_the_error_envelope() {
    let world = TestApi::new().await;
    let response = world.get(&format!("/v1/employees?x={}", "a".repeat(50_000))).await;
    assert_eq!(response.refusal(), (431, "bad_request".to_owned()));
    let header_response = world.ask("GET", "/v1/me").header("x-padding", &"a".repeat(50_000)).send().await;
    assert_eq!(header_response.refusal(), (431, "bad_request".to_owned()));
}

#[tokio::test]
async fn request_checks_run_in_contract_order() {
    let world = TestApi::new().await;
    let reader = world.scoped(&[candor_domain::access::Permission::EmployeesRead]).await;
    let writer = world.scoped(&[candor_domain::access::Permission::EmployeesWrite]).await;
    let ask = |key: &str, path: &str, body: &'static str| world.bare("PATCH", path).key(key).body(body).send();
    let absent = "/v1/employees/emp_00000000000000000000000001";
    assert_eq!(ask("bad", "/v1/nothing/x", "{").await.status, 404, "the route before the key");
    assert_eq!(ask("bad", absent, "{").await.status, 401, "the key before the scope");
    assert_eq!(ask(&reader, absent, "{").await.status, 403, "the scope before the framing");
    assert_eq!(ask(&writer, absent, "{").await.status, 400, "the framing before the resource");
    let patch =
        |id: &str, body| world.bare("PATCH", &format!("/v1/departments/{id}")).key(&writer).json(&body).send();
    let department = world.made("/v1/departments", json!({"name": "Care"})).await;
    assert_eq!(
        patch("dep_00000000000000000000000001", json!({"name": 1})).await.status,
        404,
        "the resource before its fields"
    );
    assert_eq!(patch(&department, json!({"name": 1})).await.status, 400, "the fields before the level");
    assert_eq!(patch(&department, json!({"name": "x"})).await.status, 403, "the level");
    world.post(&format!("/v1/departments/{department}/archive"), json!({})).await;
    assert_eq!(patch(&department, json!({"name": "x"})).await.status, 403, "the level before the state");
    for family in ["departments", "attributes"] {
        let body = json!({"name": "Calm and care", "category": "Character"});
        let body = if family == "departments" { json!({"name": "Calm and care"}) } else { body };
        let path = format!("/v1/{family}/{}", world.made(&format!("/v1/{family}"), body).await);
        assert_eq!(world.post(&format!("{path}/archive"), json!({})).await.status, 200);
        let response = world.patch(&path, json!({"name": 1})).await;
        assert_eq!(response.refusal(), (409, "conflict".to_owned()), "an archived resource before its fields");
    }
}
