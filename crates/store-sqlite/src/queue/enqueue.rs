//! Effects of a change set on subscriptions and the queue, beyond its rows.

use std::collections::BTreeMap;

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::{DepartmentId, EmployeeId, WebhookId};
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::Lease;
use candor_port_storage::{ChangeSet, CommitError, Committed, ExpediteDelivery, StorageError, Version};
use candor_subscriptions::{DeliveryOrigin, EventFacts, EventFilter, Job};
use candor_tables::flat::{CellReader, Reader, Stored};
use candor_tables::rows::webhooks::{EVENT_RECEIVER_TABLE, EventReceiver, read_event_receiver};

use crate::sql::refusal::commit_error;
use crate::sql::{Db, Sql, Value};

/// Finds the active subscriptions of a tenant. Most tenants have none.
const ACTIVE: &str = "SELECT id, wanted, filter_employee_ids, filter_department_ids, filter_type, filter_scopes \
    FROM webhooks WHERE tenant_id = ? AND wanted <> 0";

const DEPARTMENT: &str = "SELECT department_id FROM employees WHERE tenant_id = ? AND id = ?";

const ADD: &str = "INSERT INTO delivery_jobs (tenant_id, webhook_id, event_id, event_type, attempt, first_due_at, \
    origin, delivery_id, due_at, worker, leased_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
    ON CONFLICT DO NOTHING";

const RESET_STREAK: &str =
    "UPDATE webhooks SET failures = NULL, failing_since = NULL, is_failing = NULL WHERE tenant_id = ? AND id = ?";

const REPORT_FAILING: &str =
    "UPDATE webhooks SET failing_due = NULL WHERE tenant_id = ? AND id = ? AND failing_due IS NOT NULL";

const REMOVE: &str = "DELETE FROM webhooks WHERE tenant_id = ? AND id = ? AND version = ?";

/// Queues the events of a change set for every active subscription that selects them and that the change set does
/// not write.
pub(crate) fn fan_out(
    db: &mut Db,
    tenant: Tenant,
    change: &ChangeSet,
    committed: &mut Committed,
) -> Result<(), CommitError> {
    if change.events.is_empty() {
        return Ok(());
    }
    let mut active = db.rows(Sql::new(ACTIVE).bind(tenant), read_receiver)?;
    let subscription_ids = change.written_subscriptions();
    active.retain(|receiver| !subscription_ids.contains(&receiver.id));
    let facts = facts(db, tenant, change, &active)?;
    for (number, event) in change.events.iter().enumerate() {
        let bit = event.kind.bit();
        for EventReceiver { id, wanted, filter } in &active {
            let is_met = |filter: &EventFilter| facts.get(number).is_some_and(|facts| filter.matches(facts));
            if wanted & bit != 0 && filter.as_ref().is_none_or(is_met) {
                let job = Job::new(tenant, *id, (event.id, event.kind), event.created_at, DeliveryOrigin::Event);
                add(db, tenant, &job, change.lease, committed)?;
            }
        }
    }
    Ok(())
}

fn read_receiver(row: &mut dyn CellReader) -> Result<EventReceiver, StorageError> {
    Ok(read_event_receiver(&mut Reader::new(row, EVENT_RECEIVER_TABLE))?)
}

/// Returns the facts of each event; empty if no subscription has a filter. Departments of people are read only if
/// a subscription filters by them.
fn facts(
    db: &mut Db,
    tenant: Tenant,
    change: &ChangeSet,
    active: &[EventReceiver],
) -> Result<Vec<EventFacts>, StorageError> {
    let mut filters = active.iter().filter_map(|receiver| receiver.filter.as_ref()).peekable();
    if filters.peek().is_none() {
        return Ok(vec![]);
    }
    let facts = EventFacts::from_events(&change.events.iter().collect::<Vec<_>>());
    let mut departments = BTreeMap::new();
    for person in EventFacts::people_to_read(&facts, filters) {
        departments.insert(person, department(db, tenant, person)?);
    }
    Ok(facts.into_iter().map(|facts| facts.resolve_department(&departments)).collect())
}

/// Returns the department of a person. `None` for a person without a department.
fn department(db: &mut Db, tenant: Tenant, person: EmployeeId) -> Result<Option<DepartmentId>, StorageError> {
    let department = |row: &mut dyn CellReader| Ok(Reader::new(row, Employee::TABLE).opt_id()?);
    Ok(db.first(Sql::new(DEPARTMENT).bind(tenant).bind(person), department)?.flatten())
}

/// Queues these deliveries, except those that are already queued. Fails with `Stale` if a delivery whose id was
/// promised to a client is already queued.
pub(crate) fn enqueue(
    db: &mut Db,
    tenant: Tenant,
    jobs: &[Job],
    lease: Option<Lease>,
    committed: &mut Committed,
) -> Result<(), CommitError> {
    jobs.iter().try_for_each(|job| add(db, tenant, job, lease, committed))
}

/// Queues a delivery, unless it is queued already.
fn add(
    db: &mut Db,
    tenant: Tenant,
    job: &Job,
    lease: Option<Lease>,
    committed: &mut Committed,
) -> Result<(), CommitError> {
    let sql = Sql::new(ADD)
        .bind(tenant)
        .bind(job.webhook_id)
        .bind(job.event_id)
        .bind(job.event_type.word())
        .bind(i64::from(job.attempt))
        .bind(job.first_due_at)
        .bind(job.origin.word())
        .bind(job.delivery_id.map_or(Value::Null, Value::from))
        .bind(job.first_due_at)
        .bind(lease.map_or(Value::Null, |lease| lease.worker.0.into()))
        .bind(lease.map_or(Value::Null, |lease| lease.until.into()));
    let is_added = db.execute(&sql).map_err(|error| commit_error(&error))? > 0;
    if !is_added && job.delivery_id.is_some() {
        return Err(CommitError::Stale);
    }
    if is_added && lease.is_some() {
        committed.leased.push((job.webhook_id, job.event_id));
    }
    Ok(())
}

/// Makes a delivery due earlier without changing its attempt number. If a worker holds the delivery, only the
/// promised delivery id is stored.
const BRING_FORWARD: &str = "UPDATE delivery_jobs SET \
    due_at = CASE WHEN due_at > ?1 AND (leased_until IS NULL OR leased_until <= ?1) THEN ?1 ELSE due_at END, \
    delivery_id = coalesce(?2, delivery_id) WHERE tenant_id = ?4 AND webhook_id = ?5 AND event_id = ?6 \
    AND (?2 IS NULL OR (attempt = ?3 AND (delivery_id IS NULL OR delivery_id = ?2)))";

/// Makes queued deliveries due at `at` if they are due later and not leased, and stores promised ids. Fails with
/// [`CommitError::Stale`] if a promised id does not fit the delivery.
pub(crate) fn bring_forward(
    db: &mut Db,
    tenant: Tenant,
    sooner: &[ExpediteDelivery],
    at: Timestamp,
) -> Result<(), CommitError> {
    for it in sooner {
        let (attempt, delivery) = it.promised.unzip();
        let sql = Sql::new(BRING_FORWARD)
            .bind(at)
            .bind(delivery.map_or(Value::Null, Value::from))
            .bind(attempt.map_or(Value::Null, |number| i64::from(number).into()))
            .bind(tenant)
            .bind(it.webhook_id)
            .bind(it.event_id);
        let changed_count = db.execute(&sql).map_err(|error| commit_error(&error))?;
        if changed_count == 0 && it.promised.is_some() {
            return Err(CommitError::Stale);
        }
    }
    Ok(())
}

/// Resets the failure streak of a subscription.
pub(crate) fn reset_streak(db: &mut Db, tenant: Tenant, id: WebhookId) -> Result<(), CommitError> {
    db.execute(&Sql::new(RESET_STREAK).bind(tenant).bind(id)).map(drop).map_err(|error| commit_error(&error))
}

/// Marks the event about a failing subscription as fired.
pub(crate) fn report_failing(db: &mut Db, tenant: Tenant, id: WebhookId) -> Result<(), CommitError> {
    match db.execute(&Sql::new(REPORT_FAILING).bind(tenant).bind(id)).map_err(|error| commit_error(&error))? {
        0 => Err(CommitError::Stale),
        _ => Ok(()),
    }
}

/// Removes a subscription if it has the version `seen`. Its queued deliveries are dropped by the worker that
/// claims them.
pub(crate) fn remove(db: &mut Db, tenant: Tenant, id: WebhookId, seen: Version) -> Result<(), CommitError> {
    match db.execute(&Sql::new(REMOVE).bind(tenant).bind(id).bind(seen.0)).map_err(|error| commit_error(&error))? {
        0 => Err(CommitError::Stale),
        _ => Ok(()),
    }
}
