//! This build against another one (`--before`), in turns on the same data: reads alone, and nine of them to one create.
//! Ratios within one run hold on a machine that others use as well.

use crate::Outcome;
use crate::burst::Traffic;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::rounds::{ratio, take_warm_turns};
use crate::stage::{CLIENTS, Side, Stage};
use crate::traffic;
use std::rc::Rc;

use super::manager;
use super::reads::figures;

/// Where the seeds of each build begin, so that no create is a retry of another.
const SEEDS: u64 = 20_000;
const SEEDS_BEFORE: u64 = 30_000;
const SEEDS_OF_A_ROW: u64 = 100;

pub(super) fn on_the_main_stage(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    if options.before.is_none() {
        return Ok(vec![]);
    }
    let mut lines = vec![];
    for side in stage.measured(options) {
        let (key, size) = (&side.key, stage.size);
        let creates = traffic::create(key, size, side.attributes.clone());
        let reads = [
            ("GET one observation", traffic::one_observation(key, size)),
            ("First page", traffic::first_page(key, "")),
            ("First page with `expand=employee,attributes`", traffic::first_page(key, "&expand=employee,attributes")),
            ("List of 50, anywhere in it", traffic::any_page(key, size)),
        ];
        for (number, (what, read)) in (0..).zip(reads) {
            lines.extend(both(side, options, what, read, &creates, number, CLIENTS)?);
        }
        lines.extend(compared(side, options, "Create".to_owned(), creates, SEEDS_OF_A_ROW - 1, CLIENTS)?);
    }
    Ok(lines)
}

pub(super) fn on_the_tree(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    if options.before.is_none() {
        return Ok(vec![]);
    }
    let mut lines = vec![];
    for side in stage.measured(options) {
        let creates = traffic::create(&side.key, stage.size, side.attributes.clone());
        for (number, (what, managers)) in (0..).zip(manager::groups(stage)) {
            let read = traffic::page_of_reports(&side.key, managers);
            lines.extend(both(side, options, &what, read, &creates, number, manager::CLIENTS)?);
        }
    }
    Ok(lines)
}

/// A read alone, and among creates.
fn both(
    side: &Side,
    options: &Options,
    what: &str,
    read: Rc<Traffic>,
    creates: &Rc<Traffic>,
    number: u64,
    clients: usize,
) -> Outcome<Vec<Line>> {
    let mixed = traffic::nine_to_one(&read, creates);
    let mut lines = compared(side, options, format!("{what}: reads alone"), read, number, clients)?;
    lines.extend(compared(side, options, format!("{what}: nine to one create"), mixed, number, clients)?);
    Ok(lines)
}

fn compared(
    side: &Side,
    options: &Options,
    what: String,
    traffic: Rc<Traffic>,
    number: u64,
    clients: usize,
) -> Outcome<Vec<Line>> {
    let from = |first: u64| first + number % SEEDS_OF_A_ROW * SEEDS_OF_A_ROW;
    let now = side.contender_from(Rc::clone(&traffic), clients, from(SEEDS));
    let Some(before) = side.contender_before(traffic, clients, from(SEEDS_BEFORE)) else { return Ok(vec![]) };
    let samples = take_warm_turns(&[now, before], options.rounds(), options.turn())?;
    Ok(vec![Line {
        what,
        store: Some(side.store),
        measured: figures(&samples[0]),
        against: format!("before {}", figures(&samples[1])),
        value: ratio(&samples[0], &samples[1]),
        unit: "×",
        limit: Limit::None,
    }])
}
