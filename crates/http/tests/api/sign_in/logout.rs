//! Logouts at the provider, which end sessions whatever its clock says (decision B11).

use super::ends::{as_ended, copy_session};
use super::*;
use crate::bearer_tokens::ends::log_out;
use crate::support::Request;

fn by<'a>(world: &'a TestApi, method: &str, path: &str, key: &Value) -> Request<'a> {
    world.bare(method, path).key(key["key"].as_str().unwrap())
}

async fn is_valid(world: &TestApi, key: &Value) -> bool {
    by(world, "GET", "/v1/me", key).send().await.status == 200
}

/// Creates a key in a session, which ends with it.
async fn child(world: &TestApi, stage: &Stage, session: &Value) -> Value {
    let body = json!({"name": "Child", "scopes": ["employees:read"], "employee_id": stage.person,
                      "expires_at": session["expires_at"]});
    let response = by(world, "POST", "/v1/api-keys", session).json(&body).send().await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

/// Makes the person of a stage an org admin, whose sessions may create keys.
async fn admin_stage(world: &TestApi) -> Stage {
    let stage = Stage::begin(world, json!({"admin_sessions": true})).await;
    stage.session(world).await;
    world.patch(&format!("/v1/employees/{}", stage.person), json!({"role": "org_admin"})).await;
    stage
}

#[tokio::test]
async fn logout_ends_every_session_that_has_begun() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = admin_stage(world).await;
        for (number, behind, millis) in [(0, 0, 600), (1, 5, 3_000), (2, 60, 100), (3, -60, 100)] {
            world.clock.advance_seconds(200);
            world.clock.advance_millis(100);
            let provider_time = || world.clock.now().millis().div_euclid(1_000) - behind;
            let (address, cookie) = stage.sign_in(world, json!({"iat": provider_time()})).await;
            let session = exchange(world, &address, &cookie).await.json();
            let child = child(world, &stage, &session).await;
            let (unopened, other_cookie) = stage.sign_in(world, json!({"iat": provider_time()})).await;
            world.clock.advance_millis(millis);
            assert!(is_valid(world, &session).await && is_valid(world, &child).await, "{what} {behind}");
            let token = json!({"iat": provider_time(), "jti": format!("all{number}")});
            assert_eq!(log_out(world, &stage.provider, token).await.status, 200);
            assert!(!is_valid(world, &session).await, "{what}: clock {behind} s behind");
            assert!(!is_valid(world, &child).await, "{what}: key of the session, clock {behind} s behind");
            assert_eq!(exchange(world, &unopened, &other_cookie).await.status, 404, "{what}: code, {behind}");
            world.clock.advance_seconds(1);
            let (address, cookie) = stage.sign_in(world, json!({"iat": provider_time()})).await;
            let later_session = exchange(world, &address, &cookie).await.json();
            assert!(is_valid(world, &later_session).await, "{what}: a later sign-in, clock {behind} s behind");
        }
    }
}

#[tokio::test]
async fn logout_ends_a_session_behind_many_ended_ones() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let session = stage.session(world).await;
        copy_session(world, &session, 1..=70, as_ended).await;
        world.clock.advance_seconds(30);
        assert!(is_valid(world, &session).await, "{what}");
        // The clock of the provider is behind, so that the time of issue is from before the session.
        let issued_at = world.clock.now().millis().div_euclid(1_000) - 60;
        assert_eq!(log_out(world, &stage.provider, json!({"iat": issued_at})).await.status, 200);
        assert!(!is_valid(world, &session).await, "{what}");
    }
}

#[tokio::test]
async fn logout_refuses_a_sign_in_on_its_way() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        stage.session(world).await;
        let sign_in = begin(world, json!({"email": EMAIL}), None).await;
        grant(world, &sign_in, &json!({}));
        world.clock.advance_seconds(2);
        assert_eq!(log_out(world, &stage.provider, json!({})).await.status, 200);
        let params = [("state", sign_in.query["state"].as_str()), ("code", "c0de")];
        let address = stage.come_back(world, &params, &sign_in.cookie).await;
        assert_eq!(address, "https://candor.example/console#error=expired", "{what}");
        assert_eq!(audit(world, "session.refuse").await[0]["changes"]["cause"]["to"], "ended", "{what}");
    }
}

#[tokio::test]
async fn logout_of_one_session_leaves_another_one() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = Stage::begin(world, json!({})).await;
        let session = stage.session(world).await;
        let (address, cookie) = stage.sign_in(world, json!({"sid": "s2"})).await;
        let other = exchange(world, &address, &cookie).await.json();
        world.clock.advance_millis(100);
        assert_eq!(log_out(world, &stage.provider, json!({"sid": "s1"})).await.status, 200);
        assert!(!is_valid(world, &session).await && is_valid(world, &other).await, "{what}");
    }
}
