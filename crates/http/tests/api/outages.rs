//! Failures of the store: the client gets the error envelope, never the cause.

use std::sync::Arc;

use candor_http::HttpSettings;
use candor_store_testkit::{Faulty, FaultyCall};
use serde_json::json;

use crate::stores::in_memory;
use crate::support::TestApi;

#[tokio::test]
async fn panic_is_a_500_without_its_message() {
    let metrics: candor_http::MetricsText = Arc::new(|| panic!("secret cause"));
    let world = TestApi::with(HttpSettings { metrics: Some(metrics), ..crate::support::patient_settings() }).await;
    let metrics_response = world.bare("GET", "/metrics").with_peer("127.0.0.1").send().await;
    assert_eq!(metrics_response.refusal(), (500, "server_error".to_owned()));
    assert!(!metrics_response.text().contains("secret"), "{}", metrics_response.text());
    assert_eq!(world.get("/v1/me").await.status, 200, "and the next request is answered");
}

#[tokio::test]
async fn metrics_are_served_to_local_peers_only() {
    let metrics: candor_http::MetricsText = Arc::new(|| "up 1\n".to_owned());
    let world = TestApi::with(HttpSettings { metrics: Some(metrics), ..crate::support::patient_settings() }).await;
    let local = world.bare("GET", "/metrics").with_peer("127.0.0.1").send().await;
    assert_eq!((local.status, local.text()), (200, "up 1\n".to_owned()));
    assert_eq!(world.bare("GET", "/metrics").with_peer("::1").send().await.status, 200);
    assert_eq!(world.bare("GET", "/metrics").send().await.status, 404);
    let forwarded_request =
        world.bare("GET", "/metrics").with_peer("127.0.0.1").header("x-forwarded-for", "127.0.0.1");
    assert_eq!(forwarded_request.send().await.status, 404, "a forwarded request may come from another machine");
}

#[tokio::test]
async fn readiness_reflects_database_and_shutdown() {
    let store = Arc::new(Faulty::new(in_memory()));
    let world = TestApi::on(store.clone(), crate::support::patient_settings()).await;
    let ready = || world.bare("GET", "/readyz").send();
    assert_eq!(ready().await.status, 200);
    store.set_down(true);
    world.clock.advance_seconds(1);
    let down = ready().await;
    assert_eq!(down.refusal(), (503, "unavailable".to_owned()));
    assert_eq!(down.json()["error"]["message"], "The database does not answer or takes no writes.");
    assert_eq!(world.bare("GET", "/livez").send().await.status, 200, "the process lives");
    store.set_down(false);
    world.readiness.set_draining();
    assert_eq!(ready().await.json()["error"]["message"], "The service is stopping.");
    assert_eq!(world.get("/v1/me").await.status, 200, "requests in flight are still answered");
}

#[tokio::test]
async fn readiness_check_writes_at_most_once_a_second() {
    let store = Arc::new(Faulty::new(in_memory()));
    let world = TestApi::on(store.clone(), crate::support::patient_settings()).await;
    let calls_before = store.calls(FaultyCall::Itself);
    for (round, down) in [(1, false), (2, true), (3, false)] {
        store.set_down(down);
        world.clock.advance_seconds(1);
        let responses = futures_util::future::join_all((0..50).map(|_| world.bare("GET", "/readyz").send())).await;
        let status = if down { 503 } else { 200 };
        assert!(responses.iter().all(|response| response.status == status), "round {round}");
        assert_eq!(store.calls(FaultyCall::Itself) - calls_before, round);
    }
}

#[tokio::test]
async fn unreachable_store_is_503_with_retry_after() {
    let store = Arc::new(Faulty::new(in_memory()));
    let world = TestApi::on(store.clone(), crate::support::patient_settings()).await;
    assert_eq!(world.get("/v1/me").await.status, 200, "the key is cached for a moment");
    store.set_down(true);
    let response = world.get("/v1/observations").await;
    assert_eq!(response.refusal(), (503, "unavailable".to_owned()));
    assert_eq!(response.header("retry-after"), Some("1"));
    assert_eq!(response.header("candor-should-retry"), Some("true"));
    assert_eq!(world.post("/v1/departments", json!({"name": "x"})).await.status, 503);
    world.clock.advance_seconds(5);
    let unknown = world.get("/v1/me").await;
    assert_eq!(
        unknown.refusal(),
        (503, "unavailable".to_owned()),
        "a key that cannot be looked up is not a bad key"
    );
    assert!(unknown.header("x-ratelimit-limit").is_some());
    store.set_down(false);
    assert_eq!(world.get("/v1/me").await.status, 200);
}
