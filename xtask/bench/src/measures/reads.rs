//! One observation, and pages of the list.

use super::*;
use crate::data::{self, FIRST_DAY, FIRST_NUMBER, NUMBER_STEP, Size};

/// Reads, and the statement of the store that pgbench runs for comparison.
struct ReadMeasure<'a> {
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
    ReadMeasure {
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
    let (last, per_day) = (data.size.observations - 1, data.size.per_day());
    ReadMeasure {
        what: "List of 50, anywhere in it",
        traffic: Traffic::any_page,
        words: &["FROM observations AS r", "(r.observation_date, r.id) <"],
        variables: format!(
            "\\set k random({}, {last})\n\\set n {FIRST_NUMBER} + {NUMBER_STEP} * :k\n\
             \\set d {FIRST_DAY} + :k / {per_day} - :k % 7\n",
            data.size.observations / 100,
        ),
        values: vec!["51".to_owned(), Store::Postgres.date(":d"), script_id(), "false".to_owned()],
        at_least: 0.8,
    }
    .measure(data, instance)
}

/// Returns the SQL expression for the id of the observation whose number is in the variable `n` of pgbench.
fn script_id() -> String {
    format!("('{}' || :n || '{}')::uuid", data::OBSERVATIONS.before, data::OBSERVATIONS.after)
}

impl ReadMeasure<'_> {
    fn measure(&self, data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
        let contender = instance.contender((self.traffic)(&instance.api.key, data.size), CLIENTS, 0);
        let comparison = data.compare_with_pgbench(instance, contender, |postgres, reference| {
            // `pg_stat_activity` shows only the last statement of each connection, so the service sends it first.
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
