//! Unique values: external ids of observations and addresses of people, which several clients create, give up and
//! look for. Each value has one holder at a time, and each conflict has one.

use std::collections::{BTreeMap, HashMap};

use candor_test_histories::{Claim, ClaimCall, ClaimResponse, ClaimState, OperationOf};
use serde_json::json;

use super::actor::{Actor, Request};
use super::fleet::Fleet;
use super::{assert_explained, assert_meaningful, create_person, id_of, operations};
use crate::support::Response;

/// Number of operations after which the clients turn to other values.
const EPOCH: usize = 200;
/// Number of values at a time: external ids have even numbers, addresses have odd ones.
const VALUES: usize = 4;

/// Operations of a client, by value, and the last holder that it saw of each.
#[derive(Default)]
struct Memory {
    history: Vec<(usize, OperationOf<Claim>)>,
    holders: HashMap<usize, String>,
}

pub(super) fn check(fleet: &Fleet) {
    let person = create_person(&mut fleet.client(), 0);
    let (memories, mut client) = fleet.run(operations(), |actor, memory| act(actor, memory, &person));
    let mut histories: BTreeMap<usize, Vec<OperationOf<Claim>>> = BTreeMap::new();
    for (value, operation) in memories.into_iter().flat_map(|memory| memory.history) {
        histories.entry(value).or_default().push(operation);
    }
    assert_meaningful(histories.values().flatten());
    for (value, mut history) in histories {
        let began = fleet.tick();
        let response = Some(holders(&client.get(&path_of_lookup(value)).unwrap()));
        let end_tick = fleet.tick();
        history.push(OperationOf::<Claim> {
            client: usize::MAX,
            began,
            ended: end_tick,
            call: ClaimCall::Look,
            response,
        });
        assert_explained::<Claim>(fleet, &format!("value {value}"), &history, &ClaimState::Free);
    }
}

const fn is_address(value: usize) -> bool {
    value % 2 == 1
}

fn path_of_lookup(value: usize) -> String {
    if is_address(value) {
        format!("/v1/employees?filter[status]=all&filter[email]=v{value}@example.com")
    } else {
        format!("/v1/observations?filter[archived]=all&filter[external_id]=v{value}")
    }
}

fn act(actor: &mut Actor<'_>, memory: &mut Memory, person: &str) {
    let value = actor.fleet.progress() / EPOCH * VALUES + actor.draw(VALUES);
    let known_holder = memory.holders.get(&value).cloned();
    let operation = match (actor.draw(10), known_holder) {
        (0..=2, Some(id)) => {
            let tick = actor.fleet.tick();
            let request = if is_address(value) {
                Request::patch(format!("/v1/employees/{id}"), json!({"email": format!("free{tick}@example.com")}))
            } else {
                Request::patch(format!("/v1/observations/{id}"), json!({"external_id": null}))
            };
            actor.send(ClaimCall::Release(id), &request, |response| {
                assert_eq!(response.status, 200, "{}", response.text());
                ClaimResponse::Released
            })
        }
        (3..=5, _) => actor.send(ClaimCall::Look, &Request::get(path_of_lookup(value)), holders),
        _ => {
            let request = if is_address(value) {
                let email = format!("v{value}@example.com");
                Request::post(
                    "/v1/employees",
                    json!({"email": email, "first_name": "Ada", "last_name": "Example"}),
                )
            } else {
                let body = json!({
                    "employee_id": person, "type": "strength", "observation": "x", "external_id": format!("v{value}"),
                });
                Request::post("/v1/observations", body)
            };
            actor.send(ClaimCall::Create, &request, creation)
        }
    };
    match &operation.response {
        Some(ClaimResponse::Created(id) | ClaimResponse::Taken(id)) => {
            memory.holders.insert(value, id.clone());
        }
        Some(ClaimResponse::Holders(ids)) => memory.holders.extend(ids.iter().map(|id| (value, id.clone()))),
        Some(ClaimResponse::Released) | None => {}
    }
    memory.history.push((value, operation));
}

fn creation(response: &Response) -> ClaimResponse {
    if response.status == 201 {
        return ClaimResponse::Created(id_of(response));
    }
    assert_eq!(response.status, 409, "{}", response.text());
    let body = response.json();
    let holder = body["error"]["details"][0]["conflicting_id"].as_str();
    ClaimResponse::Taken(holder.unwrap_or_else(|| panic!("a conflict without a winner: {body}")).to_owned())
}

fn holders(response: &Response) -> ClaimResponse {
    assert_eq!(response.status, 200, "{}", response.text());
    let page = response.json();
    let ids = page["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
    ClaimResponse::Holders(ids.collect())
}
