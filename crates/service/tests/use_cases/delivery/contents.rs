//! Custom headers of deliveries, and thin bodies.

use candor_domain::signature;
use candor_service::usecases::webhooks::{self, RekeyCounts};
use serde_json::json;

use super::{DeliveryTest, SentAttempt};

const URL: &str = "https://receiver.example/";
/// A key ring whose first key is new and whose second key is the key of the fixture.
const NEW_RING: &str = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=,\
                        k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// The first key of [`NEW_RING`] alone.
const NEW_KEY: &str = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

/// Runs one event through the engine and returns its only attempt.
async fn deliver_one(desk: &DeliveryTest) -> SentAttempt {
    desk.hire().await;
    desk.run_once_after(2).await;
    let mut attempts = desk.script.take();
    assert_eq!(attempts.len(), 1);
    attempts.pop().unwrap()
}

fn custom(attempt: &SentAttempt) -> Vec<(&str, &str)> {
    attempt.custom_headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect()
}

#[tokio::test]
async fn delivery_carries_the_custom_headers() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    assert_eq!(custom(&deliver_one(&desk).await), []);
    desk.update(id, json!({"headers": {"Authorization": "Bearer 1234", "x-team": "hr"}})).await;
    assert_eq!(custom(&deliver_one(&desk).await), [("authorization", "Bearer 1234"), ("x-team", "hr")]);
    desk.update(id, json!({"headers": {"authorization": null, "x-team": "people"}})).await;
    assert_eq!(custom(&deliver_one(&desk).await), [("x-team", "people")]);
}

#[tokio::test]
async fn equal_header_value_is_no_change() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    let headers = json!({"headers": {"authorization": "Bearer 1234"}});
    let first = desk.update(id, headers.clone()).await;
    desk.world.clock.advance_seconds(1);
    assert_eq!(desk.update(id, headers).await, first);
    let other = desk.update(id, json!({"headers": {"authorization": "Bearer 5 1234"}})).await;
    assert_eq!(
        (&other["headers"], other != first),
        (&first["headers"], true),
        "only the masked values of the headers are equal"
    );
}

#[tokio::test]
async fn rekey_moves_custom_headers_to_the_first_master_key() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.update(id, json!({"headers": {"authorization": "Bearer 1234"}})).await;
    let both = desk.process_with(NEW_RING, 5);
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 1, unchanged: 0, lost: 0 });
    assert_eq!(webhooks::rekey(&both).await.unwrap(), RekeyCounts { rekeyed: 0, unchanged: 1, lost: 0 });
    desk.queue(1).await;
    let engine_with_new_key = super::Engine::new(&desk.process_with(NEW_KEY, 6), super::Settings::default());
    desk.world.clock.advance_seconds(2);
    engine_with_new_key.run_once().await.unwrap();
    assert_eq!(custom(&desk.script.take()[0]), [("authorization", "Bearer 1234")]);
}

#[tokio::test]
async fn thin_delivery_has_no_personal_data() {
    let desk = DeliveryTest::new().await;
    let (id, secret) = desk.subscribe(URL).await;
    let full = deliver_one(&desk).await;
    assert_eq!((full.body["data"]["first_name"].is_string(), full.body.get("payload")), (true, None));
    desk.update(id, json!({"payload": "thin"})).await;
    let thin = deliver_one(&desk).await;
    let employee = thin.body["data"]["id"].as_str().unwrap();
    let url = format!("http://localhost:8080/v1/employees/{employee}");
    assert_eq!(thin.body["data"], json!({"id": employee, "type": "employee", "url": url}));
    assert_eq!((&thin.body["event"], &thin.body["payload"]), (&json!("employee.created"), &json!("thin")));
    assert!(!String::from_utf8_lossy(&thin.raw).contains("person1"), "{}", thin.body);
    let header = &thin.headers["X-Service-Signature"];
    assert_eq!(signature::verify(&secret, header, &thin.raw, thin.at), Ok(()));
}

#[tokio::test]
async fn thin_test_delivery_keeps_its_message() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.update(id, json!({"payload": "thin"})).await;
    webhooks::test(&desk.world.admin(), id).await.unwrap();
    desk.run_once_after(2).await;
    let attempts = desk.script.take();
    assert!(attempts[0].body["data"]["message"].is_string(), "{}", attempts[0].body);
}

#[tokio::test]
async fn queued_event_is_sent_only_if_its_type_is_still_wanted() {
    let desk = DeliveryTest::new().await;
    let (id, _) = desk.subscribe(URL).await;
    desk.hire().await;
    desk.update(id, json!({"url": "https://other.example/in", "event_types": ["observation.created"]})).await;
    desk.run_once_after(2).await;
    assert_eq!(desk.script.take().len(), 0, "the subscription has another event type by now");
    desk.update(id, json!({"event_types": ["employee.created"]})).await;
    assert!(deliver_one(&desk).await.body["data"]["first_name"].is_string());
}
