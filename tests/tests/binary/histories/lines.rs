//! Reporting lines of a few employees, which several clients change at once. The moves of a group have one order, in
//! which none closes a cycle, and each employee has the last acknowledged line.

use std::collections::{BTreeMap, HashSet};

use candor_test_histories::{NEVER, OperationOf, Tree, TreeCall, TreeResponse};
use serde_json::{Value, json};

use super::actor::{Actor, Request};
use super::fleet::Fleet;
use super::{assert_explained, assert_meaningful, create_person, operations, read_feed};
use crate::support::Response;

/// Number of operations after which the clients turn to another group.
const EPOCH: usize = 300;
/// Number of people of a group: few, so that many moves would close a cycle.
const PEOPLE: usize = 5;

/// Operations of a client, by group.
type Memory = Vec<(usize, OperationOf<Tree>)>;

pub(super) fn check(fleet: &Fleet) {
    let mut client = fleet.client();
    let count = PEOPLE * operations().div_ceil(EPOCH);
    let ids: Vec<String> = (0..count).map(|number| create_person(&mut client, number)).collect();
    let (memories, mut client) = fleet.run(operations(), |actor, memory| act(actor, memory, &ids));
    let mut histories: BTreeMap<usize, Vec<OperationOf<Tree>>> = BTreeMap::new();
    for (group, operation) in memories.into_iter().flatten() {
        histories.entry(group).or_default().push(operation);
    }
    assert_meaningful(histories.values().flatten());
    let events = read_feed(&mut client, &["employee.updated"]);
    let marks: Vec<u64> = events.iter().map(|event| mark(&event["data"])).collect();
    let distinct_marks: HashSet<u64> = marks.iter().copied().collect();
    assert_eq!(distinct_marks.len(), marks.len(), "seed {}: a move has two events", fleet.seed);
    for (group, mut history) in histories {
        for person in 0..PEOPLE {
            let began = fleet.tick();
            let http_response = client.get(&format!("/v1/employees/{}", ids[group * PEOPLE + person])).unwrap();
            let response = Some(shown(&http_response, group, &ids));
            let end_tick = fleet.tick();
            history.push(OperationOf::<Tree> {
                client: usize::MAX,
                began,
                ended: end_tick,
                call: TreeCall::Read(person),
                response,
            });
        }
        for operation in &history {
            let TreeCall::Move { mark, .. } = operation.call else { continue };
            let is_right = match operation.response {
                Some(TreeResponse::Moved) => distinct_marks.contains(&mark),
                Some(TreeResponse::Refused) => !distinct_marks.contains(&mark),
                Some(TreeResponse::Shown(..)) | None => true,
            };
            assert!(is_right, "seed {}: the feed contradicts {operation:?}", fleet.seed);
        }
        // The feed shows each move, so that a move without an event did not happen.
        history.retain(|operation| match operation.call {
            TreeCall::Move { mark, .. } => operation.ended != NEVER || distinct_marks.contains(&mark),
            TreeCall::Read(_) => operation.ended != NEVER,
        });
        let start = vec![Some((None, 0)); PEOPLE];
        assert_explained::<Tree>(fleet, &format!("group {group}"), &history, &start);
    }
}

fn act(actor: &mut Actor<'_>, memory: &mut Memory, ids: &[String]) {
    let group = (actor.fleet.progress() / EPOCH).min(ids.len() / PEOPLE - 1);
    let people = &ids[group * PEOPLE..][..PEOPLE];
    let person = actor.draw(PEOPLE);
    let path = format!("/v1/employees/{}", people[person]);
    let operation = if actor.draw(10) < 4 {
        actor.send(TreeCall::Read(person), &Request::get(path), |response| shown(response, group, ids))
    } else {
        // Each person has the same chance to be the manager, and one move in six ends at the top.
        let manager = Some(actor.draw(PEOPLE + 1)).filter(|number| *number < PEOPLE);
        let mark = actor.fleet.tick();
        let body = json!({"manager_id": manager.map(|number| &people[number]), "job_title": mark.to_string()});
        let call = TreeCall::Move { person, manager, mark };
        actor.send(call, &Request::patch(path, body), |response| match response.status {
            200 => {
                let (line, expected_line) = (shown(response, group, ids), TreeResponse::Shown(manager, mark));
                assert_eq!(line, expected_line);
                TreeResponse::Moved
            }
            422 => {
                let code = &response.json()["error"]["details"][0]["code"];
                assert_eq!(code, "reporting_cycle", "{}", response.text());
                TreeResponse::Refused
            }
            status => panic!("{status}: {}", response.text()),
        })
    };
    memory.push((group, operation));
}

/// Returns the line of a person, whose manager is of the same group.
fn shown(response: &Response, group: usize, ids: &[String]) -> TreeResponse {
    assert_eq!(response.status, 200, "{}", response.text());
    let row = response.json();
    let manager = row["manager_id"].as_str().map(|manager| {
        let people = &ids[group * PEOPLE..][..PEOPLE];
        people.iter().position(|id| id == manager).unwrap()
    });
    TreeResponse::Shown(manager, mark(&row))
}

/// Returns the mark of the last move of a person, or 0.
fn mark(row: &Value) -> u64 {
    row["job_title"].as_str().map_or(0, |text| text.parse().unwrap())
}
