//! The response to a dry run (decision A18). The parameter `dry_run` refers to it. The operations do not list it:
//! clients that never ask for a dry run would have to tell two responses apart after each write.

use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use serde_json::{Value, json};

use crate::contract::schema::shapes::{Member, array, count, describe, field, flag, reference_to, response};
use crate::contract::schema::words::open;

/// Name of the schema.
const EFFECTS: &str = "DryRun";
/// Extension of a parameter: the successful response to requests with the parameter.
const RESPONSE: &str = "x-candor-response";

/// Returns the schemas of dry runs, by name.
pub(super) fn schemas() -> Vec<Member> {
    let status = json!({"type": "integer", "minimum": 200, "maximum": 299});
    let data = json!({"type": ["object", "null"], "additionalProperties": true});
    let about_data = "Body that the response would have. Ids and secrets that the request would create are \
                      null. Null if the response would have no body.";
    let about_changes = "Changed members by name, as in the audit log. Empty for a new resource.";
    let changes = json!({"type": "object", "additionalProperties": reference_to("FieldChange")});
    let members = vec![
        field("dry_run", flag(), "Always `true`. Marks the response to a dry run."),
        field("status", status, "Status that the response would have."),
        field("data", data, about_data),
        field("events", array(&open(EventType::NAME)), "Types of the events that would be published."),
        field("changes", changes, about_changes),
        field("notifications", count(0), "Number of notifications that would be sent."),
    ];
    vec![(EFFECTS, describe(response(members, vec![]), "Effects that a request would have. Nothing was changed."))]
}

/// Adds the response to the parameter `dry_run`.
pub(super) fn refer(mut parameter: Value) -> Value {
    parameter[RESPONSE] = json!({
        "description": "The effects of the request, with the status 200.",
        "headers": {"X-Dry-Run": {"$ref": "#/components/headers/DryRun"}},
        "content": {"application/json": {"schema": reference_to(EFFECTS)}},
    });
    parameter
}
