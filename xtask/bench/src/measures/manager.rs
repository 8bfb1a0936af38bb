//! What is said about the reports of a manager, for managers at every depth and with few or many people below them.

use crate::Outcome;
use crate::data;
use crate::options::Options;
use crate::report::{Limit, Line};
use crate::rounds::{Contender, ratio, take_turns};
use crate::stage::Stage;
use crate::traffic;
use candor_domain::id::EmployeeId;
use std::collections::BTreeMap;

use super::reads::figures;

const AT_MOST: f64 = 6.0;
/// Enough to load the service, few enough to tell how much one request costs.
pub(crate) const CLIENTS: usize = 4;
/// Managers of a group that are asked for in turn.
const MOST_MANAGERS: usize = 500;
/// Depths in the line at the end that are asked for.
const IN_THE_LINE: [u32; 2] = [20, 60];

pub(super) fn run(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let groups = groups(stage);
    let mut lines = vec![];
    for side in stage.measured(options) {
        let requests = groups.iter().map(|(_, it)| traffic::page_of_reports(&side.key, it.clone()));
        let all = std::iter::once(traffic::first_page(&side.key, "")).chain(requests);
        let contenders: Vec<Contender<'_>> = all.map(|it| side.contender(it, CLIENTS)).collect();
        let samples = take_turns(&contenders, options.rounds(), options.turn() / 2)?;
        lines.extend(groups.iter().zip(&samples[1..]).map(|((what, _), filtered)| Line {
            what: what.clone(),
            store: Some(side.store),
            measured: figures(filtered),
            against: format!("unfiltered {}", figures(&samples[0])),
            value: ratio(&samples[0], filtered),
            unit: "×",
            limit: Limit::AtMost(AT_MOST),
        }));
    }
    Ok(lines)
}

/// Managers by depth, and some from the line at the end.
pub(super) fn groups(stage: &Stage) -> Vec<(String, Vec<EmployeeId>)> {
    let found = stage.size.depths_and_sizes();
    let regular = stage.size.line_begins();
    let mut by_depth: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for (index, (depth, below)) in (0..regular).zip(&found) {
        by_depth.entry(*depth).or_default().push((index, *below));
    }
    let mut groups: Vec<_> = by_depth.into_iter().map(|(depth, people)| group(depth, &people)).collect();
    for depth in IN_THE_LINE {
        let in_line = (regular..stage.size.people).zip(&found[regular as usize..]);
        let there: Vec<_> = in_line.filter(|(_, it)| it.0 == depth).map(|(index, it)| (index, it.1)).collect();
        groups.push(group(depth, &there));
    }
    groups
}

fn group(depth: u32, people: &[(u32, u32)]) -> (String, Vec<EmployeeId>) {
    let sizes = people.iter().map(|it| it.1);
    let (least, most) = (sizes.clone().min().unwrap_or_default(), sizes.max().unwrap_or_default());
    let below = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let step = people.len().div_ceil(MOST_MANAGERS).max(1);
    let chosen = people.iter().step_by(step).map(|(index, _)| data::person(*index)).collect();
    (format!("`filter[manager_id]`, depth {depth}, {below} people below"), chosen)
}
