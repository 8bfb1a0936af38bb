//! Lists of objectives for a person with many reports, and objectives that start because their period has begun.

use super::*;
use crate::data::{self, APPROVED, FIRST_DAY};
use std::slice::from_ref;
use std::time::Duration;

/// Upper bound for the cost of a page with a manager's key, as a multiple of that with a key that sees all
/// objectives. The manager sees those of the reports, as with `filter[manager_id]`.
const MAX_VISIBLE_COST: f64 = 6.0;
/// Numbers of two people with some 1,100 people below each. The measure moves the second below the first.
const BOSS_AND_LEAD: (u32, u32) = (1, 2);
const MAX_SWEEP_SECONDS: f64 = 10.0;
const MAX_DELAY_MILLIS: f64 = 50.0;
/// Upper bound for the time in which the service notices due objectives and starts them.
const SWEEP_TIME: Duration = Duration::from_secs(17);
const WRITERS: usize = 4;
/// Seed that no turn has, so that no request repeats another one.
const SEED: u64 = 5_000;

/// Measures the list of a person with two thousand reports against the list of all objectives.
pub(super) fn visible(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (boss, lead) = BOSS_AND_LEAD;
    let reports_to = Traffic::reports_to(&instance.api.key, lead, boss);
    burst(instance.service.address, &reports_to, Shape::for_requests(1, SEED))?;
    // Until a vacuum, scans of an index read changed reporting lines from the table, which costs time.
    instance.database()?.run_by_store("VACUUM reporting_lines", "")?;
    let boss_key = instance.create_key_for(data::person(boss))?;
    let contenders = [&boss_key, &instance.api.key].map(|key| {
        let clients = super::manager::CLIENTS;
        instance.contender(Traffic::read(key, "/v1/employee-objectives?limit=50".to_owned()), clients, 0)
    });
    let comparison = data.compare(instance, &contenders)?.against("unfiltered");
    let what = format!("Objectives of 2,200 reports, among {}", grouped(data.size.objectives().into()));
    Ok(vec![comparison.cost(what, MAX_VISIBLE_COST)])
}

/// Measures the start of objectives that fall due at once while clients write.
pub(super) fn sweep(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (all, due) = (data.size.objectives(), data.size.objectives() / APPROVED);
    let creates = instance.creates(data.size);
    let write = |seed| burst(instance.service.address, &creates, Shape::for_time(WRITERS, SWEEP_TIME, seed));
    let alone = write(SEED)?;
    let (database, day) = (instance.database()?, instance.store.date(&FIRST_DAY.to_string()));
    database
        .run(&format!("UPDATE objectives SET period_start = {day}, due_on = {day} WHERE status = 'approved'"))?;
    let beside = write(SEED + 1)?;
    let left = database.number("(SELECT count(*) FROM objectives WHERE due_on IS NOT NULL)")?;
    if left > 0 {
        return Err(
            format!("{left} of {due} objectives have not started within {} s", SWEEP_TIME.as_secs()).into()
        );
    }
    // Milliseconds from the start of the first objective to that of the last.
    let millis = instance.store.pick(
        "(extract(epoch FROM max(updated_at) - min(updated_at)) * 1000)::bigint",
        "max(updated_at) - min(updated_at)",
    );
    let millis = database.number(&format!("(SELECT {millis} FROM objectives WHERE status = 'in_progress')"))?;
    let (slowest, slowest_alone) = (beside.within(1.0), alone.within(1.0));
    Ok(vec![
        Line::new(
            format!("{} of {} objectives start", grouped(due.into()), grouped(all.into())),
            instance.store,
            [format!("beside {WRITERS} writers"), String::new()],
            (millis as f64 / 1000.0, "s"),
            Limit::AtMost(MAX_SWEEP_SECONDS),
        ),
        Line::new(
            "Create while they start, how much longer the slowest of all takes",
            instance.store,
            [
                format!("the slowest {slowest:.2} ms; {}", figures(from_ref(&beside))),
                format!("the slowest without, {slowest_alone:.2} ms; {}", figures(from_ref(&alone))),
            ],
            ((slowest - slowest_alone).max(0.0), "ms"),
            Limit::AtMost(MAX_DELAY_MILLIS),
        ),
    ])
}
