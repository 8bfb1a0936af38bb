//! Observations as registers: reads with their tags, and changes with and without `If-Match`.

use std::collections::{BTreeMap, HashMap};

use candor_test_histories::{
    Content, NEVER, Operation, OperationOf, Register, RegisterCall, RegisterResponse, RegisterState, check_feed,
};
use serde_json::{Value, json};

use super::actor::{Actor, Request};
use super::fleet::{CLIENTS, Fleet};
use super::{assert_explained, assert_meaningful, create, create_person, fail, operations, read_feed};
use crate::support::Response;

/// Number of operations after which the clients turn to other resources, so that no history becomes too long.
const EPOCH: usize = 600;
/// Number of resources at a time.
const RESOURCES: usize = 3;

/// Operations of a client, by resource, and the last content that it saw of each.
#[derive(Default)]
struct Memory {
    history: Vec<(usize, OperationOf<Register>)>,
    seen: HashMap<usize, Content>,
}

pub(super) fn check(fleet: &Fleet) {
    let mut client = fleet.client();
    let person = create_person(&mut client, 0);
    let body = json!({"employee_id": person, "type": "strength", "observation": "0", "metadata": {"n": "0"}});
    let ids: Vec<String> = (0..RESOURCES * operations().div_ceil(EPOCH))
        .map(|_| create(&mut client, "/v1/observations", &body))
        .collect();
    let first_contents: Vec<Content> =
        ids.iter().map(|id| content(&client.get(&format!("/v1/observations/{id}")).unwrap())).collect();
    let (memories, mut client) = fleet.run(operations(), |actor, memory| act(actor, memory, &ids));
    let mut histories: BTreeMap<usize, Vec<OperationOf<Register>>> = BTreeMap::new();
    for (resource, operation) in memories.into_iter().flat_map(|memory| memory.history) {
        histories.entry(resource).or_default().push(operation);
    }
    assert_meaningful(histories.values().flatten());
    let mut feeds: HashMap<String, Vec<[u64; 2]>> = HashMap::new();
    for event in read_feed(&mut client, &["observation.created", "observation.updated"]) {
        let id = event["data"]["id"].as_str().unwrap().to_owned();
        feeds.entry(id).or_default().push(fields(&event["data"]));
    }
    for (resource, mut history) in histories {
        let id = &ids[resource];
        let events = &feeds[id];
        let began = fleet.tick();
        let last_content = content(&client.get(&format!("/v1/observations/{id}")).unwrap());
        let response = Some(RegisterResponse::Content(last_content));
        let end_tick = fleet.tick();
        history.push(Operation {
            client: CLIENTS,
            began,
            ended: end_tick,
            call: RegisterCall::Read(None),
            response,
        });
        history.sort_by_key(|operation| operation.began);
        if let Err(problem) = check_feed(&history, events) {
            let text = format!(
                "seed {}: the feed of {id} contradicts its history: {problem:#?}\n{events:?}\n",
                fleet.seed
            );
            fail(fleet, id, &text, &history);
        }
        // The feed shows each change, so that a write without an event did not happen.
        history.retain(|operation| operation.ended != NEVER || has_event(&operation.call, events));
        let start = RegisterState::Shown(first_contents[resource]);
        assert_explained::<Register>(fleet, id, &history, &start);
    }
}

fn has_event(call: &RegisterCall, events: &[[u64; 2]]) -> bool {
    match call {
        RegisterCall::Read(_) => false,
        RegisterCall::Write { field, value, .. } => events.iter().any(|fields| fields[*field] == *value),
    }
}

fn act(actor: &mut Actor<'_>, memory: &mut Memory, ids: &[String]) {
    let epoch = actor.fleet.progress() / EPOCH;
    let resource = (epoch * RESOURCES + actor.draw(RESOURCES)).min(ids.len() - 1);
    let path = format!("/v1/observations/{}", ids[resource]);
    let last_tag = memory.seen.get(&resource).map(|content| content.tag);
    let write_with = |actor: &mut Actor<'_>, tag: Option<u64>| {
        let (field, value) = (actor.draw(2), actor.fleet.tick());
        let text = value.to_string();
        let body = if field == 0 { json!({"observation": text}) } else { json!({"metadata": {"n": text}}) };
        let request = Request::patch(path.clone(), body).with("If-Match", tag.map(quote));
        actor.send(RegisterCall::Write { field, value, tag }, &request, read_response)
    };
    let operation = match actor.draw(10) {
        0..=2 => actor.send(RegisterCall::Read(None), &Request::get(path), read_response),
        3 if last_tag.is_some() => {
            let request = Request::get(path).with("If-None-Match", last_tag.map(quote));
            actor.send(RegisterCall::Read(last_tag), &request, read_response)
        }
        4..=7 => write_with(actor, last_tag),
        _ => write_with(actor, None),
    };
    if let Some(RegisterResponse::Content(content)) = &operation.response {
        memory.seen.insert(resource, *content);
    }
    memory.history.push((resource, operation));
}

fn read_response(response: &Response) -> RegisterResponse {
    match response.status {
        200 => RegisterResponse::Content(content(response)),
        304 => RegisterResponse::Unchanged,
        412 => RegisterResponse::Stale,
        status => panic!("{status}: {}", response.text()),
    }
}

fn content(response: &Response) -> Content {
    let tag = response.header("etag").unwrap().trim_matches('"');
    Content { tag: u64::from_str_radix(tag, 16).unwrap(), fields: fields(&response.json()) }
}

fn quote(tag: u64) -> String {
    format!("\"{tag:016x}\"")
}

fn fields(row: &Value) -> [u64; 2] {
    [&row["observation"], &row["metadata"]["n"]].map(|text| text.as_str().unwrap().parse().unwrap())
}
