//! Setup of the webhook tests: an installation that trusts the loopback address, an employee to observe, and a
//! subscription.

use std::io;

use serde_json::{Value, json};

use crate::support::{Client, Installation, Receiver};

/// The event type that these tests cause in large numbers.
pub(super) const KIND: &str = "observation.created";

/// Allows deliveries to this machine, with this receiver timeout and this many retries, one second apart.
pub(super) fn impatient(place: Installation, timeout_seconds: u64, retries: usize) -> Installation {
    trusting(place)
        .with("CANDOR_WEBHOOKS_TIMEOUT", &format!("{timeout_seconds}s"))
        .with("CANDOR_WEBHOOKS_RETRY_SCHEDULE", &vec!["1s"; retries].join(","))
}

/// Allows deliveries to this machine.
pub(super) fn trusting(place: Installation) -> Installation {
    place.with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")
}

/// A created webhook subscription.
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) secret: String,
}

/// Creates a subscription for a path of the receiver.
pub(super) fn subscribe(client: &mut Client, receiver: &Receiver, path: &str, types: &[&str]) -> Subscription {
    let response = client.post("/v1/webhooks", &json!({"url": receiver.url(path), "event_types": types})).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    let webhook_json = response.json();
    Subscription { id: text(&webhook_json["id"]), path: path.to_owned(), secret: text(&webhook_json["secret"]) }
}

/// Creates an employee to observe and returns its id.
pub(super) fn employee(client: &mut Client) -> String {
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"});
    let response = client.post("/v1/employees", &body).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    text(&response.json()["id"])
}

/// Records an observation, which causes one event. Returns the observation's id.
pub(super) fn observe(client: &mut Client, employee: &str) -> io::Result<String> {
    let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
    let response = client.post("/v1/observations", &body)?;
    assert_eq!(response.status, 201, "{}", response.text());
    Ok(text(&response.json()["id"]))
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}
