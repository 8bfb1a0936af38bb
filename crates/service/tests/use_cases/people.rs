//! People through the service: reporting lines, invitations, and fields that an HR system owns (§2.3, §3.3,
//! decisions D, G).

use std::sync::Arc;

use crate::support::{TestServices, body, json, kind, member};
use candor_domain::id::{ConnectorId, EmployeeId, RequestId};
use candor_domain::json::Object;
use candor_domain::people::Employee;
use candor_domain::people::invitation::VALID_SECONDS;
use candor_port_storage::{ChangeSet, Row, Storage, StorageExt, Version, Write};
use candor_provisioning::Connector;
use candor_service::Precondition;
use candor_service::usecases::{connectors, employees, invitations};
use ulid::Ulid;

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_moves_end_without_a_cycle() {
    let world = Arc::new(TestServices::new().await);
    let mut people = vec![];
    for number in 0..12 {
        people.push(world.hire(&format!("p{number}"), None).await);
    }
    let people = Arc::new(people);
    let moves = (0..48_usize).map(|step| {
        let (world, people) = (Arc::clone(&world), Arc::clone(&people));
        tokio::spawn(async move {
            let (person, manager) = (people[step % 12], people[(step * 7 + 3) % 12]);
            let text = format!(r#"{{"manager_id":"{manager}"}}"#);
            kind(employees::update(&world.admin(), person, body(&text)).await)
        })
    });
    let mut outcomes = vec![];
    for it in moves.collect::<Vec<_>>() {
        outcomes.push(it.await.unwrap());
    }
    assert!(outcomes.iter().all(|outcome| ["done", "unprocessable"].contains(outcome)), "{outcomes:?}");
    let tenant = world.admin().caller.tenant;
    for person in people.iter() {
        let mut current = *person;
        for _ in 0..=12 {
            match world.store.row::<Employee>(tenant, current).await.unwrap().unwrap().value.manager_id {
                Some(manager) => current = manager,
                None => break,
            }
            assert_ne!(current, *person, "a cycle");
        }
    }
}

async fn invited(world: &TestServices) -> (EmployeeId, String) {
    let text = r#"{"email":"new@example.com","first_name":"New","last_name":"Person","send_invite":true}"#;
    let reply = employees::create(&world.admin(), body(text)).await.unwrap();
    assert_eq!(json(&reply)["status"], "pending_invite");
    let id = member(&reply, "id").parse().unwrap();
    (id, invite(world, id).await)
}

async fn invite(world: &TestServices, id: EmployeeId) -> String {
    let reply = invitations::invite(&world.admin(), id).await.unwrap();
    let url = member(&reply, "accept_url");
    url.split_once("token=").unwrap().1.to_owned()
}

async fn accept(world: &TestServices, token: &str) -> &'static str {
    let text = format!(r#"{{"token":"{token}"}}"#);
    let request = RequestId::from_ulid(Ulid(3));
    kind(invitations::accept(&world.services, request, Default::default(), body(&text)).await)
}

#[tokio::test]
async fn invitation_is_accepted_once_with_its_newest_token() {
    let world = TestServices::new().await;
    let (id, first) = invited(&world).await;
    let second = invite(&world, id).await;
    assert_eq!(accept(&world, &first).await, "not found", "revoked by the second invitation");
    assert_eq!(accept(&world, "unknown").await, "not found");
    assert_eq!(accept(&world, &second).await, "done");
    assert_eq!(accept(&world, &second).await, "not found", "used");
    let person = employees::get(&world.admin(), id, crate::support::params(&[])).await.unwrap();
    assert_eq!(json(&person)["status"], "active");
    assert_eq!(kind(invitations::invite(&world.admin(), id).await), "conflict");
}

#[tokio::test]
async fn invitation_ends_by_expiry_and_deactivation() {
    let world = TestServices::new().await;
    let (id, token) = invited(&world).await;
    // One more second, because the re-sent invitation is a millisecond younger.
    world.clock.advance_seconds(VALID_SECONDS + 1);
    assert_eq!(accept(&world, &token).await, "not found");
    assert_eq!(invitation_status(&world, id).await.0, "expired");
    let token = invite(&world, id).await;
    employees::deactivate(&world.admin(), id).await.unwrap();
    assert_eq!(accept(&world, &token).await, "not found");
}

/// Returns the status of the newest invitation, and its `ETag` parts.
async fn invitation_status(world: &TestServices, id: EmployeeId) -> (String, (Option<Version>, u64)) {
    let invitation = invitations::get(&world.admin(), id).await.unwrap();
    (member(&invitation, "status"), (invitation.version, invitation.etag_extra))
}

#[tokio::test]
async fn activation_by_csv_revokes_the_invitation_and_its_etag() {
    let world = TestServices::new().await;
    let (id, token) = invited(&world).await;
    let (before, tag) = invitation_status(&world, id).await;
    let file = bytes::Bytes::from_static(b"email,status\nnew@example.com,active\n");
    let reply = employees::csv::upsert(world.admin(), crate::support::params(&[]), file).await.unwrap();
    assert_eq!(json(&reply)["data"]["updated"], 1);
    let (after, other) = invitation_status(&world, id).await;
    assert_eq!((before.as_str(), after.as_str()), ("pending", "revoked"));
    assert_ne!(tag, other, "the ETag changes with the status");
    assert_eq!(accept(&world, &token).await, "not found");
}

#[tokio::test]
async fn standard_key_sends_an_invitation_without_seeing_the_link() {
    let world = TestServices::new().await;
    let (id, _) = invited(&world).await;
    let mut caller = (*world.admin().caller).clone();
    caller.level = candor_domain::access::AccessLevel::Standard;
    let reply = invitations::invite(&world.call(caller), id).await.unwrap();
    assert_eq!(json(&reply).get("accept_url"), None);
}

async fn connector(world: &TestServices) -> ConnectorId {
    let text = r#"{"type":"csv_feed","hris_source":"acme-hr","mapped_custom_field_keys":["grade"]}"#;
    let reply = connectors::create(&world.admin(), body(text)).await.unwrap();
    member(&reply, "id").parse().unwrap()
}

/// Marks people as managed by a connector, as the connector's upload does with the people that it matches.
async fn manage(world: &TestServices, connector: ConnectorId, people: &[EmployeeId]) {
    let context = world.admin();
    let tenant = context.caller.tenant;
    let connector = world.store.row::<Connector>(tenant, connector).await.unwrap().unwrap().value;
    for id in people {
        let now = crate::support::NOON;
        let employee = world.store.row::<Employee>(tenant, *id).await.unwrap().unwrap();
        let decision = connector.manage(&employee.value, now).unwrap();
        let mut change = ChangeSet::new(context.audit(world.services.id(now), decision.audit, now));
        change.writes.push(Write::employee(&Row::at_version(decision.state, employee.version), None));
        world.store.commit(tenant, change).await.unwrap();
    }
}

#[tokio::test]
async fn managed_person_is_read_only_until_released() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let connector = connector(&world).await;
    manage(&world, connector, &[person]).await;
    let patch = async |text: &str| employees::update(&world.admin(), person, body(text)).await;
    for text in [r#"{"email":"x@example.com"}"#, r#"{"custom_fields":{"grade":1}}"#, r#"{"last_name":"X"}"#] {
        assert_eq!(kind(patch(text).await), "unprocessable", "{text}");
    }
    for text in [r#"{"role":"manager"}"#, r#"{"custom_fields":{"team":"a"}}"#, r#"{"first_name":"ada"}"#] {
        assert_eq!(kind(patch(text).await), "done", "{text}");
    }
    let release_reply = connectors::release(&world.admin(), connector, Object::new()).await.unwrap();
    assert_eq!(json(&release_reply)["released"], 1);
    let person_after = json(&patch(r#"{"last_name":"X"}"#).await.unwrap());
    assert_eq!(
        (&person_after["is_hris_managed"], &person_after["hris_source"], &person_after["first_name"]),
        (&false.into(), &"manual".into(), &"ada".into())
    );
}

#[tokio::test]
async fn connector_release_covers_every_person_once() {
    let world = TestServices::new().await;
    let connector = connector(&world).await;
    let mut people = vec![];
    for number in 0..405 {
        people.push(world.hire(&format!("p{number}"), None).await);
    }
    manage(&world, connector, &people).await;
    let context = world.with_idempotency_key("release", "release");
    let release_reply = connectors::release(&context, connector, Object::new()).await.unwrap();
    assert_eq!(json(&release_reply)["released"], 405);
    let second_reply = connectors::release(&context, connector, Object::new()).await.unwrap();
    assert_eq!((second_reply.replayed, &second_reply.body), (true, &release_reply.body));
    let more = connectors::release(&world.admin(), connector, Object::new()).await.unwrap();
    assert_eq!(json(&more)["released"], 0);
}

#[tokio::test]
async fn change_applies_only_to_the_version_read() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let employee = employees::get(&world.admin(), person, crate::support::params(&[])).await.unwrap().version;
    let mut context = world.admin();
    context.precondition = Some(Precondition::OneOf(employee.into_iter().map(|version| (version, 0)).collect()));
    let rename = async |name: &str| {
        let text = format!(r#"{{"first_name":"{name}"}}"#);
        kind(employees::update(&context, person, body(&text)).await)
    };
    assert_eq!(rename("Grace").await, "done");
    assert_eq!(rename("Edith").await, "precondition failed");
}
