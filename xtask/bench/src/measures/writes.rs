//! New observations of different kinds.

use super::*;

/// First seed of the creates from which a script of pgbench takes the sizes of values. Each kind of create has
/// other seeds, so that no request repeats one of another kind.
pub(super) const SCRIPT_SEED: u64 = 1_000;
/// First seed of the retries.
const RETRY_SEEDS: u64 = 7_000;
/// First seed of the dry runs.
const DRY_RUN_SEEDS: u64 = 15_000;

/// A measure of create requests against pgbench, which inserts the same rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Creates {
    what: &'static str,
    /// Number of attributes of an observation.
    pub(super) tags: usize,
    pub(super) seeds: u64,
    at_least: [f64; 2],
}

pub(super) fn usual(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let what = "Create, durable, with event, audit entry and kept answer";
    Creates { what, tags: 2, seeds: 0, at_least: [0.7, 1.0] }.measure(data, instance)
}

pub(super) fn measure_tagged(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let what = "Create with three of the organization's twenty attributes";
    Creates { what, tags: 3, seeds: 9_000, at_least: [0.7, 0.8] }.measure(data, instance)
}

impl Creates {
    pub(super) fn traffic(&self, data: &DataSet<'_>, instance: &Instance) -> Traffic {
        Traffic::creates(OBSERVATIONS, &instance.api.key, data.size.people, &instance.attributes, self.tags)
    }

    fn measure(&self, data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
        let contender = instance.contender(self.traffic(data, instance), CLIENTS, self.seeds);
        let comparison = data.compare_with_pgbench(instance, contender, |postgres, reference| {
            super::inserts::script(data, postgres, reference, *self)
        })?;
        let [postgres, sqlite] = self.at_least;
        Ok(vec![comparison.speed(self.what, Limit::AtLeast(instance.store.pick(postgres, sqlite)))])
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
        instance.contender(creates.repeat_first(RETRIED), CLIENTS, 0),
        instance.contender(creates, CLIENTS, RETRY_SEEDS),
    ];
    let comparison = data.compare(instance, &contenders)?;
    Ok(vec![comparison.cost("Create sent again with its idempotency key", MAX_RETRY_COST)])
}

const MAX_DRY_RUN_COST: f64 = 0.6;

/// Compares dry runs of creates with the creates themselves.
pub(super) fn dry_runs(data: &DataSet<'_>, instance: &Instance) -> Result<Vec<Line>> {
    let (path, people) = ("/v1/observations?dry_run=true", data.size.people);
    let dry = Traffic::creates(path, &instance.api.key, people, &instance.attributes, 2);
    let contenders =
        [dry, instance.creates(data.size)].map(|traffic| instance.contender(traffic, CLIENTS, DRY_RUN_SEEDS));
    let comparison = data.compare(instance, &contenders)?;
    Ok(vec![comparison.cost("Dry run of a create against the create", MAX_DRY_RUN_COST)])
}
