//! Verifies real deliveries with the Rust example of the documentation for receivers.

use candor_domain::signature::SignatureError;
use candor_domain::time::Timestamp;
use serde_json::json;

use super::fixtures::{KIND, employee, impatient, observe, subscribe, text};
use crate::support::{Installation, ReceivedRequest, Receiver, Service};

/// The example from the documentation, as `documented`.
mod page {
    include!(concat!(env!("OUT_DIR"), "/documented.rs"));
}

fn check(secret: &str, arrival: &ReceivedRequest) -> Result<(), SignatureError> {
    let seconds: i64 = arrival.header("x-service-timestamp").parse().unwrap();
    let now = Timestamp::from_millis(seconds * 1000);
    page::documented((secret, arrival.header("x-service-signature"), &arrival.body, now))
}

#[test]
fn live_deliveries_pass_the_documented_check_during_rotation() {
    let place = impatient(Installation::sqlite(), 5, 1);
    let key = place.key("*", &["--admin"]).secret;
    let (service, receiver) = (Service::serve(&place), Receiver::start());
    let mut client = service.client(&key);
    let employee = employee(&mut client);
    let webhook = subscribe(&mut client, &receiver, "/hooks", &[KIND]);
    observe(&mut client, &employee).unwrap();
    receiver.wait_for_requests("a delivery", |all| all.len() == 1);
    let path = format!("/v1/webhooks/{}", webhook.id);
    let rotation = client.request("PATCH", &path, &[], Some(&json!({"rotate_secret": true}))).unwrap().json();
    let new_secret = text(&rotation["secret"]);
    observe(&mut client, &employee).unwrap();
    receiver.wait_for_requests("a delivery after the rotation", |all| all.len() == 2);
    let [before, after] = receiver.arrivals().try_into().unwrap();
    assert_eq!(check(&webhook.secret, &before), Ok(()));
    assert_eq!(check(&new_secret, &before), Err(SignatureError::Forged));
    assert_eq!((check(&webhook.secret, &after), check(&new_secret, &after)), (Ok(()), Ok(())));
    let forged_request = ReceivedRequest { body: [&after.body[..], b" "].concat(), ..after };
    assert_eq!(check(&new_secret, &forged_request), Err(SignatureError::Forged));
    service.stop();
}
