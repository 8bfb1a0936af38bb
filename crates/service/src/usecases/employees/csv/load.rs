//! Reads what a file names, in a fixed number of reads, however many rows it has.

use std::collections::HashMap;

use candor_domain::access::Tenant;
use candor_domain::csv::{File, Known, PersonNames};
use candor_domain::id::EmployeeId;
use candor_domain::library::Department;
use candor_domain::people::{Connector, Employee, Invitation, Status};
use candor_port_storage::{StorageExt, Version, Versioned};
use candor_tables::rows;

use tokio::task::yield_now;

use crate::context::error::Error;
use crate::context::services::Services;

/// What is stored of what a file names, with versions.
pub(super) struct Loaded {
    pub(super) known: Known,
    pub(super) versions: HashMap<EmployeeId, Version>,
    /// The version of the reporting tree.
    pub(super) tree: Version,
    /// The newest invitation of everybody who has not accepted one.
    pub(super) invitations: HashMap<EmployeeId, Versioned<Invitation>>,
}

/// Reads it. People come before the lines between them: a line that changes in between makes the tree's version, or
/// the person's, stale.
pub(super) async fn load(services: &Services, tenant: Tenant, file: &File) -> Result<Loaded, Error> {
    let store = &services.store;
    let (emails, external_ids, names) = (file.emails(), file.external_ids(), file.departments());
    let (by_email, by_external_id, departments) = tokio::try_join!(
        store.rows_by(tenant, rows::employees::BY_EMAIL, &emails),
        store.rows_by(tenant, rows::employees::BY_EXTERNAL_ID, &external_ids),
        store.rows_by(tenant, rows::departments::BY_NAME, &names),
    )?;
    yield_now().await;
    let mut known = Known { departments: departments.into_iter().map(|it| it.value).collect(), ..Known::default() };
    let mut versions = HashMap::with_capacity(by_email.len());
    let mut once = |it: Versioned<Employee>| versions.insert(it.value.id, it.version).is_none().then_some(it.value);
    // Collected like this they stay where they are in memory.
    known.people = by_email.into_iter().filter_map(&mut once).collect();
    known.people.extend(by_external_id.into_iter().filter_map(&mut once));
    // Each of these steps takes a millisecond or more for a large file, and other requests come between them.
    yield_now().await;
    let ids: Vec<_> = known.people.iter().map(|it| it.id).collect();
    let pending = known.people.iter().filter(|it| it.status == Status::PendingInvite).map(|it| it.id);
    let pending: Vec<_> = pending.collect();
    let above = store.lines_above(tenant, &ids).await?;
    known.lines = above.lines.into_iter().collect();
    yield_now().await;
    let connectors: Vec<_> = known.people.iter().filter_map(|it| it.connector_id).collect();
    let (connectors, invitations) = tokio::try_join!(
        store.rows::<Connector>(tenant, &connectors),
        store.rows_by(tenant, rows::invitations::BY_EMPLOYEE, &pending),
    )?;
    let keys = connectors.into_iter().map(|it| (it.value.id, it.value.mapped_custom_field_keys));
    known.managed_keys = keys.collect();
    Ok(Loaded { known, versions, tree: above.tree, invitations: newest(invitations) })
}

fn newest(all: Vec<Versioned<Invitation>>) -> HashMap<EmployeeId, Versioned<Invitation>> {
    let mut newest: HashMap<EmployeeId, Versioned<Invitation>> = HashMap::new();
    for it in all {
        let age = |it: &Versioned<Invitation>| (it.value.created_at, it.value.id);
        if newest.get(&it.value.employee_id).is_none_or(|other| age(other) < age(&it)) {
            newest.insert(it.value.employee_id, it);
        }
    }
    newest
}

/// What the managers and departments that people have now are called; only a dry run wants to know.
pub(super) async fn names(services: &Services, tenant: Tenant, known: &Known) -> Result<PersonNames, Error> {
    let managers: Vec<_> = known.people.iter().filter_map(|it| it.manager_id).collect();
    let departments: Vec<_> = known.people.iter().filter_map(|it| it.department_id).collect();
    let (managers, departments) = tokio::try_join!(
        services.store.rows::<Employee>(tenant, &managers),
        services.store.rows::<Department>(tenant, &departments)
    )?;
    Ok(PersonNames {
        people: managers.into_iter().map(|it| (it.value.id, it.value.email)).collect(),
        departments: departments.into_iter().map(|it| (it.value.id, it.value.name)).collect(),
    })
}
