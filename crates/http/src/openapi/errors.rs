//! Error responses and response headers of the OpenAPI document.

use candor_domain::access::Access;
use candor_domain::problem::Code;
use candor_scim::ScimError;
use serde_json::{Value, json};

use super::problems::BODY;
use super::scim;
use crate::contract::route::{Body, Dialect, Method, Route};
use crate::contract::schema::shapes::{self, Member, reference_to};

const SHOULD_RETRY: &str = "`true` if a retry of the same request can succeed. Takes precedence over the status.";

/// Error responses: name, status, code, description, and an example of `details`.
const REFUSALS: &[(&str, u16, &str, &str, &str)] = &[
    (
        "BadRequest",
        400,
        "validation_error",
        "A field or parameter is invalid, or the request is malformed.",
        "problems",
    ),
    ("Unauthenticated", 401, "authentication_required", "The request has no valid API key.", ""),
    (
        "Forbidden",
        403,
        "permission_denied",
        "The API key lacks a scope or an access level, or has the wrong environment.",
        "scope",
    ),
    ("NotFound", 404, "not_found", "The organization has no such resource.", ""),
    ("RequestTimeout", 408, "timeout", "The request did not arrive in time.", ""),
    ("Conflict", 409, "conflict", "The current state of the resource does not allow the request.", "conflict"),
    ("PreconditionFailed", 412, "conflict", "The resource does not have a version that If-Match lists.", ""),
    (
        "TooLarge",
        413,
        "bad_request",
        "The body is larger than 256 KiB, or than 8 KiB for an operation without an API key.",
        "",
    ),
    ("UnsupportedMediaType", 415, "bad_request", "The operation does not accept the media type of the body.", ""),
    (
        "Unprocessable",
        422,
        "unprocessable",
        "A referenced resource does not exist or is not in a valid state.",
        "reference",
    ),
    ("RateLimited", 429, "rate_limited", "The quota is used up. Retry after the time in `Retry-After`.", "quota"),
    ("HeadTooLarge", 431, "bad_request", "The request line and the headers are too large.", ""),
    ("ServerError", 500, "server_error", "Internal error. A retry with backoff is safe.", ""),
    (
        "Unavailable",
        503,
        "unavailable",
        "The service is temporarily unavailable. Retry after the time in `Retry-After`.",
        "",
    ),
    ("Timeout", 504, "timeout", "Processing took too long. A retry of an idempotent request is safe.", ""),
];

fn details(example: &str) -> Option<Value> {
    match example {
        "problems" => Some(json!([{"field": "observation", "code": Code::Required, "message": "is required"}])),
        "reference" => Some(json!([{
            "field": "employee_id", "code": Code::NotFoundInOrganization,
            "message": "does not exist in the organization", "value": "emp_01KJPWD6M24DF9HWRAYHFSFV52",
        }])),
        "scope" => Some(json!([{"required_scope": "observations:write"}])),
        "conflict" => Some(json!([{
            "field": "archived_at", "current": "2026-03-02T09:00:00.000Z", "attempted_transition": "archive",
        }])),
        "quota" => Some(json!([{"quota": "read", "limit": 600, "window_seconds": 60}])),
        _ => None,
    }
}

fn example(code: &str, message: &str, example: &str) -> Value {
    let mut error = json!({"code": code, "message": message, "request_id": "req_01KJPWD6M2M41901DYSMMVJQDV"});
    if let Some(details) = details(example) {
        error["details"] = details;
    }
    json!({"error": error})
}

/// Returns the error responses, by name.
pub(super) fn responses(dialect: Dialect) -> Vec<Member> {
    let response = |(name, status, code, message, details): &(&'static str, u16, &str, &str, &str)| {
        let mut headers = common_headers();
        if matches!(status, 429 | 503) {
            headers["Retry-After"] = header("RetryAfter");
        }
        if *status < 500 || *status == 503 {
            headers["Candor-Should-Retry"] = header("ShouldRetry");
        }
        if *status == 401 {
            headers["WWW-Authenticate"] = header("Authenticate");
        }
        let (schema, example) = match dialect {
            Dialect::V1 => (BODY, example(code, message, details)),
            Dialect::Scim => (scim::ERROR, ScimError::with_status(*status, *message).body()),
        };
        let content = json!({dialect.media_types()[0]: {"schema": reference_to(schema), "example": example}});
        (*name, json!({"description": message, "headers": headers, "content": content}))
    };
    REFUSALS.iter().map(response).collect()
}

/// Returns the error responses of a route, by status.
pub(super) fn error_responses(route: &Route) -> Vec<(String, Value)> {
    let possible_errors = REFUSALS.iter().filter(|(_, status, ..)| may_answer(route, *status));
    let reference = |name: &str| json!({"$ref": format!("#/components/responses/{name}")});
    possible_errors.map(|(name, status, ..)| (status.to_string(), reference(name))).collect()
}

fn may_answer(route: &Route, status: u16) -> bool {
    let (is_public, is_write) = (route.access.is_public(), route.method != Method::Get);
    let is_scim = route.dialect == Dialect::Scim;
    match status {
        401 => !is_public,
        403 => !is_public && route.access != Access::ANY_KEY || route.query.is_some(),
        // A replay that names an erased person is a 404 (decision H4).
        404 => route.path.contains('{') || (is_public && is_write) || route.is_idempotent(),
        408 | 415 => is_write,
        413 => is_write && route.body != Body::Csv,
        409 => is_write && !is_public && (route.method != Method::Delete || is_scim),
        412 => route.is_conditional(),
        422 => is_write && !is_public && !is_scim && (route.body != Body::None || route.checks_content),
        _ => true,
    }
}

fn header(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

/// Returns the headers of every response.
pub(super) fn common_headers() -> Value {
    json!({
        "X-Request-Id": header("RequestId"),
        "X-RateLimit-Limit": header("RateLimit"),
        "X-RateLimit-Remaining": header("RateRemaining"),
        "X-RateLimit-Reset": header("RateReset"),
    })
}

/// Returns every documented header, by name.
pub(super) fn headers() -> Vec<Member> {
    let whole = || json!({"type": "integer", "minimum": 0});
    let header_schema =
        |schema: Value, text: &str| json!({"description": text, "required": true, "schema": schema});
    let text = || json!({"type": "string"});
    let optional = |text: &str| json!({"description": text, "schema": {"type": "string"}});
    vec![
        ("RequestId", header_schema(shapes::id::<candor_domain::id::RequestKind>(), "Id of this request.")),
        ("RateLimit", header_schema(whole(), "Requests allowed within 60 seconds.")),
        ("RateRemaining", header_schema(whole(), "Requests that are left in the current window.")),
        ("RateReset", header_schema(whole(), "Unix time in seconds at which the whole quota is available again.")),
        ("RetryAfter", header_schema(json!({"type": "integer", "minimum": 1}), "Seconds to wait before a retry.")),
        ("ShouldRetry", header_schema(json!({"type": "string", "pattern": "^(true|false)$"}), SHOULD_RETRY)),
        ("Authenticate", header_schema(json!({"type": "string", "const": "Bearer"}), "Authentication scheme.")),
        (
            "ETag",
            optional(
                "Version of the resource at this path, for If-Match and If-None-Match. Another resource may have the \
                 same. Absent with `expand`.",
            ),
        ),
        ("DryRun", optional("`true` on every response to a request with `dry_run=true`, errors included.")),
        ("Location", header_schema(text(), "URL of the new resource.")),
        (
            "Replayed",
            optional(
                "`true` if this is a replay: the response to an earlier request with the same `Idempotency-Key`.",
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::REFUSALS;
    use crate::contract::framing::{MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BYTES};

    #[test]
    fn text_of_a_413_has_the_limits_of_bodies() {
        let (.., text, _) = REFUSALS.iter().find(|(_, status, ..)| *status == 413).unwrap();
        for bytes in [MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES] {
            assert!(text.contains(&format!("{} KiB", bytes / 1024)), "{text}");
        }
    }
}
