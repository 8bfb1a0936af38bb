//! The measures, by data set.

pub(crate) mod cluster;
mod copying;
mod csv;
mod erasure;
mod exports;
mod inserts;
mod reads;
mod scim;
mod search;
mod tenants;
mod webhooks;
mod writes;

pub(crate) use writes::RETRIED;

use crate::Result;
use crate::api::{Api, Person};
use crate::burst::{Sample, Shape, beside, burst};
use crate::comparison::{Comparison, Contender, Turns, typical};
use crate::data_set::{CLIENTS, DataSet, Kind};
use crate::database::Database;
use crate::instance::Instance;
use crate::options::Options;
use crate::receiver::{Arrival, Receiver};
use crate::report::{Limit, Line, grouped, per_second};
use crate::service::{MEGABYTE, wait};
use crate::store::Store;
use crate::traffic::{OBSERVATIONS, Traffic};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Function of a measure, called once for each measured store.
type Measure = fn(&DataSet<'_>, &Instance) -> Result<Vec<Line>>;

/// The measures in their order. Those of a data set that write come last.
const MEASURES: [(&str, Kind, Measure); 16] = [
    ("get", Kind::Main, reads::get),
    ("list", Kind::Main, reads::list),
    ("copy", Kind::Main, copying::run),
    ("create", Kind::Main, writes::usual),
    ("create-tagged", Kind::Main, writes::tagged),
    ("create-retry", Kind::Main, writes::retries),
    ("create-dry-run", Kind::Main, writes::dry_runs),
    ("webhooks-rate", Kind::Main, webhooks::rate),
    ("webhooks-delay", Kind::Main, webhooks::delay),
    ("webhooks-creates", Kind::Main, webhooks::creates),
    ("exports", Kind::Main, exports::run),
    ("csv", Kind::Small, csv::run),
    ("tenants", Kind::Small, tenants::run),
    ("erasure", Kind::Small, erasure::run),
    ("scim", Kind::Small, scim::run),
    ("search", Kind::Small, search::run),
];

/// The measure that runs on databases of its own.
pub(crate) const CLUSTER: &str = "cluster";

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MEASURES.iter().map(|(name, ..)| *name).chain([CLUSTER])
}

/// The measures of a data set that the options select.
pub(crate) fn selected(kind: Kind, options: &Options) -> impl Iterator<Item = (&'static str, Measure)> {
    let selected = MEASURES.iter().filter(move |(name, on, _)| *on == kind && options.selects(name));
    selected.map(|(name, _, measure)| (*name, *measure))
}

/// Runs the selected measures of a data set. An interrupted run leaves the lines that it has printed.
pub(crate) fn run(kind: Kind, data: &DataSet<'_>) -> Result<Vec<Line>> {
    let mut lines = vec![];
    for (name, measure) in selected(kind, data.options) {
        for instance in data.measured() {
            let started = Instant::now();
            let measured = measure(data, instance);
            let measured = measured.map_err(|problem| format!("{name}: {problem}\n{}", data.log_tails()))?;
            measured.iter().for_each(|line| println!("{}", line.cells().join(" | ")));
            println!("{name} on {} took {:.0} s", instance.store, started.elapsed().as_secs_f64());
            lines.extend(measured);
        }
        data.truncate_logs()?;
    }
    Ok(lines)
}

/// Returns the seconds that some work takes.
fn seconds(work: impl FnOnce() -> Result) -> Result<f64> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64())
}
