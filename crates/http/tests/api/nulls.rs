//! Null in bodies: a member takes it exactly if the document says so, and no member with a default does
//! (decision A8).

use candor_http::openapi::document;
use candor_http::table::Body;
use serde_json::{Value, json};

use crate::resources::{Resources, method, routes_of_v1};
use crate::support::TestApi;

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    schema["$ref"].as_str().map_or(schema, |reference| document.pointer(&reference[1..]).unwrap())
}

/// Returns a schema and its alternatives, with references resolved.
fn alternatives<'a>(document: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(document, schema);
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten();
    std::iter::once(schema).chain(choices.flat_map(|choice| alternatives(document, choice))).collect()
}

fn is_nullable(document: &Value, schema: &Value) -> bool {
    let takes_null = |schema: &&Value| {
        let word = &schema["type"];
        word.as_array().map_or(word == "null", |types| types.contains(&json!("null")))
    };
    alternatives(document, schema).iter().any(takes_null)
}

/// Returns the members of an object, or of the entries of a list.
fn members<'a>(document: &'a Value, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let mut all = Vec::new();
    for choice in alternatives(document, schema) {
        let properties = choice["properties"].as_object().into_iter().flatten();
        all.extend(properties.map(|(name, member)| (name.as_str(), member)));
        if choice.get("items").is_some() {
            all.extend(members(document, &choice["items"]));
        }
    }
    all
}

/// Returns the members, of any depth, that are nullable though they have a default.
fn nullable_members_with_a_default(document: &Value, schema: &Value, at: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, member) in members(document, schema) {
        let place = format!("{at}.{name}");
        let has_default =
            member.get("default").is_some() || member["description"].as_str().unwrap().contains("Default:");
        faults.extend(nullable_members_with_a_default(document, member, &place));
        if has_default && is_nullable(document, member) {
            faults.push(place);
        }
    }
    faults
}

#[test]
fn member_of_a_body_with_a_default_is_not_nullable() {
    let document = document();
    let mut faults = Vec::new();
    // A null in SCIM is an absent value (RFC 7643 §2.5).
    for route in routes_of_v1() {
        let (Body::Required(schema) | Body::Optional(schema)) = route.body else { continue };
        let body = &document["components"]["schemas"][schema.name];
        faults.extend(nullable_members_with_a_default(&document, body, route.operation));
    }
    assert_eq!(faults, [""; 0]);
}

#[tokio::test]
async fn null_is_refused_unless_the_member_is_nullable() {
    let (world, document) = (TestApi::new().await, document());
    let resources = Resources::make(&world, &world.admin).await;
    // A null in SCIM is an absent value (RFC 7643 §2.5).
    for route in routes_of_v1() {
        let (Body::Required(schema) | Body::Optional(schema)) = route.body else { continue };
        let path = resources.path(route);
        let operation = &document["paths"][route.path][method(route).to_lowercase()];
        let has_dry_run = operation["parameters"].to_string().contains("#/components/parameters/DryRun");
        for (name, member) in members(&document, &document["components"]["schemas"][schema.name]) {
            world.clock.advance_seconds(60);
            let mut body = resources.body(route).unwrap();
            body[name] = Value::Null;
            let path = if has_dry_run { format!("{path}?dry_run=true") } else { path.clone() };
            let response = world.ask(method(route), &path).json(&body).send().await;
            let missing = (name.to_owned(), "required".to_owned());
            let is_refused = response.status == 400 && response.problems().contains(&missing);
            let what = format!("{} {name}: {}", route.operation, response.text());
            assert_eq!(is_refused, !is_nullable(&document, member), "{what}");
        }
    }
}
