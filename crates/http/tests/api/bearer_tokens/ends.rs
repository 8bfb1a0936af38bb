//! Ends of the rights of a token, which every instance sees within a second.

use std::sync::Arc;

use candor_domain::audit::Origin;
use candor_service::Services;
use candor_service::usecases::bearer;
use serde_json::{Value, json};

use super::{SUBJECT, TokenStage, status_of, token};
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
            assert!(how == "deactivated" || status_of(world, &text).await == 401, "{how}: here at once");
            world.clock.advance_millis(900);
            assert!(!is_accepted(&peer, &text, world).await, "{how} {}", shared.name);
            assert_eq!(status_of(world, &text).await, 401, "{how} {}", shared.name);
        }
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
    let world = TestApi::new().await;
    let stage = TokenStage::begin(&world, json!({})).await;
    let text = token(&world, json!({}));
    world.clock.advance_seconds(1);
    assert_eq!(world.ask("DELETE", &format!("{}/links/{}", stage.path(), stage.person)).send().await.status, 204);
    world.clock.advance_seconds(1);
    stage.link(&world, SUBJECT, &stage.person).await;
    assert_eq!(status_of(&world, &text).await, 401);
    assert_eq!(status_of(&world, &token(&world, json!({}))).await, 200);
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
