//! The OpenAPI documents match the API: every route, and every member of every answer.

use std::collections::BTreeSet;

use candor_http::openapi::{document, scim_document};
use candor_http::table::{Body, Dialect, Method, ROUTES, Route, Success};
use serde_json::{Value, json};

use crate::documented::{document_of, mismatch};
use crate::resources::{Resources, method};
use crate::support::TestApi;

fn operation(route: &Route) -> &'static Value {
    &document_of(route)["paths"][route.path][method(route).to_lowercase()]
}

fn names(object: &Value) -> BTreeSet<&str> {
    object.as_object().into_iter().flat_map(|object| object.keys().map(String::as_str)).collect()
}

#[test]
fn document_has_exactly_the_operations_of_the_route_table() {
    let mut operation_ids = BTreeSet::new();
    for (dialect, document) in [(Dialect::V1, document()), (Dialect::Scim, scim_document())] {
        for (path, operations) in document["paths"].as_object().unwrap() {
            for method in names(operations).into_iter().filter(|method| *method != "parameters") {
                operation_ids.insert((method.to_uppercase(), format!("{}{path}", dialect.base())));
            }
        }
    }
    let table: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| (method(route).to_owned(), format!("{}{}", route.dialect.base(), route.path)))
        .collect();
    assert_eq!(operation_ids, table);
    assert_eq!(table.len(), ROUTES.len(), "two rows have the same method and path");
    for route in ROUTES {
        let mut tags = document_of(route)["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]);
        let tag = &operation(route)["tags"][0];
        assert!(tags.any(|name| name == tag), "{}: {tag} is described nowhere", route.operation);
    }
    let ids: BTreeSet<_> = ROUTES.iter().map(|route| route.operation).collect();
    assert_eq!(ids.len(), ROUTES.len(), "two operations have the same name");
}

#[test]
fn operation_documents_the_requirements_of_its_route() {
    for route in ROUTES {
        let operation = operation(route);
        let responses = names(&operation["responses"]);
        let has = |status: u16| responses.contains(status.to_string().as_str());
        assert!(has(route.status) && has(429) && has(500), "{}", route.operation);
        assert_eq!(has(401), !route.access.is_public(), "{}", route.operation);
        assert_eq!(operation["security"] == json!([]), route.access.is_public(), "{}", route.operation);
        assert_eq!(has(412), route.is_conditional(), "{}", route.operation);
        assert_eq!(operation.get("requestBody").is_some(), route.body != Body::None, "{}", route.operation);
        let is_required = matches!(route.body, Body::Required(_) | Body::Csv);
        assert_eq!(operation["requestBody"]["required"] == json!(true), is_required, "{}", route.operation);
        let parameters = operation["parameters"].to_string();
        assert_eq!(parameters.contains("IdempotencyKey"), route.is_idempotent(), "{}", route.operation);
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{}", route.operation);
    }
}

/// Every `$ref` resolves, and every component is referenced.
#[test]
fn references_resolve_and_every_component_is_used() {
    fn collect<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|member| collect(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for document in [document(), scim_document()] {
        let mut reference_names = BTreeSet::new();
        collect(&document, &mut reference_names);
        for reference in &reference_names {
            assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
        }
        for kind in ["schemas", "parameters", "headers", "responses"] {
            for name in names(&document["components"][kind]) {
                assert!(
                    reference_names.contains(format!("#/components/{kind}/{name}").as_str()),
                    "{kind}/{name} is used nowhere"
                );
            }
        }
    }
}

/// Returns a query that expands everything the route can expand.
fn everything_inlined(route: &Route) -> String {
    let document = document_of(route);
    let mut parameters = operation(route)["parameters"].as_array().into_iter().flatten();
    let Some(expand) = parameters.find(|parameter| parameter["name"] == "expand") else { return String::new() };
    let words = expand["schema"]["items"]["$ref"].as_str().unwrap();
    let words = document.pointer(&words[1..]).unwrap()["enum"].as_array().unwrap();
    format!("?expand={}", words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(","))
}

#[tokio::test]
async fn answer_matches_its_documented_schema() {
    for route in ROUTES {
        let (world, document) = (TestApi::new().await, document_of(route));
        let resources = Resources::make(&world, &world.admin).await;
        let path = format!("{}{}", resources.path(route), everything_inlined(route));
        resources.begin(&world, route).await;
        let request = world.bare(method(route), &path).key(resources.key(route, &world.admin));
        let response = resources.fill(request, route).send().await;
        if route.response == Success::Empty {
            assert_eq!((response.status, response.body.len()), (204, 0), "{}", route.operation);
            continue;
        }
        let schema = &operation(route)["responses"][response.status.to_string()];
        let schema = match schema["$ref"].as_str() {
            Some(reference) => document.pointer(&reference[1..]).unwrap(),
            None => schema,
        };
        let schema = &schema["content"][route.media_type()]["schema"];
        if let Success::Lines(_) = route.response {
            for line in response.lines() {
                assert_eq!(mismatch(document, schema, &line, route.operation), None);
            }
        } else if route.operation != "getDocument" {
            assert_eq!(mismatch(document, schema, &response.json(), route.operation), None);
        }
    }
}

#[test]
fn example_matches_its_schema() {
    let document = document();
    for route in ROUTES {
        let operation = operation(route);
        let media_type = route.dialect.media_types()[0];
        let response = &operation["responses"][route.status.to_string()]["content"][media_type];
        let request = &operation["requestBody"]["content"][media_type];
        for content in [response, request]
            .into_iter()
            .filter(|content| !content.is_null() && route.operation != "getDocument")
        {
            // The examples of events are in their own schemas.
            let Some(example) = content.get("example") else {
                assert!(["listEvents", "getEvent"].contains(&route.operation), "{}", route.operation);
                continue;
            };
            assert_eq!(mismatch(document_of(route), &content["schema"], example, route.operation), None);
        }
    }
    let event_schema = &document["components"]["schemas"]["ObservationEvent"];
    assert_eq!(mismatch(&document, event_schema, &event_schema["examples"][0], "delivered"), None);
}

#[tokio::test]
async fn document_is_served_unchanged_without_a_key() {
    let world = TestApi::new().await;
    let response = world.bare("GET", "/v1/openapi.json").send().await;
    assert_eq!((response.status, response.json()), (200, document()));
    assert!(ROUTES.iter().any(|route| route.method == Method::Get && route.access.is_public()));
}
