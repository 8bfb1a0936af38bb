//! The body of every answer that is not a success, and the shapes of its details (§7).

use candor_domain::access::{AccessLevel, Environment, QuotaClass};
use candor_domain::fields::Word;
use candor_domain::id::RequestKind;
use serde_json::{Value, json};

use crate::error_response::ErrorCode;
use crate::schema::shapes::{Member, about, answer, array, count, field, id, named, plain};
use crate::schema::words::{FIELD_CODES, SCOPES, open};

/// The schema of the body.
pub(super) const BODY: &str = "ErrorResponse";

/// A shape of an entry, which may get more members over time. Its name is not that of a member: generated Python would
/// mix the two up.
fn shape(name: &'static str, always: Vec<Member>, sometimes: Vec<Member>, description: &str) -> Member {
    let mut schema = about(answer(always, sometimes), description);
    schema["additionalProperties"] = json!(true);
    (name, schema)
}

fn shapes() -> [Member; 7] {
    let problem = vec![
        field("field", plain(), "The member or parameter, for example `title`, `custom_fields.city` or `limit`."),
        field("code", open(FIELD_CODES), "What is wrong with it."),
        field("message", plain(), "What would be right, for people."),
    ];
    let value = json!({"type": "string"});
    let value = field("value", value, "The value that names nothing. Only with `not_found_in_organization`.");
    let conflict = vec![
        field("field", plain(), "The member whose value is in the way."),
        field("current", json!({}), "The value that it has now, of any type."),
    ];
    let attempted = vec![
        field("attempted_transition", plain(), "What was attempted. Only where the state does not allow it."),
        field("conflicting_id", plain(), "The resource that has the value. Only where a value is taken."),
    ];
    let quota = vec![
        field("quota", open(QuotaClass::NAME), "What the request counts as."),
        field("limit", count(0), "Requests that are allowed within the window."),
        field("window_seconds", count(1), "The length of the sliding window in seconds."),
    ];
    let level = open(AccessLevel::NAME);
    [
        shape("FieldProblem", problem, vec![value], "A field or parameter that is wrong: 400 and 422."),
        shape(
            "MissingScope",
            vec![field("required_scope", open(SCOPES), "The scope that is missing.")],
            vec![],
            "The key lacks a scope: 403.",
        ),
        shape(
            "MissingAccessLevel",
            vec![field("required_access_level", level, "The level that is needed.")],
            vec![],
            "The key lacks a level: 403.",
        ),
        shape(
            "RefusedEnvironment",
            vec![field("key_environment", open(Environment::NAME), "The environment of the key.")],
            vec![],
            "The key's environment is refused here: 403.",
        ),
        shape("Conflict", conflict, attempted, "The state, or another resource, is in the way: 409."),
        shape(
            "IdempotencyConflict",
            vec![field("idempotency_key", plain(), "The key that was used for another request.")],
            vec![],
            "The idempotency key was used for another request: 409.",
        ),
        shape("RateLimit", quota, vec![], "A quota is used up: 429."),
    ]
}

fn body() -> Value {
    let details = array(&named("ErrorDetail"));
    let members = vec![
        field("code", open(ErrorCode::NAME), "What kind of error it is. It is stable: branch on it."),
        field("message", plain(), "What is wrong, for people; the wording may change."),
        field("request_id", id::<RequestKind>(), "The id of the request, which is also in `X-Request-Id`."),
    ];
    let about_details = "One entry per issue; its shape depends on `code`. Absent where there is nothing to add. At most 100 \
                         problems of fields are listed, and one more entry has the number of the others.";
    let error = answer(members, vec![field("details", details, about_details)]);
    answer(vec![field("error", error, "What went wrong.")], vec![])
}

/// The schemas of errors, by name.
pub(super) fn schemas() -> Vec<Member> {
    let shapes = shapes();
    let choices: Vec<_> = shapes.iter().map(|(name, _)| named(name)).collect();
    let detail = json!({"anyOf": choices, "description": "What one issue is about; more shapes may come."});
    let mut schemas = vec![(BODY, body()), ("ErrorDetail", detail)];
    schemas.extend(shapes);
    schemas
}
