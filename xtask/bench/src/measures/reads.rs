//! One observation, pages of the list, and properties that make a page more expensive.

use super::*;
use crate::data::{FIRST_DAY, FIRST_NUMBER, NUMBER_STEP, OBSERVATIONS, Size};
use crate::traffic::page_after;

const MAX_DEPTH_COST: f64 = 1.2;
const MAX_EXPAND_COST: f64 = 2.6;
const PAGE: u32 = 50;
const DEEP_PAGE: u32 = 10_000;

/// Reads, and the statement of the store that pgbench runs for comparison.
struct Read<'a> {
    what: &'a str,
    traffic: fn(&str, Size) -> Traffic,
    /// Words that identify the statement among those in `pg_stat_activity`.
    words: &'a [&'a str],
    /// Definitions of the script's variables for pgbench.
    variables: String,
    /// Values of the statement's parameters after the tenant.
    values: Vec<String>,
    at_least: f64,
}

pub(super) fn get(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let last = data.size.observations - 1;
    Read {
        what: "GET one observation",
        traffic: Traffic::observation,
        words: &["FROM observations WHERE", " id = $2"],
        variables: format!("\\set n {FIRST_NUMBER} + {NUMBER_STEP} * random(0, {last})\n"),
        values: vec![script_id()],
        at_least: instance.store.pick(0.75, 0.95),
    }
    .measure(data, instance)
}

pub(super) fn list(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let Size { observations, .. } = data.size;
    Read {
        what: "List of 50, anywhere in it",
        traffic: Traffic::any_page,
        words: &["FROM observations AS r", "(r.observation_date, r.id) <"],
        variables: format!(
            "\\set k random({}, {})\n\\set n {FIRST_NUMBER} + {NUMBER_STEP} * :k\n\
             \\set d {FIRST_DAY} + :k / {} - :k % 7\n",
            observations / 100,
            observations - 1,
            data.size.per_day()
        ),
        values: vec![(PAGE + 1).to_string(), Store::Postgres.date(":d"), script_id(), "false".to_owned()],
        at_least: 0.8,
    }
    .measure(data, instance)
}

/// The id of the observation whose number is in the variable `n`.
fn script_id() -> String {
    format!("('{}' || :n || '{}')::uuid", OBSERVATIONS.before, OBSERVATIONS.after)
}

impl Read<'_> {
    fn measure(&self, data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
        let contender = instance.contender((self.traffic)(&instance.api.key, data.size), CLIENTS, 0);
        let comparison = data.compare_with_pgbench(instance, contender, Turns::Warm, |postgres, reference| {
            // The server shows the statement that the service has just sent.
            let requests = (self.traffic)(&postgres.api.key, data.size);
            burst(postgres.service.address, &requests, Shape::for_requests(20, 1))?;
            let values = [&[Store::Postgres.bytes(postgres.tenant)], self.values.as_slice()].concat();
            let statement = reference.store_statement(self.words, &values)?;
            let name = self.what.split(' ').next().unwrap_or_default().to_lowercase();
            reference.script(&name, &format!("{}{statement};\n", self.variables))
        })?;
        Ok(vec![comparison.speed(self.what, Limit::AtLeast(self.at_least))])
    }
}

pub(super) fn depth(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let page = DEEP_PAGE.min(data.size.observations / PAGE / 2);
    let last_before = data.size.ranked((page - 1) * PAGE - 1);
    let deep = Traffic::read(&instance.api.key, page_after(data.size, last_before));
    let what = format!("Page {} against page 1", grouped(page.into()));
    against_first_page(data, instance, &what, deep, MAX_DEPTH_COST)
}

pub(super) fn expand(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let expanded = Traffic::first_page(&instance.api.key, "&expand=employee,attributes");
    let what = "Page with `expand=employee,attributes` against the plain page";
    against_first_page(data, instance, what, expanded, MAX_EXPAND_COST)
}

fn against_first_page(
    data: &DataSet<'_>,
    instance: &Instance,
    what: &str,
    traffic: Traffic,
    at_most: f64,
) -> Result<Vec<Line>> {
    let first = Traffic::first_page(&instance.api.key, "");
    let contenders = [traffic, first].map(|traffic| instance.contender(traffic, CLIENTS, 0));
    Ok(vec![data.compare_reads(instance, &contenders)?.cost(what, at_most)])
}
