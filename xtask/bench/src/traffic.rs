//! The requests of the load.

use crate::api::Person;
use crate::data::{self, Size};
use candor_domain::id::{AttributeId, EmployeeId};
use candor_domain::observation;
use candor_domain::page::{Key, Position, cursor};
use candor_domain::params::Params;
use candor_test_load::{Random, WriteRequest};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;

/// Path of all observations.
pub(crate) const OBSERVATIONS: &str = "/v1/observations";
/// Number of different cursors. Each request has one of them, chosen at random.
const CURSORS: u32 = 2_000;
const TEXT_CHARS: usize = 400;
/// Function that appends one whole request.
type WriteTraffic = dyn Fn(&mut Random, &mut Vec<u8>);

/// Requests of one kind, as a function of random numbers.
#[derive(Clone)]
pub(crate) struct Traffic {
    /// Accepted statuses; `None` accepts refusals as well.
    accepted: Option<std::ops::Range<u16>>,
    write: Rc<WriteTraffic>,
}

const SUCCESS: std::ops::Range<u16> = 200..300;

impl WriteRequest for Traffic {
    fn write(&self, random: &mut Random, out: &mut Vec<u8>) {
        (self.write)(random, out);
    }

    fn accepts(&self, status: u16) -> bool {
        self.accepted.as_ref().is_none_or(|accepted| accepted.contains(&status))
    }
}

impl Traffic {
    fn new(write: impl Fn(&mut Random, &mut Vec<u8>) + 'static) -> Self {
        Self { accepted: Some(SUCCESS), write: Rc::new(write) }
    }

    /// Allows the service to refuse the requests.
    pub(crate) fn allow_refusals(self) -> Self {
        Self { accepted: None, ..self }
    }

    /// Returns GETs of the paths that a function returns.
    pub(crate) fn get(key: &str, path: impl Fn(&mut Random) -> String + 'static) -> Self {
        let key = key.to_owned();
        Self::new(move |random, out| write_get(out, &path(random), &key))
    }

    /// Returns GETs of one path.
    pub(crate) fn read(key: &str, path: String) -> Self {
        Self::get(key, move |_| path.clone())
    }

    /// Returns GETs of any of these paths.
    pub(crate) fn read_any(key: &str, paths: Vec<String>) -> Self {
        Self::get(key, move |random| random.pick(&paths).clone())
    }

    /// Returns requests with JSON bodies. `line` returns the method and the path.
    pub(crate) fn with_body(
        key: &str,
        line: impl Fn(&mut Random) -> String + 'static,
        body: impl Fn(&mut Random) -> Value + 'static,
    ) -> Self {
        let key = key.to_owned();
        // Writing to a vector cannot fail.
        Self::new(move |random, out| {
            let (line, body, once) = (line(random), body(random).to_string(), random.draw());
            let _ = write!(out, "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n");
            if line.starts_with("POST") {
                let _ = write!(out, "Idempotency-Key: bench-{once:016x}\r\n");
            }
            let _ = write!(out, "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        })
    }

    /// Returns POSTs, each with an idempotency key.
    pub(crate) fn post(
        key: &str,
        path: impl Fn(&mut Random) -> String + 'static,
        body: impl Fn(&mut Random) -> Value + 'static,
    ) -> Self {
        Self::with_body(key, move |random| format!("POST {}", path(random)), body)
    }

    /// Mixes requests of both kinds in random order: one in `ratio` is of `rare`.
    pub(crate) fn mixed_with(&self, rare: &Self, ratio: u32) -> Self {
        let (often, rare) = (self.clone(), rare.clone());
        Self::new(move |random, out| {
            let chosen_request = if random.number(0, ratio) == 0 { &rare } else { &often };
            chosen_request.write(random, out);
        })
    }

    /// Returns traffic that sends the first `count` requests in order, and then starts again with the first one.
    pub(crate) fn each_once(&self, count: u32) -> Self {
        let (traffic, next) = (self.clone(), Cell::new(0));
        Self::new(move |_, out| {
            traffic.write(&mut generator_for(next.get()), out);
            next.set((next.get() + 1) % count);
        })
    }

    /// Returns traffic that repeats any of the first `count` requests.
    pub(crate) fn repeat_first(&self, count: u32) -> Self {
        let traffic = self.clone();
        Self::new(move |random, out| traffic.write(&mut generator_for(random.number(0, count)), out))
    }

    pub(crate) fn observation(key: &str, size: Size) -> Self {
        Self::get(key, move |random| {
            format!("/v1/observations/{}", data::observation(random.number(0, size.observations)))
        })
    }

    /// Returns GETs of the first page of 50 observations.
    pub(crate) fn first_page(key: &str) -> Self {
        Self::read(key, "/v1/observations?limit=50".to_owned())
    }

    /// Returns GETs of pages of 50 observations, anywhere in the list.
    pub(crate) fn any_page(key: &str, size: Size) -> Self {
        let mut random = Random::from_seed(7);
        let mut page = || page_after(size, random.number(size.observations / 100, size.observations));
        Self::read_any(key, (0..CURSORS).map(|_| page()).collect())
    }

    /// Returns creates of observations about any of the first `people`. Each has `tags` attributes that are
    /// neighbours in the list. The path may ask for a dry run.
    pub(crate) fn creates(
        path: &'static str,
        key: &str,
        people: u32,
        attributes: &[AttributeId],
        tags: usize,
    ) -> Self {
        let attributes = attributes.to_vec();
        Self::post(
            key,
            move |_| path.to_owned(),
            move |random| {
                let person = data::person(random.number(0, people));
                let first = random.number(0, 20) as usize;
                observation_body(person, &data::attributes_from(&attributes, first, tags))
            },
        )
    }

    /// Returns creates of observations about any of these people, each in their own organization.
    pub(crate) fn creates_about(people: &[Person]) -> Self {
        let each = people.iter().map(|person| {
            let id = person.id;
            Self::post(&person.key, |_| OBSERVATIONS.to_owned(), move |_| observation_body(id, &[]))
        });
        Self::any(each.collect())
    }

    /// Returns requests of any of these kinds.
    pub(crate) fn any(each: Vec<Self>) -> Self {
        Self::new(move |random, out| random.pick(&each).write(random, out))
    }

    /// Returns PATCHes that set the first names of people without reports.
    pub(crate) fn renames(key: &str, size: Size) -> Self {
        Self::with_body(
            key,
            move |random| {
                format!("PATCH /v1/employees/{}", data::person(random.number(size.people / 2, size.people)))
            },
            |random| json!({"first_name": format!("Name {:x}", random.draw())}),
        )
    }

    /// Returns slow lists: many rows meet each condition but none meets all, or the rows are rare or absent.
    pub(crate) fn slow_lists(key: &str) -> Self {
        const PATHS: [&str; 4] = [
            "/v1/observations?sort=updated_at&filter%5Bobservation_date%5D%5Blte%5D=2023-05-01\
             &filter%5Bcreated_at%5D%5Bgte%5D=2023-06-15T00:00:00Z",
            "/v1/observations?filter%5Bobservation_date%5D%5Bgte%5D=2023-06-15\
             &filter%5Bcreated_at%5D%5Blte%5D=2023-05-01T00:00:00Z",
            "/v1/audit-log?filter%5Baction%5D=observation.created&filter%5Bactor_id%5D=nobody",
            "/v1/events?filter%5Bevent%5D=employee.rehired",
        ];
        Self::read_any(key, PATHS.map(str::to_owned).to_vec()).allow_refusals()
    }
}

fn write_get(out: &mut Vec<u8>, path: &str, key: &str) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
}

/// Returns a text of the usual length.
fn usual_text() -> String {
    "Kept everybody informed. ".repeat(TEXT_CHARS / 25)
}

fn observation_body(person: EmployeeId, tags: &[AttributeId]) -> Value {
    json!({"employee_id": person, "type": "strength", "observation": usual_text(), "attribute_ids": tags})
}

/// Returns the random generator of the request with this number. Its seeds differ from those of the turns of a
/// comparison, so that random traffic does not repeat these requests by chance.
fn generator_for(number: u32) -> Random {
    Random::from_seed(u64::MAX / 3 + u64::from(number))
}

/// Returns the path of the page of 50 after an observation, with the cursor that the service would issue.
fn page_after(size: Size, index: u32) -> String {
    let position = Position { key: Key::Date(size.date(index)), id: data::observation(index).to_bytes() };
    let list = Params::new(vec![]).parse(observation::Filter::read);
    let cursor = list.map(|list| cursor(list.digest, &position)).unwrap_or_default();
    format!("/v1/observations?limit=50&cursor={cursor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_request_is_identical_in_every_byte() {
        let creates = Traffic::creates(OBSERVATIONS, "key", 10, &[], 0);
        let bytes_of = |traffic: &Traffic, random: &mut Random| {
            let mut bytes = vec![];
            traffic.write(random, &mut bytes);
            bytes
        };
        let (once, again) = (creates.each_once(3), creates.repeat_first(3));
        let mut random = Random::from_seed(1);
        let all: Vec<_> = (0..3).map(|_| bytes_of(&once, &mut random)).collect();
        assert_ne!(all[0], all[1]);
        assert!((0..20).all(|_| all.contains(&bytes_of(&again, &mut random))));
    }
}
