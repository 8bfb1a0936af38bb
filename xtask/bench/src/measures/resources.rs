//! Summaries, conversations, messages and assignments against observations, and the largest of them.

use super::*;
use crate::data;
use crate::random::Random;
use serde_json::{Value, json};

const MAX_COST: f64 = 1.3;
const MAX_INLINED_COST: f64 = 6.0;
/// Upper bound for the cost of a message in a long conversation, as a multiple of one in a short conversation.
/// Both cost the same within the accuracy of the measurement.
const MAX_LONG_COST: f64 = 1.1;
/// Number of resources of each kind: twenty pages.
const RESOURCES: usize = 1_000;
const PAGE: usize = 50;
/// First seed. No other measure has it, so that no request repeats another one.
const SEEDS: u64 = 40_000;
/// Number of messages of a long conversation.
const LONG: usize = 100_000;
const SHORT: usize = 10;
/// Number of objectives of a large summary.
const OBJECTIVES: usize = 100;
const OBSERVATIONS: usize = 200;

/// Requests that create resources of one kind.
struct Kind {
    name: &'static str,
    /// Path of the list.
    path: String,
    creates: Traffic,
}

fn kinds(instance: &Instance) -> Result<Vec<Kind>> {
    let kind = |name: &'static str, body: fn(&mut Random) -> Value| {
        let path = format!("/v1/{name}");
        Kind { name, creates: Traffic::post(&instance.api.key, move |_| format!("/v1/{name}"), body), path }
    };
    Ok(vec![
        kind(
            "summaries",
            |random| json!({"employee_id": manager(random), "title": "Spring", "body": usual_text()}),
        ),
        kind(
            "conversations",
            |random| json!({"title": usual_text()[..200], "participant_ids": two_managers(random)}),
        ),
        kind("assignments", |random| {
            let [employee, reviewer] = two_managers(random);
            json!({"employee_id": employee, "title": "Spring", "instructions": usual_text(), "reviewer_ids": [reviewer]})
        }),
        messages(instance)?,
    ])
}

fn manager(random: &mut Random) -> Value {
    json!(data::person(random.between(100, 900)))
}

/// Returns the ids of two different managers.
fn two_managers(random: &mut Random) -> [Value; 2] {
    [json!(data::person(random.between(100, 500))), json!(data::person(random.between(500, 900)))]
}

/// Returns creates of messages in many conversations, so that they do not wait for each other.
fn messages(instance: &Instance) -> Result<Kind> {
    let conversations = (0..CLIENTS * 8).map(|_| create_conversation(instance)).collect::<Result<Vec<_>>>()?;
    let any = move |random: &mut Random| random.pick(&conversations).clone();
    let path = create_messages(instance, RESOURCES, SEEDS + 5_000)?;
    Ok(Kind { name: "messages", path, creates: Traffic::post(&instance.api.key, any, message) })
}

/// Returns the path of the messages of a new conversation between two people.
fn create_conversation(instance: &Instance) -> Result<String> {
    let body = json!({"title": "Spring", "participant_ids": [data::person(100), data::person(101)]});
    Ok(format!("/v1/conversations/{}/messages", instance.api.create("/v1/conversations", &body)?))
}

/// Returns the path of the messages of a new conversation with `count` messages.
fn create_messages(instance: &Instance, count: usize, seed: u64) -> Result<String> {
    let path = create_conversation(instance)?;
    let shape = Shape::for_requests(count, seed);
    burst(instance.service.address, &messages_at(instance, path.clone()), shape)?;
    Ok(path)
}

fn messages_at(instance: &Instance, path: String) -> Traffic {
    Traffic::post(&instance.api.key, move |_| path.clone(), message)
}

fn message(_: &mut Random) -> Value {
    json!({"author_id": data::person(100), "body": usual_text()})
}

/// Measures pages, GETs and creates of each kind against those of observations.
pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let observations = Traffic::creates(&instance.api.key, data.size.people, &[], 0);
    let mut lines = vec![];
    for (number, Kind { name, path, creates }) in (0..).zip(kinds(instance)?) {
        let seeds = SEEDS + 1_000 * number;
        burst(instance.service.address, &creates, Shape::for_requests(RESOURCES, seeds))?;
        // Autovacuum analyzes the tables within a minute. Until then the planner takes any index for as good as
        // another.
        instance.database()?.run_by_store("ANALYZE", "")?;
        let ([list, one], [usual_list, usual_one]) =
            (reads(instance, &path)?, reads(instance, "/v1/observations")?);
        let mut compare = |what, turns, contenders: [(Traffic, u64); 2]| -> Result {
            let contenders = contenders.map(|(traffic, seeds)| instance.contender(traffic, CLIENTS, seeds));
            let comparison = data.compare_for(instance, &contenders, turns, data.options.turn())?;
            lines.push(comparison.cost(what, MAX_COST));
            Ok(())
        };
        let what = format!("A page of {name} against one of observations");
        compare(what, Turns::Warm, [(list, 0), (usual_list, 0)])?;
        let what = format!("GET of one of the {name} against an observation");
        compare(what, Turns::Warm, [(one, 0), (usual_one, 0)])?;
        let what = format!("Create of {name} against observations");
        compare(what, Turns::Plain, [(creates, seeds + 1), (observations.clone(), seeds + 500)])?;
    }
    Ok(lines)
}

/// Returns reads of the first page of a list, and of any resource on it.
fn reads(instance: &Instance, path: &str) -> Result<[Traffic; 2]> {
    let list = format!("{path}?limit={PAGE}");
    let page = instance.api.get(&list)?;
    let ids = page["data"].as_array().into_iter().flatten().filter_map(|resource| resource["id"].as_str());
    let each = ids.map(|id| format!("{path}/{id}")).collect();
    Ok([Traffic::read(&instance.api.key, list), Traffic::read_any(&instance.api.key, each)])
}

/// Measures a summary with the maximum of inlined objects against the same summary without them.
pub(super) fn large_summary(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let person = data::person(100);
    let period = ["2026-01-01", "2026-06-30"];
    let objective =
        json!({"owner_id": person, "title": "Learn more", "period_start": period[0], "period_end": period[1]});
    let observation = json!({"employee_id": person, "type": "strength", "observation": usual_text()});
    let create = |count: usize, path: &str, body: &Value| -> Result<Vec<String>> {
        (0..count).map(|_| instance.api.create(path, body)).collect()
    };
    let summary = json!({
        "employee_id": person, "title": "Spring", "body": usual_text(),
        "included_objective_ids": create(OBJECTIVES, "/v1/employee-objectives", &objective)?,
        "included_observation_ids": create(OBSERVATIONS, "/v1/observations", &observation)?,
    });
    let path = format!("/v1/summaries/{}", instance.api.create("/v1/summaries", &summary)?);
    let inlined = format!("{path}?expand=included_objectives,included_observations");
    let contenders =
        [inlined, path].map(|path| instance.contender(Traffic::read(&instance.api.key, path), CLIENTS, 0));
    let what =
        format!("A summary with its {OBJECTIVES} objectives and {OBSERVATIONS} observations against it alone");
    Ok(vec![data.compare_reads(instance, &contenders)?.cost(what, MAX_INLINED_COST)])
}

/// Measures a message in a long conversation against one in a short conversation.
pub(super) fn long_conversation(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    // A quick run has fewer observations, and a shorter conversation.
    let count = LONG.min(data.size.observations as usize / 10);
    let long = create_messages(instance, count, SEEDS + 6_000)?;
    let short = create_messages(instance, SHORT, SEEDS + 7_000)?;
    let contenders = [(long, SEEDS + 8_000), (short, SEEDS + 9_000)]
        .map(|(path, seeds)| instance.contender(messages_at(instance, path), 1, seeds));
    let what = format!("A message among {} against one among few, one client", grouped(count as f64));
    Ok(vec![data.compare(instance, &contenders)?.cost(what, MAX_LONG_COST)])
}
