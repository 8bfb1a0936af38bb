//! Rates of receivers (decision F14).

use serde_json::{Value, json};

use super::{path, subscribed};
use crate::support::TestApi;

#[tokio::test]
async fn rate_is_set_changed_and_removed() {
    let world = TestApi::new().await;
    let body = json!({"url": "https://receiver.example/hooks", "event_types": ["*"], "max_per_second": 1000});
    let webhook = world.post("/v1/webhooks", body).await.json();
    assert_eq!(webhook["max_per_second"], json!(1000));
    for rate in [json!(1), Value::Null] {
        world.clock.advance_seconds(1);
        let changed = world.patch(&path(&webhook), json!({"max_per_second": rate})).await;
        assert_eq!((changed.status, &changed.json()["max_per_second"]), (200, &rate));
        assert_eq!(world.get(&path(&webhook)).await.json()["max_per_second"], rate);
    }
    assert_eq!(subscribed(&world, &["*"]).await["max_per_second"], Value::Null);
}

#[tokio::test]
async fn rate_outside_its_bounds_is_refused() {
    let world = TestApi::new().await;
    let webhook = subscribed(&world, &["*"]).await;
    for (rate, code) in [(json!(0), "out_of_range"), (json!(1001), "out_of_range"), (json!("5"), "invalid_format")]
    {
        let refused = world.patch(&path(&webhook), json!({"max_per_second": rate})).await;
        assert_eq!(refused.problems(), [("max_per_second".to_owned(), code.to_owned())], "{rate}");
    }
}
