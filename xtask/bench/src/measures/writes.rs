//! New observations of different kinds, and changes of people.

use super::inserts;
use super::*;

/// First seeds of each kind, so that no request repeats one of another kind.
pub(super) const SCRIPT_SEED: u64 = 1_000;
const RETRY_SEEDS: u64 = 7_000;
const ORGANIZATION_SEEDS: u64 = 8_000;
const MIXED_SEEDS: u64 = 14_000;
const DRY_RUN_SEEDS: u64 = 15_000;

/// Creates that are compared with pgbench inserting the same rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Creates {
    what: &'static str,
    /// Upper bound for the number of people that the observations are about.
    pub(super) people: u32,
    /// Number of attributes of an observation.
    pub(super) tags: usize,
    pub(super) seeds: u64,
    at_least: [f64; 2],
}

const USUAL: Creates = Creates {
    what: "Create, durable, with event, audit entry and kept answer",
    people: u32::MAX,
    tags: 2,
    seeds: 0,
    at_least: [0.7, 1.0],
};
const MAX_P99_MILLIS: f64 = 20.0;

pub(super) fn usual(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let comparison = USUAL.compare(data, instance)?;
    let limit = instance.store.pick(Limit::None, Limit::AtMost(MAX_P99_MILLIS));
    Ok(vec![USUAL.line(&comparison), comparison.p99(format!("Create, p99 of {CLIENTS} writers"), limit)])
}

pub(super) fn tagged(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let what = "Create with three of the organization's twenty attributes";
    let creates = Creates { what, tags: 3, seeds: 9_000, at_least: [0.7, 0.8], ..USUAL };
    Ok(vec![creates.line(&creates.compare(data, instance)?)])
}

pub(super) fn few_people(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let what = "Create about 50 people";
    let creates = Creates { what, people: 50, tags: 0, seeds: 12_500, at_least: [0.7, 0.8] };
    Ok(vec![creates.line(&creates.compare(data, instance)?)])
}

impl Creates {
    pub(super) fn traffic(&self, data: &DataSet<'_>, instance: &Instance) -> Traffic {
        Traffic::creates(&instance.api.key, self.people.min(data.size.people), &instance.attributes, self.tags)
    }

    fn compare(&self, data: &DataSet<'_>, instance: &Instance) -> Result<Comparison> {
        let contender = instance.contender(self.traffic(data, instance), CLIENTS, self.seeds);
        data.compare_with_pgbench(instance, contender, Turns::Plain, |postgres, reference| {
            inserts::script(data, postgres, reference, *self)
        })
    }

    fn line(&self, comparison: &Comparison) -> Line {
        let [postgres, sqlite] = self.at_least;
        comparison.speed(self.what, Limit::AtLeast(comparison.store.pick(postgres, sqlite)))
    }
}

/// Number of requests that are repeated.
pub(crate) const RETRIED: u32 = 500;
const MAX_RETRY_COST: f64 = 1.0;

/// Compares creates that are repeated with their idempotency keys with new creates.
pub(super) fn retries(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let creates = instance.creates(data.size);
    burst(instance.service.address, &creates.each_once(RETRIED), Shape::for_requests(RETRIED as usize, 0))?;
    let contenders = [
        instance.contender(creates.repeated(RETRIED), CLIENTS, 0),
        instance.contender(creates, CLIENTS, RETRY_SEEDS),
    ];
    let comparison = data.compare(instance, &contenders)?;
    Ok(vec![comparison.cost("Create sent again with its idempotency key", MAX_RETRY_COST)])
}

const MAX_DRY_RUN_COST: f64 = 0.6;

/// Compares dry runs of creates with the creates themselves.
pub(super) fn dry_runs(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let dry = Traffic::dry_creates(&instance.api.key, data.size.people, &instance.attributes, 2);
    let traffic = [dry, instance.creates(data.size)];
    let contenders = traffic.map(|traffic| instance.contender(traffic, CLIENTS, DRY_RUN_SEEDS));
    Ok(vec![data.compare(instance, &contenders)?.cost("Dry run of a create against the create", MAX_DRY_RUN_COST)])
}

const ORGANIZATIONS: usize = 200;
const MAX_ORGANIZATIONS_COST: f64 = 2.5;

/// Compares the cost of creates in many organizations at once with that of creates in one organization.
pub(super) fn many_organizations(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let one = Traffic::creates(&instance.api.key, data.size.people, &[], 0);
    let people = (0..ORGANIZATIONS).map(|_| instance.create_organization()?.create_person());
    let many = Traffic::creates_about(&people.collect::<Result<Vec<_>>>()?);
    let contenders = [many, one].map(|traffic| instance.contender(traffic, CLIENTS, ORGANIZATION_SEEDS));
    let what = format!("Create in {ORGANIZATIONS} organizations at once against one");
    Ok(vec![data.compare(instance, &contenders)?.cost(what, MAX_ORGANIZATIONS_COST)])
}

/// Measures traffic with nine reads for each create.
pub(super) fn mixed(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let reads = Traffic::observation(&instance.api.key, data.size);
    let traffic = reads.mixed_with(&instance.creates(data.size), 10);
    let comparison = data.compare(instance, &[instance.contender(traffic, CLIENTS, MIXED_SEEDS)])?;
    let rate = typical(&comparison.samples[0], |sample| sample.rate);
    Ok(vec![comparison.line("Nine GETs to one create", (rate, "/s"), Limit::None)])
}

const MAX_MOVE_COST: f64 = 2.0;

/// Compares changes of managers with changes of names.
pub(super) fn moves(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let line = |clients: usize, who: String, limit| -> Result<Line> {
        let key = &instance.api.key;
        let traffic = [Traffic::moves(key, data.size), Traffic::renames(key, data.size)];
        let comparison =
            data.compare(instance, &traffic.map(|traffic| instance.contender(traffic, clients, 0)))?;
        let what = format!("PATCH of `manager_id` against one of `first_name`, {who}");
        Ok(Line { limit, ..comparison.cost(what, MAX_MOVE_COST) })
    };
    Ok(vec![
        line(1, "one client".to_owned(), Limit::AtMost(MAX_MOVE_COST))?,
        line(CLIENTS, format!("{CLIENTS} clients"), Limit::None)?,
    ])
}
