//! Restrictions of bound keys: no feed, no webhooks, only their own notifications, and replays only of requests
//! of keys that are bound to the same person.

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use candor_http::table::ROUTES;
use serde_json::{Value, json};

use super::{BoundPeople, assert_denied, assert_refused};
use crate::bearer_tokens::{TokenStage, token};
use crate::objectives::{body, key_for, objective, person};
use crate::resources::{Resources, method};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

#[tokio::test]
async fn routes_without_visibility_refuse_bound_keys() {
    let world = TestApi::new().await;
    let resources = Resources::make(&world, &world.admin).await;
    let (joe, admin) =
        (person(&world, "joe", "manager", None).await, person(&world, "boss", "org_admin", None).await);
    let closed_routes: Vec<_> = ROUTES.iter().filter(|route| route.access.needs_full_sight()).collect();
    for route in ROUTES {
        let shows = ["/events", "/webhooks", "/deliveries", "/audit-log", "/connectors/{id}/"]
            .iter()
            .any(|path| route.path.starts_with(path));
        // These routes change settings that decide which data people see and who approves.
        let decides = ["updateOrganization", "createConnector", "updateConnector"].contains(&route.operation);
        assert_eq!(route.access.needs_full_sight(), shows || decides, "{}", route.operation);
    }
    let stage = TokenStage::begin_unlinked(&world, json!({"scopes": ["*"]})).await;
    stage.link(&world, &joe, &joe).await;
    let mut keys = vec![token(&world, json!({"sub": joe}))];
    for level in [AccessLevel::Standard, AccessLevel::Admin] {
        keys.push(key_for(&world, &joe, level).await);
    }
    for key in keys {
        for route in &closed_routes {
            let request = world.bare(method(route), &resources.path(route)).key(&key);
            let response = resources.fill(request, route).send().await;
            assert_denied(&response, &format!("{} {key}", route.operation));
        }
    }
    let key = key_for(&world, &admin, AccessLevel::Admin).await;
    for route in closed_routes {
        let request = world.bare(method(route), &resources.path(route)).key(&key);
        let request = resources.fill(request, route).send().await;
        assert_ne!(request.status, 403, "{}: {}", route.operation, request.text());
    }
}

fn recipients(answered: &TestResponse) -> Vec<String> {
    let data = answered.json()["data"].clone();
    data.as_array().unwrap().iter().map(|item| item["recipient_id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn bound_key_reads_notifications_of_its_person_only() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        for owner in [&cast.joe, &cast.other, &cast.report] {
            let path = objective(world, ("employee-objectives", "employee"), owner).await;
            assert_eq!(world.post(&format!("{path}/approve"), json!({})).await.status, 200);
        }
        let list = async |key: &str, query: &str| {
            recipients(&world.bare("GET", &format!("/v1/notifications{query}")).key(key).send().await)
        };
        assert_eq!(list(&world.admin, "").await.len(), 3, "{}", shared.name);
        let query_of = |person: &str| format!("?filter[recipient_id]={person}");
        assert_eq!(list(&cast.key, "").await, [&*cast.joe], "{}", shared.name);
        assert_eq!(list(&cast.key, &query_of(&cast.joe)).await, [&*cast.joe], "{}", shared.name);
        for other in [&cast.other, &cast.report] {
            assert!(list(&cast.key, &query_of(other)).await.is_empty(), "{}", shared.name);
            let path = query_of(other);
            let page = world.get(&format!("/v1/notifications{path}")).await.json();
            let path = format!("/v1/notifications/{}/read", page["data"][0]["id"].as_str().unwrap());
            let read = world.bare("POST", &path).key(&cast.key).send().await;
            let absent = "/v1/notifications/ntf_00000000000000000000000001/read";
            let absent = world.bare("POST", absent).key(&cast.key).send().await;
            assert_eq!(
                (read.status, read.without_request_id()),
                (404, absent.without_request_id()),
                "{}",
                shared.name
            );
        }
        let all = async |key: &str, whose: &str| {
            let request = world.bare("POST", "/v1/notifications/read_all").key(key);
            request.json(&json!({"recipient_id": whose})).send().await
        };
        for whose in [&cast.other, &cast.report, "emp_00000000000000000000000001", "nonsense"] {
            assert_refused(&all(&cast.key, whose).await, whose);
        }
        let unread = async || world.get("/v1/notifications?filter[unread]=true").await;
        assert_eq!(recipients(&unread().await).len(), 3, "{}", shared.name);
        let admin = person(world, "admin", "org_admin", None).await;
        let admin = key_for(world, &admin, AccessLevel::Admin).await;
        assert!(
            list(&admin, "").await.is_empty(),
            "{}: an org admin does not see notifications of other people",
            shared.name
        );
        assert_refused(&all(&admin, &cast.joe).await, shared.name);
        let request = world.bare("POST", "/v1/notifications/read_all").key(&cast.key);
        let read = request.json(&json!({})).send().await;
        assert_eq!((read.status, &read.json()["recipient_id"]), (200, &json!(cast.joe)), "{}", shared.name);
        assert_eq!(recipients(&unread().await).len(), 2, "{}", shared.name);
    }
}

async fn send_once(world: &TestApi, key: &str, path: &str, mark: &str, body: &Value) -> TestResponse {
    let request = world.bare("POST", path).key(key).header("idempotency-key", mark);
    request.json(body).send().await
}

fn assert_conflict(answered: &TestResponse, mark: &str, what: &str) {
    assert_eq!(answered.refusal(), (409, "idempotency_conflict".to_owned()), "{what}");
    assert_eq!(answered.json()["error"]["details"], json!([{"idempotency_key": mark}]), "{what}");
}

fn assert_same(again: &TestResponse, first: &TestResponse, what: &str) {
    assert_eq!((again.status, &again.body), (first.status, &first.body), "{what}");
    assert_eq!(again.header("idempotent-replayed"), Some("true"), "{what}");
}

#[tokio::test]
async fn other_key_gets_409_for_a_stored_secret() {
    for shared in every_store().await {
        let world = &shared.world;
        let body = json!({"name": "Made", "scopes": ["*"], "access_level": "admin"});
        let first = send_once(world, &world.admin, "/v1/api-keys", "mk-1", &body).await;
        assert_eq!(first.status, 201, "{}", first.text());
        assert_same(&send_once(world, &world.admin, "/v1/api-keys", "mk-1", &body).await, &first, shared.name);
        let settings = Permissions::NONE.with(Permission::SettingsWrite);
        let as_much = world.key(Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
        let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        let fewer = world.key(settings, AccessLevel::Admin, Environment::Live).await;
        let joe = person(world, "joe", "employee", None).await;
        let bound_key = key_for(world, &joe, AccessLevel::Admin).await;
        for key in [as_much, standard, fewer, bound_key] {
            assert_conflict(&send_once(world, &key, "/v1/api-keys", "mk-1", &body).await, "mk-1", shared.name);
        }
    }
}

#[tokio::test]
async fn bound_key_gets_409_for_an_objective_stored_for_another_key() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let unbound = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        let (hidden, seen) = (body("employee", &cast.other), body("employee", &cast.joe));
        let path = "/v1/employee-objectives";
        let first = send_once(world, &unbound, path, "o-1", &hidden).await;
        assert_eq!(first.status, 201, "{}", first.text());
        assert_conflict(&send_once(world, &cast.key, path, "o-1", &hidden).await, "o-1", shared.name);
        assert_same(&send_once(world, &world.admin, path, "o-1", &hidden).await, &first, shared.name);
        let submit = format!("{path}/{}/submit", first.json()["id"].as_str().unwrap());
        let submission = send_once(world, &unbound, &submit, "o-2", &json!({})).await;
        assert_eq!(submission.status, 200, "{}", submission.text());
        assert_conflict(&send_once(world, &cast.key, &submit, "o-2", &json!({})).await, "o-2", shared.name);
        // The replay of a request of Joe's key goes to keys bound to Joe and to keys with access to all data.
        let own = send_once(world, &cast.key, path, "o-3", &seen).await;
        assert_eq!(own.status, 201, "{}", own.text());
        for key in [&cast.key, &key_for(world, &cast.joe, AccessLevel::Standard).await, &unbound] {
            assert_same(&send_once(world, key, path, "o-3", &seen).await, &own, shared.name);
        }
        let top = key_for(world, &cast.top, AccessLevel::Standard).await;
        assert_conflict(&send_once(world, &top, path, "o-3", &seen).await, "o-3", shared.name);
    }
}

#[tokio::test]
async fn standard_key_gets_409_for_a_stored_invitation_link() {
    for shared in every_store().await {
        let world = &shared.world;
        let pending = json!({"email": "new@example.com", "first_name": "New", "last_name": "Person",
                             "send_invite": true});
        let path = format!("/v1/employees/{}/invite", world.made("/v1/employees", pending).await);
        let first = send_once(world, &world.admin, &path, "i-1", &json!({})).await;
        assert!(first.json()["accept_url"].is_string(), "{}", first.text());
        let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        assert_conflict(&send_once(world, &standard, &path, "i-1", &json!({})).await, "i-1", shared.name);
        assert_same(&send_once(world, &world.admin, &path, "i-1", &json!({})).await, &first, shared.name);
    }
}

#[tokio::test]
async fn rotated_key_gets_its_replays_and_a_narrowed_key_none() {
    let world = TestApi::new().await;
    let creation =
        world.post("/v1/api-keys", json!({"name": "HR", "scopes": ["employees:write", "events:read"]})).await;
    let (id, key) =
        (creation.json()["id"].as_str().unwrap().to_owned(), creation.json()["key"].as_str().unwrap().to_owned());
    let body = json!({"email": "new@example.com", "first_name": "New", "last_name": "Person"});
    let first = send_once(&world, &key, "/v1/employees", "e-1", &body).await;
    assert_eq!(first.status, 201, "{}", first.text());
    let rotation = world.post(&format!("/v1/api-keys/{id}/rotate"), json!({})).await.json();
    let new_secret = rotation["key"].as_str().unwrap();
    assert_same(&send_once(&world, new_secret, "/v1/employees", "e-1", &body).await, &first, "rotated");
    let narrowing = world.patch(&format!("/v1/api-keys/{id}"), json!({"scopes": ["employees:write"]})).await;
    assert_eq!(narrowing.status, 200, "{}", narrowing.text());
    // A replay needs all scopes that the key had when it sent the request: here `events:read` is missing.
    let reply_to_narrowed_key = send_once(&world, new_secret, "/v1/employees", "e-1", &body).await;
    assert_conflict(&reply_to_narrowed_key, "e-1", "the key with fewer permissions than before");
    let other = world.scoped(&[Permission::EmployeesWrite]).await;
    assert_conflict(
        &send_once(&world, &other, "/v1/employees", "e-1", &body).await,
        "e-1",
        "a key with fewer permissions",
    );
}

#[tokio::test]
async fn standard_key_during_an_upload_gets_409_or_is_first() {
    for shared in every_store().await {
        let world = &shared.world;
        let rows: String = (0..300).map(|number| format!("p{number}@example.com,P,{number}\n")).collect();
        let file = format!("email,first_name,last_name\n{rows}");
        let upload = |key: String| {
            let request = world.bare("POST", "/v1/employees/csv").key(&key).header("content-type", "text/csv");
            request.header("idempotency-key", "file").body(file.clone()).send()
        };
        let standard = world.scoped(&[Permission::EmployeesWrite]).await;
        let (admin, standard) = futures_util::future::join(upload(world.admin.clone()), upload(standard)).await;
        assert_eq!(admin.status, 200, "{}: {}", shared.name, admin.text());
        // If the standard key commits first, the admin key gets the replay, because its permissions include
        // those of the standard key.
        if standard.status == 200 {
            assert_eq!(admin.text(), standard.text(), "{}", shared.name);
        } else {
            assert_conflict(&standard, "file", shared.name);
        }
    }
}
