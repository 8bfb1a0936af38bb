//! What the tests of webhooks begin with: a place that trusts this machine, somebody to observe, a subscription.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Place, Receiver};

/// Longer than anything takes that is waited for: a lease runs for 15 seconds more than a receiver has to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// The one type of event that these tests fire in numbers.
pub(super) const KIND: &str = "observation.created";

/// Lets deliveries go to this machine, gives a receiver so many seconds, and so many retries, each after a second.
pub(super) fn impatient(place: Place, timeout_seconds: u64, retries: usize) -> Place {
    trusting(place)
        .with("CANDOR_WEBHOOKS_TIMEOUT", &format!("{timeout_seconds}s"))
        .with("CANDOR_WEBHOOKS_RETRY_SCHEDULE", &vec!["1s"; retries].join(","))
}

/// Lets deliveries go to this machine.
pub(super) fn trusting(place: Place) -> Place {
    place.with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")
}

/// A subscription that was made.
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) secret: String,
}

/// Subscribes a path of the receiver.
pub(super) fn subscribe(client: &mut Client, receiver: &Receiver, path: &str, types: &[&str]) -> Subscription {
    let made = client.post("/v1/webhooks", &json!({"url": receiver.url(path), "event_types": types})).unwrap();
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json();
    Subscription { id: text(&made["id"]), path: path.to_owned(), secret: text(&made["secret"]) }
}

/// Somebody to observe.
pub(super) fn employee(client: &mut Client) -> String {
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"});
    let made = client.post("/v1/employees", &body).unwrap();
    assert_eq!(made.status, 201, "{}", made.text());
    text(&made.json()["id"])
}

/// Records an observation, which fires one event; answers its id.
pub(super) fn observe(client: &mut Client, employee: &str) -> io::Result<String> {
    let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
    let made = client.post("/v1/observations", &body)?;
    assert_eq!(made.status, 201, "{}", made.text());
    Ok(text(&made.json()["id"]))
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}
