//! One observation, pages of the list, and what makes a page cost more.

use crate::Outcome;
use crate::burst::{Sample, Shape, Traffic, burst};
use crate::cost::Cost;
use crate::data::{FIRST_DAY, FIRST_NUMBER, NUMBER_STEP, OBSERVATIONS, Size};
use crate::options::{Options, Store};
use crate::pgbench::statement_of_the_store;
use crate::report::{Limit, Line, grouped, per_second};
use crate::rounds::{median, ratio, take_warm_turns, typical};
use crate::stage::{CLIENTS, Reference, Side, Stage};
use crate::traffic;
use std::path::PathBuf;
use std::rc::Rc;

const MOST_FOR_DEPTH: f64 = 1.2;
const MOST_FOR_EXPAND: f64 = 2.6;
const PAGE: u32 = 50;
const DEEP_PAGE: u32 = 10_000;

/// The service's requests and the statement that they lead to.
struct Compared<'a> {
    what: &'a str,
    traffic: fn(&str, Size) -> Rc<Traffic>,
    /// Words that the store's statement contains.
    words: &'a [&'a str],
    /// pgbench's variables, and the values of the statement's parameters.
    variables: String,
    values: Vec<String>,
    at_least: fn(Store) -> f64,
}

pub(super) fn get(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let last = stage.size.observations - 1;
    compared(
        stage,
        options,
        &Compared {
            what: "GET one observation",
            traffic: traffic::one_observation,
            words: &["FROM observations WHERE", " id = $2"],
            variables: format!("\\set n {FIRST_NUMBER} + {NUMBER_STEP} * random(0, {last})\n"),
            values: vec![tenant(stage), id_in_script()],
            at_least: |store| if store == Store::Postgres { 0.75 } else { 0.95 },
        },
    )
}

pub(super) fn list(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let size = stage.size;
    compared(
        stage,
        options,
        &Compared {
            what: "List of 50, anywhere in it",
            traffic: traffic::any_page,
            words: &["FROM observations AS r", "(r.observation_date, r.id) <"],
            variables: format!(
                "\\set k random({}, {})\n\\set n {FIRST_NUMBER} + {NUMBER_STEP} * :k\n\\set d {FIRST_DAY} + :k / {} - :k % 7\n",
                size.observations / 100,
                size.observations - 1,
                size.per_day()
            ),
            values: vec![
                tenant(stage),
                (PAGE + 1).to_string(),
                "(date '1970-01-01' + (:d)::int)".to_owned(),
                id_in_script(),
                "false".to_owned(),
            ],
            at_least: |_| 0.8,
        },
    )
}

/// The literal of the tenant in a script.
fn tenant(stage: &Stage) -> String {
    stage.on_postgres().map_or_else(String::new, Side::tenant_literal)
}

/// The id of the observation with the number in the variable `n`.
fn id_in_script() -> String {
    format!("('{}' || :n || '{}')::uuid", OBSERVATIONS.before, OBSERVATIONS.behind)
}

fn compared(stage: &Stage, options: &Options, it: &Compared<'_>) -> Outcome<Vec<Line>> {
    let script = stage.reference.as_ref().map(|reference| it.script(stage, reference)).transpose()?;
    let mut lines = vec![];
    for side in stage.measured(options) {
        let mut contenders = vec![side.contender((it.traffic)(&side.key, stage.size), CLIENTS)];
        if let Some((reference, script)) = stage.reference.as_ref().zip(script.as_ref()) {
            contenders.push(reference.contender(script));
        }
        let samples = take_warm_turns(&contenders, options.rounds(), options.turn())?;
        let (ours, theirs) = (&samples[0], samples.get(1));
        lines.push(Line {
            what: it.what.to_owned(),
            store: Some(side.store),
            measured: figures(ours),
            against: theirs.map_or_else(String::new, |it| figures_of_pgbench(it)),
            value: theirs.map_or(f64::NAN, |theirs| ratio(ours, theirs)),
            unit: "×",
            limit: theirs.map_or(Limit::None, |_| Limit::AtLeast((it.at_least)(side.store))),
        });
    }
    Ok(lines)
}

impl Compared<'_> {
    /// Lets the service send its statement, and makes a script of it.
    fn script(&self, stage: &Stage, reference: &Reference) -> Outcome<PathBuf> {
        let postgres = stage.on_postgres().ok_or("no service on PostgreSQL")?;
        let requests = (self.traffic)(&postgres.key, stage.size);
        burst(postgres.service.address, &requests, Shape::of_few(20, 1))?;
        let statement = statement_of_the_store(&reference.admin, self.words, &self.values)?;
        let name = self.what.split(' ').next().unwrap_or_default().to_lowercase();
        reference.pgbench.script(&name, &format!("{}{statement};\n", self.variables))
    }
}

/// Rate and latencies, and what one costs if that was looked at.
pub(super) fn figures(samples: &[Sample]) -> String {
    let part = |part| typical(samples, |it| it.within(part));
    let latencies = format!("p50 {:.2} ms, p99 {:.2} ms", part(0.5), part(0.99));
    format!("{}, {latencies}{}", per_second(typical(samples, |it| it.rate)), costs(samples))
}

/// The figures of pgbench.
pub(super) fn figures_of_pgbench(samples: &[Sample]) -> String {
    format!("pgbench {}{}", per_second(typical(samples, |it| it.rate)), costs(samples))
}

/// Time on the processors of service and database, and bytes written by both, for each request.
fn costs(samples: &[Sample]) -> String {
    let all: Vec<Cost> = samples.iter().filter_map(|it| it.cost).collect();
    if all.is_empty() {
        return String::new();
    }
    let typical = |property: fn(&Cost) -> f64| median(all.iter().map(property));
    format!(", {:.0} µs and {:.1} kB each", typical(|it| it.micros), typical(|it| it.bytes / 1000.0))
}

pub(super) fn depth(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let size = stage.size;
    let page = DEEP_PAGE.min(size.observations / PAGE / 2);
    let last_before = size.ranked((page - 1) * PAGE - 1);
    let what = format!("Page {} against page 1", grouped(page.into()));
    slower(stage, options, &what, MOST_FOR_DEPTH, &move |key| {
        (traffic::page_behind(key, size, last_before), traffic::first_page(key, ""))
    })
}

pub(super) fn expand(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    slower(stage, options, "Page with `expand=employee,attributes` against the plain page", MOST_FOR_EXPAND, &|key| {
        (traffic::first_page(key, "&expand=employee,attributes"), traffic::first_page(key, ""))
    })
}

/// Two kinds of requests, with a key.
type Pair = dyn Fn(&str) -> (Rc<Traffic>, Rc<Traffic>);

/// How many times as much one kind of request costs as another.
fn slower(stage: &Stage, options: &Options, what: &str, at_most: f64, pair: &Pair) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let (one, other) = pair(&side.key);
        let contenders = [side.contender(one, CLIENTS), side.contender(other, CLIENTS)];
        let samples = take_warm_turns(&contenders, options.rounds(), options.turn())?;
        lines.push(Line {
            what: what.to_owned(),
            store: Some(side.store),
            measured: figures(&samples[0]),
            against: figures(&samples[1]),
            value: ratio(&samples[1], &samples[0]),
            unit: "×",
            limit: Limit::AtMost(at_most),
        });
    }
    Ok(lines)
}
