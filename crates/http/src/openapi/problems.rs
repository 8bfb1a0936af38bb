//! Body of error answers, and the forms of its details (§7).

use candor_domain::access::{AccessLevel, Environment, QuotaClass};
use candor_domain::fields::StringEnum;
use candor_domain::id::RequestKind;
use serde_json::{Value, json};

use crate::contract::schema::shapes::{Member, array, count, describe, field, id, plain, reference_to, response};
use crate::contract::schema::words::{FIELD_CODES, SCOPES, open};
use crate::response::error_response::ErrorCode;

/// Name of the error body's schema.
pub(super) const BODY: &str = "ErrorResponse";

/// Defines a form of a details entry, which may get more members later. `name` must differ from every member
/// name, because generated Python would confuse them.
fn shape(name: &'static str, always: Vec<Member>, sometimes: Vec<Member>, description: &str) -> Member {
    let mut schema = describe(response(always, sometimes), description);
    schema["additionalProperties"] = json!(true);
    (name, schema)
}

fn shapes() -> [Member; 7] {
    let problem = vec![
        field("field", plain(), "Member or parameter, for example `title`, `custom_fields.city` or `limit`."),
        field("code", open(FIELD_CODES), "Kind of error."),
        field("message", plain(), "Required correction, for display."),
    ];
    let value = json!({"type": "string"});
    let value = field("value", value, "Id that does not exist. Present with `not_found_in_organization`.");
    let conflict = vec![
        field("field", plain(), "Member whose value prevents the request."),
        field("current", json!({}), "Current value of the member, of any type."),
    ];
    let conflicting = "Resource that already has the value. Present if a unique value is taken by a resource that is visible \
         to the key.";
    let conflict_fields = vec![
        field("attempted_transition", plain(), "Attempted transition. Present if the state does not allow it."),
        field("conflicting_id", plain(), conflicting),
        field("rule", plain(), "Rule about the whole organization that the request would break: `last_admin`."),
    ];
    let quota = vec![
        field("quota", open(QuotaClass::NAME), "Quota class of the request."),
        field("limit", count(0), "Requests that are allowed within the window."),
        field("window_seconds", count(1), "Length of the sliding window in seconds."),
    ];
    let level = open(AccessLevel::NAME);
    [
        shape("FieldProblem", problem, vec![value], "An invalid field or parameter: 400 or 422."),
        shape(
            "MissingScope",
            vec![field("required_scope", open(SCOPES), "Missing scope.")],
            vec![],
            "The API key lacks a scope: 403.",
        ),
        shape(
            "MissingAccessLevel",
            vec![field("required_access_level", level, "Required access level.")],
            vec![],
            "The API key lacks an access level: 403.",
        ),
        shape(
            "RefusedEnvironment",
            vec![field("key_environment", open(Environment::NAME), "Environment of the key.")],
            vec![],
            "The environment of the API key is not allowed here: 403.",
        ),
        shape(
            "Conflict",
            conflict,
            conflict_fields,
            "The state of the resource or another resource prevents the request: 409.",
        ),
        shape(
            "IdempotencyConflict",
            vec![field("idempotency_key", plain(), "Idempotency key that was used for another request.")],
            vec![],
            "The idempotency key was already used for another request: 409.",
        ),
        shape("RateLimit", quota, vec![], "A quota is used up: 429."),
    ]
}

fn body() -> Value {
    let details = array(&reference_to("ErrorDetail"));
    let members = vec![
        field("code", open(ErrorCode::NAME), "Stable code of the error. Branch on it."),
        field("message", plain(), "Explanation for display. The wording may change."),
        field("request_id", id::<RequestKind>(), "Id of the request, as in `X-Request-Id`."),
    ];
    let about_details = "One entry for each problem. The shape depends on `code`. Absent if there is nothing to \
                         add. At most 100 field problems are listed; a last entry has the number of all \
                         others.";
    let error = response(members, vec![field("details", details, about_details)]);
    response(vec![field("error", error, "The error.")], vec![])
}

/// Returns the schemas of errors, by name.
pub(super) fn schemas() -> Vec<Member> {
    let shapes = shapes();
    let choices: Vec<_> = shapes.iter().map(|(name, _)| reference_to(name)).collect();
    let detail = json!({"anyOf": choices, "description": "Detail of an error. New versions may add shapes."});
    let mut schemas = vec![(BODY, body()), ("ErrorDetail", detail)];
    schemas.extend(shapes);
    schemas
}
