//! This build against another one (`--before`) on the same data: reads alone, and nine reads to one create.

use super::manager;
use super::*;

/// First seeds of each build, so that no create repeats another one.
const SEEDS: u64 = 20_000;
const SEEDS_BEFORE: u64 = 30_000;
/// Number of seeds for each row of the results.
const ROW_SEEDS: u64 = 100;

pub(super) fn main(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (key, size) = (&instance.api.key, data.size);
    let expand = "&expand=employee,attributes";
    let reads = vec![
        ("GET one observation".to_owned(), Traffic::observation(key, size)),
        ("First page".to_owned(), Traffic::first_page(key, "")),
        ("First page with `expand=employee,attributes`".to_owned(), Traffic::first_page(key, expand)),
        ("List of 50, anywhere in it".to_owned(), Traffic::any_page(key, size)),
    ];
    let mut lines = with_and_without_creates(data, instance, reads, CLIENTS)?;
    lines.extend(compare(data, instance, ("Create".to_owned(), instance.creates(size)), ROW_SEEDS - 1, CLIENTS)?);
    Ok(lines)
}

pub(super) fn tree(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    with_and_without_creates(data, instance, manager::groups(data, instance), manager::CLIENTS)
}

fn with_and_without_creates(
    data: &DataSet<'_>,
    instance: &Instance,
    reads: Vec<(String, Traffic)>,
    clients: usize,
) -> Result<Vec<Line>> {
    let creates = instance.creates(data.size);
    let mut lines = vec![];
    for (number, (what, read)) in (0..).zip(reads) {
        let mixed = (format!("{what}: nine to one create"), read.mixed_with(&creates, 10));
        lines.extend(compare(data, instance, (format!("{what}: reads alone"), read), number, clients)?);
        lines.extend(compare(data, instance, mixed, number, clients)?);
    }
    Ok(lines)
}

/// Compares both builds under the same traffic. Returns `None` without `--before`.
fn compare(
    data: &DataSet<'_>,
    instance: &Instance,
    (what, traffic): (String, Traffic),
    number: u64,
    clients: usize,
) -> Result<Option<Line>> {
    let seeds = |first: u64| first + number % ROW_SEEDS * ROW_SEEDS;
    let now = instance.contender(traffic.clone(), clients, seeds(SEEDS));
    let Some(before) = instance.contender_before(traffic, clients, seeds(SEEDS_BEFORE)) else { return Ok(None) };
    let comparison = data.compare_reads(instance, &[now, before])?.against("before");
    Ok(Some(comparison.speed(what, Limit::None)))
}
