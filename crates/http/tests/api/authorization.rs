//! Authorization of every route of the route table.

use candor_domain::access::{AccessLevel, AdminContext, Environment, Permission, Permissions};
use candor_domain::fields::StringEnum;
use candor_http::table::{Dialect, Method, ROUTES, Route};
use serde_json::json;

use crate::resources::{Resources, method};
use crate::support::{Request, TestApi, TestResponse};

fn required_permission(route: &Route) -> Option<Permission> {
    // A search without `types` searches observations.
    let default = route.access.reads_types().then_some(Permission::ObservationsRead);
    route.access.required_scope().or(default)
}

/// Returns `true` if the route refuses standard keys of the organization.
fn is_for_admins(route: &Route) -> bool {
    matches!(
        route.access.admin_context(),
        Some(AdminContext::Data | AdminContext::Settings | AdminContext::Organization)
    )
}

/// Returns all scopes except this one and `scim`, which a key cannot have together with other scopes.
fn all_but(scope: Permission) -> Permissions {
    let others = Permission::ALL
        .iter()
        .copied()
        .filter(|permission| *permission != scope && *permission != Permission::Scim);
    others.fold(Permissions::NONE, Permissions::with)
}

async fn send_to_route(world: &TestApi, resources: &Resources, route: &Route, key: &str) -> TestResponse {
    let request = world.bare(method(route), &resources.path(route)).key(key);
    with_body(request, resources, route).send().await
}

fn with_body<'a>(request: Request<'a>, resources: &Resources, route: &Route) -> Request<'a> {
    resources.fill(request, route)
}

#[tokio::test]
async fn route_without_key_is_401_unless_public() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES {
        // Stays below the quota of requests without a key.
        world.clock.advance_seconds(2);
        // Stays below the limit on failed authentications.
        world.clock.advance_seconds(60);
        let request = world.bare(method(route), &resources.path(route));
        let response = with_body(request, &resources, route).send().await;
        if route.access.is_public() {
            assert_ne!(response.status, 401, "{}", route.operation);
            continue;
        }
        assert_eq!(response.refusal(), (401, "authentication_required".to_owned()), "{}", route.operation);
        assert_eq!(response.header("www-authenticate"), Some("Bearer"), "{}", route.operation);
        assert!(response.json()["error"].get("details").is_none(), "{}", route.operation);
    }
}

#[tokio::test]
async fn route_scope_missing_from_key_is_403() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES {
        let Some(scope) = required_permission(route) else { continue };
        let mut others = all_but(scope);
        if let Some(other) = route.access.other_scope() {
            others = Permission::ALL
                .iter()
                .copied()
                .filter(|one| *one != other && others.has(*one))
                .fold(Permissions::NONE, Permissions::with);
        }
        let key = world.key(others, AccessLevel::Admin, environment(route)).await;
        let response = world.bare(method(route), &resources.path(route)).key(&key).send().await;
        assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{}", route.operation);
        if route.dialect == Dialect::V1 {
            let details = json!([{"required_scope": scope.word()}]);
            assert_eq!(response.json()["error"]["details"], details, "{}", route.operation);
        }
    }
}

/// Returns the scopes with which the example of an operation succeeds. The subscription of the examples gets events
/// of observations, so a key that changes it or sends to it needs the scope to read them. The event of the examples
/// is about a person or an observation.
fn sufficient_scopes(route: &Route) -> Permissions {
    let own = required_permission(route).map_or(Permissions::NONE, |scope| Permissions::NONE.with(scope));
    match route.operation {
        "updateWebhook" | "redeliver" => own.with(Permission::ObservationsRead),
        "getEvent" => own.with(Permission::ObservationsRead).with(Permission::EmployeesRead),
        _ => own,
    }
}

/// Returns a key with these scopes, or the key of the connector for a route of SCIM.
async fn sufficient_key(
    world: &TestApi,
    resources: &Resources,
    route: &Route,
    scopes: Permissions,
    level: AccessLevel,
) -> String {
    match route.dialect {
        Dialect::V1 => world.key(scopes, level, environment(route)).await,
        Dialect::Scim => resources.key(route, "").to_owned(),
    }
}

#[tokio::test]
async fn standard_key_is_refused_on_admin_routes_only() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    for route in ROUTES {
        if required_permission(route).is_none() {
            continue;
        }
        let key = sufficient_key(&world, &resources, route, sufficient_scopes(route), AccessLevel::Standard).await;
        let response = send_to_route(&world, &resources, route, &key).await;
        if is_for_admins(route) {
            assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{}", route.operation);
            let details = json!([{"required_access_level": "admin"}]);
            assert_eq!(response.json()["error"]["details"], details, "{}", route.operation);
        } else {
            assert!(!matches!(response.status, 401 | 403), "{}: {}", route.operation, response.text());
        }
    }
}

#[tokio::test]
async fn key_with_exactly_the_required_access_is_admitted() {
    for route in ROUTES {
        let world = TestApi::new().await;
        let resources = Resources::make(&world, &world.admin).await;
        resources.begin(&world, route).await;
        let scopes = sufficient_scopes(route);
        // Creating or rotating a key, or changing a provider, requires the permissions that the key or the
        // provider gives.
        let grants = ["api-keys", "portal-links", "identity-providers"]
            .iter()
            .any(|family| resources.path(route).contains(family));
        let scopes = if grants { Permissions::ALL } else { scopes };
        let level = if is_for_admins(route) { AccessLevel::Admin } else { AccessLevel::Standard };
        let key = sufficient_key(&world, &resources, route, scopes, level).await;
        let response = send_to_route(&world, &resources, route, &key).await;
        let is_write_by_token = route.access.is_public() && route.method != Method::Get;
        // The keys of this test are no sessions.
        let is_for_sessions = route.operation == "endSignIn";
        let expected_status = if is_write_by_token {
            404
        } else if is_for_sessions {
            409
        } else {
            route.status
        };
        assert_eq!(response.status, expected_status, "{}: {}", route.operation, response.text());
    }
}

#[test]
fn operation_beyond_sight_declares_the_organization() {
    let beyond_sight = |route: &&Route| {
        let scopes = [route.access.required_scope(), route.access.other_scope()];
        let erases = scopes.contains(&Some(Permission::EmployeesErase));
        let exports = scopes.contains(&Some(Permission::ExportsRead));
        erases || exports || route.path.starts_with("/retention") || route.path.starts_with("/test-data")
    };
    let routes: Vec<_> = ROUTES.iter().filter(beyond_sight).collect();
    assert!(routes.len() >= 12, "{}", routes.len());
    for route in routes {
        assert_eq!(route.access.admin_context(), Some(AdminContext::Organization), "{}", route.operation);
    }
}

/// Returns the data set whose keys the route accepts.
fn environment(route: &Route) -> Environment {
    if route.access.environment() == Some(Environment::Test) { Environment::Test } else { Environment::Live }
}

#[tokio::test]
async fn live_key_on_test_only_route_is_403() {
    let world = TestApi::new().await;
    let response = world.post("/v1/test-data/reset", json!({})).await;
    assert_eq!(response.refusal(), (403, "permission_denied".to_owned()));
    assert_eq!(response.json()["error"]["details"], json!([{"key_environment": "live"}]));
    let test_only: Vec<_> = ROUTES
        .iter()
        .filter(|route| route.access.environment() == Some(Environment::Test))
        .map(|route| route.path)
        .collect();
    assert_eq!(test_only, ["/test-data/reset"]);
}

#[tokio::test]
async fn test_key_on_live_only_route_is_403_before_scopes() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let key = world.key(Permissions::NONE, AccessLevel::Standard, Environment::Test).await;
    for route in ROUTES.iter().filter(|route| route.access.environment() == Some(Environment::Live)) {
        let response = world.bare(method(route), &resources.path(route)).key(&key).send().await;
        assert_eq!(response.refusal(), (403, "permission_denied".to_owned()), "{}", route.operation);
        let details = json!([{"key_environment": "test"}]);
        assert_eq!(response.json()["error"]["details"], details, "{}", route.operation);
    }
    let live_only: Vec<_> = ROUTES
        .iter()
        .filter(|route| route.access.environment() == Some(Environment::Live))
        .map(|route| route.path)
        .collect();
    let is_meant = |path: &&str| {
        ["/api-keys", "/connectors", "/identity-providers", "/exports", "/erasures", "/employees/{id}/erasure"]
            .iter()
            .any(|start| path.starts_with(start))
    };
    assert!(live_only.iter().all(is_meant), "{live_only:?}");
}

#[tokio::test]
async fn only_a_well_formed_header_with_a_valid_key_authenticates() {
    let world = TestApi::new().await;
    let key = world.admin.clone();
    let with = |line: String| world.bare("GET", "/v1/me").header("authorization", &line).send();
    for good in
        [format!("Bearer {key}"), format!("bearer {key}"), format!("BEARER {key}"), format!("Bearer  {key}")]
    {
        assert_eq!(with(good.clone()).await.status, 200, "{good}");
    }
    let (mut last, mut first) = (key.clone(), key.clone());
    last.replace_range(key.len() - 1.., if key.ends_with('a') { "b" } else { "a" });
    first.replace_range(0..9, "cdr_test_");
    for bad in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        key.clone(),
        format!("Basic {key}"),
        format!("Bearer{key}"),
        format!("Bearer {key} x"),
        format!("Bearer {last}"),
        format!("Bearer {first}"),
        format!("Bearer \"{key}\""),
    ] {
        assert_eq!(with(bad.clone()).await.refusal(), (401, "authentication_required".to_owned()), "{bad}");
    }
}

#[tokio::test]
async fn revoked_key_is_401_at_once_and_expired_key_at_its_time() {
    let world = TestApi::new().await;
    let creation = world
        .post(
            "/v1/api-keys",
            json!({"name": "Short", "scopes": ["events:read"], "expires_at": "2026-03-02T09:01:00Z"}),
        )
        .await
        .json();
    let (id, key) = (creation["id"].as_str().unwrap(), creation["key"].as_str().unwrap());
    assert_eq!(world.bare("GET", "/v1/me").key(key).send().await.status, 200);
    world.clock.advance_seconds(60);
    assert_eq!(world.bare("GET", "/v1/me").key(key).send().await.status, 401);
    world.clock.advance_seconds(-30);
    assert_eq!(world.post(&format!("/v1/api-keys/{id}/revoke"), json!({})).await.status, 200);
    assert_eq!(world.bare("GET", "/v1/me").key(key).send().await.status, 401);
}
