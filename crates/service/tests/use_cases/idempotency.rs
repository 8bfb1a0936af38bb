//! One effect per idempotency key, and the same answer for every retry (§8, decision B2).

use std::sync::Arc;

use crate::support::{TestServices, body, json, kind, member, params};
use candor_domain::id::{EmployeeId, ObservationId};
use candor_service::usecases::{events, observations};
use candor_store_testkit::{Fault, FaultyCall as Stored};

fn observation_about(person: EmployeeId) -> String {
    format!(r#"{{"employee_id":"{person}","type":"strength","observation":"Listens well."}}"#)
}

async fn events_of(world: &TestServices, kind: &str) -> usize {
    let feed = events::feed(&world.admin(), params(&[("filter[event]", kind), ("limit", "100")])).await;
    json(&feed.unwrap())["data"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_concurrent_retries_create_one_observation() {
    let world = Arc::new(TestServices::new().await);
    let person = world.hire("ada", None).await;
    let twin = |_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let text = observation_about(person);
            observations::create(&world.with_idempotency_key("key", &text), body(&text)).await.unwrap()
        })
    };
    let mut bodies = vec![];
    let mut replay_count = 0;
    for twin in (0..30).map(twin).collect::<Vec<_>>() {
        let reply = twin.await.unwrap();
        replay_count += usize::from(reply.replayed);
        bodies.push((reply.outcome, reply.version, reply.body));
    }
    assert_eq!(replay_count, 29);
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(events_of(&world, "observation.created").await, 1);
}

#[tokio::test]
async fn different_request_with_the_same_idempotency_key_is_refused() {
    let world = TestServices::new().await;
    let text = observation_about(world.hire("ada", None).await);
    observations::create(&world.with_idempotency_key("key", &text), body(&text)).await.unwrap();
    let other = observations::create(&world.with_idempotency_key("key", "other"), body(&text)).await;
    assert_eq!(kind(other), "key reused");
    let invalid = observations::create(&world.with_idempotency_key("key", "third"), body("{}")).await;
    assert_eq!(kind(invalid), "key reused", "the key is judged before the fields (decision A13)");
}

#[tokio::test]
async fn retried_action_replays_its_answer_despite_new_state() {
    let world = TestServices::new().await;
    let text = observation_about(world.hire("ada", None).await);
    let creation = observations::create(&world.admin(), body(&text)).await.unwrap();
    let id: ObservationId = member(&creation, "id").parse().unwrap();
    let context = world.with_idempotency_key("archive", "archive");
    let first = observations::archive(&context, id).await.unwrap();
    let second = observations::archive(&context, id).await.unwrap();
    assert_eq!((second.replayed, &second.body), (true, &first.body));
    assert_eq!(kind(observations::archive(&world.admin(), id).await), "conflict");
}

#[tokio::test]
async fn lost_answer_is_replayed_to_the_retry() {
    let world = TestServices::new().await;
    let text = observation_about(world.hire("ada", None).await);
    let context = world.with_idempotency_key("key", &text);
    world.store.fail(Stored::Commit, 1, Fault::After);
    assert_eq!(kind(observations::create(&context, body(&text)).await), "unavailable");
    assert_eq!(kind(observations::create(&context, body(&text)).await), "replayed");
    assert_eq!(events_of(&world, "observation.created").await, 1);
}

#[tokio::test]
async fn refused_request_is_not_stored_for_replay() {
    let world = TestServices::new().await;
    let person = world.hire("ada", None).await;
    let error = observations::create(&world.with_idempotency_key("key", "a"), body("{}")).await;
    assert_eq!(kind(error), "invalid");
    let text = observation_about(person);
    assert_eq!(kind(observations::create(&world.with_idempotency_key("key", &text), body(&text)).await), "done");
}

#[tokio::test]
async fn idempotency_key_expires_after_a_day() {
    let world = TestServices::new().await;
    let text = observation_about(world.hire("ada", None).await);
    let context = world.with_idempotency_key("key", &text);
    observations::create(&context, body(&text)).await.unwrap();
    world.clock.advance_seconds(24 * 3600 - 1);
    assert_eq!(kind(observations::create(&context, body(&text)).await), "replayed");
    world.clock.advance_seconds(1);
    assert_eq!(kind(observations::create(&context, body(&text)).await), "done");
    assert_eq!(events_of(&world, "observation.created").await, 2);
}
