//! Sets of observations about one employee each, which clients add to, archive from, and read as lists of several pages and from the feed.
//! A row is in each list between its creation and its archive, and its events are in the feed once and in order.

use std::collections::{BTreeMap, HashMap};

use candor_test_histories::{Claim, ClaimCall, ClaimResponse, ClaimState, OperationOf};
use serde_json::{Value, json};

use super::actor::{Actor, Request};
use super::fleet::Fleet;
use super::{assert_explained, assert_meaningful, create_person, fail, id_of, operations, read_feed};
use crate::support::Response;

/// Number of operations after which the clients turn to another set.
const EPOCH: usize = 150;
/// Number of rows on a page, so that a list has several pages.
const PAGE: usize = 10;

/// A read of all pages of a list: ticks of its beginning and end, and the ids and texts.
type Walk = (u64, u64, Vec<(String, String)>);

/// Operations of a client.
#[derive(Default)]
struct Memory {
    /// Creations and archives, by set and text of the observation.
    history: Vec<((usize, String), OperationOf<Claim>)>,
    walks: Vec<(usize, usize, Walk)>,
    /// Text and id of observations, for the archives.
    known: Vec<(usize, String, String)>,
    cursor: Option<String>,
    events: Vec<String>,
}

pub(super) fn check(fleet: &Fleet) {
    // The last clients may end in the set after the last one.
    let mut client = fleet.client();
    let people: Vec<String> =
        (0..operations() / EPOCH + 2).map(|number| create_person(&mut client, number)).collect();
    let (memories, mut client) = fleet.run(operations(), |actor, memory: &mut Memory| act(actor, memory, &people));
    let mut histories: BTreeMap<(usize, String), Vec<OperationOf<Claim>>> = BTreeMap::new();
    let (mut walks, mut readers) = (vec![], vec![]);
    for memory in memories {
        for (element, operation) in memory.history {
            histories.entry(element).or_default().push(operation);
        }
        walks.extend(memory.walks);
        readers.push(memory.events);
    }
    assert_meaningful(histories.values().flatten());
    for (set, person) in people.iter().enumerate() {
        let began = fleet.tick();
        let rows = client.all(&format!("/v1/observations?sort=created_at&filter[employee_id]={person}"));
        walks.push((set, usize::MAX, (began, fleet.tick(), rows.iter().map(id_and_text).collect())));
    }
    for (set, reader, (began, ended, rows)) in walks {
        let mut shown_ids: HashMap<String, Vec<String>> = HashMap::new();
        for (id, text) in rows {
            assert!(histories.contains_key(&(set, text.clone())), "seed {}: {text} is nobody's", fleet.seed);
            shown_ids.entry(text).or_default().push(id);
        }
        for (element, history) in histories.range_mut((set, String::new())..(set + 1, String::new())) {
            let response = Some(ClaimResponse::Holders(shown_ids.remove(&element.1).unwrap_or_default()));
            history.push(OperationOf::<Claim> { client: reader, began, ended, call: ClaimCall::Look, response });
        }
    }
    let events = read_feed(&mut client, &["observation.created", "observation.archived"]);
    check_events(fleet, &events, &readers, &histories);
    for ((set, text), history) in histories {
        assert_explained::<Claim>(fleet, &format!("{text} of set {set}"), &history, &ClaimState::Free);
    }
}

/// Asserts that each reader got the first events of the feed, and that the feed has the events of each acknowledged
/// operation once, and others only for operations with unknown results.
fn check_events(
    fleet: &Fleet,
    events: &[Value],
    readers: &[Vec<String>],
    histories: &BTreeMap<(usize, String), Vec<OperationOf<Claim>>>,
) {
    let ids: Vec<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    for reader in readers {
        if *reader != ids[..reader.len().min(ids.len())] {
            fail(
                fleet,
                "feed",
                &format!("seed {}: a reader has other events\n", fleet.seed),
                std::slice::from_ref(reader),
            );
        }
    }
    let mut shown_types: HashMap<&str, Vec<&str>> = HashMap::new();
    for event in events {
        let text = event["data"]["observation"].as_str().unwrap();
        shown_types.entry(text).or_default().push(event["event"].as_str().unwrap());
    }
    for ((_, text), history) in histories {
        let has = |is_kind: fn(&ClaimCall) -> bool, is_known: bool| {
            history.iter().any(|operation| is_kind(&operation.call) && operation.response.is_some() == is_known)
        };
        let is_create: fn(&ClaimCall) -> bool = |call| *call == ClaimCall::Create;
        let is_archive: fn(&ClaimCall) -> bool = |call| matches!(call, ClaimCall::Release(_));
        let is_right = match shown_types.get(text.as_str()).map(Vec::as_slice) {
            None => !has(is_create, true),
            Some(["observation.created"]) => !has(is_archive, true),
            Some(["observation.created", "observation.archived"]) => {
                has(is_archive, true) || has(is_archive, false)
            }
            Some(_) => false,
        };
        if !is_right {
            let words = format!("seed {}: events of {text}: {:?}\n", fleet.seed, shown_types.get(text.as_str()));
            fail(fleet, text, &words, history);
        }
    }
}

fn act(actor: &mut Actor<'_>, memory: &mut Memory, people: &[String]) {
    let set = actor.fleet.progress() / EPOCH;
    let person = &people[set];
    match actor.draw(10) {
        0..=1 if !memory.known.is_empty() => archive(actor, memory),
        2..=3 => {
            if let Some(walk) = walk(actor, person) {
                let known_rows = walk.2.iter().map(|(id, text)| (set, text.clone(), id.clone()));
                memory.known = known_rows.collect();
                memory.walks.push((set, actor.number(), walk));
            }
        }
        4 => follow(actor, memory),
        _ => {
            let text = actor.fleet.tick().to_string();
            let body = json!({"employee_id": person, "type": "strength", "observation": text});
            let operation = actor.send(ClaimCall::Create, &Request::post("/v1/observations", body), |response| {
                assert_eq!(response.status, 201, "{}", response.text());
                ClaimResponse::Created(id_of(response))
            });
            if let Some(ClaimResponse::Created(id)) = &operation.response {
                memory.known.push((set, text.clone(), id.clone()));
            }
            memory.history.push(((set, text), operation));
        }
    }
}

/// Archives a row that the client knows. Two clients may meet there: the row is archived then, too.
fn archive(actor: &mut Actor<'_>, memory: &mut Memory) {
    let position = actor.draw(memory.known.len());
    let (set, text, id) = memory.known.swap_remove(position);
    let request = Request::post(&format!("/v1/observations/{id}/archive"), json!({}));
    let operation = actor.send(ClaimCall::Release(id), &request, |response| {
        assert!(matches!(response.status, 200 | 409), "{}", response.text());
        ClaimResponse::Released
    });
    memory.history.push(((set, text), operation));
}

/// Reads all pages of the observations about a person. `None` if a page was lost.
fn walk(actor: &mut Actor<'_>, person: &str) -> Option<Walk> {
    let (mut rows, mut began, mut cursor) = (vec![], None, String::new());
    loop {
        let path = format!("/v1/observations?sort=created_at&limit={PAGE}&filter[employee_id]={person}{cursor}");
        let operation = actor.send((), &Request::get(path), read_page);
        let page = operation.response?;
        let first_tick = *began.get_or_insert(operation.began);
        rows.extend(page["data"].as_array().unwrap().iter().map(id_and_text));
        if page["has_more"] != true {
            return Some((first_tick, operation.ended, rows));
        }
        cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
    }
}

/// Reads the next page of the feed.
fn follow(actor: &mut Actor<'_>, memory: &mut Memory) {
    let types = "filter[event]=observation.created&filter[event]=observation.archived";
    let cursor = memory.cursor.as_ref().map_or(String::new(), |cursor| format!("&cursor={cursor}"));
    let operation = actor.send((), &Request::get(format!("/v1/events?limit=100&{types}{cursor}")), read_page);
    let Some(page) = operation.response else { return };
    let ids = page["data"].as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap().to_owned());
    memory.events.extend(ids);
    memory.cursor = page["next_cursor"].as_str().map(str::to_owned);
}

fn read_page(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

fn id_and_text(row: &Value) -> (String, String) {
    let text = |member: &str| row[member].as_str().unwrap().to_owned();
    (text("id"), text("observation"))
}
