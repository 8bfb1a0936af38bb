//! Signing secrets: format, storage and rotation (§6.4, decision F5).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use candor_domain::time::Timestamp;
use candor_port_clock::Clock;
use candor_subscriptions::SealedSecret;
use serde_json::{Value, json};

use super::subscriptions::stored;
use super::{path, subscribe, text};
use crate::support::TestApi;

async fn rotate(world: &TestApi, webhook: &Value) -> String {
    let response = world.patch(&path(webhook), json!({"rotate_secret": true})).await;
    assert_eq!(response.status, 200, "{}", response.text());
    text(&response.json(), "secret")
}

#[tokio::test]
async fn webhook_secret_is_32_random_bytes_stored_sealed() {
    let world = TestApi::new().await;
    let (one, other) = (subscribe(&world, &["*"]).await, subscribe(&world, &["*"]).await);
    let secrets = [text(&one, "secret"), text(&other, "secret"), rotate(&world, &one).await];
    for (at, secret) in secrets.iter().enumerate() {
        let bytes = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        assert_eq!(bytes.len(), 32);
        assert!(secrets[..at].iter().all(|sealed| sealed != secret));
        for sealed in &stored(&world, &one).await.secrets {
            let is_in_seal = |needle: &[u8]| sealed.sealed.windows(needle.len()).any(|sealed| sealed == needle);
            assert!(!is_in_seal(secret.as_bytes()) && !is_in_seal(&bytes));
        }
    }
}

#[tokio::test]
async fn rotated_secret_signs_for_24_hours_more() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let ends = async || {
        let secrets = stored(&world, &webhook).await.secrets;
        secrets.iter().map(|secret| secret.ends_at).collect::<Vec<_>>()
    };
    let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    assert_eq!(ends().await, [None]);
    rotate(&world, &webhook).await;
    assert_eq!(ends().await, [time("2026-03-03T09:00:00.001Z"), None]);
    world.clock.advance_seconds(36_000);
    rotate(&world, &webhook).await;
    assert_eq!(ends().await, [time("2026-03-03T09:00:00.001Z"), time("2026-03-03T19:00:00.001Z"), None]);
    world.clock.advance_seconds(86_400);
    rotate(&world, &webhook).await;
    assert_eq!(ends().await.len(), 2, "ended secrets are removed");
}

#[tokio::test]
async fn overlap_seconds_ends_earlier_secrets() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let first = rotate(&world, &webhook).await;
    let signing = async || {
        let now = world.clock.now();
        stored(&world, &webhook).await.signing_secrets(now).count()
    };
    assert_eq!(signing().await, 2);
    for (overlap, wanted) in [(604_800, 3), (60, 4), (0, 1)] {
        let body = json!({"rotate_secret": true, "overlap_seconds": overlap});
        let response = world.patch(&path(&webhook), body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        assert_ne!(text(&response.json(), "secret"), first);
        assert_eq!(signing().await, wanted, "{overlap}");
    }
}

#[tokio::test]
async fn overlap_seconds_without_rotation_is_400() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    let table = [
        (json!({"overlap_seconds": 60}), "rotate_secret", "required"),
        (json!({"overlap_seconds": 60, "rotate_secret": false, "active": false}), "rotate_secret", "required"),
        (json!({"overlap_seconds": 604_801, "rotate_secret": true}), "overlap_seconds", "out_of_range"),
        (json!({"overlap_seconds": -1, "rotate_secret": true}), "overlap_seconds", "out_of_range"),
    ];
    for (body, field, code) in table {
        let response = world.patch(&path(&webhook), body.clone()).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()), "{body}");
        assert_eq!(response.problems(), [(field.to_owned(), code.to_owned())], "{body}");
    }
    assert_eq!(stored(&world, &webhook).await.secrets.len(), 1);
    let creation_body = json!({"url": "https://receiver.example/", "event_types": ["*"], "overlap_seconds": 60});
    assert_eq!(world.post("/v1/webhooks", creation_body).await.status, 400);
}

#[tokio::test]
async fn rotation_at_the_cap_of_secrets_drops_the_oldest() {
    let world = TestApi::new().await;
    let webhook = subscribe(&world, &["*"]).await;
    for _ in 1..32 {
        rotate(&world, &webhook).await;
    }
    let secrets_before = stored(&world, &webhook).await.secrets;
    rotate(&world, &webhook).await;
    let secrets_after = stored(&world, &webhook).await.secrets;
    let sealed_texts =
        |secrets: &[SealedSecret]| secrets.iter().map(|secret| secret.sealed.clone()).collect::<Vec<_>>();
    assert_eq!((secrets_before.len(), secrets_after.len()), (32, 32));
    assert_eq!(sealed_texts(&secrets_before[1..]), sealed_texts(&secrets_after[..31]));
}
