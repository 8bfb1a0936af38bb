//! Keys of providers: their rotation, their absence, and the traffic that tokens cause.

use futures_util::future::join_all;
use ring::signature::Ed25519KeyPair;
use serde_json::json;

use super::{TokenStage, claims, status_of, token};
use crate::identity_check::{sign, signing_key};
use crate::stores::every_store;
use crate::support::TestApi;

/// Returns a token that names this key and is signed by it.
fn token_of(world: &TestApi, key_id: &str, seed: u8, number: usize) -> String {
    let header = json!({"alg": "EdDSA", "kid": key_id}).to_string();
    let key = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
    sign(&header, &claims(world, &json!({"jti": number})).to_string(), &key)
}

#[tokio::test]
async fn wrong_tokens_cause_one_fetch_a_minute() {
    let world = TestApi::new().await;
    TokenStage::begin(&world, json!({})).await;
    world.providers.take_key_fetches();
    assert_eq!((status_of(&world, &token(&world, json!({}))).await, world.providers.take_key_fetches()), (200, 1));
    for minute in 0..5 {
        for number in 0..20 {
            world.clock.advance_seconds(3);
            let text = token_of(&world, &format!("unknown-{number}"), 9, minute);
            assert_eq!(status_of(&world, &text).await, 401);
            assert_eq!(status_of(&world, &token(&world, json!({"aud": "api://foreign"}))).await, 401);
        }
        assert!(world.providers.take_key_fetches() <= 1, "{minute}");
        // A new minute of the quota of failed authentications begins.
        world.clock.advance_seconds(60);
        world.providers.take_key_fetches();
    }
}

#[tokio::test]
async fn new_key_serves_at_once_and_a_withdrawn_key_no_longer() {
    let world = TestApi::new().await;
    TokenStage::begin(&world, json!({})).await;
    let old = token(&world, json!({}));
    assert_eq!(status_of(&world, &old).await, 200);
    world.clock.advance_seconds(61);
    let new_key = || Ed25519KeyPair::from_seed_unchecked(&[9; 32]).unwrap();
    world.providers.serve_keys(&[("1", signing_key()), ("2", new_key())]);
    let new = token_of(&world, "2", 9, 1);
    assert_eq!((status_of(&world, &new).await, status_of(&world, &old).await), (200, 200));
    world.providers.serve_keys(&[("2", new_key())]);
    world.clock.advance_seconds(600);
    assert_eq!((status_of(&world, &new).await, status_of(&world, &old).await), (200, 401));
}

#[tokio::test]
async fn rotations_refuse_no_token_of_concurrent_requests() {
    let id = |number: u8| format!("key {number}");
    let pair = |number: u8| Ed25519KeyPair::from_seed_unchecked(&[number; 32]).unwrap();
    for shared in every_store().await {
        let world = &shared.world;
        TokenStage::begin(world, json!({})).await;
        for rotation in 1..=20 {
            world.clock.advance_seconds(61);
            let [old, new] = [rotation - 1, rotation];
            world.providers.serve_keys(&[(&id(old), pair(old)), (&id(new), pair(new))]);
            world.providers.take_key_fetches();
            let tokens = (0..40).map(|number| {
                let signer = [old, new][number % 2];
                token_of(world, &id(signer), signer, number)
            });
            let statuses = join_all(tokens.map(async |token| status_of(world, &token).await)).await;
            assert_eq!(statuses, [200; 40], "{}: rotation {rotation}", shared.name);
            assert_eq!(world.providers.take_key_fetches(), 1, "{}: rotation {rotation}", shared.name);
            if let Some(withdrawn) = rotation.checked_sub(2) {
                let token = token_of(world, &id(withdrawn), withdrawn, 0);
                assert_eq!(status_of(world, &token).await, 401, "{}: key {withdrawn}", shared.name);
            }
        }
    }
}

#[tokio::test]
async fn known_keys_serve_for_a_day_while_the_provider_is_down() {
    let world = TestApi::new().await;
    TokenStage::begin(&world, json!({})).await;
    assert_eq!(status_of(&world, &token(&world, json!({}))).await, 200);
    world.providers.stop();
    for _ in 0..23 {
        world.clock.advance_seconds(3_600);
        assert_eq!(status_of(&world, &token(&world, json!({}))).await, 200);
    }
    world.clock.advance_seconds(3_601);
    assert_eq!(status_of(&world, &token(&world, json!({}))).await, 401);
    world.providers.serve();
    world.clock.advance_seconds(16);
    assert_eq!(status_of(&world, &token(&world, json!({}))).await, 200);
}
