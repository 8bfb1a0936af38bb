//! Level and role are independent. The level of a key grants access to keys and settings, the role of its person
//! grants access to data (decisions B5, B7).

use candor_domain::access::{AccessLevel, AdminContext, Environment};
use candor_http::table::ROUTES;
use serde_json::{Value, json};

use super::{assert_denied, assert_refused};
use crate::bearer_tokens::{TokenStage, token};
use crate::objectives::{key_for, person};
use crate::resources::{Resources, method};
use crate::stores::every_store;
use crate::support::{START, TestApi, TestResponse};

#[tokio::test]
async fn admin_route_requires_its_own_context_of_a_bound_key() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let employee = person(&world, "joe", "manager", None).await;
    let admin = person(&world, "boss", "org_admin", None).await;
    let mut status_counts = [0; 4];
    let stage = TokenStage::begin_unlinked(&world, json!({"scopes": ["*"]})).await;
    let mut callers = vec![];
    for person in [&employee, &admin] {
        for level in [AccessLevel::Standard, AccessLevel::Admin] {
            callers.push((person, level, key_for(&world, person, level).await));
        }
        stage.link(&world, person, person).await;
        callers.push((person, AccessLevel::Standard, token(&world, json!({"sub": person}))));
    }
    for (bound_to, level, key) in callers {
        for route in ROUTES.iter().filter(|route| route.access.environment() != Some(Environment::Test)) {
            let Some(context) = route.access.admin_context() else { continue };
            let opens = match context {
                AdminContext::Settings if route.access.needs_full_sight() => {
                    level == AccessLevel::Admin && bound_to == &admin
                }
                AdminContext::Settings => level == AccessLevel::Admin,
                AdminContext::Data | AdminContext::People => bound_to == &admin,
                AdminContext::Organization => false,
            };
            status_counts[context as usize] += 1;
            let request = world.bare(method(route), &resources.path(route)).key(&key);
            let response = resources.fill(request, route).send().await;
            let what = format!("{} {level:?} {opens}", route.operation);
            if opens {
                // A 403 to a key with sufficient access has another cause and therefore no details.
                let is_refused = response.status == 403;
                let has_details = is_refused && response.json()["error"].get("details").is_some();
                assert!(!has_details, "{what}: {}", response.text());
                assert!(!is_refused || route.path.starts_with("/api-keys"), "{what}: {}", response.text());
            } else {
                assert_denied(&response, &what);
            }
        }
    }
    assert!(status_counts.iter().all(|count| *count > 0), "{status_counts:?}");
}

async fn ask(world: &TestApi, key: &str, method: &str, path: &str, body: Value) -> TestResponse {
    world.bare(method, &format!("/v1/api-keys{path}")).key(key).json(&body).send().await
}

async fn create_key(world: &TestApi, body: Value) -> String {
    world.made("/v1/api-keys", body).await
}

#[tokio::test]
async fn bound_admin_level_key_manages_keys_of_its_person() {
    for shared in every_store().await {
        let world = &shared.world;
        let (joe, eve) =
            (person(world, "joe", "employee", None).await, person(world, "eve", "manager", None).await);
        let admin = person(world, "boss", "org_admin", None).await;
        for own in [&joe, &admin] {
            let key = key_for(world, own, AccessLevel::Admin).await;
            let new =
                |employee: Value| json!({"name": "New", "scopes": ["employees:read"], "employee_id": employee});
            let keys = [create_key(world, new(json!(eve))).await, create_key(world, new(Value::Null)).await];
            for (employee, id) in [(json!(eve), &keys[0]), (Value::Null, &keys[1])] {
                let what = format!("{} {own} {employee}", shared.name);
                assert_refused(&ask(world, &key, "POST", "", new(employee)).await, &what);
                let (path, patch) = (format!("/{id}"), json!({"name": "Mine"}));
                assert_refused(&ask(world, &key, "PATCH", &path, patch).await, &what);
                assert_refused(&ask(world, &key, "POST", &format!("{path}/rotate"), json!({})).await, &what);
                assert_eq!(
                    ask(world, &key, "POST", &format!("{path}/revoke"), json!({})).await.status,
                    200,
                    "{what}"
                );
            }
            let mut own_admin = new(json!(own));
            own_admin["access_level"] = json!("admin");
            for body in [new(json!(own)), own_admin] {
                let response = ask(world, &key, "POST", "", body).await;
                assert_eq!(response.status, 201, "{}: {}", shared.name, response.text());
                let path = format!("/{}", response.json()["id"].as_str().unwrap());
                let rename_response = ask(world, &key, "PATCH", &path, json!({"name": "Renamed"})).await;
                assert_eq!(rename_response.status, 200, "{}: {}", shared.name, rename_response.text());
                let rotate_response = ask(world, &key, "POST", &format!("{path}/rotate"), json!({})).await;
                assert_eq!(rotate_response.status, 200, "{}: {}", shared.name, rotate_response.text());
            }
        }
    }
}

#[tokio::test]
async fn secret_of_an_organization_key_is_not_replayed_to_a_bound_key() {
    for shared in every_store().await {
        let world = &shared.world;
        let admin = person(world, "boss", "org_admin", None).await;
        let bound_key = key_for(world, &admin, AccessLevel::Admin).await;
        let body = json!({"name": "Made", "scopes": ["*"], "access_level": "admin"});
        let send = async |key: &str| {
            let request = world.bare("POST", "/v1/api-keys").key(key).header("idempotency-key", "k-1");
            request.json(&body).send().await
        };
        assert_eq!(send(&world.admin).await.status, 201, "{}", shared.name);
        assert_eq!(send(&bound_key).await.refusal(), (409, "idempotency_conflict".to_owned()), "{}", shared.name);
    }
}

#[tokio::test]
async fn response_is_not_replayed_to_a_key_that_ends_earlier() {
    for shared in every_store().await {
        let world = &shared.world;
        let key_until = async |end: Option<i64>| {
            let end = end.map(|seconds| START.plus_seconds(seconds));
            let body = json!({"name": "Sync", "scopes": ["*"], "access_level": "admin", "expires_at": end});
            let creation = world.post("/v1/api-keys", body).await;
            creation.json()["key"].as_str().unwrap().to_owned()
        };
        let send = async |key: &str, idempotency: &str| {
            let request = world.bare("POST", "/v1/departments").key(key).header("idempotency-key", idempotency);
            let response = request.json(&json!({"name": format!("Made {idempotency}")})).send().await;
            (response.status, response.header("idempotent-replayed").is_some())
        };
        let (endless, long) = (key_until(None).await, key_until(Some(7200)).await);
        let (same, short) = (key_until(Some(7200)).await, key_until(Some(3600)).await);
        assert_eq!(send(&endless, "k-1").await, (201, false), "{}", shared.name);
        assert_eq!(send(&long, "k-1").await, (409, false), "{}", shared.name);
        assert_eq!(send(&world.admin, "k-1").await, (201, true), "{}", shared.name);
        let keys = [(&long, (201, false)), (&same, (201, true)), (&short, (409, false)), (&endless, (201, true))];
        for (key, expected) in keys {
            assert_eq!(send(key, "k-2").await, expected, "{}", shared.name);
        }
    }
}

#[tokio::test]
async fn upload_for_a_connector_needs_level_and_role() {
    for shared in every_store().await {
        let world = &shared.world;
        let (joe, admin) =
            (person(world, "joe", "employee", None).await, person(world, "boss", "org_admin", None).await);
        let connector = world.made("/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})).await;
        let path = format!("/v1/employees/csv?connector_id={connector}");
        for (person, level, wanted) in [
            (&joe, AccessLevel::Admin, 403),
            (&admin, AccessLevel::Standard, 403),
            (&admin, AccessLevel::Admin, 200),
        ] {
            let request = world.bare("POST", &path).key(&key_for(world, person, level).await);
            let file = "email,first_name,last_name\nnew@example.com,New,Person\n";
            let response = request.header("content-type", "text/csv").body(file).send().await;
            assert_eq!(response.status, wanted, "{} {level:?}: {}", shared.name, response.text());
        }
    }
}

#[tokio::test]
async fn key_of_a_person_learns_the_names_of_person_and_manager() {
    for shared in every_store().await {
        let (world, store) = (&shared.world, shared.name);
        let top = person(world, "Top", "manager", None).await;
        let joe = person(world, "Joe", "employee", Some(&top)).await;
        for (bound_to, expected_names) in
            [(&joe, json!(["Joe Example", top, "Top Example"])), (&top, json!(["Top Example", null, null]))]
        {
            let key = key_for(world, bound_to, AccessLevel::Standard).await;
            let me = world.bare("GET", "/v1/me").key(&key).send().await.json();
            let names = json!([me["employee_name"], me["manager_id"], me["manager_name"]]);
            assert_eq!((&me["employee_id"], names), (&json!(bound_to), expected_names), "{store}");
        }
    }
}
