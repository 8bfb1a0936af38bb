//! The measures: each sends requests to the service and returns results with their limits.

mod bounds;
pub(crate) mod cluster;
mod copying;
mod csv;
mod erasure;
mod exports;
mod identity;
mod inserts;
mod objectives;
mod reads;
mod scim;
mod search;
mod tenants;
mod webhooks;
mod writes;

pub(crate) use writes::RETRIED;

use crate::Result;
use crate::api::{Api, Person};
use crate::comparison::{Comparison, Contender, median_of};
use crate::data_set::{CLIENTS, DataSet};
use crate::database::Database;
use crate::instance::Instance;
use crate::options::Options;
use crate::receiver::{Arrival, Receiver};
use crate::report::{Limit, Line, group_thousands, per_second};
use crate::service::{MEGABYTE, wait};
use crate::store::Store;
use crate::traffic::{OBSERVATIONS, Traffic};
use candor_test_load::{Sample, Shape, burst, run_beside};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Function of a measure, called once for each measured store.
type Measure = fn(&DataSet<'_>, &Instance) -> Result<Vec<Line>>;

/// The measures in their order. The last measures create much other data.
const MEASURES: [(&str, Measure); 19] = [
    ("get", reads::get),
    ("list", reads::list),
    ("copy", copying::run),
    ("create", writes::usual),
    ("create-tagged", writes::measure_tagged),
    ("create-retry", writes::retries),
    ("create-dry-run", writes::dry_runs),
    ("webhooks-rate", webhooks::rate),
    ("webhooks-delay", webhooks::delay),
    ("webhooks-creates", webhooks::creates),
    ("exports", exports::run),
    ("csv", csv::run),
    ("tenants", tenants::run),
    ("bounds", bounds::run),
    ("erasure", erasure::run),
    ("scim", scim::run),
    ("identity", identity::run),
    ("search", search::run),
    ("objectives", objectives::run),
];

/// The measure that runs on databases of its own.
pub(crate) const CLUSTER: &str = "cluster";

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MEASURES.iter().map(|(name, _)| *name).chain([CLUSTER])
}

/// Returns the measures that the options select.
pub(crate) fn select_measures(options: &Options) -> impl Iterator<Item = &'static (&'static str, Measure)> {
    MEASURES.iter().filter(|(name, _)| options.selects(name))
}

/// Runs the selected measures. An interrupted run leaves the lines that it has printed.
pub(crate) fn run(data: &DataSet<'_>) -> Result<Vec<Line>> {
    let (mut lines, mut failed) = (vec![], vec![]);
    for (name, measure) in select_measures(data.options) {
        for instance in data.measured_instances() {
            let start = Instant::now();
            let measure_lines = match measure(data, instance) {
                Ok(measured) => measured,
                Err(problem) => {
                    // A failed measure must not discard the results of the other measures, which take an hour.
                    println!("{name} on {}: {problem}\n{}", instance.store, data.log_tails());
                    failed.push(format!("{name} on {}", instance.store));
                    continue;
                }
            };
            measure_lines.iter().for_each(|line| println!("{}", line.cells().join(" | ")));
            println!("{name} on {} took {:.0} s", instance.store, start.elapsed().as_secs_f64());
            lines.extend(measure_lines);
        }
        data.truncate_logs()?;
    }
    if failed.is_empty() {
        Ok(lines)
    } else {
        Err(format!("these measures failed, see above: {}", failed.join(", ")).into())
    }
}

/// Returns the seconds that some work takes.
fn seconds(work: impl FnOnce() -> Result) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}
