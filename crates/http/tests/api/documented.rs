//! Every status that the suites see is in the document. The test client asserts it with each answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use actix_web::http::Method;
use candor_http::openapi::document;
use candor_http::table::{BASE, ROUTES, Route};

/// Statuses in the document, by operation.
static STATUSES: LazyLock<BTreeMap<&str, BTreeSet<String>>> = LazyLock::new(|| {
    let document = document();
    let statuses = |route: &Route| {
        let operation = &document["paths"][route.path][route.method.word().to_lowercase()];
        operation["responses"].as_object().unwrap().keys().cloned().collect()
    };
    ROUTES.iter().map(|route| (route.operation, statuses(route))).collect()
});

/// Finds the route that answers a request; `None` for what is 404 or 405, and for pages and `OPTIONS`.
pub(crate) fn route(method: &Method, path: &str) -> Option<&'static Route> {
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    let path = path.split('?').next()?.strip_prefix(BASE)?;
    let matching = ROUTES.iter().map(|route| route.path).filter(|pattern| matches(pattern, path));
    // A word wins over an identifier, whatever the methods.
    let pattern = matching.min_by_key(|pattern| pattern.matches('{').count())?;
    ROUTES.iter().find(|route| route.path == pattern && route.method.word() == method)
}

fn matches(pattern: &str, path: &str) -> bool {
    let is_match = |(wanted, given): (&str, &str)| wanted == given || (wanted.starts_with('{') && !given.is_empty());
    pattern.split('/').count() == path.split('/').count() && pattern.split('/').zip(path.split('/')).all(is_match)
}

/// Asserts that the document has this status for the route.
#[track_caller]
pub(crate) fn assert_status(route: Option<&Route>, asked: &str, status: u16) {
    let Some(route) = route else { return };
    let statuses = &STATUSES[route.operation];
    assert!(
        statuses.contains(&status.to_string()),
        "{asked} answered {status}: the document has {statuses:?} for {}",
        route.operation
    );
}

#[test]
fn route_of_a_request_is_found_by_its_pattern() {
    let found = |method: Method, path: &str| route(&method, path).map(|route| route.operation);
    assert_eq!(found(Method::GET, "/v1/employees/emp_1?expand=manager"), Some("getEmployee"));
    assert_eq!(found(Method::HEAD, "/v1/employees"), Some("listEmployees"));
    assert_eq!(found(Method::POST, "/v1/employees/csv"), Some("upsertEmployees"));
    assert_eq!(found(Method::GET, "/v1/employees/csv"), None, "405");
    assert_eq!(found(Method::PUT, "/v1/employees"), None);
    assert_eq!(found(Method::GET, "/v1/nothing"), None);
}
