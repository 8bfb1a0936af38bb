//! What one tenant notices while another asks for what no index answers.

use crate::Outcome;
use crate::burst::{Sample, Shape, Traffic, beside, burst};
use crate::http::post;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::rounds::{Contender, median, take_turns};
use crate::service::pause;
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic;
use serde_json::json;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::reads::figures;

const MOST: f64 = 3.0;
/// Rows of the tenant that is watched.
const OBSERVATIONS: usize = 200;
/// Not the seeds of any other turn, so that no request is a retry of another.
const SEED: u64 = 6_000;

/// A tenant with few rows, and one request of each kind that it sends.
struct Watched {
    what: &'static str,
    traffic: Rc<Traffic>,
}

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        for (number, watched) in (0..).zip(watched(side)?) {
            let seed = |round: u64, kind: u64| SEED + 100 * number + 2 * round + kind;
            let contenders: [Contender<'_>; 2] = [
                Box::new(|time, round| {
                    let (address, key, seed) = (side.service.address, side.key.clone(), seed(round, 0));
                    let ask = move || {
                        let questions = traffic::slow_questions(&key);
                        burst(address, &questions, Shape::of_time(CLIENTS, time, seed)).map(drop)
                    };
                    Ok(beside(address, &watched.traffic, seed, ask)?.1)
                }),
                Box::new(|time, round| {
                    Ok(beside(side.service.address, &watched.traffic, seed(round, 1), || wait(time))?.1)
                }),
            ];
            let samples = take_turns(&contenders, options.rounds(), options.turn())?;
            lines.push(line(watched.what, side, &samples));
        }
    }
    Ok(lines)
}

fn line(what: &str, side: &Side, samples: &[Vec<Sample>]) -> Line {
    let slower = samples[0].iter().zip(&samples[1]).map(|(with, without)| with.within(0.99) / without.within(0.99));
    Line {
        what: format!("p99 of another tenant's {what} beside {CLIENTS} clients with slow questions"),
        store: Some(side.store),
        measured: figures(&samples[0]),
        against: figures(&samples[1]),
        value: median(slower),
        unit: "×",
        limit: Limit::AtMost(MOST),
    }
}

/// Reads of another tenant that is watched: GETs of one person and first pages, in turn.
pub(super) fn watched_reads(side: &Side) -> Outcome<Rc<Traffic>> {
    let [one, list, _] = watched(side)?;
    Ok(traffic::either(&one.traffic, &list.traffic))
}

/// Another tenant with somebody in it and what was said about them.
fn watched(side: &Side) -> Outcome<[Watched; 3]> {
    let (address, key) = (side.service.address, side.another_account()?.key);
    let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Example"}).to_string();
    let (_, answer) = post(address, "/v1/employees", &key, "application/json", &body, 201)?;
    let person = answer["id"].as_str().ok_or("nobody was made")?.to_owned();
    let creates = traffic::creates_of(vec![(key.clone(), person.parse()?)]);
    burst(address, &creates, Shape::of_few(OBSERVATIONS, SEED))?;
    Ok([
        Watched { what: "GET", traffic: traffic::one_employee(&key, &person) },
        Watched { what: "list of 50", traffic: traffic::first_page(&key, "") },
        Watched { what: "create", traffic: creates },
    ])
}

/// Lets so much time pass.
pub(super) fn wait(time: Duration) -> Outcome {
    let begun = Instant::now();
    while begun.elapsed() < time {
        pause();
    }
    Ok(())
}
