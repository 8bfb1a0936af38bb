//! Summaries, conversations, messages and assignments against observations, and the largest of them.

use crate::Outcome;
use crate::burst::{Shape, Traffic, burst};
use crate::data;
use crate::http::{get, post};
use crate::options::Options;
use crate::random::Random;
use crate::report::{Limit, Line, grouped};
use crate::rounds::{Contender, ratio, take_turns, take_warm_turns};
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic::{self, usual_text};
use serde_json::{Value, json};
use std::rc::Rc;

use super::reads::figures;

const MOST_AGAINST_OBSERVATIONS: f64 = 1.3;
const MOST_FOR_EXPANDED: f64 = 6.0;
/// What costs the same differs by no more than the measure does.
const MOST_FOR_A_LONG_ONE: f64 = 1.1;
/// There are so many of each kind, and twenty pages of them.
const OF_EACH: usize = 1_000;
const PAGE: usize = 50;
/// Not the seeds of any other measure, so that no request is a retry of another.
const SEEDS: u64 = 20_000;
/// A conversation is as long as this, and a short one.
const LONG: usize = 100_000;
const SHORT: usize = 10;
const OBJECTIVES: u32 = 100;
const OBSERVATIONS: u32 = 200;

/// A kind of resource, with the requests that make one.
struct Kind {
    name: &'static str,
    /// The list; the conversation's for messages.
    path: String,
    creates: Rc<Traffic>,
}

/// Somebody who reports to others, by chance.
fn somebody(random: &mut Random) -> Value {
    json!(data::person(random.between(100, 900)))
}

/// Two people who are not the same.
fn two(random: &mut Random) -> [Value; 2] {
    let first = random.between(100, 500);
    [json!(data::person(first)), json!(data::person(random.between(500, 900)))]
}

fn kinds(side: &Side) -> Outcome<Vec<Kind>> {
    let kind = |name, body: fn(&mut Random) -> Value| {
        let path = format!("/v1/{name}");
        let creates = traffic::new_ones(&side.key, move |_| format!("/v1/{name}"), body);
        Kind { name, path, creates }
    };
    let summary =
        |random: &mut Random| json!({"employee_id": somebody(random), "title": "Spring", "body": usual_text()});
    let conversation = |random: &mut Random| json!({"title": usual_text()[..200], "participant_ids": two(random)});
    let assignment = |random: &mut Random| {
        let [employee, reviewer] = two(random);
        json!({"employee_id": employee, "title": "Spring", "instructions": usual_text(), "reviewer_ids": [reviewer]})
    };
    let mut kinds =
        vec![kind("summaries", summary), kind("conversations", conversation), kind("assignments", assignment)];
    kinds.push(messages(side)?);
    Ok(kinds)
}

/// Messages in many conversations, so that none has to wait for another.
fn messages(side: &Side) -> Outcome<Kind> {
    let conversations = (0..CLIENTS * 8).map(|_| conversation(side)).collect::<Outcome<Vec<_>>>()?;
    let path = conversations.first().cloned().unwrap_or_default();
    let count = u32::try_from(conversations.len())?;
    let any = move |random: &mut Random| conversations[random.between(0, count) as usize].clone();
    Ok(Kind { name: "messages", path, creates: traffic::new_ones(&side.key, any, message) })
}

/// The path of the messages of a new conversation between the same two people.
fn conversation(side: &Side) -> Outcome<String> {
    let people = [data::person(100), data::person(101)];
    let id = made(side, "/v1/conversations", &json!({"title": "Spring", "participant_ids": people}))?;
    Ok(format!("/v1/conversations/{id}/messages"))
}

fn message(_: &mut Random) -> Value {
    json!({"author_id": data::person(100), "body": usual_text()})
}

fn made(side: &Side, path: &str, body: &Value) -> Outcome<String> {
    let (_, made) = post(side.service.address, path, &side.key, "application/json", &body.to_string(), 201)?;
    Ok(made["id"].as_str().ok_or("it has no id")?.to_owned())
}

/// Pages, look-ups and creates of each kind against those of observations.
pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let observations = Kind {
            name: "observations",
            path: "/v1/observations".to_owned(),
            creates: traffic::creates(&side.key, stage.size.people, vec![], 0),
        };
        for (number, kind) in kinds(side)?.into_iter().enumerate() {
            let seeds = SEEDS + 1_000 * number as u64;
            let messages = if kind.name == "messages" { Some(long(side, OF_EACH, SEEDS + 5_000)?) } else { None };
            let path = messages.as_ref().unwrap_or(&kind.path);
            burst(side.service.address, &kind.creates, Shape::of_all(OF_EACH, seeds))?;
            side.looked_at()?;
            let reads = |path: &str| -> Outcome<[Rc<Traffic>; 2]> {
                let list = format!("{path}?limit={PAGE}");
                let page = get(side.service.address, &list, &side.key)?;
                let ids = page["data"].as_array().into_iter().flatten().filter_map(|it| it["id"].as_str());
                let each = ids.map(|id| format!("{path}/{id}")).collect();
                Ok([traffic::one_of(&side.key, vec![list]), traffic::one_of(&side.key, each)])
            };
            let ([list, one], [usual_list, usual_one]) = (reads(path)?, reads(&observations.path)?);
            let line = |what: String, contenders: [Contender<'_>; 2], is_read: bool| {
                let take = if is_read { take_warm_turns } else { take_turns };
                against(side, what, &take(&contenders, options.rounds(), options.turn())?, MOST_AGAINST_OBSERVATIONS)
            };
            let read = |it| side.contender(it, CLIENTS);
            let write = |it: &Rc<Traffic>, first| side.contender_from(Rc::clone(it), CLIENTS, first);
            let name = kind.name;
            lines.push(line(
                format!("A page of {name} against one of observations"),
                [read(list), read(usual_list)],
                true,
            )?);
            lines.push(line(
                format!("GET of one of the {name} against an observation"),
                [read(one), read(usual_one)],
                true,
            )?);
            let creates = [write(&kind.creates, seeds + 1), write(&observations.creates, seeds + 500)];
            lines.push(line(format!("Create of {name} against observations"), creates, false)?);
        }
    }
    Ok(lines)
}

/// How many times as much the first costs as the second.
fn against(side: &Side, what: String, samples: &[Vec<crate::burst::Sample>], most: f64) -> Outcome<Line> {
    Ok(Line {
        what,
        store: Some(side.store),
        measured: figures(&samples[0]),
        against: figures(&samples[1]),
        value: ratio(&samples[1], &samples[0]),
        unit: "×",
        limit: Limit::AtMost(most),
    })
}

/// A summary of as much as it may rest on, with and without that.
pub(super) fn large_summary(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let person = data::person(100);
        let objective = json!({"owner_id": person, "title": "Learn more", "period_start": "2026-01-01", "period_end": "2026-06-30"});
        let observation = json!({"employee_id": person, "type": "strength", "observation": usual_text()});
        let objectives = (0..OBJECTIVES).map(|_| made(side, "/v1/employee-objectives", &objective));
        let objectives = objectives.collect::<Outcome<Vec<_>>>()?;
        let observations = (0..OBSERVATIONS).map(|_| made(side, "/v1/observations", &observation));
        let observations = observations.collect::<Outcome<Vec<_>>>()?;
        let summary = json!({
            "employee_id": person, "title": "Spring", "body": usual_text(),
            "included_objective_ids": objectives, "included_observation_ids": observations,
        });
        let path = format!("/v1/summaries/{}", made(side, "/v1/summaries", &summary)?);
        let expanded = format!("{path}?expand=included_objectives,included_observations");
        let read = |path: String| side.contender(traffic::one_of(&side.key, vec![path]), CLIENTS);
        let samples = take_warm_turns(&[read(expanded), read(path)], options.rounds(), options.turn())?;
        let what =
            format!("A summary with its {OBJECTIVES} objectives and {OBSERVATIONS} observations against it alone");
        lines.push(against(side, what, &samples, MOST_FOR_EXPANDED)?);
    }
    Ok(lines)
}

/// The path of the messages of a conversation with so many.
fn long(side: &Side, count: usize, seed: u64) -> Outcome<String> {
    let path = conversation(side)?;
    let here = path.clone();
    let creates = traffic::new_ones(&side.key, move |_| here.clone(), message);
    burst(side.service.address, &creates, Shape::of_all(count, seed))?;
    Ok(path)
}

/// A message where there are many, against one where there are few.
pub(super) fn long_conversation(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    // A tenth of the observations, so that a quick look is quick.
    let count = LONG.min(stage.size.observations as usize / 10);
    let mut lines = vec![];
    for side in stage.measured(options) {
        let (many, few) = (long(side, count, SEEDS + 6_000)?, long(side, SHORT, SEEDS + 7_000)?);
        let contender = |path: String, seeds| {
            side.contender_from(traffic::new_ones(&side.key, move |_| path.clone(), message), 1, seeds)
        };
        let contenders = [contender(many, SEEDS + 8_000), contender(few, SEEDS + 9_000)];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        let what = format!("A message among {} against one among few, one client", grouped(count as f64));
        lines.push(against(side, what, &samples, MOST_FOR_A_LONG_ONE)?);
    }
    Ok(lines)
}
