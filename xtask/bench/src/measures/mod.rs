//! The measures, by data set.

mod before;
mod clients;
pub(crate) mod cluster;
mod copying;
mod csv;
mod delivery_log;
mod erasure;
mod exports;
mod footprint;
mod inserts;
mod limits;
mod mails;
mod manager;
mod objectives;
mod reads;
mod resources;
mod scim;
mod search;
mod secure_delete;
mod slow_lists;
mod tenants;
mod unread;
mod webhooks;
mod writes;

pub(crate) use manager::CLIENTS as MANAGER_CLIENTS;
pub(crate) use writes::RETRIED;

use crate::Result;
use crate::api::Person;
use crate::burst::{Sample, Shape, beside, burst};
use crate::comparison::{Comparison, Contender, Turns, figures, median, typical};
use crate::data_set::{CLIENTS, DataSet, Kind};
use crate::database::Database;
use crate::instance::Instance;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::report::{Limit, Line, grouped, per_second};
use crate::service::{MEGABYTE, wait};
use crate::store::Store;
use crate::traffic::{Traffic, usual_text};

/// Function of a measure, called once for each measured store.
type Measure = fn(&DataSet<'_>, &Instance) -> Result<Vec<Line>>;

/// The measures in their order. Those of a data set that write come last.
const MEASURES: [(&str, Kind, Measure); 44] = [
    ("footprint", Kind::Main, footprint::service),
    ("footprint-binary", Kind::Main, footprint::binary),
    ("get", Kind::Main, reads::get),
    ("list", Kind::Main, reads::list),
    ("depth", Kind::Main, reads::depth),
    ("expand", Kind::Main, reads::expand),
    ("limits", Kind::Main, limits::run),
    ("copy", Kind::Main, copying::run),
    ("create", Kind::Main, writes::usual),
    ("create-tagged", Kind::Main, writes::tagged),
    ("create-fifty", Kind::Main, writes::few_people),
    ("create-retry", Kind::Main, writes::retries),
    ("create-organizations", Kind::Main, writes::many_organizations),
    ("create-dry-run", Kind::Main, writes::dry_runs),
    ("mixed", Kind::Main, writes::mixed),
    ("move", Kind::Main, writes::moves),
    ("objectives", Kind::Main, objectives::visible),
    ("sweep", Kind::Main, objectives::sweep),
    ("webhooks-memory", Kind::Main, webhooks::memory),
    ("webhooks-rate", Kind::Main, webhooks::rate),
    ("webhooks-latency", Kind::Main, webhooks::latency),
    ("webhooks-hanging", Kind::Main, webhooks::hanging),
    ("webhooks-creates", Kind::Main, webhooks::creates),
    ("webhooks-filters", Kind::Main, webhooks::filters),
    ("slow-questions", Kind::Main, slow_lists::run),
    ("exports", Kind::Main, exports::run),
    ("secure-delete", Kind::Main, secure_delete::run),
    ("resources", Kind::Main, resources::run),
    ("large-summary", Kind::Main, resources::large_summary),
    ("long-conversation", Kind::Main, resources::long_conversation),
    ("counts", Kind::Main, delivery_log::counts),
    ("deliveries-list", Kind::Main, delivery_log::pages),
    ("before", Kind::Main, before::main),
    ("manager", Kind::Tree, manager::run),
    ("before-manager", Kind::Tree, before::tree),
    ("csv", Kind::Small, csv::run),
    ("subscribed-csv", Kind::Small, csv::with_subscriptions),
    ("mails", Kind::Small, mails::run),
    ("tenants", Kind::Small, tenants::run),
    ("unread", Kind::Small, unread::run),
    ("erasure", Kind::Small, erasure::run),
    ("clients", Kind::Small, clients::run),
    ("scim", Kind::Small, scim::run),
    ("search", Kind::Search, search::run),
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
        println!("measuring: {name}");
        for instance in data.measured() {
            let measured = measure(data, instance);
            let measured = measured.map_err(|problem| format!("{name}: {problem}\n{}", data.log_tails()))?;
            measured.iter().for_each(|line| println!("{}", line.cells().join(" | ")));
            lines.extend(measured);
        }
        data.truncate_logs()?;
    }
    Ok(lines)
}
