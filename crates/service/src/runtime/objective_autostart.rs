//! Starts objectives whose period has begun (decision C3).

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::decision::{Decision, Resource};
use candor_domain::event::EventType;
use candor_domain::objective::Objective;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;

use crate::change::Batch;
use crate::context::error::Error;
use crate::context::fan_out::events_at_once;
use crate::context::services::{Services, render};

/// Number of objectives read per query.
const READ: u16 = 500;
/// Number of objectives started in one commit: few, so that other writers do not wait long.
const COMMIT: usize = 25;
/// Name of this actor in the audit log.
const SWEEP: &str = "sweep";

/// Starts every objective that is due, while `goes_on` returns `true`. Returns the number of objectives that
/// this instance started.
///
/// Safe to run on several instances at once: each start requires the version that was read. If another instance
/// was faster, the commit fails and the due objectives are read again. Stopping after any batch leaves complete
/// commits.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call starts the rest.
pub async fn due_objectives(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut started_count = 0;
    loop {
        let now = services.clock.now();
        let due = services.store.due(rows::objectives::STARTS_ON, now.date(), READ).await?;
        let complete = due.len() < usize::from(READ);
        let mut by_tenant: BTreeMap<Tenant, Vec<Versioned<Objective>>> = BTreeMap::new();
        for (tenant, objective) in due {
            by_tenant.entry(tenant).or_default().push(objective);
        }
        let mut has_lost = false;
        for (tenant, objectives) in by_tenant {
            let most = events_at_once(services, tenant, EventType::ObjectiveStatusChanged, COMMIT).await?;
            for some in objectives.chunks(most) {
                if !goes_on() {
                    return Ok(started_count);
                }
                match start(services, tenant, some, now).await? {
                    Some(count) => started_count += count,
                    None => has_lost = true,
                }
            }
        }
        if complete && !has_lost {
            return Ok(started_count);
        }
    }
}

/// Starts objectives of one tenant in one commit. Returns `None` if another change was committed first.
async fn start(
    services: &Services,
    tenant: Tenant,
    some: &[Versioned<Objective>],
    at: Timestamp,
) -> Result<Option<u64>, Error> {
    let due =
        |versioned: &Versioned<Objective>| Some((versioned.value.start_if_due(at.date(), at)?, versioned.version));
    let mut batch = Batch::default();
    let mut count = 0;
    for (decision, version) in some.iter().filter_map(due) {
        batch.add(build_change_set(services, decision, version, at)?);
        count += 1;
    }
    let Some(change) = batch.finish() else { return Ok(Some(0)) };
    Ok(services.commit_unless_stale(tenant, change).await?.then_some(count))
}

fn build_change_set(
    services: &Services,
    decision: Decision<Objective>,
    seen: Version,
    at: Timestamp,
) -> Result<ChangeSet, Error> {
    let entry = services.entry_of_system(SWEEP, decision.audit, decision.state.updated_at);
    Ok(ChangeSet {
        events: services.events(&decision.events, &render(&decision.state.without_linked_ids())?, at),
        writes: vec![Write::put(&Row::at_version(decision.state, seen))],
        ..ChangeSet::new(entry)
    })
}
