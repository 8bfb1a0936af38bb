//! Checks every answer in the API tests against the document: its status and every member of its body. The test
//! client calls these checks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use actix_web::http::Method;
use candor_http::openapi::{document, scim_document};
use candor_http::table::{BASE, Dialect, ROUTES, Route};
use serde_json::{Value, json};

use crate::support::TestResponse;

/// The document of `/v1`, built once for all tests.
static DOCUMENT: LazyLock<Value> = LazyLock::new(document);
/// The document of SCIM.
static SCIM_DOCUMENT: LazyLock<Value> = LazyLock::new(scim_document);

/// Returns the document that describes a route.
pub(crate) fn document_of(route: &Route) -> &'static Value {
    match route.dialect {
        Dialect::V1 => &DOCUMENT,
        Dialect::Scim => &SCIM_DOCUMENT,
    }
}

/// Documented statuses, by operation.
static STATUSES: LazyLock<BTreeMap<&str, BTreeSet<String>>> = LazyLock::new(|| {
    let statuses = |route: &Route| responses(route).as_object().unwrap().keys().cloned().collect();
    ROUTES.iter().map(|route| (route.operation, statuses(route))).collect()
});

fn responses(route: &Route) -> &'static Value {
    &document_of(route)["paths"][route.path][route.method.word().to_lowercase()]["responses"]
}

/// Returns the route of a request; `None` for 404 and 405, for pages and for `OPTIONS`.
pub(crate) fn route(method: &Method, path: &str) -> Option<&'static Route> {
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    let path = path.split('?').next()?;
    let path = path.strip_prefix(BASE).or_else(|| path.starts_with("/scim/v2/").then_some(path))?;
    let matching = ROUTES.iter().map(|route| route.path).filter(|pattern| matches(pattern, path));
    // Literal segments take precedence over parameters, for every method.
    let pattern = matching.min_by_key(|pattern| pattern.matches('{').count())?;
    ROUTES.iter().find(|route| route.path == pattern && route.method.word() == method)
}

fn matches(pattern: &str, path: &str) -> bool {
    let is_match =
        |(wanted, given): (&str, &str)| wanted == given || (wanted.starts_with('{') && !given.is_empty());
    pattern.split('/').count() == path.split('/').count() && pattern.split('/').zip(path.split('/')).all(is_match)
}

/// Returns `true` for the effects of a dry run. The document describes that response at the parameter `dry_run`.
fn is_effects(answered: &TestResponse) -> bool {
    answered.status == 200 && answered.header("x-dry-run").is_some()
}

/// Asserts that the document lists this status for the route.
#[track_caller]
pub(crate) fn assert_status(route: Option<&Route>, asked: &str, answered: &TestResponse) {
    let Some(route) = route.filter(|_| !is_effects(answered)) else { return };
    let status = answered.status;
    let statuses = &STATUSES[route.operation];
    assert!(
        statuses.contains(&status.to_string()),
        "{asked} answered {status}: the document has {statuses:?} for {}",
        route.operation
    );
}

/// Returns the example of the answer of an operation.
pub(crate) fn example_of(operation: &str) -> &'static Value {
    let route = ROUTES.iter().find(|route| route.operation == operation).unwrap();
    &responses(route)[route.status.to_string()]["content"]["application/json"]["example"]
}

/// Asserts that the body of an answer matches the schema that the document gives for its status. Pages,
/// compressed bodies and the document itself are skipped.
#[track_caller]
pub(crate) fn assert_body(route: Option<&Route>, asked: &str, answered: &TestResponse) {
    let is_json = |route: &&Route| answered.header("content-type") == Some(route.dialect.media_types()[0]);
    let Some(route) = route.filter(is_json).filter(|route| route.operation != "getDocument") else { return };
    if answered.body.is_empty() || answered.header("content-encoding").is_some() {
        return;
    }
    let response_schema = &responses(route)[answered.status.to_string()];
    let dry_run = &DOCUMENT["components"]["parameters"]["DryRun"]["x-candor-response"];
    let response =
        if is_effects(answered) && route.operation != "upsertEmployees" { dry_run } else { response_schema };
    let response = match response["$ref"].as_str() {
        Some(reference) => document_of(route).pointer(&reference[1..]).unwrap(),
        None => response,
    };
    let schema = &response["content"][route.dialect.media_types()[0]]["schema"];
    assert!(schema.is_object(), "{asked} answered {} with a body that has no schema", answered.status);
    assert_eq!(mismatch(document_of(route), schema, &answered.json(), route.operation), None, "{asked}");
}

/// Returns the difference between the type of a value and the types that a schema allows. `None` if the schema
/// allows the type.
fn type_mismatch(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec![],
    };
    let fits = types.contains(&kind) || (kind == "integer" && types.contains(&"number"));
    (!types.is_empty() && !fits).then(|| format!("{at}: {value} is {kind}, not {types:?}"))
}

/// Returns the first difference between a value and a schema of the document; `None` if the value fits.
///
/// Stricter than JSON Schema: a member that the schema does not list is a difference.
pub(crate) fn mismatch(document: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return mismatch(document, document.pointer(&reference[1..])?, value, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices.iter().any(|choice| mismatch(document, choice, value, at).is_none());
        return (!fits).then(|| format!("{at}: {value} fits none"));
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = choices.iter().filter(|choice| mismatch(document, choice, value, at).is_none()).count();
        return (fits != 1).then(|| format!("{at}: {value} fits {fits} instead of one"));
    }
    if schema.get("not").is_some_and(|choice| mismatch(document, choice, value, at).is_none()) {
        return Some(format!("{at}: {value} is excluded"));
    }
    let mismatch_text = type_mismatch(schema, value, at);
    if mismatch_text.is_some() {
        return mismatch_text;
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        return Some(format!("{at}: {value} is not {}", schema["const"]));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Some(format!("{at}: {value} is none of {words:?}"));
    }
    match value {
        Value::Array(items) => {
            let count = items.len() as u64;
            let is_too_short = schema["minItems"].as_u64().is_some_and(|least| count < least);
            if is_too_short || schema["maxItems"].as_u64().is_some_and(|most| count > most) {
                return Some(format!("{at} has {} items", items.len()));
            }
            items.iter().find_map(|item| mismatch(document, &schema["items"], item, at))
        }
        Value::Number(number) => {
            let value = number.as_f64()?;
            let is_outside = schema["minimum"].as_f64().is_some_and(|least| value < least)
                || schema["maximum"].as_f64().is_some_and(|most| value > most);
            is_outside.then(|| format!("{at}: {number} is out of range"))
        }
        Value::Object(members) => {
            let missing = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let missing = missing.filter(|name| !members.contains_key(*name)).collect::<Vec<_>>();
            if !missing.is_empty() {
                return Some(format!("{at}: {missing:?} are missing"));
            }
            let properties = schema["properties"].as_object();
            let of_any_name = Some(&schema["additionalProperties"]).filter(|values| values.is_object());
            members.iter().find_map(|(name, member)| {
                match properties.and_then(|properties| properties.get(name)).or(of_any_name) {
                    Some(schema) => mismatch(document, schema, member, &format!("{at}.{name}")),
                    None => properties.map(|_| format!("{at}.{name} is not described")),
                }
            })
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[test]
fn route_of_a_request_is_found_by_its_pattern() {
    let operation_of = |method: Method, path: &str| route(&method, path).map(|route| route.operation);
    assert_eq!(operation_of(Method::GET, "/v1/employees/emp_1?expand=manager"), Some("getEmployee"));
    assert_eq!(operation_of(Method::HEAD, "/v1/employees"), Some("listEmployees"));
    assert_eq!(operation_of(Method::POST, "/v1/employees/csv"), Some("upsertEmployees"));
    assert_eq!(operation_of(Method::GET, "/v1/employees/csv"), None, "405");
    assert_eq!(operation_of(Method::PUT, "/v1/employees"), None);
    assert_eq!(operation_of(Method::GET, "/v1/nothing"), None);
    assert_eq!(operation_of(Method::PATCH, "/scim/v2/Users/emp_1"), Some("scim.patch_user"));
}

#[test]
fn value_that_differs_from_its_schema_is_a_mismatch() {
    let text = json!({"type": "string"});
    let object = json!({"type": "object", "required": ["a"], "properties": {"a": text}});
    let short_list = json!({"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 2});
    let texts = json!({"type": "object", "additionalProperties": text});
    for (schema, fitting, differing) in [
        (&object, json!({"a": "x"}), vec![json!({}), json!({"a": 1}), json!({"a": "x", "b": 1}), json!([])]),
        (&short_list, json!([1, 2]), vec![json!([0]), json!([1, 2, 3]), json!(["x"])]),
        (&texts, json!({"any": "x"}), vec![json!({"any": 1})]),
    ] {
        assert_eq!(mismatch(&Value::Null, schema, &fitting, ""), None);
        for value in differing {
            assert!(mismatch(&Value::Null, schema, &value, "").is_some(), "{value}");
        }
    }
}
