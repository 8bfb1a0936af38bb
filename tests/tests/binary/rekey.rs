//! Replacement of the master key while webhooks have secrets, on both stores.

use serde_json::{Value, json};

use crate::support::{Installation, PATIENCE, Service, candor, wait_until};

const OLD: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEW: &str = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

#[test]
fn master_key_is_replaced_on_sqlite() {
    assert_replaced(Installation::sqlite());
}

#[test]
fn master_key_is_replaced_on_postgres() {
    if let Some(place) = Installation::postgres() {
        assert_replaced(place);
    }
}

fn with_ring(place: &mut Installation, ring: &str) {
    place.settings.push(("CANDOR_MASTER_KEY".to_owned(), ring.to_owned()));
}

fn run_rekey(place: &Installation) -> Value {
    candor(place, &["rekey", "--json"]).json()
}

fn assert_replaced(place: Installation) {
    let mut place = place.with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.1/32");
    with_ring(&mut place, OLD);
    let key = place.key("*", &[]);
    let service = Service::serve(&place);
    let mut client = service.client(&key.secret);
    let body = json!({"url": "https://127.0.0.1:9/", "event_types": ["summary.shared"]});
    for _ in 0..3 {
        assert_eq!(client.post("/v1/webhooks", &body).unwrap().status, 201);
    }
    service.stop();
    with_ring(&mut place, NEW);
    let refusal = candor(&place, &["rekey"]);
    assert_eq!((refusal.code, refusal.stdout.as_str(), refusal.stderr.lines().count()), (Some(1), "", 1));
    for word in ["encrypted with k1 (", "the ring has k2 (", "CANDOR_MASTER_KEY"] {
        assert!(refusal.stderr.contains(word), "{word} in {}", refusal.stderr);
    }
    with_ring(&mut place, &format!("{NEW},{OLD}"));
    let service = Service::serve(&place);
    assert_eq!(run_rekey(&place), json!({"rekeyed": 3, "unchanged": 0, "lost": 0}), "while the service runs");
    service.stop();
    with_ring(&mut place, NEW);
    assert_eq!(run_rekey(&place), json!({"rekeyed": 0, "unchanged": 3, "lost": 0}), "the new key alone is enough");
    let people = candor(&place, &["rekey"]).succeeded();
    assert!(people.stdout.contains("24 hours"), "{}", people.stdout);
}

#[test]
fn lost_master_key_costs_only_the_data_sealed_with_that_key() {
    let mut place = Installation::sqlite().with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.1/32");
    with_ring(&mut place, OLD);
    let key = place.key("*", &[]);
    let service = Service::serve(&place);
    let body = json!({"url": "https://127.0.0.1:9/", "event_types": ["*"]});
    let webhook = service.client(&key.secret).post("/v1/webhooks", &body).unwrap().json();
    let path = format!("/v1/webhooks/{}", webhook["id"].as_str().unwrap());
    service.stop();
    with_ring(&mut place, NEW);
    let rekey_json = candor(&place, &["rekey", "--accept-loss", "--json"]).json();
    assert_eq!(rekey_json, json!({"rekeyed": 0, "unchanged": 0, "lost": 1}));
    let service = Service::serve(&place);
    let mut client = service.client(&key.secret);
    let test_response = client.post(&format!("{path}/test"), &json!({})).unwrap();
    assert_eq!((test_response.status, &test_response.json()["error"]["code"]), (500, &json!("server_error")));
    let person = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Moreau"});
    assert_eq!(client.post("/v1/employees", &person).unwrap().status, 201);
    let is_lost_key_counted = || {
        let metrics = service.anonymous().unwrap().get("/metrics").unwrap().text();
        metrics.contains("candor_webhook_attempts_total{outcome=\"secret\"} 1")
    };
    assert!(wait_until(PATIENCE, is_lost_key_counted).is_some(), "{}", service.log());
    let rotation = client.request("PATCH", &path, &[], Some(&json!({"rotate_secret": true}))).unwrap();
    assert_eq!(rotation.status, 200, "{}", rotation.text());
    assert_eq!(client.post(&format!("{path}/test"), &json!({})).unwrap().status, 200);
    service.stop();
}
