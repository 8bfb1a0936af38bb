//! Histories of clients against the binary, while instances are killed, paused and cut off. A checker judges afterwards
//! whether one order of single operations explains all answers.
//!
//! The seed draws the choices of the clients and the disturbances. The threads and processes meet by chance, so that a
//! seed repeats the choices and not the history. A failure writes the history to a file.

mod actor;
mod fleet;
mod lines;
mod registers;
mod repeats;
mod sets;
mod uniques;

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::fs;
use std::path::Path;

use candor_test_explore::{seed, size};
use candor_test_histories::{Model, Operation, OperationOf, Verdict, find_order, find_smallest_part};
use fleet::Fleet;
use serde_json::{Value, json};

use crate::support::{Client, PATIENCE, Response, wait_until};

/// Number of operations of a workload on a store, in the gate and in an exploration.
const OPERATIONS: [usize; 2] = [400, 200_000];

fn operations() -> usize {
    size(OPERATIONS[0], OPERATIONS[1])
}

fn on_postgres(seed: u64, check: fn(&Fleet)) {
    if let Some(fleet) = Fleet::on_postgres(seed) {
        check(&fleet);
    }
}

#[test]
fn history_of_conditional_changes_has_one_order_on_sqlite() {
    registers::check(&Fleet::on_sqlite(seed(101)));
}

#[test]
fn history_of_conditional_changes_has_one_order_on_postgres() {
    on_postgres(seed(101), registers::check);
}

#[test]
fn history_of_unique_values_has_one_holder_each_on_sqlite() {
    uniques::check(&Fleet::on_sqlite(seed(203)));
}

#[test]
fn history_of_unique_values_has_one_holder_each_on_postgres() {
    on_postgres(seed(203), uniques::check);
}

#[test]
fn history_of_repeated_creations_has_one_effect_on_sqlite() {
    repeats::check(&Fleet::on_sqlite(seed(301)));
}

#[test]
fn history_of_repeated_creations_has_one_effect_on_postgres() {
    on_postgres(seed(301), repeats::check);
}

#[test]
fn history_of_lists_and_feed_has_each_row_once_on_sqlite() {
    sets::check(&Fleet::on_sqlite(seed(404)));
}

#[test]
fn history_of_lists_and_feed_has_each_row_once_on_postgres() {
    on_postgres(seed(404), sets::check);
}

#[test]
fn history_of_moves_is_one_tree_on_sqlite() {
    lines::check(&Fleet::on_sqlite(seed(503)));
}

#[test]
fn history_of_moves_is_one_tree_on_postgres() {
    on_postgres(seed(503), lines::check);
}

/// Asserts that the clients of a run got answers, and lost some: without them it proves nothing.
fn assert_meaningful<'a, C: 'a, A: Debug + 'a>(operations: impl Iterator<Item = &'a Operation<C, A>>) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for operation in operations {
        let response =
            operation.response.as_ref().map_or_else(|| "unknown".to_owned(), |response| format!("{response:?}"));
        let word = response.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    println!("answers: {counts:?}");
    let (lost, all) = (counts.get("unknown").copied().unwrap_or_default(), counts.values().sum::<usize>());
    assert!(counts.len() > 2 && lost > 0 && 2 * lost < all, "the answers are too few for a proof: {counts:?}");
}

/// Asserts that an order explains the history of an object.
fn assert_explained<M: Model>(fleet: &Fleet, object: &str, history: &[OperationOf<M>], start: &M::State) {
    let verdict = find_order::<M>(history, start);
    if matches!(verdict, Verdict::Explained(_)) {
        return;
    }
    let mut text = format!("seed {}: the history of {object} is {verdict:?}\n", fleet.seed);
    if verdict == Verdict::Inexplicable {
        let part = find_smallest_part::<M>(history, start);
        writeln!(text, "smallest part, which begins with {:?}:", part.start).unwrap();
        part.operations.iter().for_each(|operation| writeln!(text, "  {operation:?}").unwrap());
    }
    fail(fleet, object, &text, history);
}

/// Writes the history to a file and panics with the text and the file.
fn fail<T: Debug>(fleet: &Fleet, object: &str, text: &str, history: &[T]) -> ! {
    let word: String = object.chars().filter(|character| character.is_ascii_alphanumeric()).take(40).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{}-{word}.txt", fleet.seed));
    let lines: String = history.iter().map(|operation| format!("{operation:?}\n")).collect();
    fs::write(&file, format!("{text}\n{lines}")).unwrap();
    panic!("{text}the history is in {}", file.display());
}

/// Creates a row before the disturbances and returns its id.
fn create(client: &mut Client, path: &str, body: &Value) -> String {
    let response = client.post(path, body).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["id"].as_str().unwrap().to_owned()
}

fn create_person(client: &mut Client, number: usize) -> String {
    let email = format!("first{number}@example.com");
    create(client, "/v1/employees", &json!({"email": email, "first_name": "Ada", "last_name": "Example"}))
}

/// Returns the id in a body.
fn id_of(response: &Response) -> String {
    response.json()["id"].as_str().unwrap().to_owned()
}

/// Reads the events of these types, in the order of the feed, up to a change that is made now.
fn read_feed(client: &mut Client, types: &[&str]) -> Vec<Value> {
    let rename_response =
        client.request("PATCH", "/v1/organization", &[], Some(&json!({"name": "The end"}))).unwrap();
    assert_eq!(rename_response.status, 200, "{}", rename_response.text());
    let filters: String = types.iter().map(|name| format!("&filter[event]={name}")).collect();
    let path = format!("/v1/events?limit=100&filter[event]=organization.updated{filters}");
    let (mut events, mut cursor) = (Vec::new(), String::new());
    let is_complete = wait_until(PATIENCE, || {
        loop {
            let response = client.get(&format!("{path}{cursor}")).unwrap();
            assert_eq!(response.status, 200, "{}", response.text());
            let page = response.json();
            events.extend(page["data"].as_array().unwrap().iter().cloned());
            cursor = format!("&cursor={}", page["next_cursor"].as_str().unwrap());
            if page["has_more"] != true {
                break;
            }
        }
        events.last().is_some_and(|event| event["event"] == "organization.updated")
    });
    assert!(is_complete.is_some(), "the feed does not show the last change");
    events.pop();
    events
}
