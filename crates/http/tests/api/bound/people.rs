//! Writes to people with a bound key, which succeed only if its person is an org admin (decision B5).

use candor_domain::access::{AccessLevel, Environment, Permission, Permissions};
use serde_json::{Value, json};

use super::{BoundPeople, assert_denied};
use crate::objectives::{key_for, person};
use crate::stores::every_store;
use crate::support::{TestApi, TestResponse};

/// A request: method, path below `/v1/employees`, and body as JSON or as the text of a CSV file.
type PeopleWrite = (&'static str, String, Value);

const FILE: &str = "email,first_name,last_name,role,manager_email\n";

async fn send(world: &TestApi, key: &str, (method, path, body): &PeopleWrite) -> TestResponse {
    let request = world.bare(method, &format!("/v1/employees{path}")).key(key);
    if let Value::String(file) = body {
        return request.header("content-type", "text/csv").body(file.clone()).send().await;
    }
    request.json(body).send().await
}

/// Returns every write to people, in an order in which all of them succeed.
fn writes(cast: &BoundPeople, pending: &str, mark: &str) -> Vec<PeopleWrite> {
    let BoundPeople { joe, report, other, member, .. } = cast;
    let new = |name: &str| json!({"email": format!("{name}{mark}@x.io"), "first_name": name, "last_name": "X"});
    let file = format!("{FILE}file{mark}@x.io,File,X,employee,\nreport@example.com,Re{mark},,,\n");
    vec![
        ("POST", String::new(), new("new")),
        ("PATCH", format!("/{joe}"), json!({"first_name": format!("Joe{mark}")})),
        ("PATCH", format!("/{other}"), json!({"role": "manager", "job_title": mark})),
        ("PATCH", format!("/{member}"), json!({"manager_id": joe})),
        ("PATCH", format!("/{member}"), json!({"manager_id": other})),
        ("POST", format!("/{report}/deactivate"), json!({})),
        ("POST", format!("/{report}/reactivate"), json!({})),
        ("POST", format!("/{member}/deactivate"), json!({})),
        ("POST", format!("/{member}/rehire"), json!({"custom_fields": {"mark": mark}})),
        ("POST", format!("/{pending}/invite"), json!({})),
        ("POST", "/csv?dry_run=true".to_owned(), json!(file)),
        ("POST", "/csv".to_owned(), json!(file)),
    ]
}

async fn invite_person(world: &TestApi) -> String {
    let body = json!({"email": "pending@x.io", "first_name": "P", "last_name": "X", "send_invite": true});
    world.made("/v1/employees", body).await
}

#[tokio::test]
async fn bound_key_without_role_writes_no_people() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let pending = invite_person(world).await;
        let everybody = async || world.get("/v1/employees?limit=100&filter[status]=all").await.json();
        let people_before = everybody().await;
        for (person, level) in
            [(&cast.joe, AccessLevel::Standard), (&cast.joe, AccessLevel::Admin), (&cast.top, AccessLevel::Admin)]
        {
            let key = key_for(world, person, level).await;
            for asked in writes(&cast, &pending, "1") {
                assert_denied(&send(world, &key, &asked).await, &format!("{} {level:?} {asked:?}", shared.name));
            }
            // A missing resource and invalid fields are reported before the missing permission (decision A13).
            let absent = ("PATCH", "/emp_00000000000000000000000001".to_owned(), json!({"first_name": "A"}));
            assert_eq!(send(world, &key, &absent).await.status, 404, "{}", shared.name);
            for wrong in [
                ("POST", String::new(), json!({"email": "no"})),
                ("PATCH", format!("/{}", cast.joe), json!({"first_name": ""})),
                ("POST", "/csv".to_owned(), json!("first_name\nA\n")),
            ] {
                assert_eq!(send(world, &key, &wrong).await.status, 400, "{} {wrong:?}", shared.name);
            }
            assert_eq!(world.bare("GET", "/v1/employees").key(&key).send().await.status, 200, "{}", shared.name);
        }
        assert_eq!(everybody().await, people_before, "{}", shared.name);
    }
}

#[tokio::test]
async fn organization_keys_and_org_admins_write_people() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let pending = invite_person(world).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let bound_key = key_for(world, &admin, AccessLevel::Standard).await;
        let scope = world.scoped(&[Permission::EmployeesWrite]).await;
        for (mark, key) in [("1", bound_key), ("2", scope)] {
            for asked in writes(&cast, &pending, mark) {
                let response = send(world, &key, &asked).await;
                assert!(matches!(response.status, 200 | 201), "{} {asked:?}: {}", shared.name, response.text());
                if let Value::String(_) = asked.2 {
                    assert_eq!(response.json()["data"]["errors"], json!([]), "{}", shared.name);
                }
            }
        }
    }
}

#[tokio::test]
async fn dry_run_shows_stored_values_with_the_read_scope() {
    for shared in every_store().await {
        let world = &shared.world;
        let cast = BoundPeople::gather(world).await;
        let file = format!("{FILE}joe@example.com,Joseph,,,other@example.com\n");
        let upload_request: PeopleWrite = ("POST", "/csv?dry_run=true".to_owned(), json!(file));
        let writer = world.scoped(&[Permission::EmployeesWrite]).await;
        let reader = world.scoped(&[Permission::EmployeesWrite, Permission::EmployeesRead]).await;
        let changes =
            async |key: &str| send(world, key, &upload_request).await.json()["plan"][0]["changes"].clone();
        assert_eq!(
            changes(&reader).await,
            json!({"first_name": {"from": "joe", "to": "Joseph"},
                   "manager_email": {"from": "top@example.com", "to": "other@example.com"}}),
            "{}",
            shared.name
        );
        let blind = changes(&writer).await;
        let expected_changes =
            json!({"first_name": {"to": "Joseph"}, "manager_email": {"to": "other@example.com"}});
        assert_eq!(blind, expected_changes, "{}", shared.name);
        // The answer to a write shows the resource even to a key that may not read it (decision B3).
        let patch_request = ("PATCH", format!("/{}", cast.joe), json!({"first_name": "Joe"}));
        assert_eq!(send(world, &writer, &patch_request).await.json()["last_name"], "Example", "{}", shared.name);
    }
}

#[tokio::test]
async fn role_opens_no_keys_and_settings_and_is_given_by_admins() {
    for shared in every_store().await {
        let world = &shared.world;
        let joe = person(world, "joe", "employee", None).await;
        let bound_key = key_for(world, &joe, AccessLevel::Standard).await;
        let standard = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        let lift = ("PATCH", format!("/{joe}"), json!({"role": "org_admin"}));
        assert_eq!(send(world, &standard, &lift).await.status, 403, "{}", shared.name);
        assert_eq!(send(world, &world.admin, &lift).await.status, 200, "{}", shared.name);
        world.clock.advance_seconds(2);
        for (method, path, body) in [
            ("GET", "/v1/api-keys", json!({})),
            ("POST", "/v1/api-keys", json!({"name": "Risen", "scopes": ["*"], "access_level": "admin"})),
            ("POST", "/v1/api-keys", json!({"name": "Own", "scopes": ["*"], "employee_id": joe})),
            ("POST", "/v1/connectors", json!({"type": "csv_feed", "hris_source": "acme"})),
            ("PATCH", "/v1/organization", json!({"objective_review": "required"})),
        ] {
            let response = world.bare(method, path).key(&bound_key).json(&body).send().await;
            assert_denied(&response, &format!("{} {method} {path}", shared.name));
        }
        let creation =
            world.bare("POST", "/v1/departments").key(&bound_key).json(&json!({"name": "Care"})).send().await;
        assert_eq!(creation.status, 201, "{}: the role allows changes of data", shared.name);
    }
}
