//! The keys of a deactivated person stay disabled when the person returns, until they are enabled (decision B7).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_http::table::{Method, ROUTES, Route};
use candor_service::usecases::operator;
use serde_json::{Value, json};

use crate::objectives::{self, key_for, person};
use crate::resources::{Resources, method};
use crate::stores::every_store;
use crate::support::TestApi;

/// Requests with which a person returns, and their media types.
const WAYS: [(&str, &str); 3] =
    [("reactivate", "application/json"), ("rehire", "application/json"), ("csv", "text/csv")];
const EMAIL: &str = "ada@example.com";

/// Returns the path and the secret of a new key of the person.
async fn key_of(world: &TestApi, person: &str) -> (String, String) {
    let body = json!({"name": "Own", "scopes": ["observations:read"], "employee_id": person});
    let creation = world.post("/v1/api-keys", body).await.json();
    (format!("/v1/api-keys/{}", creation["id"].as_str().unwrap()), creation["key"].as_str().unwrap().to_owned())
}

/// Returns the status of a request with this key a second later, when cached keys have expired.
async fn status_with(world: &TestApi, secret: &str) -> u16 {
    world.clock.advance_seconds(1);
    world.bare("GET", "/v1/me").key(secret).send().await.status
}

/// Deactivates the person and lets the person return.
async fn leave_and_return(world: &TestApi, person: &str, (way, media): (&str, &str)) {
    let path = format!("/v1/employees/{person}");
    assert_eq!(world.post(&format!("{path}/deactivate"), json!({})).await.status, 200);
    // Stays below the quota of uploads.
    world.clock.advance_seconds(61);
    let (back, body) = match way {
        "csv" => ("/v1/employees/csv".to_owned(), format!("email,status\n{EMAIL},active\n")),
        _ => (format!("{path}/{way}"), "{}".to_owned()),
    };
    let response = world.ask("POST", &back).header("content-type", media).body(body).send().await;
    assert_eq!(response.status, 200, "{way}: {}", response.text());
    assert!(world.get(&path).await.json()["returned_at"].is_string(), "{way}");
}

#[tokio::test]
async fn key_of_a_returned_person_is_off_until_enabled() {
    for shared in every_store().await {
        let world = &shared.world;
        let person = world.employee(EMAIL).await;
        for way in WAYS {
            let (key, secret) = key_of(world, &person).await;
            assert_eq!(status_with(world, &secret).await, 200, "{way:?}");
            leave_and_return(world, &person, way).await;
            assert_eq!(status_with(world, &secret).await, 401, "{way:?}: a key from before");
            let (_, new) = key_of(world, &person).await;
            assert_eq!(status_with(world, &new).await, 200, "{way:?}: a key from after");
            let rename_response = world.patch(&key, json!({"name": "Still off"})).await;
            assert_eq!(
                (rename_response.status, &rename_response.json()["enabled_at"]),
                (200, &Value::Null),
                "{way:?}"
            );
            assert_eq!(status_with(world, &secret).await, 401, "{way:?}: another change");
            let enable_response = world.patch(&key, json!({"enabled": true})).await;
            assert!(enable_response.json()["enabled_at"].is_string(), "{way:?}: {}", enable_response.text());
            assert_eq!(status_with(world, &secret).await, 200, "{way:?}: enabled");
        }
    }
}

#[tokio::test]
async fn key_is_enabled_only_by_a_key_with_its_access() {
    let world = TestApi::new().await;
    let person = world.employee(EMAIL).await;
    let (key, secret) = key_of(&world, &person).await;
    leave_and_return(&world, &person, WAYS[0]).await;
    let settings = Permissions::NONE.with(Permission::SettingsWrite);
    let poorer = world.key(settings, AccessLevel::Admin, Environment::Live).await;
    let enable = world.bare("PATCH", &key).key(&poorer).json(&json!({"enabled": true}));
    assert_eq!(enable.send().await.status, 403);
    assert_eq!(status_with(&world, &secret).await, 401);
    let disable_response = world.patch(&key, json!({"enabled": false})).await;
    assert_eq!(disable_response.problems(), [("enabled".to_owned(), "not_possible".to_owned())]);
}

#[tokio::test]
async fn write_that_gives_access_reads_its_caller_from_the_store() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let mut status_counts = [0; 2];
    let is_write = |route: &&Route| route.method != Method::Get && !route.access.is_public();
    for route in
        ROUTES.iter().filter(is_write).filter(|route| route.access.environment() != Some(Environment::Test))
    {
        let body = json!({"name": "Sync", "scopes": ["*"], "access_level": "admin"});
        let creation = world.post("/v1/api-keys", body).await.json();
        let (id, secret) = (creation["id"].as_str().unwrap(), creation["key"].as_str().unwrap());
        assert_eq!(world.bare("GET", "/v1/me").key(secret).send().await.status, 200);
        // Like a revocation by another process: this process still has the key in its cache.
        operator::revoke_key(&world.services, id.parse().unwrap()).await.unwrap();
        let request = world.bare(method(route), &resources.path(route)).key(secret);
        let response = resources.fill(request, route).send().await;
        let gives_access = route.access.gives_access();
        status_counts[usize::from(gives_access)] += 1;
        assert_eq!(response.status == 401, gives_access, "{}: {}", route.operation, response.text());
    }
    assert!(status_counts.iter().all(|count| *count > 10), "{status_counts:?}");
}

#[tokio::test]
async fn lost_rights_are_not_taken_back_while_they_are_cached() {
    for shared in every_store().await {
        let world = &shared.world;
        person(world, "boss", "org_admin", None).await;
        for loses in [json!(null), json!({"role": "employee"})] {
            let name = if loses.is_null() { "leaving" } else { "demoted" };
            let id = person(world, name, "org_admin", None).await;
            let own = key_for(world, &id, AccessLevel::Admin).await;
            let send = async |method: &str, path: &str, body: Value| {
                let response = world.bare(method, path).key(&own).json(&body).send().await;
                response.status
            };
            let path = format!("/v1/employees/{id}");
            assert_eq!(send("PATCH", &path, json!({"job_title": "Lead"})).await, 200, "{name}");
            let loss_status = if loses.is_null() {
                world.post(&format!("{path}/deactivate"), json!({})).await.status
            } else {
                world.patch(&path, loses.clone()).await.status
            };
            assert_eq!(loss_status, 200, "{}, {name}", shared.name);
            // The end of a person is seen at once in the process that makes the change, the loss of a role after a second.
            let read_status = if loses.is_null() { 401 } else { 200 };
            let status = world.bare("GET", &path).key(&own).send().await.status;
            assert_eq!(status, read_status, "{}, {name}", shared.name);
            let expected_status = if loses.is_null() { 401 } else { 403 };
            let key = json!({"name": "New", "scopes": ["*"], "access_level": "admin", "employee_id": id});
            for (method, path, body) in [
                ("POST", format!("{path}/reactivate"), json!({})),
                ("PATCH", path.clone(), json!({"role": "org_admin"})),
                (
                    "POST",
                    "/v1/employees".to_owned(),
                    json!({"email": "x@example.com", "first_name": "X", "last_name": "Y"}),
                ),
                ("POST", "/v1/manager-objectives".to_owned(), objectives::body("org", &id)),
            ] {
                assert_eq!(send(method, &path, body).await, expected_status, "{}, {name}: {path}", shared.name);
            }
            if loses.is_null() {
                assert_eq!(send("POST", "/v1/api-keys", key).await, expected_status, "{}", shared.name);
            }
        }
    }
}

#[tokio::test]
async fn demoted_org_admin_opens_no_observation_about_themselves() {
    for shared in every_store().await {
        let world = &shared.world;
        let boss = person(world, "boss", "org_admin", None).await;
        let admin = person(world, "subject", "org_admin", Some(&boss)).await;
        let own = key_for(world, &admin, AccessLevel::Standard).await;
        let body =
            json!({"employee_id": admin, "type": "opportunity", "observation": "Late.", "visibility": "managers"});
        let path = format!("/v1/observations/{}", world.made("/v1/observations", body).await);
        assert_eq!(world.bare("GET", &path).key(&own).send().await.status, 200, "{}", shared.name);
        let demotion = world.patch(&format!("/v1/employees/{admin}"), json!({"role": "employee"})).await;
        assert_eq!(demotion.status, 200, "{}", shared.name);
        let open = world.bare("PATCH", &path).key(&own).json(&json!({"visibility": "person"})).send().await;
        assert_eq!(open.status, 404, "{}: {}", shared.name, open.text());
    }
}

#[tokio::test]
async fn writes_of_a_provider_read_its_key_from_the_store() {
    let world = TestApi::new().await;
    let connector = world.post("/v1/connectors", json!({"type": "scim", "hris_source": "okta"})).await.json();
    let body = json!({"name": "Okta", "scopes": ["scim"], "connector_id": connector["id"]});
    let creation = world.post("/v1/api-keys", body).await.json();
    let (id, secret) = (creation["id"].as_str().unwrap(), creation["key"].as_str().unwrap());
    assert_eq!(world.bare("GET", "/scim/v2/Users").key(secret).send().await.status, 200);
    // Like a revocation by another process: this process still has the key in its cache.
    operator::revoke_key(&world.services, id.parse().unwrap()).await.unwrap();
    for (method, path) in [
        ("POST", "/scim/v2/Users"),
        ("PUT", "/scim/v2/Users/emp_00000000000000000000000000"),
        ("PATCH", "/scim/v2/Users/emp_00000000000000000000000000"),
        ("DELETE", "/scim/v2/Users/emp_00000000000000000000000000"),
    ] {
        let response =
            world.bare(method, path).key(secret).json(&json!({"userName": "ada@example.com"})).send().await;
        assert_eq!(response.status, 401, "{method}: {}", response.text());
    }
}
