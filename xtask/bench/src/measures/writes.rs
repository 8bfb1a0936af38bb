//! Changes of people.

use crate::Outcome;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::rounds::{ratio, take_turns};
use crate::stage::{CLIENTS, Stage};
use crate::traffic;

use super::reads::figures;

const MOST_FOR_A_MOVE: f64 = 2.0;

pub(super) fn new_manager(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for side in stage.measured(options) {
        for (clients, limit) in [(1, Limit::AtMost(MOST_FOR_A_MOVE)), (CLIENTS, Limit::None)] {
            let contenders = [
                side.contender(traffic::new_manager(&side.key, stage.size), clients),
                side.contender(traffic::rename(&side.key, stage.size), clients),
            ];
            let samples = take_turns(&contenders, options.rounds(), options.turn())?;
            let many = if clients == 1 { "one client".to_owned() } else { format!("{clients} clients") };
            lines.push(Line {
                what: format!("PATCH of `manager_id` against one of `first_name`, {many}"),
                store: Some(side.store),
                measured: figures(&samples[0]),
                against: figures(&samples[1]),
                value: ratio(&samples[1], &samples[0]),
                unit: "×",
                limit,
            });
        }
    }
    Ok(lines)
}
