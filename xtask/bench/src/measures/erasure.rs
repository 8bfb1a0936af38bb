//! The erasure of a person with many observations, and the wait of other writers meanwhile.

use super::*;
use crate::api::Api;
use serde_json::json;
use std::time::{Duration, Instant};

/// Observations about the person.
const OBSERVATIONS: usize = 2_000;
const MAX_SECONDS: f64 = 20.0;
/// Limit on the p99 of other writers, as a multiple of their p99 without an erasure.
const MAX_TAIL: f64 = 1.2;
/// Deadline for one erasure.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two reads of the receipt.
const POLL: Duration = Duration::from_millis(200);
/// First seed of the random requests. Other measures have other seeds, so that no request repeats another one.
const SEED: u64 = 110_000;

/// Seconds of an erasure, and samples of the writers beside it and after it.
struct Round {
    seconds: f64,
    beside: Sample,
    alone: Sample,
}

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let other = instance.create_organization()?;
    let writes = Traffic::creates_about(&[other.create_person()?]);
    let rounds = (0..data.options.rounds() as u64).map(|number| round(instance, &writes, SEED + 10 * number));
    let rounds = rounds.collect::<Result<Vec<_>>>()?;
    let ratios = median(rounds.iter().map(|round| round.beside.within(0.99) / round.alone.within(0.99)));
    let p99 = |sample: fn(&Round) -> &Sample| typical(&rounds, |round| sample(round).within(0.99));
    let line = |what: String, figures, value, at_most| {
        Line::new(what, instance.store, figures, value, Limit::AtMost(at_most))
    };
    Ok(vec![
        line(
            format!("Erasure of a person with {} observations, until the receipt", grouped(OBSERVATIONS as f64)),
            ["10 s of them until no search reads replaced parts of the index".to_owned(), String::new()],
            (typical(&rounds, |round| round.seconds), "s"),
            MAX_SECONDS,
        ),
        line(
            "p99 of another tenant's writes beside an erasure".to_owned(),
            [
                format!("{:.2} ms", p99(|round| &round.beside)),
                format!("without one {:.2} ms", p99(|round| &round.alone)),
            ],
            (ratios, "×"),
            MAX_TAIL,
        ),
    ])
}

fn round(instance: &Instance, writes: &Traffic, seed: u64) -> Result<Round> {
    let address = instance.service.address;
    let tenant = instance.create_organization()?;
    let person = tenant.create_person()?;
    let path = format!("/v1/employees/{}", person.id);
    let observations = Traffic::creates_about(&[person]);
    burst(address, &observations, Shape::for_requests(OBSERVATIONS, seed))?;
    tenant.send("POST", &format!("{path}/deactivate"), &json!({}))?;
    let (seconds, with) = beside(address, writes, seed + 1, || erase(&tenant, &path))?;
    let (_, alone) = beside(address, writes, seed + 2, || wait(Duration::from_secs_f64(seconds)))?;
    Ok(Round { seconds, beside: with, alone })
}

/// Erases a person, and returns the seconds until the receipt.
fn erase(tenant: &Api, person: &str) -> Result<f64> {
    let started = Instant::now();
    let erasure = format!("/v1/erasures/{}", tenant.create(&format!("{person}/erasure"), &json!({}))?);
    while tenant.get(&erasure)?["status"] != "completed" {
        if started.elapsed() > PATIENCE {
            return Err(format!("the erasure takes more than {PATIENCE:?}").into());
        }
        wait(POLL)?;
    }
    Ok(started.elapsed().as_secs_f64())
}
