//! Access of bound keys to objectives (§2.2, decision B5).

use candor_domain::access::{AccessLevel, Environment, Permissions};
use serde_json::json;

use super::{KINDS, body, ids, key_for, objective, person, walk};
use crate::stores::{SharedService, every_store};
use crate::support::{TestApi, TestResponse};

const ABSENT: &str = "obj_00000000000000000000000001";

/// Expected access of a caller to the objectives of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ExpectedAccess {
    Nothing,
    Read,
    Write,
}

/// Test people: the reporting line top → boss → owner, a peer of the owner, and outsiders.
struct ObjectivePeople {
    owner: String,
    admin: String,
    /// Name, key, access to the owner's objectives, and access to the organization's.
    callers: Vec<(&'static str, String, ExpectedAccess, ExpectedAccess)>,
}

impl ObjectivePeople {
    async fn gather(world: &TestApi) -> Self {
        let top = person(world, "top", "manager", None).await;
        let boss = person(world, "boss", "manager", Some(&top)).await;
        let owner = person(world, "owner", "manager", Some(&boss)).await;
        let peer = person(world, "peer", "manager", Some(&boss)).await;
        let report = person(world, "below", "employee", Some(&owner)).await;
        let stranger = person(world, "stranger", "manager", None).await;
        let admin = person(world, "admin", "org_admin", None).await;
        let mut callers = vec![];
        for (name, id, own, org) in [
            ("owner", &owner, ExpectedAccess::Write, ExpectedAccess::Read),
            ("the owner's manager", &boss, ExpectedAccess::Write, ExpectedAccess::Read),
            ("the manager above", &top, ExpectedAccess::Write, ExpectedAccess::Read),
            ("a peer", &peer, ExpectedAccess::Nothing, ExpectedAccess::Read),
            ("a report", &report, ExpectedAccess::Nothing, ExpectedAccess::Read),
            ("a stranger", &stranger, ExpectedAccess::Nothing, ExpectedAccess::Read),
            ("an org admin", &admin, ExpectedAccess::Write, ExpectedAccess::Write),
        ] {
            callers.push((name, key_for(world, id, AccessLevel::Standard).await, own, org));
        }
        let admin_key = key_for(world, &stranger, AccessLevel::Admin).await;
        callers.push((
            "a stranger with an admin-level key",
            admin_key,
            ExpectedAccess::Nothing,
            ExpectedAccess::Read,
        ));
        let key = world.key(Permissions::ALL, AccessLevel::Standard, Environment::Live).await;
        callers.push(("the organization", key, ExpectedAccess::Write, ExpectedAccess::Read));
        callers.push((
            "the organization's admins",
            world.admin.clone(),
            ExpectedAccess::Write,
            ExpectedAccess::Write,
        ));
        Self { owner, admin, callers }
    }
}

async fn send(
    world: &TestApi,
    key: &str,
    method: &str,
    path: &str,
    body: Option<serde_json::Value>,
) -> TestResponse {
    let request = world.bare(method, path).key(key);
    match body {
        Some(body) => request.json(&body).send().await,
        None => request.send().await,
    }
}

/// Tries every request of a caller on an objective. Each change is tried on a new objective.
async fn assert_access(
    shared: &SharedService,
    cast: &ObjectivePeople,
    kind: (&str, &str),
    caller: &(&str, String, ExpectedAccess, ExpectedAccess),
) {
    let (name, key, own, org) = caller;
    let (world, case) = (&shared.world, format!("{}: {name} × {kind:?}", shared.name));
    let (owner, may) = if kind.1 == "org" { (&cast.admin, *org) } else { (&cast.owner, *own) };
    let path = objective(world, kind, owner).await;
    let absent = format!("/v1/{}/{ABSENT}", kind.0);
    let nothing = send(world, key, "GET", &absent, None).await.without_request_id();
    for suffix in ["", "?expand=owner", "/history"] {
        let response = send(world, key, "GET", &format!("{path}{suffix}"), None).await;
        assert_eq!(response.status, if may == ExpectedAccess::Nothing { 404 } else { 200 }, "{case}{suffix}");
        if may == ExpectedAccess::Nothing {
            assert_eq!(response.without_request_id(), nothing, "{case}{suffix}: answered like an absent one");
        }
    }
    let id = path.rsplit('/').next().unwrap().to_owned();
    for filter in ["", "&filter[status]=proposed", &format!("&filter[owner_id]={owner}"), "&sort=created_at"] {
        let rows = walk(world, key, &format!("/v1/{}?limit=7{filter}", kind.0)).await;
        assert_eq!(ids(&rows).contains(&id), may != ExpectedAccess::Nothing, "{case}: list {filter}");
    }
    let refusal_status = match may {
        ExpectedAccess::Nothing => Some(404),
        ExpectedAccess::Read => Some(403),
        ExpectedAccess::Write => None,
    };
    for (method, path, body) in [
        ("PATCH", path.clone(), json!({"title": "Changed"})),
        ("POST", format!("{path}/submit"), json!({})),
        ("POST", format!("{path}/reject"), json!({"reason": "Too vague"})),
        ("POST", format!("{path}/approve"), json!({})),
        ("PATCH", path.clone(), json!({"status": "in_progress"})),
        ("POST", format!("{path}/complete"), json!({})),
        ("POST", format!("{path}/archive"), json!({})),
    ] {
        let response = send(world, key, method, &path, Some(body)).await;
        assert_eq!(response.status, refusal_status.unwrap_or(200), "{case}: {method} {path}: {}", response.text());
    }
    let creation = send(world, key, "POST", &format!("/v1/{}", kind.0), Some(body(kind.1, owner))).await;
    let expected_status = if may == ExpectedAccess::Write { 201 } else { 403 };
    assert_eq!(creation.status, expected_status, "{case}: {}", creation.text());
}

#[tokio::test]
async fn objective_access_follows_the_callers_relation() {
    for shared in every_store().await {
        let cast = ObjectivePeople::gather(&shared.world).await;
        for kind in KINDS {
            for caller in &cast.callers {
                assert_access(&shared, &cast, kind, caller).await;
            }
        }
    }
}

#[tokio::test]
async fn objective_list_shows_visible_rows_once_in_order() {
    for it in every_store().await {
        let world = &it.world;
        let cast = ObjectivePeople::gather(world).await;
        let people = walk(world, &world.admin, "/v1/employees?limit=50").await;
        for (number, person) in people.iter().enumerate() {
            for kind in [KINDS[0], KINDS[1]] {
                let mut body = body(kind.1, person["id"].as_str().unwrap());
                body["period_end"] = json!(format!("2026-07-{:02}", 10 + number % 3));
                super::create_objective(world, kind, body).await;
            }
        }
        objective(world, KINDS[2], &cast.admin).await;
        for (name, key, own, _) in &cast.callers {
            for resource in ["employee-objectives", "manager-objectives"] {
                let all = walk(world, &world.admin, &format!("/v1/{resource}?limit=100")).await;
                let mut visible_rows = vec![];
                for it in &all {
                    let path = format!("/v1/{resource}/{}", it["id"].as_str().unwrap());
                    if send(world, key, "GET", &path, None).await.status == 200 {
                        visible_rows.push(it.clone());
                    }
                }
                let rows = walk(world, key, &format!("/v1/{resource}?limit=2")).await;
                assert_eq!(rows, visible_rows, "{}: {name} {resource}", it.name);
                assert!(*own == ExpectedAccess::Nothing || !rows.is_empty());
            }
        }
    }
}

#[tokio::test]
async fn objective_visibility_follows_reporting_line_changes() {
    for shared in every_store().await {
        let world = &shared.world;
        let (old, new) =
            (person(world, "old", "manager", None).await, person(world, "new", "manager", None).await);
        let middle = person(world, "middle", "manager", Some(&old)).await;
        let owner = person(world, "owner", "employee", Some(&middle)).await;
        let path = objective(world, KINDS[0], &owner).await;
        let (before, after) =
            (key_for(world, &old, AccessLevel::Standard).await, key_for(world, &new, AccessLevel::Standard).await);
        let status_for = async |key: &str| send(world, key, "GET", &path, None).await.status;
        assert_eq!((status_for(&before).await, status_for(&after).await), (200, 404), "{}", shared.name);
        world.patch(&format!("/v1/employees/{middle}"), json!({"manager_id": new})).await;
        assert_eq!((status_for(&before).await, status_for(&after).await), (404, 200), "{}", shared.name);
        world.post(&format!("/v1/employees/{middle}/deactivate"), json!({})).await;
        assert_eq!(status_for(&after).await, 200, "{}: a deactivated manager is still in the line", shared.name);
        world.post(&format!("/v1/employees/{new}/deactivate"), json!({})).await;
        world.clock.advance_seconds(2);
        assert_eq!(status_for(&after).await, 401, "{}", shared.name);
    }
}
