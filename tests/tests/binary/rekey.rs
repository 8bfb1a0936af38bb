//! The master key is replaced while webhooks have secrets, on both stores.

use serde_json::{Value, json};

use crate::support::{Place, Service, candor};

const OLD: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEW: &str = "k2:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";

#[test]
fn the_master_key_is_replaced_on_sqlite() {
    replaced(Place::sqlite());
}

#[test]
fn the_master_key_is_replaced_on_postgres() {
    if let Some(place) = Place::postgres() {
        replaced(place);
    }
}

fn with_ring(place: &mut Place, ring: &str) {
    place.settings.push(("CANDOR_MASTER_KEY".to_owned(), ring.to_owned()));
}

fn rekeyed(place: &Place) -> Value {
    candor(place, &["rekey", "--json"]).json()
}

fn replaced(place: Place) {
    let mut place = place.with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.1/32");
    with_ring(&mut place, OLD);
    let key = place.key("*", &[]);
    let service = Service::serve(&place);
    let mut client = service.client(&key.secret);
    let body = json!({"url": "https://127.0.0.1:9/", "event_types": ["summary.shared"]});
    let made: Vec<Value> = (0..3).map(|_| client.post("/v1/webhooks", &body).unwrap().json()).collect();
    service.stop();
    with_ring(&mut place, NEW);
    let refused = candor(&place, &["rekey"]);
    assert_eq!((refused.code, refused.stdout.as_str(), refused.stderr.lines().count()), (Some(1), "", 1));
    let named = made.iter().any(|it| refused.stderr.contains(it["id"].as_str().unwrap()));
    assert!(named && refused.stderr.contains("CANDOR_MASTER_KEY"), "{}", refused.stderr);
    with_ring(&mut place, &format!("{NEW},{OLD}"));
    let service = Service::serve(&place);
    assert_eq!(rekeyed(&place), json!({"rekeyed": 3, "unchanged": 0}), "while the service runs");
    service.stop();
    with_ring(&mut place, NEW);
    assert_eq!(rekeyed(&place), json!({"rekeyed": 0, "unchanged": 3}), "the new key alone is enough");
    let people = candor(&place, &["rekey"]).succeeded();
    assert!(people.stdout.contains("24 hours"), "{}", people.stdout);
}
