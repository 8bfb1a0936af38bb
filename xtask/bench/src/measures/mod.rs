//! What is measured, one function each.

mod before;
mod cluster;
mod copying;
mod creates;
mod csv;
mod footprint;
mod limits;
mod mails;
mod manager;
mod objectives;
mod reads;
mod resources;
mod search;
mod slow_questions;
mod tenants;
mod unread;
mod webhooks;
mod writes;

pub(crate) use cluster::run as on_a_cluster;
pub(crate) use creates::RETRIED;
pub(crate) use manager::CLIENTS as MANAGER_CLIENTS;
pub(crate) use search::load_texts;

use crate::Outcome;
use crate::options::{Options, Store};
use crate::report::Line;
use crate::stage::Stage;

type Measure = fn(&Stage, &Options) -> Outcome<Vec<Line>>;

/// On the main data set: those that write come last.
const ON_THE_MAIN_STAGE: [(&str, Measure); 26] = [
    ("footprint", footprint::run),
    ("get", reads::get),
    ("list", reads::list),
    ("depth", reads::depth),
    ("expand", reads::expand),
    ("limits", limits::shared),
    ("copy", copying::run),
    ("create", creates::usual),
    ("create-tagged", creates::tagged),
    ("create-fifty", creates::few_people),
    ("create-retry", creates::retried),
    ("create-organizations", creates::in_many_organizations),
    ("mixed", creates::among_reads),
    ("move", writes::new_manager),
    ("objectives", objectives::within_sight),
    ("sweep", objectives::sweep),
    ("webhooks-memory", webhooks::memory),
    ("webhooks-rate", webhooks::rate),
    ("webhooks-latency", webhooks::latency),
    ("webhooks-hanging", webhooks::hanging),
    ("webhooks-creates", webhooks::creates),
    ("slow-questions", slow_questions::run),
    ("resources", resources::run),
    ("large-summary", resources::large_summary),
    ("long-conversation", resources::long_conversation),
    ("before", before::on_the_main_stage),
];

/// On the data set with many people.
const ON_THE_TREE: [(&str, Measure); 2] = [("manager", manager::run), ("before-manager", before::on_the_tree)];

/// On a small data set, whose service has done nothing before.
const ON_THE_SMALL_STAGE: [(&str, Measure); 5] = [
    ("csv", csv::run),
    ("subscribed-csv", csv::beside_subscriptions),
    ("mails", mails::run),
    ("tenants", tenants::run),
    ("unread", unread::run),
];

/// On another small data set, which gets texts of many tenants.
const ON_THE_SEARCH_STAGE: [(&str, Measure); 1] = [("search", search::run)];

/// On databases of its own.
const ON_A_CLUSTER: &str = "cluster";

/// The data sets on which anything is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) main: bool,
    pub(crate) tree: bool,
    pub(crate) small: bool,
    pub(crate) search: bool,
    pub(crate) cluster: bool,
}

/// Runs what is wanted on the main data set.
pub(crate) fn on_the_main_stage(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    all(&ON_THE_MAIN_STAGE, stage, options)
}

/// Runs what is wanted on the data set with many people.
pub(crate) fn on_the_tree(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    all(&ON_THE_TREE, stage, options)
}

/// Runs what is wanted on the small data set.
pub(crate) fn on_the_small_stage(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    all(&ON_THE_SMALL_STAGE, stage, options)
}

/// Runs what is wanted on the data set for texts.
pub(crate) fn on_the_search_stage(stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    all(&ON_THE_SEARCH_STAGE, stage, options)
}

/// Where anything is wanted.
pub(crate) fn wanted(options: &Options) -> Wanted {
    let any = |measures: &[(&str, Measure)]| measures.iter().any(|(name, _)| options.wants(name));
    Wanted {
        main: any(&ON_THE_MAIN_STAGE),
        tree: any(&ON_THE_TREE),
        small: any(&ON_THE_SMALL_STAGE),
        search: any(&ON_THE_SEARCH_STAGE),
        cluster: options.wants(ON_A_CLUSTER) && options.measures(Store::Postgres),
    }
}

fn all(measures: &[(&str, Measure)], stage: &Stage, options: &Options) -> Outcome<Vec<Line>> {
    let mut lines = vec![];
    for (name, run) in measures.iter().filter(|(name, _)| options.wants(name)) {
        println!("measuring: {name}");
        let measured = run(stage, options).map_err(|problem| format!("{name}: {problem}\n{}", stage.complaints()))?;
        // Whoever has to stop it keeps what there is.
        measured.iter().for_each(|it| println!("{}", it.cells().join(" | ")));
        lines.extend(measured);
        stage.empty_logs()?;
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::MEASURES;

    #[test]
    fn every_measure_that_can_be_asked_for_is_there() {
        let all = ON_THE_MAIN_STAGE.iter().chain(&ON_THE_TREE).chain(&ON_THE_SMALL_STAGE).chain(&ON_THE_SEARCH_STAGE);
        let here: Vec<&str> = all.map(|(name, _)| *name).chain([ON_A_CLUSTER]).collect();
        assert_eq!(here, MEASURES);
    }
}
