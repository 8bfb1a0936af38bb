//! Lists of objectives for a person with many reports, and objectives that start because their period has begun.

use crate::Outcome;
use crate::burst::{Shape, burst};
use crate::data::{self, APPROVED, FIRST_DAY};
use crate::options::{Options, Store};
use crate::report::{Limit, Line, grouped};
use crate::rounds::{Contender, ratio, take_turns};
use crate::stage::{Side, Stage};
use crate::traffic;
use std::slice::from_ref;
use std::time::Duration;

use super::manager::CLIENTS;
use super::reads::figures;

/// What somebody may see is the page of a team, as with `filter[manager_id]`.
const MOST_WITHIN_SIGHT: f64 = 6.0;
const MOST_SECONDS: f64 = 10.0;
const MOST_MILLIS_BLOCKED: f64 = 50.0;
/// Below the first of them there are some 1,100 people; the second, with as many, comes to report to them.
const BOSS_AND_LEAD: (u32, u32) = (1, 2);
/// Long enough for the service to notice that objectives are due, and to start them.
const WATCHED: Duration = Duration::from_secs(17);
const WRITERS: usize = 4;
/// Not the seed of any turn, so that no request is a retry of another.
const SEED: u64 = 5_000;

/// The list of a person with two thousand reports against that of everybody.
pub(super) fn within_sight(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        let (boss, lead) = BOSS_AND_LEAD;
        burst(side.service.address, &traffic::reports_to(&side.key, lead, boss), Shape::of_few(1, SEED))?;
        if side.store == Store::Postgres {
            // What was moved is read from the table until the server has looked after it, which it does within a minute.
            side.run("VACUUM reporting_lines")?;
        }
        let key = side.key_of(data::person(boss))?;
        let contenders: Vec<Contender<'_>> = vec![
            side.contender(traffic::first_objectives(&key), CLIENTS),
            side.contender(traffic::first_objectives(&side.key), CLIENTS),
        ];
        let samples = take_turns(&contenders, options.rounds(), options.turn())?;
        lines.push(Line {
            what: format!("Objectives of 2,200 reports, among {}", grouped(stage.size.objectives().into())),
            store: Some(side.store),
            measured: figures(&samples[0]),
            against: format!("everybody's {}", figures(&samples[1])),
            value: ratio(&samples[1], &samples[0]),
            unit: "×",
            limit: Limit::AtMost(MOST_WITHIN_SIGHT),
        });
    }
    Ok(lines)
}

/// Some objectives fall due at once, while others write.
pub(super) fn sweep(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let due = stage.size.objectives() / APPROVED;
    let mut lines = vec![];
    for side in stage.measured(options) {
        let creates = traffic::create(&side.key, stage.size, side.attributes.clone());
        let shape = |seed| Shape::of_time(WRITERS, WATCHED, seed);
        let alone = burst(side.service.address, &creates, shape(SEED))?;
        let day = side.dialect().date(&FIRST_DAY.to_string());
        side.run(&format!("UPDATE objectives SET period_start = {day}, due_on = {day} WHERE status = 'approved'"))?;
        let beside = burst(side.service.address, &creates, shape(SEED + 1))?;
        let left = side.number("(SELECT count(*) FROM objectives WHERE due_on IS NOT NULL)")?;
        if left > 0 {
            return Err(format!("{left} of {due} objectives have not started within {} s", WATCHED.as_secs()).into());
        }
        let line = Line {
            what: format!("{} of {} objectives start", grouped(due.into()), grouped(stage.size.objectives().into())),
            store: Some(side.store),
            measured: format!("beside {WRITERS} writers"),
            against: String::new(),
            value: seconds(side)?,
            unit: "s",
            limit: Limit::AtMost(MOST_SECONDS),
        };
        let blocked = Line {
            what: "Create while they start, how much longer the slowest of all takes".to_owned(),
            measured: format!("the slowest {:.2} ms; {}", beside.within(1.0), figures(from_ref(&beside))),
            against: format!("the slowest without, {:.2} ms; {}", alone.within(1.0), figures(from_ref(&alone))),
            value: (beside.within(1.0) - alone.within(1.0)).max(0.0),
            unit: "ms",
            limit: Limit::AtMost(MOST_MILLIS_BLOCKED),
            ..line.clone()
        };
        lines.extend([line, blocked]);
    }
    Ok(lines)
}

/// From the first objective that started to the last.
fn seconds(side: &Side) -> Outcome<f64> {
    let spread = match side.store {
        Store::Postgres => "(extract(epoch FROM max(updated_at) - min(updated_at)) * 1000)::bigint",
        Store::Sqlite => "max(updated_at) - min(updated_at)",
    };
    let millis = side.number(&format!("(SELECT {spread} FROM objectives WHERE status = 'in_progress')"))?;
    Ok(millis as f64 / 1000.0)
}
