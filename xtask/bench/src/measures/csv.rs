//! A file of ten thousand people: against one insert of the same rows, once more unchanged, its memory, how long
//! others wait meanwhile, and what the index of words costs it.

mod bare;
mod indexed;
mod people;
mod subscribed;

use crate::Outcome;
use crate::burst::{Sample, beside};
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::rounds::median;
use crate::stage::{Side, Stage};
use crate::traffic;
use bare::Bare;
pub(super) use people::{PEOPLE, Uploads, file};

pub(super) use subscribed::run as beside_subscriptions;

const MOST_AGAINST_BARE_ROWS: f64 = 8.0;
const MOST_UNCHANGED: f64 = 0.4;
const MOST_MEGABYTES: f64 = 100.0;
const MOST_WAIT_MILLIS: f64 = 100.0;
const USUAL: f64 = 0.99;
const MEGABYTE: f64 = 1_000_000.0;

/// What one round came to, in seconds but for the names that say otherwise.
#[derive(Debug, Clone, Copy)]
struct Round {
    first: f64,
    unchanged: f64,
    bare: f64,
    changed: f64,
    peak_megabytes: f64,
    wait_millis: f64,
    usual_wait_millis: f64,
    waits: usize,
}

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let (bare, idle) = (Bare::new(stage, side)?, side.service.own_bytes()?);
        let rounds = (0..=options.rounds()).map(|number| round(stage, side, &bare, idle, number));
        let rounds = rounds.collect::<Outcome<Vec<_>>>()?;
        lines.extend(results(side, &rounds));
        lines.push(indexed::run(side, options)?);
    }
    Ok(lines)
}

fn round(stage: &Stage, side: &Side, bare: &Bare<'_>, idle: u64, number: usize) -> Outcome<Round> {
    let name = format!("n{number}-");
    let (sent, peak) = side.service.peak_bytes_during(|| send(stage, side, &name, number))?;
    let Sent { first, unchanged, changed, waits: [one, other] } = sent;
    Ok(Round {
        first,
        unchanged,
        changed,
        bare: bare.insert(&name, number)?,
        peak_megabytes: peak.saturating_sub(idle) as f64 / MEGABYTE,
        wait_millis: one.within(1.0).max(other.within(1.0)),
        usual_wait_millis: one.within(USUAL).max(other.within(USUAL)),
        waits: one.micros.len() + other.micros.len(),
    })
}

/// What came of the uploads of a round: the seconds of each, and what another writer met during two of them.
struct Sent {
    first: f64,
    unchanged: f64,
    changed: f64,
    waits: [Sample; 2],
}

fn send(stage: &Stage, side: &Side, name: &str, number: usize) -> Outcome<Sent> {
    let (uploads, address) = (Uploads::new(side)?, side.service.address);
    let first = uploads.send(&file(name, "Ada", PEOPLE), "created", PEOPLE)?;
    let unchanged = uploads.send(&file(name, "Ada", PEOPLE), "skipped", PEOPLE)?;
    let others = traffic::rename(&side.key, stage.size);
    let (changed, one) = beside(address, &others, 1, || uploads.send(&file(name, "Eva", PEOPLE), "updated", PEOPLE))?;
    let another = file(&format!("o{number}-"), "Ada", PEOPLE);
    let (_, other) = beside(address, &others, 2, || uploads.send(&another, "created", PEOPLE))?;
    Ok(Sent { first, unchanged, changed, waits: [one, other] })
}

/// The first round only counts for the memory: nothing was prepared before it.
fn results(side: &Side, rounds: &[Round]) -> [Line; 4] {
    let warm = rounds.get(1..).unwrap_or_default();
    let typical = |property: fn(&Round) -> f64| median(warm.iter().map(property));
    let worst = |property: fn(&Round) -> f64| rounds.iter().map(property).fold(f64::NAN, f64::max);
    let line = |what: &str, measured: String, against: String, value, unit, most| Line {
        what: what.to_owned(),
        store: Some(side.store),
        measured,
        against,
        value,
        unit,
        limit: Limit::AtMost(most),
    };
    let (first, unchanged, bare) = (typical(|it| it.first), typical(|it| it.unchanged), typical(|it| it.bare));
    let waits = warm.iter().map(|it| it.waits).sum::<usize>();
    [
        line(
            "CSV of 10,000 new people, with managers, departments, events and audit entries",
            format!("{first:.2} s"),
            format!("one insert of their bare rows {bare:.2} s"),
            typical(|it| it.first / it.bare),
            "×",
            MOST_AGAINST_BARE_ROWS,
        ),
        line(
            "The same CSV again",
            format!("{unchanged:.2} s"),
            format!("the first time {first:.2} s"),
            typical(|it| it.unchanged / it.first),
            "×",
            MOST_UNCHANGED,
        ),
        line(
            "Memory during CSV, above idle, without mapped files",
            format!("{PEOPLE} new, unchanged, and changed in {:.2} s", typical(|it| it.changed)),
            String::new(),
            worst(|it| it.peak_megabytes),
            "MB",
            MOST_MEGABYTES,
        ),
        line(
            "Longest wait of another writer during CSV",
            format!("99% of {waits} within {:.0} ms", typical(|it| it.usual_wait_millis)),
            String::new(),
            typical(|it| it.wait_millis),
            "ms",
            MOST_WAIT_MILLIS,
        ),
    ]
}
