//! Secrets: what they are, how they are kept, and how long each signs (§6.4, decision F5).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::time::Timestamp;
use serde_json::{Value, json};

use super::subscriptions::stored;
use super::{conflict, path, subscribed, text};
use crate::support::World;

async fn rotated(world: &World, webhook: &Value) -> String {
    let answered = world.patch(&path(webhook), json!({"rotate_secret": true})).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    text(&answered.json(), "secret")
}

#[tokio::test]
async fn a_secret_is_32_bytes_of_its_own_and_is_stored_sealed() {
    let world = World::new().await;
    let (one, other) = (subscribed(&world, &["*"]).await, subscribed(&world, &["*"]).await);
    let secrets = [text(&one, "secret"), text(&other, "secret"), rotated(&world, &one).await];
    for (at, secret) in secrets.iter().enumerate() {
        let bytes = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        assert_eq!(bytes.len(), 32);
        assert!(secrets[..at].iter().all(|it| it != secret));
        for sealed in &stored(&world, &one).await.secrets {
            let within = |needle: &[u8]| sealed.sealed.windows(needle.len()).any(|it| it == needle);
            assert!(!within(secret.as_bytes()) && !within(&bytes));
        }
    }
}

#[tokio::test]
async fn the_secret_before_signs_for_another_24_hours_and_each_until_its_own_end() {
    let world = World::new().await;
    let webhook = subscribed(&world, &["*"]).await;
    let ends = async || {
        let secrets = stored(&world, &webhook).await.secrets;
        secrets.iter().map(|it| it.ends_at).collect::<Vec<_>>()
    };
    let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    assert_eq!(ends().await, [None]);
    rotated(&world, &webhook).await;
    assert_eq!(ends().await, [at("2026-03-03T09:00:00.001Z"), None]);
    world.clock.advance_seconds(36_000);
    rotated(&world, &webhook).await;
    assert_eq!(ends().await, [at("2026-03-03T09:00:00.001Z"), at("2026-03-03T19:00:00.001Z"), None]);
    world.clock.advance_seconds(86_400);
    rotated(&world, &webhook).await;
    assert_eq!(ends().await.len(), 2, "what has ended is forgotten");
}

#[tokio::test]
async fn rotations_have_a_bound_and_another_change_has_none() {
    let world = World::new().await;
    let webhook = subscribed(&world, &["*"]).await;
    for _ in 1..32 {
        rotated(&world, &webhook).await;
    }
    let refused = world.patch(&path(&webhook), json!({"rotate_secret": true, "url": "https://private.example/"})).await;
    assert_eq!(refused.refusal(), (409, "conflict".to_owned()), "state comes before what the URL leads to");
    assert_eq!(refused.json()["error"]["details"], conflict("secret", "32 secrets sign", "rotate_secret"));
    assert_eq!(world.patch(&path(&webhook), json!({"description": "x"})).await.status, 200);
    world.clock.advance_seconds(86_400);
    rotated(&world, &webhook).await;
}
