//! The answers that are no success, and the headers of all answers.

use candor_domain::problem::Code;
use serde_json::{Value, json};

use super::problems::BODY;
use crate::schema::shapes::{self, Member, named};
use crate::table::{Access, Body, Method, Route};

const SHOULD_RETRY: &str = "Whether the same request can succeed when it is sent again; overrides what clients derive \
                            from the status.";

/// Name, status, what it means, and an example of `details`.
const REFUSALS: &[(&str, u16, &str, &str, &str)] = &[
    ("BadRequest", 400, "validation_error", "A field or parameter is wrong, or the request is malformed.", "problems"),
    ("Unauthenticated", 401, "authentication_required", "No valid API key.", ""),
    ("Forbidden", 403, "permission_denied", "The key lacks a scope, a level, or the live environment.", "scope"),
    ("NotFound", 404, "not_found", "There is no such resource in the organization.", ""),
    ("RequestTimeout", 408, "timeout", "The body did not arrive in time.", ""),
    ("Conflict", 409, "conflict", "The current state does not allow this.", "conflict"),
    ("PreconditionFailed", 412, "conflict", "If-Match names another version.", ""),
    ("TooLarge", 413, "bad_request", "The body is larger than 256 KiB.", ""),
    ("UnsupportedMediaType", 415, "bad_request", "The body is not application/json.", ""),
    ("Unprocessable", 422, "unprocessable", "What the request refers to does not allow it.", "reference"),
    ("RateLimited", 429, "rate_limited", "Too many requests; see Retry-After.", "quota"),
    ("HeadTooLarge", 431, "bad_request", "The request line and the headers are too large.", ""),
    ("ServerError", 500, "server_error", "An unexpected failure; safe to retry with backoff.", ""),
    ("Unavailable", 503, "unavailable", "Temporarily unavailable; see Retry-After.", ""),
    ("Timeout", 504, "timeout", "Processing took too long; safe to retry idempotent requests.", ""),
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

/// The answers that are no success, by name.
pub(super) fn responses() -> Vec<Member> {
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
        let content = json!({"application/json": {
            "schema": named(BODY), "example": example(code, message, details),
        }});
        (*name, json!({"description": message, "headers": headers, "content": content}))
    };
    REFUSALS.iter().map(response).collect()
}

/// Every refusal that a route may answer, by status.
pub(super) fn of(route: &Route) -> Vec<(String, Value)> {
    let wanted = REFUSALS.iter().filter(|(_, status, ..)| may_answer(route, *status));
    let reference = |name: &str| json!({"$ref": format!("#/components/responses/{name}")});
    wanted.map(|(name, status, ..)| (status.to_string(), reference(name))).collect()
}

fn may_answer(route: &Route, status: u16) -> bool {
    let (is_public, is_write) = (route.access == Access::Public, route.method != Method::Get);
    match status {
        401 => !is_public,
        403 => !is_public && route.access != Access::AnyKey || route.query.is_some(),
        404 => route.path.contains('{') || (is_public && is_write),
        408 | 415 => is_write,
        413 => is_write && route.body != Body::Csv,
        409 => is_write && !is_public && route.method != Method::Delete,
        412 => route.is_conditional(),
        422 => is_write && !is_public && (route.body != Body::None || route.checks_content),
        _ => true,
    }
}

fn header(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

/// The headers of every answer.
pub(super) fn common_headers() -> Value {
    json!({
        "X-Request-Id": header("RequestId"),
        "X-RateLimit-Limit": header("RateLimit"),
        "X-RateLimit-Remaining": header("RateRemaining"),
        "X-RateLimit-Reset": header("RateReset"),
    })
}

/// Every header that is described, by name.
pub(super) fn headers() -> Vec<Member> {
    let whole = || json!({"type": "integer", "minimum": 0});
    let described = |schema: Value, text: &str| json!({"description": text, "required": true, "schema": schema});
    let text = || json!({"type": "string"});
    let optional = |text: &str| json!({"description": text, "schema": {"type": "string"}});
    vec![
        ("RequestId", described(shapes::id::<candor_domain::id::RequestKind>(), "The id of this request.")),
        ("RateLimit", described(whole(), "Requests allowed within 60 seconds.")),
        ("RateRemaining", described(whole(), "Requests that would be admitted now.")),
        ("RateReset", described(whole(), "When the window fully resets, in Unix seconds.")),
        ("RetryAfter", described(json!({"type": "integer", "minimum": 1}), "Seconds until it is worth trying again.")),
        ("ShouldRetry", described(json!({"type": "string", "pattern": "^(true|false)$"}), SHOULD_RETRY)),
        ("Authenticate", described(json!({"type": "string", "const": "Bearer"}), "How to authenticate.")),
        ("ETag", optional("The version of the resource, for If-Match and If-None-Match; absent with `expand`.")),
        ("Location", described(text(), "Where the new resource is.")),
        ("Replayed", optional("`true` when this is the kept answer to an earlier request.")),
    ]
}
