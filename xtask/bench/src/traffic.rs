//! The requests that are sent.

use crate::burst::Traffic;
use crate::data::{self, Size};
use crate::random::Random;
use candor_domain::id::{AttributeId, EmployeeId};
use candor_domain::observation;
use candor_domain::page::{Key, Position, cursor};
use candor_domain::params::Params;
use serde_json::Value;
use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;

/// Places in a list that requests go to in turn.
const PLACES: u32 = 2_000;
const TEXT_CHARS: usize = 400;

fn get(key: &str, path: impl Fn(&mut Random) -> String + 'static) -> Rc<Traffic> {
    let key = key.to_owned();
    Rc::new(Traffic::new(200, move |random, out| {
        write_get(out, &path(random), &key);
    }))
}

fn write_get(out: &mut Vec<u8>, path: &str, key: &str) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
}

fn with_body(
    key: &str,
    status: u16,
    line: impl Fn(&mut Random) -> String + 'static,
    body: impl Fn(&mut Random) -> String + 'static,
) -> Rc<Traffic> {
    let key = key.to_owned();
    Rc::new(Traffic::new(status, move |random, out| {
        let (line, body, once) = (line(random), body(random), random.next());
        let _ = write!(out, "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n");
        if line.starts_with("POST") {
            let _ = write!(out, "Idempotency-Key: bench-{once:016x}\r\n");
        }
        let _ = write!(out, "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    }))
}

/// One observation, any of them.
pub(crate) fn one_observation(key: &str, size: Size) -> Rc<Traffic> {
    get(key, move |random| format!("/v1/observations/{}", data::observation(random.between(0, size.observations))))
}

/// The first page of 50.
pub(crate) fn first_page(key: &str, more: &str) -> Rc<Traffic> {
    let path = format!("/v1/observations?limit=50{more}");
    get(key, move |_| path.clone())
}

/// Any of these paths.
pub(crate) fn one_of(key: &str, paths: Vec<String>) -> Rc<Traffic> {
    let count = u32::try_from(paths.len()).unwrap_or(u32::MAX);
    get(key, move |random| paths[random.between(0, count) as usize].clone())
}

/// New resources of some kind.
pub(crate) fn new_ones(
    key: &str,
    path: impl Fn(&mut Random) -> String + 'static,
    body: impl Fn(&mut Random) -> Value + 'static,
) -> Rc<Traffic> {
    let line = move |random: &mut Random| format!("POST {}", path(random));
    with_body(key, 201, line, move |random| body(random).to_string())
}

/// What somebody writes, as long as it usually is.
pub(crate) fn usual_text() -> String {
    "Kept everybody informed. ".repeat(TEXT_CHARS / 25)
}

/// One person.
pub(crate) fn one_employee(key: &str, person: &str) -> Rc<Traffic> {
    let path = format!("/v1/employees/{person}");
    get(key, move |_| path.clone())
}

/// Conditions each of which many rows meet, and none all; and what has happened never, or seldom.
const SLOW_QUESTIONS: [&str; 4] = [
    "/v1/observations?sort=updated_at&filter%5Bobservation_date%5D%5Blte%5D=2023-05-01\
     &filter%5Bcreated_at%5D%5Bgte%5D=2023-06-15T00:00:00Z",
    "/v1/observations?filter%5Bobservation_date%5D%5Bgte%5D=2023-06-15\
     &filter%5Bcreated_at%5D%5Blte%5D=2023-05-01T00:00:00Z",
    "/v1/audit-log?filter%5Baction%5D=observation.created&filter%5Bactor_id%5D=nobody",
    "/v1/events?filter%5Bevent%5D=employee.rehired",
];

/// What takes long to answer, and may be refused.
pub(crate) fn slow_questions(key: &str) -> Rc<Traffic> {
    let key = key.to_owned();
    Rc::new(Traffic::of_any_status(move |random, out| {
        let path = SLOW_QUESTIONS[random.between(0, SLOW_QUESTIONS.len() as u32) as usize];
        write_get(out, path, &key);
    }))
}

/// The first page of 50 objectives.
pub(crate) fn first_objectives(key: &str) -> Rc<Traffic> {
    get(key, |_| "/v1/employee-objectives?limit=50".to_owned())
}

/// One person reports to another from now on.
pub(crate) fn reports_to(key: &str, person: u32, manager: u32) -> Rc<Traffic> {
    let line = move |_: &mut Random| format!("PATCH /v1/employees/{}", data::person(person));
    with_body(key, 200, line, move |_| format!(r#"{{"manager_id":"{}"}}"#, data::person(manager)))
}

/// The page of 50 behind this observation.
pub(crate) fn page_behind(key: &str, size: Size, index: u32) -> Rc<Traffic> {
    let path = format!("/v1/observations?limit=50&cursor={}", cursor_behind(size, index));
    get(key, move |_| path.clone())
}

/// Pages of 50 anywhere in the list.
pub(crate) fn any_page(key: &str, size: Size) -> Rc<Traffic> {
    let mut random = Random::seeded(7);
    let places = (0..PLACES).map(|_| cursor_behind(size, random.between(size.observations / 100, size.observations)));
    let places: Vec<String> = places.collect();
    get(key, move |random| format!("/v1/observations?limit=50&cursor={}", places[random.between(0, PLACES) as usize]))
}

/// The first page of what is said about the reports of one of these managers.
pub(crate) fn page_of_reports(key: &str, managers: Vec<EmployeeId>) -> Rc<Traffic> {
    let count = u32::try_from(managers.len()).unwrap_or(u32::MAX);
    get(key, move |random| {
        let manager = managers[random.between(0, count) as usize];
        format!("/v1/observations?limit=50&filter%5Bmanager_id%5D={manager}")
    })
}

/// A new observation, with an idempotency key of its own.
pub(crate) fn create(key: &str, size: Size, attributes: Vec<AttributeId>) -> Rc<Traffic> {
    creates(key, size.people, attributes, 2)
}

/// New observations about so many people, each with so many attributes that are neighbours in the list of all.
pub(crate) fn creates(key: &str, people: u32, attributes: Vec<AttributeId>, tags: usize) -> Rc<Traffic> {
    let line = |_: &mut Random| "POST /v1/observations".to_owned();
    with_body(key, 201, line, move |random| {
        let person = data::person(random.between(0, people));
        let first = random.between(0, 20) as usize;
        observation_about(person, &data::attributes_from(&attributes, first, tags))
    })
}

/// Nine look-ups for each create.
pub(crate) fn nine_reads_to_one_write(key: &str, size: Size, attributes: Vec<AttributeId>) -> Rc<Traffic> {
    nine_to_one(&one_observation(key, size), &create(key, size, attributes))
}

/// One write among nine reads.
pub(crate) fn nine_to_one(reads: &Rc<Traffic>, writes: &Rc<Traffic>) -> Rc<Traffic> {
    let (reads, writes) = (Rc::clone(reads), Rc::clone(writes));
    Rc::new(Traffic::that_succeed(move |random, out| {
        let traffic = if random.between(0, 10) == 0 { &writes } else { &reads };
        traffic.write(random, out);
    }))
}

/// One of two kinds of requests, as often as the other.
pub(crate) fn either(one: &Rc<Traffic>, other: &Rc<Traffic>) -> Rc<Traffic> {
    let (one, other) = (Rc::clone(one), Rc::clone(other));
    Rc::new(Traffic::that_succeed(move |random, out| {
        let traffic = if random.between(0, 2) == 0 { &one } else { &other };
        traffic.write(random, out);
    }))
}

/// Reads at any of these paths, which may be refused.
pub(crate) fn paths_of_any_status(key: &str, paths: Vec<String>) -> Rc<Traffic> {
    let (key, count) = (key.to_owned(), u32::try_from(paths.len()).unwrap_or(u32::MAX));
    Rc::new(Traffic::of_any_status(move |random, out| {
        write_get(out, &paths[random.between(0, count) as usize], &key);
    }))
}

/// New observations, each in one of these organizations, about the person who is known there.
pub(crate) fn creates_of(organizations: Vec<(String, EmployeeId)>) -> Rc<Traffic> {
    let count = u32::try_from(organizations.len()).unwrap_or(u32::MAX);
    let line = |_: &mut Random| "POST /v1/observations".to_owned();
    let all = organizations
        .into_iter()
        .map(|(key, person)| with_body(&key, 201, line, move |_| observation_about(person, &[])));
    let all: Vec<_> = all.collect();
    Rc::new(Traffic::new(201, move |random, out| all[random.between(0, count) as usize].write(random, out)))
}

/// Look-ups at these paths, each with the key that it is for.
pub(crate) fn reads_of(places: Vec<(String, String)>) -> Rc<Traffic> {
    let count = u32::try_from(places.len()).unwrap_or(u32::MAX);
    Rc::new(Traffic::new(200, move |random, out| {
        let (key, path) = &places[random.between(0, count) as usize];
        write_get(out, path, key);
    }))
}

fn observation_about(person: EmployeeId, tags: &[AttributeId]) -> String {
    let text = usual_text();
    let body = serde_json::json!({
        "employee_id": person, "type": "strength", "observation": text, "attribute_ids": tags,
    });
    body.to_string()
}

/// New people who are invited.
pub(crate) fn invite(key: &str) -> Rc<Traffic> {
    let line = |_: &mut Random| "POST /v1/employees".to_owned();
    with_body(key, 201, line, |random| {
        let email = format!("person-{:016x}@example.com", random.next());
        let body = serde_json::json!({
            "email": email, "first_name": "Ada", "last_name": "Example", "send_invite": true,
        });
        body.to_string()
    })
}

/// The first so many requests of one kind, one after the other.
pub(crate) fn each_once(traffic: &Rc<Traffic>, count: u32) -> Rc<Traffic> {
    let (traffic, next) = (Rc::clone(traffic), Cell::new(0));
    Rc::new(Traffic::new(201, move |_, out| {
        traffic.write(&mut numbered(next.get()), out);
        next.set((next.get() + 1) % count);
    }))
}

/// The same requests, any of them.
pub(crate) fn any_of(traffic: &Rc<Traffic>, count: u32) -> Rc<Traffic> {
    let traffic = Rc::clone(traffic);
    Rc::new(Traffic::new(201, move |random, out| traffic.write(&mut numbered(random.between(0, count)), out)))
}

/// What leads to the request with a number, which no turn sends.
fn numbered(number: u32) -> Random {
    Random::seeded(u64::MAX / 3 + u64::from(number))
}

/// A change of somebody's first name, who has no reports.
pub(crate) fn rename(key: &str, size: Size) -> Rc<Traffic> {
    let line = move |random: &mut Random| format!("PATCH /v1/employees/{}", leaf(random, size));
    with_body(key, 200, line, |random| format!(r#"{{"first_name":"Name {:x}"}}"#, random.next()))
}

/// A change of the manager of somebody who has no reports.
pub(crate) fn new_manager(key: &str, size: Size) -> Rc<Traffic> {
    let line = move |random: &mut Random| format!("PATCH /v1/employees/{}", leaf(random, size));
    with_body(key, 200, line, |random| format!(r#"{{"manager_id":"{}"}}"#, data::person(random.between(100, 900))))
}

/// Nobody in the second half has reports, but for the line at the end.
fn leaf(random: &mut Random, size: Size) -> EmployeeId {
    data::person(random.between(size.people / 2, size.line_begins()))
}

/// The cursor that the service itself would have given out behind this observation.
fn cursor_behind(size: Size, index: u32) -> String {
    let position = Position { key: Key::Date(size.date(index)), id: data::observation(index).to_bytes() };
    observation::Filter::parse(Params::new(vec![])).map(|list| cursor(list.digest, &position)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::page::PageRequest;

    const SIZE: Size = Size { people: 1_000, observations: 5_000 };

    #[test]
    fn a_cursor_is_one_of_the_default_list() {
        let pairs = vec![("cursor".to_owned(), cursor_behind(SIZE, 7)), ("limit".to_owned(), "50".to_owned())];
        let list = observation::Filter::parse(Params::new(pairs)).unwrap();
        let after = Position { key: Key::Date(SIZE.date(7)), id: data::observation(7).to_bytes() };
        assert_eq!(list.page, PageRequest { limit: 50, after: Some(after) });
    }

    #[test]
    fn a_retry_is_the_same_request_to_the_byte() {
        let creates = create("key", SIZE, vec![]);
        let written = |traffic: &Rc<Traffic>, random: &mut Random| {
            let mut out = vec![];
            traffic.write(random, &mut out);
            out
        };
        let (once, again) = (each_once(&creates, 3), any_of(&creates, 3));
        let mut random = Random::seeded(1);
        let all: Vec<_> = (0..3).map(|_| written(&once, &mut random)).collect();
        assert_ne!(all[0], all[1]);
        assert!((0..20).all(|_| all.contains(&written(&again, &mut random))));
    }

    #[test]
    fn those_without_reports_have_none() {
        let managers: Vec<_> = (1..SIZE.people).filter_map(|it| SIZE.manager(it)).collect();
        let mut random = Random::seeded(1);
        for _ in 0..200 {
            let chosen = leaf(&mut random, SIZE);
            assert!(managers.iter().all(|it| data::person(*it) != chosen));
        }
    }
}
