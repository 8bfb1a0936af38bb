//! Quality of the OpenAPI document: descriptions everywhere, named enumerations, and open enumerations in answers for
//! generated clients.

use std::collections::BTreeSet;

use candor_http::openapi::document;
use serde_json::{Value, json};

/// Visits a JSON value and all nested values. `at` is the path as a JSON pointer.
fn visit(value: &Value, at: &str, look: &mut impl FnMut(&str, &Value)) {
    look(at, value);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            // Examples are API values, not schemas.
            if !matches!(name.as_str(), "example" | "examples") {
                visit(member, &format!("{at}/{}", name.replace('/', "~1")), look);
            }
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| visit(item, &format!("{at}/{n}"), look))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the paths of all values for which `is_fault` holds.
fn faults(document: &Value, is_fault: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    let mut fault_list = Vec::new();
    visit(document, "", &mut |at, value| {
        if is_fault(at, value) {
            fault_list.push(at.to_owned());
        }
    });
    fault_list
}

fn is_described(value: &Value) -> bool {
    value["description"].as_str().is_some_and(|value| value.ends_with('.') && value.contains(' '))
}

fn target<'a>(document: &'a Value, value: &Value) -> Option<&'a Value> {
    document.pointer(&value["$ref"].as_str()?[1..])
}

#[test]
fn members_and_parameters_are_described_in_sentences() {
    let document = document();
    let undescribed_members = faults(&document, |at, value| {
        let (parent, name) = at.rsplit_once('/').unwrap_or_default();
        let is_member = parent.ends_with("/properties") && !parent.ends_with("/properties/properties");
        let is_parameter = parent.ends_with("/parameters") && value.get("$ref").is_none();
        let is_shared =
            ["headers", "parameters", "responses"].iter().any(|name| parent == format!("/components/{name}"));
        (is_member || is_parameter || is_shared) && !is_described(value) && !name.is_empty()
    });
    assert_eq!(undescribed_members, [""; 0]);
}

#[test]
fn operation_and_answer_descriptions_add_to_the_summary() {
    let document = document();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in
            operations.as_object().unwrap().iter().filter(|(method, _)| *method != "parameters")
        {
            let operation_place = format!("{method} {path}");
            assert!(is_described(operation), "{operation_place}");
            assert!(
                !operation["description"].as_str().unwrap().starts_with('\n'),
                "{operation_place} has no words of its own"
            );
            for (status, response) in operation["responses"].as_object().unwrap() {
                let response = target(&document, response).unwrap_or(response);
                assert!(is_described(response), "{operation_place} {status}");
                assert_ne!(response["description"], operation["summary"], "{operation_place} {status}");
            }
        }
    }
}

#[test]
fn enumerations_are_named_schemas_without_reserved_names() {
    let document = document();
    let inline = faults(&document, |at, value| {
        value.get("enum").is_some_and(Value::is_array) && at.rsplit_once('/').unwrap().0 != "/components/schemas"
    });
    assert_eq!(inline, [""; 0]);
    let reserved_names = ["Error", "Object", "Array", "Map", "Set", "Date", "Promise", "Symbol"];
    let schema_names: Vec<_> = document["components"]["schemas"].as_object().unwrap().keys().collect();
    assert!(schema_names.iter().all(|name| !reserved_names.contains(&name.as_str())), "{schema_names:?}");
}

/// Follows the schema of an answer and collects the places of closed enumerations.
fn collect_closed(
    document: &Value,
    schema: &Value,
    at: &str,
    seen: &mut BTreeSet<String>,
    found: &mut Vec<String>,
) {
    if let Some(reference) = schema["$ref"].as_str() {
        if seen.insert(reference.to_owned()) {
            collect_closed(document, target(document, schema).unwrap(), reference, seen, found);
        }
        return;
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        found.push(at.to_owned());
    }
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    if !choices.clone().any(|choice| *choice == json!({"type": "string"})) {
        choices.chain(schema["oneOf"].as_array().into_iter().flatten()).for_each(|choice| {
            collect_closed(document, choice, at, seen, found);
        });
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        collect_closed(document, member, &format!("{at}/{name}"), seen, found);
    }
    for part in ["items", "additionalProperties"].into_iter().filter_map(|name| schema.get(name)) {
        collect_closed(document, part, at, seen, found);
    }
}

#[test]
fn answer_enumerations_are_open_except_event_tags() {
    let document = document();
    let mut contents = vec![&document["webhooks"]["event"]["post"]["requestBody"]];
    for operations in document["paths"].as_object().unwrap().values() {
        for (_, operation) in operations.as_object().unwrap().iter().filter(|(method, _)| *method != "parameters")
        {
            let responses = operation["responses"].as_object().unwrap().values();
            contents.extend(responses.map(|response| target(&document, response).unwrap_or(response)));
        }
    }
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for content in contents {
        collect_closed(&document, &content["content"]["application/json"]["schema"], "", &mut seen, &mut found);
    }
    // Only these enumerations may be closed: an event whose type is in none of them matches `OtherEvent`.
    let families = [
        "ObservationEventType",
        "ObjectiveEventType",
        "ObjectiveCheckedInEventType",
        "EmployeeEventType",
        "ErasureEventType",
        "RetentionCompletedEventType",
        "RetentionRemovedEventType",
        "AssignmentEventType",
        "MessageEventType",
        "SummaryEventType",
        "TestEventType",
        "WebhookEventType",
        "ApiKeyEventType",
        "DepartmentEventType",
        "AttributeEventType",
        "ConversationEventType",
        "ConnectorEventType",
        "IdentityProviderEventType",
        "OrganizationEventType",
        "InvitationEventType",
    ];
    let tags: BTreeSet<_> = families.iter().map(|family| format!("#/components/schemas/{family}")).collect();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), tags);
    let event = &document["components"]["schemas"]["Event"];
    assert_eq!(event["oneOf"].as_array().unwrap().last().unwrap()["$ref"], "#/components/schemas/OtherEvent");
}

/// Client generators assume that a member with a default is always present.
#[test]
fn request_members_have_no_default() {
    let document = document();
    let faulty = faults(&document["components"]["schemas"], |_, value| value.get("default").is_some());
    assert_eq!(faulty, [""; 0]);
}

#[test]
fn operations_that_answer_a_secret_name_its_member() {
    let document = document();
    let descriptions = ["createApiKey", "rotateApiKey", "createWebhook", "updateWebhook"].map(|id| {
        let paths = document["paths"].as_object().unwrap().values();
        let mut operations = paths.flat_map(|path| path.as_object().unwrap().values());
        let operation = operations.find(|operation| operation["operationId"] == id).unwrap();
        operation["description"].as_str().unwrap()
    });
    for (description, member) in descriptions.into_iter().zip(["`key`", "`key`", "`secret`", "`secret`"]) {
        let names_member = description.contains(&format!(", as {member}."));
        let is_unique = description.to_lowercase().contains("only this response contains");
        assert!(names_member && is_unique, "{description}");
    }
}
