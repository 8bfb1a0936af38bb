//! A revoked key is refused by every instance. The documented limit of one second is checked by tests of the service,
//! which have a manual clock.

use serde_json::json;

use crate::support::{Client, Installation, PATIENCE, Service, candor, wait_until};

fn status(client: &mut Client) -> u16 {
    client.get("/v1/me").unwrap().status
}

#[test]
fn key_revoked_by_command_is_refused_by_a_running_service() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]);
    let service = Service::serve(&place);
    let mut client = service.client(&key.secret);
    assert_eq!(status(&mut client), 200);
    candor(&place, &["key", "revoke", &key.id]).succeeded();
    assert!(wait_until(PATIENCE, || status(&mut client) == 401).is_some());
}

#[test]
fn key_revoked_through_one_instance_is_refused_by_another() {
    let Some(place) = Installation::postgres() else { return };
    let admin = place.key("*", &["--admin"]);
    let victim = place.key_of(&admin.organization, "*", &[]);
    let (one, other) = (Service::serve(&place), Service::serve(&place));
    let mut clients = [one.client(&victim.secret), other.client(&victim.secret)];
    assert_eq!(clients.each_mut().map(status), [200, 200]);
    let revocation =
        one.client(&admin.secret).post(&format!("/v1/api-keys/{}/revoke", victim.id), &json!({})).unwrap();
    assert_eq!(revocation.status, 200, "{}", revocation.text());
    assert_eq!(status(&mut clients[0]), 401, "the instance that revoked it knows at once");
    assert!(wait_until(PATIENCE, || status(&mut clients[1]) == 401).is_some());
    one.stop();
    other.stop();
}
