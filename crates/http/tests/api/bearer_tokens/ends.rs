//! Ends of the rights of a token, which every instance sees within a second.

use std::sync::Arc;

use candor_domain::audit::Origin;
use candor_service::Services;
use candor_service::usecases::bearer;
use candor_tokens::claims::LOGOUTS_PER_MINUTE;
use serde_json::{Value, json};

use super::{SUBJECT, TokenStage, status_of, token};
use crate::identity_check::{sign, signing_key};
use crate::sign_in::{self, Stage};
use crate::stores::every_store;
use crate::support::TestApi;

/// The changes that end the rights of a token.
const ENDS: [&str; 5] = ["disabled", "deleted", "unlinked", "deactivated", "another client"];

async fn end(world: &TestApi, stage: &TokenStage, how: &str) {
    let response = match how {
        "disabled" => world.patch(&stage.path(), json!({"status": "disabled"})).await,
        "deleted" => world.ask("DELETE", &stage.path()).send().await,
        "unlinked" => world.ask("DELETE", &format!("{}/links/{}", stage.path(), stage.person)).send().await,
        "deactivated" => world.post(&format!("/v1/employees/{}/deactivate", stage.person), json!({})).await,
        "another client" => world.patch(&stage.path(), json!({"client_id": "0oa9", "client_secret": null})).await,
        _ => panic!("{how}"),
    };
    assert!(matches!(response.status, 200 | 204), "{how}: {}", response.text());
}

async fn is_accepted(peer: &Services, text: &str, world: &TestApi) -> bool {
    let request = (world.services.id(candor_port_clock::Clock::now(&*world.clock)), Origin::default());
    bearer::authenticate(peer, text, request).await.unwrap().is_some()
}

#[tokio::test]
async fn end_of_a_token_is_seen_by_every_instance_within_a_second() {
    for how in ENDS {
        for shared in every_store().await {
            let world = &shared.world;
            let stage = TokenStage::begin(world, json!({})).await;
            let mut peer = shared.instance(7);
            peer.identity_transport = Arc::clone(&world.providers) as _;
            let text = token(world, json!({}));
            assert_eq!(status_of(world, &text).await, 200);
            assert!(is_accepted(&peer, &text, world).await, "{how} {}", shared.name);
            end(world, &stage, how).await;
            assert_eq!(status_of(world, &text).await, 401, "{how}: the instance of the change refuses it at once");
            world.clock.advance_millis(900);
            assert!(!is_accepted(&peer, &text, world).await, "{how} {}", shared.name);
            assert_eq!(status_of(world, &text).await, 401, "{how} {}", shared.name);
        }
    }
}

/// Sends a logout token with these claims.
pub(crate) async fn log_out(world: &TestApi, provider: &str, changes: Value) -> crate::support::TestResponse {
    let event = json!({"http://schemas.openid.net/event/backchannel-logout": {}});
    let mut claims = json!({"aud": "0oa1", "exp": null, "events": event, "jti": "j1"});
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    let header = json!({"alg": "EdDSA", "kid": "1", "typ": "logout+jwt"}).to_string();
    let text = sign(&header, &super::claims(world, &claims).to_string(), &signing_key());
    let path = format!("/v1/sign-in/backchannel-logout/{provider}");
    let request = world.bare("POST", &path).header("content-type", "application/x-www-form-urlencoded");
    request.body(format!("logout_token={text}")).send().await
}

/// Creates a stage whose client id is proven too, by a sign-in.
async fn begin_with_client(world: &TestApi) -> TokenStage {
    let stage = TokenStage::begin(world, json!({})).await;
    let sign_in = Stage { provider: stage.provider.clone(), person: stage.person.clone() };
    let start = sign_in::begin(world, json!({"identity_provider_id": stage.provider}), None).await;
    sign_in::grant(world, &start, &json!({}));
    let address =
        sign_in.come_back(world, &[("state", &start.query["state"]), ("code", "c0de")], &start.cookie).await;
    let proven = world.get(&stage.path()).await.json()["proven_audiences"].clone();
    assert!(proven.as_array().unwrap().contains(&json!("0oa1")), "{address}: {proven}");
    stage
}

#[tokio::test]
async fn logout_refuses_older_tokens_on_every_instance() {
    for shared in every_store().await {
        let world = &shared.world;
        let stage = begin_with_client(world).await;
        let mut peer = shared.instance(7);
        peer.identity_transport = Arc::clone(&world.providers) as _;
        let text = token(world, json!({}));
        assert!(is_accepted(&peer, &text, world).await, "{}", shared.name);
        let unknown = log_out(world, &stage.provider, json!({"sub": "stranger", "jti": "j0"})).await;
        assert_eq!((unknown.status, status_of(world, &text).await), (200, 200), "an unknown account");
        let response = log_out(world, &stage.provider, json!({})).await;
        assert_eq!(
            (response.status, response.header("cache-control")),
            (200, Some("no-store")),
            "{}",
            response.text()
        );
        assert_eq!(
            status_of(world, &text).await,
            401,
            "{}: the instance of the logout refuses it at once",
            shared.name
        );
        world.clock.advance_millis(900);
        assert!(!is_accepted(&peer, &text, world).await, "{}", shared.name);
        world.clock.advance_seconds(1);
        let later_token = token(world, json!({}));
        assert_eq!(status_of(world, &later_token).await, 200, "{}", shared.name);
        assert_eq!(log_out(world, &stage.provider, json!({})).await.status, 200, "the jti counts once");
        assert_eq!(status_of(world, &later_token).await, 200, "{}", shared.name);
        assert_eq!(log_out(world, &stage.provider, json!({"jti": "j2"})).await.status, 200);
        assert_eq!(status_of(world, &later_token).await, 401, "{}", shared.name);
        let log = world.get("/v1/audit-log?filter[action]=employee.log_out_identity").await.json();
        assert_eq!(log["data"].as_array().unwrap().len(), 2, "{log}");
    }
}

#[tokio::test]
async fn wrong_logout_token_is_400_and_changes_nothing() {
    let world = TestApi::new().await;
    let stage = begin_with_client(&world).await;
    let text = token(&world, json!({}));
    let now = super::seconds(candor_port_clock::Clock::now(&*world.clock));
    let other = format!("idp_{}", "0".repeat(26));
    for (name, provider, changes) in [
        ("expired", &stage.provider, json!({"exp": now - 61})),
        ("older than 5 minutes", &stage.provider, json!({"iat": now - 301})),
        ("from the future", &stage.provider, json!({"iat": now + 600})),
        ("without iat", &stage.provider, json!({"iat": null})),
        ("without jti", &stage.provider, json!({"jti": null})),
        ("empty jti", &stage.provider, json!({"jti": ""})),
        ("without event", &stage.provider, json!({"events": null})),
        ("another event", &stage.provider, json!({"events": {"urn:other": {}}})),
        ("with a nonce", &stage.provider, json!({"nonce": "n"})),
        ("without subject and session", &stage.provider, json!({"sub": null})),
        ("another audience", &stage.provider, json!({"aud": "0oa2"})),
        ("audience of bearer tokens", &stage.provider, json!({"aud": "api://candor"})),
        ("another issuer", &stage.provider, json!({"iss": "https://other.okta.example"})),
        ("another provider", &other, json!({})),
        ("no provider", &"x".to_owned(), json!({})),
    ] {
        world.clock.advance_seconds(1);
        let response = log_out(&world, provider, changes).await;
        assert_eq!(response.refusal(), (400, "bad_request".to_owned()), "{name}: {}", response.text());
    }
    assert_eq!(status_of(&world, &text).await, 200);
    let path = format!("/v1/sign-in/backchannel-logout/{}", stage.provider);
    assert_eq!(world.bare("GET", &path).send().await.status, 405);
    assert_eq!(world.bare("POST", &path).json(&json!({})).send().await.status, 415);
}

#[tokio::test]
async fn wrong_logout_tokens_have_a_quota_and_keep_out_no_valid_one() {
    let world = TestApi::new().await;
    let stage = begin_with_client(&world).await;
    for _ in 0..60 {
        assert_eq!(log_out(&world, &stage.provider, json!({"aud": "0oa2"})).await.status, 400);
    }
    assert_eq!(log_out(&world, &stage.provider, json!({"aud": "0oa2"})).await.status, 429);
    assert_eq!(status_of(&world, "cdr_live_wrong").await, 429, "the address is that of a stranger, too");
    let text = token(&world, json!({}));
    for number in 0..70 {
        let response = log_out(&world, &stage.provider, json!({"jti": format!("j{number}")})).await;
        assert_eq!(response.status, 200, "{}", response.text());
    }
    assert_eq!(status_of(&world, &text).await, 429, "the token has ended");
}

#[tokio::test]
async fn valid_logout_tokens_have_the_quota_of_their_organization() {
    let world = TestApi::new().await;
    let stage = begin_with_client(&world).await;
    let now = || candor_port_clock::Clock::now(&*world.clock);
    for _ in 0..LOGOUTS_PER_MINUTE {
        assert!(world.services.limits.admit_logout(world.organization, now()).admitted);
    }
    let text = token(&world, json!({}));
    let response = log_out(&world, &stage.provider, json!({})).await;
    assert_eq!(response.refusal(), (429, "rate_limited".to_owned()), "{}", response.text());
    assert_eq!(response.json()["error"]["details"][0]["quota"], "logout", "{}", response.text());
    assert_eq!(status_of(&world, &text).await, 200, "nothing has ended");
    assert_eq!(log_out(&world, &stage.provider, json!({"aud": "0oa2"})).await.status, 400, "a wrong one");
    world.clock.advance_seconds(61);
    assert_eq!(log_out(&world, &stage.provider, json!({})).await.status, 200);
}

#[tokio::test]
async fn logout_token_that_writes_nothing_does_not_count() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = begin_with_client(world).await;
        let now = || candor_port_clock::Clock::now(&*world.clock);
        for _ in 0..LOGOUTS_PER_MINUTE - 2 {
            assert!(world.services.limits.admit_logout(world.organization, now()).admitted);
        }
        let status = async |claims: Value| log_out(world, &stage.provider, claims).await.status;
        let mut statuses = vec![];
        for claims in [
            json!({"jti": "used"}),
            json!({"jti": "used"}),
            json!({"jti": "used"}),
            json!({"jti": "unknown", "sub": "stranger"}),
            json!({"jti": "ended"}),
        ] {
            statuses.push(status(claims).await);
        }
        assert_eq!(statuses, [200; 5], "{what}");
        world.clock.advance_seconds(1);
        let text = token(world, json!({}));
        assert_eq!((status(json!({"jti": "next"})).await, status_of(world, &text).await), (200, 401), "{what}");
        world.clock.advance_seconds(1);
        assert_eq!(status(json!({"jti": "last"})).await, 429, "{what}: two have ended something");
    }
}

#[tokio::test]
async fn token_ends_at_its_time() {
    let world = TestApi::new().await;
    TokenStage::begin(&world, json!({})).await;
    let text = token(&world, json!({}));
    world.clock.advance_seconds(3_659);
    assert_eq!(status_of(&world, &text).await, 200);
    world.clock.advance_millis(999);
    assert_eq!(status_of(&world, &text).await, 401);
}

#[tokio::test]
async fn tokens_from_before_the_removal_of_a_link_stay_refused() {
    for shared in every_store().await {
        let (world, what) = (&shared.world, shared.name);
        let stage = TokenStage::begin(world, json!({})).await;
        // The clock of the provider may be ahead by the tolerance.
        let now = super::seconds(candor_port_clock::Clock::now(&*world.clock));
        let texts = [now, now + 60].map(|issued_at| token(world, json!({"iat": issued_at})));
        for text in &texts {
            assert_eq!(status_of(world, text).await, 200, "{what}");
        }
        world.clock.advance_seconds(1);
        let link = format!("{}/links/{}", stage.path(), stage.person);
        assert_eq!(world.ask("DELETE", &link).send().await.status, 204, "{what}");
        world.clock.advance_seconds(1);
        stage.link(world, SUBJECT, &stage.person).await;
        for text in &texts {
            assert_eq!(status_of(world, text).await, 401, "{what}");
        }
        world.clock.advance_seconds(60);
        assert_eq!(status_of(world, &token(world, json!({}))).await, 200, "{what}");
    }
}

#[tokio::test]
async fn disabled_provider_serves_again_when_enabled() {
    let world = TestApi::new().await;
    let stage = TokenStage::begin(&world, json!({})).await;
    let text = token(&world, json!({}));
    let set = async |status: &str| {
        let provider: Value = world.patch(&stage.path(), json!({"status": status})).await.json();
        assert_eq!(provider["status"], status);
    };
    set("disabled").await;
    assert_eq!(status_of(&world, &text).await, 401);
    set("active").await;
    assert_eq!(status_of(&world, &text).await, 200);
}
