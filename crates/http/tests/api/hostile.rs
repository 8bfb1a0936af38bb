//! Sends wrong types, edge values and hostile values for every body field and query parameter. Each answer must
//! be a success or an error envelope, never a 5xx, and a refused request must store nothing.

use candor_domain::access::QuotaClass;
use candor_http::table::{Body, Dialect, Method, ROUTES, Route};
use serde_json::{Value, json};

use crate::documented::document_of;
use crate::resources::{Resources, method};
use crate::support::{TestApi, TestResponse};

fn values() -> Vec<Value> {
    let mut deep = json!("x");
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let members: Vec<Value> = (0..2000).map(|number| json!(number.to_string())).collect();
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!(""),
        json!(" \t\n"),
        json!("\u{0}"),
        json!("a\u{1b}[31mb"),
        json!("\u{202e}\u{feff}\u{fffe}"),
        json!("a".repeat(5000)),
        json!("\u{1f4a5}".repeat(4001)),
        json!("'; DROP TABLE employees; --"),
        json!("<script>alert(1)</script>"),
        json!("${jndi:ldap://x}"),
        json!("../../etc/passwd"),
        json!("9999-12-31"),
        json!("2026-02-30"),
        json!("2026-03-02T09:00:00.000Z"),
        json!("+99999-01-01T00:00:00Z"),
        json!("emp_00000000000000000000000001"),
        json!("EMP_00000000000000000000000001"),
        json!([]),
        json!([null]),
        json!([1, "a", {}]),
        json!(["a", "a"]),
        json!(members),
        json!({}),
        json!({"a": {"b": []}}),
        json!({"": 1, "__proto__": null}),
        deep,
    ]
}

fn judge(answered: &TestResponse, what: &str) {
    match answered.status {
        200..=202 => assert!(answered.json().is_object(), "{what}"),
        400 => assert!(matches!(answered.code().as_str(), "validation_error" | "bad_request"), "{what}"),
        404 => assert_eq!(answered.code(), "not_found", "{what}"),
        409 => assert_eq!(answered.code(), "conflict", "{what}"),
        422 => assert_eq!(answered.code(), "unprocessable", "{what}"),
        other => panic!("{what}: {other} {}", answered.text()),
    }
}

async fn newest_entry(world: &TestApi) -> Value {
    world.get("/v1/audit-log?limit=1").await.json()["data"][0]["id"].clone()
}

async fn try_body(world: &TestApi, resources: &Resources, route: &Route, schema: &str) {
    let properties =
        document_of(route)["components"]["schemas"][schema]["properties"].as_object().unwrap().clone();
    for field in properties.keys() {
        for (at, value) in values().into_iter().enumerate() {
            world.clock.advance_millis(1);
            let mut body = resources.body(route).unwrap();
            if body.get("email").is_some() {
                body["email"] = json!(format!("{field}{at}@example.com"));
            }
            if body.get("name").is_some() {
                body["name"] = json!(format!("{field} {at}"));
            }
            if body.get("userName").is_some() {
                body["userName"] = json!(format!("{field}{at}@example.com"));
            }
            body[field] = value;
            let entry_before = newest_entry(world).await;
            let response = resources.ask(world, route).json(&body).send().await;
            let text = body.to_string().chars().take(200).collect::<String>();
            judge(&response, &format!("{} {text}", route.operation));
            // A conflict over SCIM is an issue of its connector.
            let has_issue = route.dialect == Dialect::Scim && response.status == 409;
            if response.status >= 400 && !has_issue {
                assert_eq!(newest_entry(world).await, entry_before, "{} {text}", route.operation);
            }
        }
    }
}

#[tokio::test]
async fn hostile_body_values_never_cause_a_server_error() {
    for route in ROUTES {
        let (Body::Required(schema) | Body::Optional(schema)) = route.body else { continue };
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        if route.access.is_public() {
            continue; // Failures are counted per address; another test covers the only field.
        }
        try_body(&world, &resources, route, schema.name).await;
    }
}

#[tokio::test]
async fn hostile_tokens_and_codes_never_cause_a_server_error() {
    for (path, member) in [("/v1/invitations/accept", "token"), ("/v1/portal-links/exchange", "code")] {
        for chunk in values().chunks(20) {
            let world = TestApi::new().await;
            for value in chunk {
                let response = world.bare("POST", path).json(&json!({member: value})).send().await;
                if json!({member: value}).to_string().len() > 8 * 1024 {
                    assert_eq!(response.status, 413, "{path} {}", response.text());
                    continue;
                }
                assert!(matches!(response.status, 400 | 404), "{path} {value}");
                judge(&response, &value.to_string());
            }
        }
    }
}

/// Returns the names of a route's query parameters, with references resolved.
fn parameters(route: &Route) -> Vec<String> {
    let document = document_of(route);
    let operation = &document["paths"][route.path][method(route).to_lowercase()];
    let resolve = |item: &Value| match item["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap().clone(),
        None => item.clone(),
    };
    let all = operation["parameters"].as_array().unwrap().iter().map(resolve);
    all.filter(|item| item["in"] == "query").map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(
            |text| {
                if text.is_ascii_alphanumeric() { char::from(text).to_string() } else { format!("%{text:02X}") }
            },
        )
        .collect()
}

#[tokio::test]
async fn hostile_query_values_never_cause_a_server_error() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES.iter().filter(|route| route.method == Method::Get) {
        for name in parameters(route) {
            for value in values() {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let query = format!("{}={}", encode(&name), encode(&text.chars().take(1500).collect::<String>()));
                for query in [query.clone(), format!("{query}&{query}")] {
                    if route.quota == QuotaClass::Export {
                        world.clock.advance_seconds(60);
                    }
                    if route.dialect == Dialect::Scim {
                        // Stays below the quota of the connector's key.
                        world.clock.advance_millis(100);
                    }
                    let request = world.bare("GET", &format!("{}?{query}", resources.path(route)));
                    let response = request.key(resources.key(route, &world.admin)).send().await;
                    let what = format!("{} {}", route.operation, query.chars().take(200).collect::<String>());
                    assert!(matches!(response.status, 200 | 400 | 431), "{what}: {}", response.text());
                    if response.status != 200 {
                        response.code();
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn unknown_filter_is_named_and_other_parameters_are_ignored() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let is_list = |route: &&Route| route.query.is_some_and(|query| query.is_list);
    for route in ROUTES.iter().filter(is_list).filter(|route| route.dialect == Dialect::V1) {
        let path = resources.path(route);
        let path = if path.contains('?') { path + "&" } else { path + "?" };
        let response = world.get(&format!("{path}filter[unknown]=1&filter[]=2")).await;
        let unknown = |name: &str| (name.to_owned(), "unknown_field".to_owned());
        assert_eq!(response.problems(), [unknown("filter[unknown]"), unknown("filter[]")], "{path}");
        assert_eq!(world.get(&format!("{path}unknown=1&page=2&utm_source=x")).await.status, 200, "{path}");
        for nearly in [
            "Limit=1",
            "filter.status=x",
            "page[size]=2",
            "expand[]=x",
            "sort[created_at]=asc",
            "fliter[status]=x",
        ] {
            let near_response = world.get(&format!("{path}{nearly}")).await;
            let name = nearly.split_once('=').unwrap().0;
            assert_eq!(near_response.problems(), [unknown(name)], "{path}{nearly}");
        }
        for (query, field, code) in [
            ("limit=0", "limit", "out_of_range"),
            ("limit=101", "limit", "out_of_range"),
            ("limit=x", "limit", "invalid_format"),
            ("limit=1&limit=1", "limit", "invalid_format"),
            ("cursor=x", "cursor", "invalid_format"),
            ("sort=unknown", "sort", "invalid_enum"),
        ] {
            if field == "sort" && route.operation == "search" {
                // This list has a fixed order and therefore no `sort` parameter.
                continue;
            }
            let other_response = world.get(&format!("{path}{query}")).await;
            assert_eq!(other_response.refusal(), (400, "validation_error".to_owned()), "{path}{query}");
            assert_eq!(other_response.problems(), [(field.to_owned(), code.to_owned())], "{path}{query}");
        }
    }
}

#[tokio::test]
async fn names_with_line_ends_are_refused() {
    let world = TestApi::new().await;
    let department = world.made("/v1/departments", json!({"name": "Care"})).await;
    for end in ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
        let name = format!("HR{end}sync");
        let responses = [
            world.patch("/v1/organization", json!({"name": name})).await,
            world.post("/v1/departments", json!({"name": name})).await,
            world.patch(&format!("/v1/departments/{department}"), json!({"name": name})).await,
            world.post("/v1/api-keys", json!({"name": name, "scopes": ["*"]})).await,
        ];
        for answered in responses {
            assert_eq!(answered.refusal(), (400, "validation_error".to_owned()), "{}", end.escape_unicode());
            assert_eq!(answered.problems(), [("name".to_owned(), "invalid_format".to_owned())]);
        }
    }
    let rename_response = world.patch("/v1/organization", json!({"name": "Example \u{202e}Ltd"})).await;
    assert_eq!(rename_response.status, 200, "{}", rename_response.text());
}
