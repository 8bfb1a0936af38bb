//! After an erasure or a retention run, no removed text is left in the files of the store (decisions H4, H5). The
//! tests take the routes from the route table and the text fields from the OpenAPI document.

use std::path::Path;
use std::sync::Arc;
use std::{collections::BTreeSet, fs};

use candor_http::table::{Body, Method, Route};
use candor_service::runtime::{erasure, retention, search_index, sweep};
use serde_json::{Value, json};

use crate::objectives::person;
use crate::resources::{Resources, method, routes_of_v1};
use crate::retention::{DAY, act, set, status};
use crate::stores::in_folder;
use crate::support::TestApi;

/// Beginning of every text that the tests send.
const CANARY: &str = "zqcanary";

/// Routes whose texts stay, each with the reason.
const STAYS: [(&str, &str); 18] = [
    ("createApiKey", "the name of a key of the organization; the name of a person's key is removed"),
    ("updateApiKey", "the name of a key of the organization"),
    ("createAttribute", "the catalog of the organization"),
    ("updateAttribute", "the catalog of the organization"),
    ("createConnector", "settings of the organization"),
    ("updateConnector", "settings of the organization"),
    ("createIdentityProvider", "settings of the organization"),
    ("updateIdentityProvider", "settings of the organization"),
    ("createConversation", "the title belongs to all participants, unless the conversation is about the person"),
    ("updateConversation", "the title belongs to all participants, unless the conversation is about the person"),
    ("createDepartment", "a setting of the organization"),
    ("updateDepartment", "a setting of the organization"),
    ("updateOrganization", "a setting of the organization"),
    ("eraseEmployee", "the reason is kept in the audit log and names no person"),
    ("createPortalLink", "the name of a link of the organization"),
    ("exchangePortalLink", "a code, not a text"),
    ("createWebhook", "a setting of the organization"),
    ("updateWebhook", "a setting of the organization"),
];
/// Routes that take no text which an erasure removes, each with the reason.
const WITHOUT_TEXT: [(&str, &str); 4] = [
    ("acceptInvitation", "a token, of which only a digest is stored"),
    ("beginSignIn", "an address, which is not stored"),
    ("checkIdentityProvider", "a token, which is not stored"),
    ("setLegalHold", "a held person cannot be erased; the reason names no person"),
];

/// Returns the schema that a reference names.
fn resolve_reference<'d>(document: &'d Value, mut schema: &'d Value) -> &'d Value {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
    }
    schema
}

/// Returns a value with marked texts for a schema; `None` if the schema takes no text.
fn mark_texts(document: &Value, schema: &Value, name: &str) -> Option<Value> {
    let schema = resolve_reference(document, schema);
    let is = |kind: &str| {
        schema["type"] == kind || schema["type"].as_array().is_some_and(|all| all.contains(&json!(kind)))
    };
    if schema["format"] == "email" {
        return Some(json!(format!("{CANARY}@example.com")));
    }
    if is("string") && schema.get("maxLength").is_some() {
        return Some(json!(format!("{CANARY} {name}")));
    }
    if is("array") {
        return mark_texts(document, &schema["items"], name).map(|item| json!([item]));
    }
    if let Some(value) = schema.get("additionalProperties").filter(|value| value.is_object()) {
        let value = resolve_reference(document, value);
        let takes_text = value.get("maxLength").is_some() || value.get("anyOf").is_some();
        return takes_text.then(|| json!({"cycle": format!("{CANARY} {name}")}));
    }
    let members = schema["properties"].as_object()?;
    let members: serde_json::Map<_, _> = members
        .iter()
        .filter_map(|(name, schema)| Some((name.clone(), mark_texts(document, schema, name)?)))
        .collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// Returns the marked texts of a route's body. `None` for a route without a body.
fn texts(document: &Value, route: &Route) -> Option<Value> {
    if !matches!(route.body, Body::Required(_) | Body::Optional(_)) {
        return None;
    }
    let operation = &document["paths"][route.path][method(route).to_lowercase()];
    let body = resolve_reference(document, &operation["requestBody"]);
    mark_texts(document, &body["content"]["application/json"]["schema"], "")
}

/// Puts texts into a body, and into the first entries of its lists.
fn merge(body: &mut Value, texts: &Value) {
    match (body, texts) {
        (Value::Object(body), Value::Object(texts)) => {
            for (name, text) in texts {
                merge(body.entry(name.clone()).or_insert(Value::Null), text);
            }
        }
        (Value::Array(body), Value::Array(texts)) if !body.is_empty() => merge(&mut body[0], &texts[0]),
        (body, texts) => *body = texts.clone(),
    }
}

/// Returns the number of marked texts in the files of a folder.
fn count_in(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let count = |bytes: Vec<u8>| {
        bytes.windows(CANARY.len()).filter(|part| part.eq_ignore_ascii_case(CANARY.as_bytes())).count()
    };
    files.map(count).sum()
}

/// Sends texts to a route, erases the person, and returns the number of texts in the files before and after.
async fn texts_before_and_after(route: &Route, texts: &Value) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = in_folder(folder.path());
    let world = TestApi::on(Arc::new(store), crate::support::patient_settings()).await;
    let resources = Resources::make(&world, &world.admin).await;
    let hold = format!("/v1/employees/{}/legal-hold", resources.id("invited"));
    assert_eq!(world.ask("DELETE", &hold).send().await.status, 204);
    person(&world, "boss", "org_admin", None).await;
    resources.begin(&world, route).await;
    let mut body = resources.body(route).unwrap();
    merge(&mut body, texts);
    let response = world.ask(method(route), &resources.path(route)).json(&body).send().await;
    assert!(response.status < 300, "{}: {body}: {}", route.operation, response.text());
    let is_new = route.operation == "createEmployee";
    let subject = if is_new {
        response.json()["id"].as_str().unwrap().to_owned()
    } else {
        resources.id("employees").to_owned()
    };
    search_index::index_pending(&world.services, || true).await.unwrap();
    let count_before = count_in(folder.path());
    let path = format!("/v1/employees/{subject}");
    world.post(&format!("{path}/deactivate"), json!({})).await;
    let erasure_response = world.post(&format!("{path}/erasure"), json!({})).await;
    assert_eq!(erasure_response.status, 202, "{}: {}", route.operation, erasure_response.text());
    for _ in 0..4 {
        erasure::run_due(&world.services, || true).await.unwrap();
        world.clock.advance_seconds(20);
        search_index::index_pending(&world.services, || true).await.unwrap();
    }
    let receipt =
        world.get(&format!("/v1/erasures/{}", erasure_response.json()["id"].as_str().unwrap())).await.json();
    assert_eq!(receipt["status"], "completed", "{}", route.operation);
    (count_before, count_in(folder.path()))
}

#[tokio::test]
async fn text_of_each_route_is_gone_from_the_files_after_an_erasure() {
    let document = TestApi::new().await.get("/v1/openapi.json").await.json();
    let mut text_names = BTreeSet::new();
    for route in routes_of_v1().filter(|route| route.method != Method::Get) {
        let Some(texts) = texts(&document, route) else { continue };
        if STAYS.iter().chain(&WITHOUT_TEXT).any(|(operation, _)| *operation == route.operation) {
            text_names.insert(route.operation);
            continue;
        }
        let (before, after) = texts_before_and_after(route, &texts).await;
        assert!(before > 0, "{} does not store its texts", route.operation);
        assert_eq!(after, 0, "{}: {texts}", route.operation);
    }
    let exceptions: BTreeSet<_> = STAYS.iter().chain(&WITHOUT_TEXT).map(|(operation, _)| *operation).collect();
    assert_eq!(text_names, exceptions, "an exception takes no text");
}

#[tokio::test]
async fn text_is_gone_from_the_files_after_a_retention_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = in_folder(folder.path());
    let world = TestApi::on(Arc::new(store), crate::support::patient_settings()).await;
    let ada = person(&world, "ada", "employee", None).await;
    let body = json!({"employee_id": ada, "type": "strength", "observation": CANARY, "metadata": {"k": CANARY}});
    let observation = format!("/v1/observations/{}", world.made("/v1/observations", body).await);
    world.patch(&observation, json!({"impact": CANARY})).await;
    search_index::index_pending(&world.services, || true).await.unwrap();
    act(&world, &format!("{observation}/archive")).await;
    let talk = json!({"title": CANARY, "participant_ids": [ada, person(&world, "eve", "employee", None).await]});
    let talk = format!("/v1/conversations/{}", world.made("/v1/conversations", talk).await);
    world.made(&format!("{talk}/messages"), json!({"author_id": ada, "body": CANARY})).await;
    act(&world, &format!("{talk}/archive")).await;
    assert!(count_in(folder.path()) > 10, "{}", count_in(folder.path()));
    set(&world, "P30D").await;
    world.clock.advance_seconds(40 * DAY);
    sweep::run_once(&world.services).await.unwrap();
    for _ in 0..4 {
        retention::run_due(&world.services, || true).await.unwrap();
        world.clock.advance_seconds(20);
        search_index::index_pending(&world.services, || true).await.unwrap();
    }
    assert_eq!(status(&world, &observation).await, 404);
    assert_eq!(count_in(folder.path()), 0);
}
