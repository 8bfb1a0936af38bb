//! New observations: of the usual kind, and as they come where people are few or the organizations many.

mod inserts;

use crate::Outcome;
use crate::burst::{Sample, Shape, burst};
use crate::http::post;
use crate::options::{Options, Store};
use crate::report::{Limit, Line};
use crate::rounds::{ratio, take_turns, typical};
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic;
use candor_domain::id::EmployeeId;
use serde_json::json;

use super::reads::{figures, figures_of_pgbench};

/// Where the seeds of each kind begin, so that no request is a retry of another.
const SEED_OF_THE_FIRST: u64 = 1_000;
const SEEDS_OF_RETRIED: u64 = 7_000;
const SEEDS_OF_MANY: u64 = 8_000;
const SEEDS_OF_MIXED: u64 = 14_000;

/// Creates that are compared with pgbench inserting the same rows.
#[derive(Debug, Clone, Copy)]
struct Creates {
    what: &'static str,
    /// Those who are written about, at most so many.
    people: u32,
    /// How many of the organization's attributes each one has.
    tags: usize,
    /// Where their seeds begin.
    seeds: u64,
    at_least: fn(Store) -> f64,
    /// What else is said of them, on SQLite with a limit in milliseconds.
    p99: Option<f64>,
}

pub(super) fn usual(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let it = Creates {
        what: "Create, durable, with event, audit entry and kept answer",
        people: u32::MAX,
        tags: 2,
        seeds: 0,
        at_least: |store| if store == Store::Postgres { 0.7 } else { 1.0 },
        p99: Some(20.0),
    };
    compared(stage, options, it)
}

pub(super) fn tagged(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let it = Creates {
        what: "Create with three of the organization's twenty attributes",
        people: u32::MAX,
        tags: 3,
        seeds: 9_000,
        at_least: usually,
        p99: None,
    };
    compared(stage, options, it)
}

pub(super) fn few_people(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let it =
        Creates { what: "Create about 50 people", people: 50, tags: 0, seeds: 12_500, at_least: usually, p99: None };
    compared(stage, options, it)
}

fn usually(store: Store) -> f64 {
    if store == Store::Postgres { 0.7 } else { 0.8 }
}

impl Creates {
    fn traffic(&self, stage: &Stage, side: &Side) -> std::rc::Rc<crate::burst::Traffic> {
        let people = self.people.min(stage.size.people);
        traffic::creates(&side.key, people, side.attributes.clone(), self.tags)
    }
}

fn compared(stage: &Stage, options: &Options, creates: Creates) -> Outcome<Vec<Line>> {
    let script = stage.reference.as_ref().map(|it| inserts::script(stage, it, creates)).transpose()?;
    let mut lines = vec![];
    for side in stage.measured(options) {
        let mut contenders = vec![side.contender_from(creates.traffic(stage, side), CLIENTS, creates.seeds)];
        if let Some((reference, script)) = stage.reference.as_ref().zip(script.as_ref()) {
            contenders.push(reference.contender(script));
        }
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        let (ours, theirs) = (&samples[0], samples.get(1));
        let line = Line {
            what: creates.what.to_owned(),
            store: Some(side.store),
            measured: figures(ours),
            against: theirs.map_or_else(String::new, |it| figures_of_pgbench(it)),
            value: theirs.map_or(f64::NAN, |theirs| ratio(ours, theirs)),
            unit: "×",
            limit: theirs.map_or(Limit::None, |_| Limit::AtLeast((creates.at_least)(side.store))),
        };
        lines.push(line.clone());
        lines.extend(creates.p99.map(|most| Line {
            what: format!("Create, p99 of {CLIENTS} writers"),
            against: String::new(),
            value: typical(ours, |it| it.within(0.99)),
            unit: "ms",
            limit: if side.store == Store::Sqlite { Limit::AtMost(most) } else { Limit::None },
            ..line
        }));
    }
    Ok(lines)
}

/// Requests that are sent again and again.
pub(crate) const RETRIED: u32 = 500;
const MOST_FOR_A_RETRY: f64 = 1.0;

/// Creates that were carried out before, against creates that were not.
pub(super) fn retried(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let creates = traffic::create(&side.key, stage.size, side.attributes.clone());
        let shape = Shape::of_few(RETRIED as usize, 0);
        burst(side.service.address, &traffic::each_once(&creates, RETRIED), shape)?;
        let retries = traffic::any_of(&creates, RETRIED);
        let contenders = [side.contender(retries, CLIENTS), side.contender_from(creates, CLIENTS, SEEDS_OF_RETRIED)];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        lines.push(slower(
            "Create sent again with its idempotency key",
            side,
            &samples,
            Limit::AtMost(MOST_FOR_A_RETRY),
        ));
    }
    Ok(lines)
}

const ORGANIZATIONS: usize = 200;
const MOST_FOR_MANY: f64 = 2.5;

/// Creates in many organizations at once, against creates in one.
pub(super) fn in_many_organizations(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let one = traffic::creates(&side.key, stage.size.people, vec![], 0);
        let many = (0..ORGANIZATIONS).map(|_| with_somebody(side)).collect::<Outcome<Vec<_>>>()?;
        let contenders = [
            side.contender_from(traffic::creates_of(many), CLIENTS, SEEDS_OF_MANY),
            side.contender_from(one, CLIENTS, SEEDS_OF_MANY),
        ];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        let what = format!("Create in {ORGANIZATIONS} organizations at once against one");
        lines.push(slower(&what, side, &samples, Limit::AtMost(MOST_FOR_MANY)));
    }
    Ok(lines)
}

/// The key of a new organization, and somebody in it.
fn with_somebody(side: &Side) -> Outcome<(String, EmployeeId)> {
    let key = side.another_account()?.key;
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"}).to_string();
    let (_, answer) = post(side.service.address, "/v1/employees", &key, "application/json", &body, 201)?;
    let id = answer["id"].as_str().ok_or("nobody was made")?;
    Ok((key, id.parse()?))
}

/// Nine look-ups for each create: what is done for the one must not be paid by the other.
pub(super) fn among_reads(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let traffic = traffic::nine_reads_to_one_write(&side.key, stage.size, side.attributes.clone());
        let contenders = [side.contender_from(traffic, CLIENTS, SEEDS_OF_MIXED)];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        lines.push(Line {
            what: "Nine GETs to one create".to_owned(),
            store: Some(side.store),
            measured: figures(&samples[0]),
            against: String::new(),
            value: typical(&samples[0], |it| it.rate),
            unit: "/s",
            limit: Limit::None,
        });
    }
    Ok(lines)
}

/// How many times as much the first kind costs as the second.
fn slower(what: &str, side: &Side, samples: &[Vec<Sample>], limit: Limit) -> Line {
    Line {
        what: what.to_owned(),
        store: Some(side.store),
        measured: figures(&samples[0]),
        against: figures(&samples[1]),
        value: ratio(&samples[1], &samples[0]),
        unit: "×",
        limit,
    }
}
