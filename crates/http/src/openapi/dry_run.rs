//! The response to a dry run, beside that of the write itself (decision A18).

use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use serde_json::{Value, json};

use super::errors;
use crate::route::{DryRun, Route};
use crate::schema::shapes::{Member, answer, array, count, described, field, flag, reference_to};
use crate::schema::words::open;

/// Name of the schema.
const EFFECTS: &str = "DryRun";

/// Returns the schemas of dry runs, by name.
pub(super) fn schemas() -> Vec<Member> {
    let status = json!({"type": "integer", "minimum": 200, "maximum": 299});
    let data = json!({"type": ["object", "null"], "additionalProperties": true});
    let about_data = "Body that the response would have. Ids and secrets that the request would make are null. \
                      Null if the response would have no body.";
    let about_changes = "Changed members by name, as in the audit log. Empty for a new resource.";
    let changes = json!({"type": "object", "additionalProperties": reference_to("FieldChange")});
    let members = vec![
        field("dry_run", flag(), "Always `true`. Marks the response to a dry run."),
        field("status", status, "Status that the response would have."),
        field("data", data, about_data),
        field("events", array(&open(EventType::NAME)), "Types of the events that would be published."),
        field("changes", changes, about_changes),
        field("notifications", count(0), "Number of notifications that people would get."),
    ];
    vec![(EFFECTS, described(answer(members, vec![]), "Effects that a request would have. Nothing was changed."))]
}

/// Adds the 200 of a dry run to the responses of a route. If the write answers 200 too, the body has either form.
pub(super) fn add_response(route: &Route, responses: &mut serde_json::Map<String, Value>) {
    if route.dry_run != DryRun::Effects {
        return;
    }
    let Some(shared) = responses.get_mut("200") else {
        let content = json!({"application/json": {"schema": reference_to(EFFECTS), "example": example(route)}});
        let description = "The effects of the request, with `dry_run=true`.";
        let headers = with_header(errors::common_headers());
        let response = json!({"description": description, "headers": headers, "content": content});
        responses.insert("200".to_owned(), response);
        return;
    };
    let content = &mut shared["content"]["application/json"];
    content["schema"] = json!({"anyOf": [content["schema"].take(), reference_to(EFFECTS)]});
    let description = shared["description"].as_str().unwrap_or_default();
    shared["description"] = json!(format!("{description} With `dry_run=true`, the effects of the request."));
    shared["headers"] = with_header(shared["headers"].take());
}

fn with_header(mut headers: Value) -> Value {
    headers["X-Dry-Run"] = json!({"$ref": "#/components/headers/DryRun"});
    headers
}

/// Returns the example of a write with another status than 200, whose resource is new or gone.
fn example(route: &Route) -> Value {
    let mut data = route.response.shown().unwrap_or_default();
    for made in ["id", "key", "last4", "secret"] {
        if let Some(member) = data.get_mut(made) {
            *member = Value::Null;
        }
    }
    json!({"dry_run": true, "status": route.status, "data": data, "events": [], "changes": {}, "notifications": 0})
}
