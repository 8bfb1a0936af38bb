//! Ends of sessions. The keys that a session created end with it.

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{ApiKey, MAX_OF_SESSION};
use candor_domain::id::KeyId;
use candor_port_storage::{Row, StorageExt, Write};
use candor_service::context::provider_counts::count_providers;
use candor_sign_in::session::hash_code;

use super::*;
use crate::connectors::change;
use crate::objectives::person;
use crate::support::Request;

/// The changes that end a session.
const ENDS: [&str; 7] = ["revoked", "logged out", "disabled", "deleted", "unlinked", "deactivated", "expired"];

async fn end(world: &TestApi, stage: &Stage, session: &Value, how: &str) {
    let id = session["id"].as_str().unwrap();
    let key = session["key"].as_str().unwrap();
    let response = match how {
        "revoked" => world.post(&format!("/v1/api-keys/{id}/revoke"), json!({})).await,
        "logged out" => world.bare("POST", "/v1/sign-in/logout").key(key).json(&json!({})).send().await,
        "disabled" => world.patch(&stage.path(), json!({"status": "disabled"})).await,
        "deleted" => world.ask("DELETE", &stage.path()).send().await,
        "unlinked" => world.ask("DELETE", &format!("{}/links/{}", stage.path(), stage.person)).send().await,
        "deactivated" => world.post(&format!("/v1/employees/{}/deactivate", stage.person), json!({})).await,
        "expired" => {
            world.clock.advance_seconds(43_200);
            return;
        }
        _ => panic!("{how}"),
    };
    assert!(matches!(response.status, 200 | 204), "{how}: {}", response.text());
}

/// Makes the person of a stage an org admin whose sessions have the admin level.
pub(crate) async fn admin_stage(world: &TestApi) -> (Stage, Value) {
    let stage = Stage::begin(world, json!({"admin_sessions": true})).await;
    // The last active org admin keeps status and role.
    person(world, "boss", "org_admin", None).await;
    // The account is linked before its person gets the role.
    stage.session(world).await;
    world.patch(&format!("/v1/employees/{}", stage.person), json!({"role": "org_admin"})).await;
    let session = stage.session(world).await;
    assert_eq!(session["access_level"], "admin", "{session}");
    (stage, session)
}

fn request_by<'a>(world: &'a TestApi, method: &str, path: &str, session: &Value) -> Request<'a> {
    world.bare(method, path).key(session["key"].as_str().unwrap())
}

#[tokio::test]
async fn session_ends_with_its_keys_on_every_instance_within_a_second() {
    for how in ENDS {
        for shared in every_store().await {
            let (world, what) = (&shared.world, shared.name);
            let (stage, session) = admin_stage(world).await;
            let body = json!({"name": "Child", "scopes": ["employees:read"], "employee_id": stage.person,
                              "expires_at": session["expires_at"]});
            let child = request_by(world, "POST", "/v1/api-keys", &session).json(&body).send().await;
            assert_eq!(child.status, 201, "{}", child.text());
            let child = child.json();
            assert_eq!(child["session_id"], session["id"], "{what}");
            let link = request_by(world, "POST", "/v1/portal-links", &session)
                .json(&json!({"scopes": ["employees:read"]}));
            let link = link.send().await;
            assert_eq!(link.status, 201, "{}", link.text());
            let peer = shared.instance(7);
            let is_good = async |services: &candor_service::Services, key: &Value| {
                services.auth.authenticate(key["key"].as_str().unwrap()).await.unwrap().is_some()
            };
            for key in [&session, &child] {
                assert!(is_good(&peer, key).await && is_good(&world.services, key).await, "{how} {what}");
            }
            end(world, &stage, &session, how).await;
            for key in [&session, &child] {
                assert!(!is_good(&world.services, key).await, "{how} {what}: {} here at once", key["name"]);
            }
            world.clock.advance_millis(900);
            for key in [&session, &child] {
                assert!(!is_good(&peer, key).await, "{how} {what}: {}", key["name"]);
            }
            let url = link.json()["url"].as_str().unwrap().to_owned();
            assert_eq!(exchange(world, &url, "").await.refusal().0, 404, "{how} {what}: an unopened link");
            if how == "disabled" {
                world.patch(&stage.path(), json!({"status": "active"})).await;
                world.clock.advance_millis(900);
                assert!(!is_good(&peer, &session).await, "{what}: for good");
                stage.session(world).await;
            }
        }
    }
}

#[tokio::test]
async fn admin_level_lasts_as_long_as_the_role() {
    let world = TestApi::new().await;
    let (stage, session) = admin_stage(&world).await;
    let level = async || {
        let me = request_by(&world, "GET", "/v1/me", &session).send().await.json();
        let has_settings = me["scopes"].as_array().unwrap().contains(&json!("settings:write"));
        (me["access_level"].as_str().unwrap().to_owned(), has_settings)
    };
    assert_eq!(level().await, ("admin".to_owned(), true));
    world.patch(&format!("/v1/employees/{}", stage.person), json!({"role": "employee"})).await;
    world.clock.advance_millis(900);
    assert_eq!(level().await, ("standard".to_owned(), false));
    world.patch(&stage.path(), json!({"scopes": ["observations:read"]})).await;
    world.clock.advance_millis(900);
    let me = request_by(&world, "GET", "/v1/me", &session).send().await.json();
    assert_eq!(me["scopes"], json!(["observations:read"]), "what the provider gives now");
}

#[tokio::test]
async fn session_is_not_rotated_and_only_shortened() {
    let world = TestApi::new().await;
    let (stage, session) = admin_stage(&world).await;
    let path = format!("/v1/api-keys/{}", session["id"].as_str().unwrap());
    assert_eq!(world.post(&format!("{path}/rotate"), json!({})).await.refusal().0, 409);
    for end in [json!(null), json!("2026-03-09T09:00:00Z")] {
        let response = world.patch(&path, json!({"expires_at": end})).await;
        assert_eq!(response.problems(), [("expires_at".to_owned(), "out_of_range".to_owned())], "{end}");
    }
    let shortened_session = world.patch(&path, json!({"expires_at": "2026-03-02T10:00:00Z"})).await;
    assert_eq!(shortened_session.status, 200, "{}", shortened_session.text());
    // A session gives no access to a key that would outlive it.
    let other = json!({"name": "Other", "scopes": ["employees:read"], "employee_id": stage.person,
                       "expires_at": "2026-03-02T09:30:00Z"});
    let other = world.made("/v1/api-keys", other).await;
    let rotation = request_by(&world, "POST", &format!("/v1/api-keys/{other}/rotate"), &session)
        .json(&json!({}))
        .send()
        .await;
    assert_eq!(rotation.refusal(), (403, "permission_denied".to_owned()));
}

#[tokio::test]
async fn logout_leads_to_the_provider() {
    let world = TestApi::new().await;
    let stage = Stage::begin(&world, json!({})).await;
    world.providers.serve_discovery(&json!({"end_session_endpoint": format!("{ISSUER}/logout")}));
    let session = stage.session(&world).await;
    let response = request_by(&world, "POST", "/v1/sign-in/logout", &session).json(&json!({})).send().await;
    let expected_url =
        format!("{ISSUER}/logout?client_id=0oa1&post_logout_redirect_uri=https%3A%2F%2Fcandor.example%2Fconsole");
    assert_eq!(response.json(), json!({"url": expected_url}));
    assert_eq!(request_by(&world, "GET", "/v1/me", &session).send().await.status, 401);
    let response = world.post("/v1/sign-in/logout", json!({})).await;
    assert_eq!(response.refusal().0, 409, "a key that is no session");
}

#[tokio::test]
async fn sign_out_of_one_session_is_no_replay_for_another() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        for session in [stage.session(world).await, stage.session(world).await] {
            let request =
                request_by(world, "POST", "/v1/sign-in/logout", &session).header("idempotency-key", "out");
            let response = request.json(&json!({})).send().await;
            assert_eq!((response.status, response.header("idempotent-replayed")), (200, None), "{what}");
            assert_eq!(request_by(world, "GET", "/v1/me", &session).send().await.status, 401, "{what}");
        }
    }
}

/// Stores copies of a session with these numbers. `alter` changes each copy.
pub(crate) async fn copy_session(
    world: &TestApi,
    session: &Value,
    numbers: std::ops::RangeInclusive<u8>,
    alter: impl Fn(ApiKey, i64) -> ApiKey,
) {
    let tenant = Tenant::live(world.organization);
    let id = session["id"].as_str().unwrap().parse().unwrap();
    let row = world.services.store.row::<ApiKey>(tenant, id).await.unwrap().unwrap().value;
    for number in numbers {
        let (id, hash) = (KeyId::from_bytes([number; 16]), hash_code(&number.to_string(), ""));
        let copy = alter(ApiKey { id, hash, ..row.clone() }, i64::from(number));
        let change = change(world, vec![Write::put(&Row::new(copy))]);
        world.services.store.commit(tenant, change).await.unwrap();
    }
}

/// Returns the number of sessions, and how many of them are not revoked.
async fn count_sessions(world: &TestApi) -> (usize, usize) {
    let list = world.get("/v1/api-keys?filter[kind]=session&limit=100").await.json();
    let sessions = list["data"].as_array().unwrap();
    (sessions.len(), sessions.iter().filter(|session| session["revoked_at"].is_null()).count())
}

/// Returns a session that began and was revoked `number` seconds after another one.
pub(crate) fn as_ended(copy: ApiKey, number: i64) -> ApiKey {
    let created_at = copy.created_at.plus_seconds(number);
    let revoked_at = Some(created_at.plus_seconds(1));
    ApiKey { created_at, updated_at: created_at, revoked_at, link_expires_at: None, ..copy }
}

#[tokio::test]
async fn sign_in_ends_the_surplus_of_concurrent_ones() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        // Sessions that began at one time, each without a look at the others.
        let first = stage.session(world).await;
        copy_session(world, &first, 1..=24, |copy, _| copy).await;
        world.clock.advance_seconds(1);
        stage.session(world).await;
        assert_eq!(count_sessions(world).await, (26, 20), "{what}");
    }
}

#[tokio::test]
async fn sign_in_finds_valid_sessions_behind_many_ended_ones() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let first = stage.session(world).await;
        copy_session(world, &first, 1..=19, |copy, _| copy).await;
        copy_session(world, &first, 20..=90, as_ended).await;
        world.clock.advance_seconds(100);
        let last = stage.session(world).await;
        assert_eq!(count_sessions(world).await, (92, 20), "{what}");
        let me = request_by(world, "GET", "/v1/me", &last).send().await;
        assert_eq!(me.status, 200, "{what}: the oldest one ended: {}", me.text());
    }
}

#[tokio::test]
async fn keys_of_ended_sessions_take_no_place_of_later_keys() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let (stage, session) = admin_stage(world).await;
        let create_by = async |session: &Value| {
            let body = json!({"name": "Child", "scopes": ["employees:read"], "employee_id": stage.person,
                              "expires_at": session["expires_at"]});
            request_by(world, "POST", "/v1/api-keys", session).json(&body).send().await
        };
        let fill_by = async |session: &Value| {
            for number in 0..MAX_OF_SESSION {
                assert_eq!(create_by(session).await.status, 201, "{what} {number}");
            }
            let refusal = create_by(session).await;
            assert_eq!(refusal.problems(), [("api_keys".to_owned(), "limit_reached".to_owned())], "{what}");
        };
        fill_by(&session).await;
        end(world, &stage, &session, "logged out").await;
        world.clock.advance_seconds(60);
        let next_session = stage.session(world).await;
        fill_by(&next_session).await;
        let by_admin = json!({"name": "Hers", "scopes": ["employees:read"], "employee_id": stage.person});
        world.made("/v1/api-keys", by_admin).await;
    }
}

#[tokio::test]
async fn people_and_valid_sessions_are_counted_for_operators() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let counts = async || {
            let counts = count_providers(&*world.services.store, world.clock.now()).await.unwrap();
            (counts.people, counts.sessions)
        };
        assert_eq!(counts().await, (0, 0), "{what}");
        let sessions = [stage.session(world).await, stage.session(world).await, stage.session(world).await];
        assert_eq!(counts().await, (1, 3), "{what}");
        end(world, &stage, &sessions[0], "revoked").await;
        assert_eq!(counts().await, (1, 2), "{what}");
        end(world, &stage, &sessions[1], "unlinked").await;
        assert_eq!(counts().await, (0, 0), "{what}");
    }
}

#[tokio::test]
async fn further_session_ends_the_oldest_of_many() {
    let world = TestApi::new().await;
    let stage = Stage::begin(&world, json!({})).await;
    let mut sessions = vec![];
    for _ in 0..21 {
        world.clock.advance_seconds(10);
        sessions.push(stage.session(&world).await);
    }
    let valid = async |session: &Value| request_by(&world, "GET", "/v1/me", session).send().await.status == 200;
    assert!(!valid(&sessions[0]).await && valid(&sessions[1]).await && valid(&sessions[20]).await);
}
