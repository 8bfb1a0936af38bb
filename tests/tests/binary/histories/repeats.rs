//! Creations that several clients send with the same `Idempotency-Key`, also after an unknown result and to other
//! instances. Each key has one row, one event and one response.

use std::collections::{BTreeMap, HashMap};

use candor_test_histories::{Claim, ClaimCall, ClaimResponse, ClaimState, OperationOf};
use serde_json::{Value, json};

use super::actor::{Actor, Request};
use super::fleet::Fleet;
use super::{assert_explained, assert_meaningful, create_person, fail, operations, read_feed};

/// Number of operations after which the clients turn to other keys.
const EPOCH: usize = 40;
/// Number of keys at a time.
const KEYS: usize = 4;

/// Operations of a client, by key, each with the body of its response.
type Memory = Vec<(usize, OperationOf<Claim>, Option<String>)>;

pub(super) fn check(fleet: &Fleet) {
    let person = create_person(&mut fleet.client(), 0);
    let (memories, mut client) = fleet.run(operations(), |actor, memory| act(actor, memory, &person));
    let mut histories: BTreeMap<usize, Vec<OperationOf<Claim>>> = BTreeMap::new();
    let mut bodies: HashMap<usize, String> = HashMap::new();
    for (key, operation, body) in memories.into_iter().flatten() {
        histories.entry(key).or_default().push(operation);
        let Some(body) = body else { continue };
        let first_body = bodies.entry(key).or_insert_with(|| body.clone());
        if *first_body != body {
            let text = format!("seed {}: two responses for key {key}:\n{first_body}\n{body}\n", fleet.seed);
            fail(fleet, &format!("key {key}"), &text, &histories[&key]);
        }
    }
    assert_meaningful(histories.values().flatten());
    let rows = group(client.all("/v1/observations?sort=created_at").iter());
    let events = read_feed(&mut client, &["observation.created"]);
    let event_ids = group(events.iter().map(|event| &event["data"]));
    for (key, mut history) in histories {
        let (began, ended) = (fleet.tick(), fleet.tick());
        let ids = rows.get(&key.to_string()).cloned().unwrap_or_default();
        let shown_ids = event_ids.get(&key.to_string()).cloned().unwrap_or_default();
        if ids != shown_ids {
            let text = format!("seed {}: rows {ids:?} of key {key}, but events of {shown_ids:?}\n", fleet.seed);
            fail(fleet, &format!("key {key}"), &text, &history);
        }
        let response = Some(ClaimResponse::Holders(ids));
        history.push(OperationOf::<Claim> { client: usize::MAX, began, ended, call: ClaimCall::Look, response });
        assert_explained::<Claim>(fleet, &format!("key {key}"), &history, &ClaimState::Free);
    }
}

/// Returns the ids of observations by their texts, which are the keys of their requests.
fn group<'a>(rows: impl Iterator<Item = &'a Value>) -> BTreeMap<String, Vec<String>> {
    let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let text = |member: &str| row[member].as_str().unwrap().to_owned();
        ids.entry(text("observation")).or_default().push(text("id"));
    }
    ids.values_mut().for_each(|ids| ids.sort_unstable());
    ids
}

fn act(actor: &mut Actor<'_>, memory: &mut Memory, person: &str) {
    let key = actor.fleet.progress() / EPOCH * KEYS + actor.draw(KEYS);
    let body = json!({"employee_id": person, "type": "strength", "observation": key.to_string()});
    let request = Request::post("/v1/observations", body).with("Idempotency-Key", Some(format!("key-{key}")));
    let mut response_text = None;
    let operation = actor.send(ClaimCall::Create, &request, |response| {
        assert_eq!(response.status, 201, "{}", response.text());
        response_text = Some(response.text());
        let id = response.json()["id"].as_str().unwrap().to_owned();
        if response.header("idempotent-replayed") == Some("true") {
            ClaimResponse::Taken(id)
        } else {
            ClaimResponse::Created(id)
        }
    });
    memory.push((key, operation, response_text));
}
