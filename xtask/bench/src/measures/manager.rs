//! Observations about the reports of a manager, for managers at every depth and with few or many people below
//! them.

use super::*;
use crate::data;
use std::collections::BTreeMap;

const MAX_COST: f64 = 6.0;
/// Number of concurrent clients, so small that the cost of one request stays visible.
pub(crate) const CLIENTS: usize = 4;
/// Upper bound for the managers of a group, which are requested in turn.
const MAX_MANAGERS: usize = 500;
/// Depths in the line at the end of the list of people.
const LINE_DEPTHS: [u32; 2] = [20, 60];

pub(super) fn run(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let all = Traffic::first_page(&instance.api.key, "");
    let mut lines = vec![];
    for (what, requests) in groups(data, instance) {
        let contenders = [requests, all.clone()].map(|traffic| instance.contender(traffic, CLIENTS, 0));
        let comparison = data.compare_for(instance, &contenders, Turns::Plain, data.options.turn() / 2)?;
        lines.push(comparison.against("unfiltered").cost(what, MAX_COST));
    }
    Ok(lines)
}

/// Requests for managers of the regular tree by depth, and for managers in the line.
pub(super) fn groups(data: &DataSet<'_>, instance: &Instance) -> Vec<(String, Traffic)> {
    let found = data.size.depths_and_sizes();
    let line_start = data.size.line_start();
    let mut by_depth: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for (index, (depth, below)) in (0..data.size.people).zip(found) {
        if index < line_start || LINE_DEPTHS.contains(&depth) {
            by_depth.entry(depth).or_default().push((index, below));
        }
    }
    by_depth.into_iter().map(|(depth, managers)| group(instance, depth, &managers)).collect()
}

fn group(instance: &Instance, depth: u32, managers: &[(u32, u32)]) -> (String, Traffic) {
    let sizes = managers.iter().map(|(_, below)| *below);
    let (least, most) = (sizes.clone().min().unwrap_or_default(), sizes.max().unwrap_or_default());
    let below = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let chosen = managers.iter().step_by(managers.len().div_ceil(MAX_MANAGERS).max(1));
    let path = |index| format!("/v1/observations?limit=50&filter%5Bmanager_id%5D={}", data::person(index));
    let paths = chosen.map(|(index, _)| path(*index)).collect();
    let what = format!("`filter[manager_id]`, depth {depth}, {below} people below");
    (what, Traffic::read_any(&instance.api.key, paths))
}
