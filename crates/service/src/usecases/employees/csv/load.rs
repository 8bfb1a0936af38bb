//! Reads the rows that a file refers to, with a fixed number of queries for any number of rows.

use std::collections::{BTreeSet, HashMap};

use candor_domain::access::Tenant;
use candor_domain::catalog::Department;
use candor_domain::id::EmployeeId;
use candor_domain::people::{Employee, Invitation, Status};
use candor_people_csv::{self as csv, LookupKeys, PersonNames, StoredRows};
use candor_port_storage::read::IDS_AT_A_TIME;
use candor_port_storage::{StorageExt, Version, Versioned};
use candor_provisioning::Connector;
use candor_tables::rows;

use tokio::task::yield_now;

use crate::context::error::Error;
use crate::context::services::Services;
use crate::usecases::employees::org_admins;

/// Maximum stored size of the people that a file names by address, and also of the people that it names by external
/// id, in bytes. A file of 10,000 rows may name people of 3 KB on average.
const MAX_STORED_BYTES: usize = 32 * 1024 * 1024;

/// Stored rows that a file refers to, with their versions.
pub(super) struct LoadedRows {
    pub(super) known: StoredRows,
    pub(super) versions: HashMap<EmployeeId, Version>,
    /// Version of the reporting tree.
    pub(super) tree: Version,
    /// Versions of the active org admins that the plan knows.
    pub(super) admins: HashMap<EmployeeId, Version>,
    /// Newest invitation of each person with pending status.
    pub(super) invitations: HashMap<EmployeeId, Versioned<Invitation>>,
}

/// Reads the rows that a file refers to. People are read before their reporting lines: a line that changes in between
/// makes the version of the tree or person stale.
pub(super) async fn load(services: &Services, tenant: Tenant, keys: &LookupKeys) -> Result<LoadedRows, Error> {
    let store = &services.store;
    let (by_email, by_external_id, departments) = tokio::try_join!(
        store.rows_by_within(tenant, rows::employees::BY_EMAIL, &keys.emails, MAX_STORED_BYTES),
        store.rows_by_within(tenant, rows::employees::BY_EXTERNAL_ID, &keys.external_ids, MAX_STORED_BYTES),
        store.rows_by(tenant, rows::departments::BY_NAME, &keys.departments),
    )?;
    let (Some(by_email), Some(by_external_id)) = (by_email, by_external_id) else {
        return Err(csv::too_much_stored(MAX_STORED_BYTES).into());
    };
    yield_now().await;
    let mut stored_rows = StoredRows {
        departments: departments.into_iter().map(|department| department.value).collect(),
        ..StoredRows::default()
    };
    let mut versions = HashMap::with_capacity(by_email.len());
    let mut is_new_row = |versioned: Versioned<Employee>| {
        versions.insert(versioned.value.id, versioned.version).is_none().then_some(versioned.value)
    };
    // `collect` reuses the allocation of `by_email`, so that thousands of rows are not copied to a second one.
    stored_rows.people = by_email.into_iter().filter_map(&mut is_new_row).collect();
    stored_rows.people.extend(by_external_id.into_iter().filter_map(&mut is_new_row));
    // Each of these steps takes a millisecond or more for a large file; other requests run in between.
    yield_now().await;
    let ids: Vec<_> = stored_rows.people.iter().map(|person| person.id).collect();
    let pending =
        stored_rows.people.iter().filter(|person| person.status == Status::PendingInvite).map(|person| person.id);
    let pending: Vec<_> = pending.collect();
    let managers_above = store.lines_above(tenant, &ids).await?;
    stored_rows.lines = managers_above.lines.into_iter().collect();
    stored_rows.heights = store.heights(tenant, &ids).await?.into_iter().collect();
    yield_now().await;
    let connectors: Vec<_> = stored_rows.people.iter().filter_map(|person| person.connector_id).collect();
    let (connectors, invitations) = tokio::try_join!(
        store.rows::<Connector>(tenant, &connectors),
        store.newest_by(tenant, rows::invitations::BY_EMPLOYEE, &pending),
    )?;
    let keys = connectors.into_iter().map(|connector| (connector.value.id, connector.value.managed_fields()));
    stored_rows.managed = keys.collect();
    let admins: HashMap<_, _> = org_admins(services, tenant).await?.into_iter().collect();
    stored_rows.org_admins = admins.keys().copied().collect();
    Ok(LoadedRows {
        known: stored_rows,
        versions,
        tree: managers_above.tree,
        admins,
        invitations: by_person(invitations),
    })
}

fn by_person(newest: Vec<Versioned<Invitation>>) -> HashMap<EmployeeId, Versioned<Invitation>> {
    newest.into_iter().map(|invitation| (invitation.value.employee_id, invitation)).collect()
}

/// Returns the addresses of people's current managers and the names of their departments. Only a dry run needs them.
pub(super) async fn names(services: &Services, tenant: Tenant, known: &StoredRows) -> Result<PersonNames, Error> {
    let managers: BTreeSet<_> = known.people.iter().filter_map(|person| person.manager_id).collect();
    let managers: Vec<_> = managers.into_iter().collect();
    let departments: Vec<_> = known.people.iter().filter_map(|person| person.department_id).collect();
    let departments = services.store.rows::<Department>(tenant, &departments).await?;
    let mut people = HashMap::with_capacity(managers.len());
    // Reads the managers in parts and keeps only their addresses, because the rows of all managers may not fit into
    // memory.
    for part in managers.chunks(IDS_AT_A_TIME) {
        let part = services.store.rows::<Employee>(tenant, part).await?;
        people.extend(part.into_iter().map(|manager| (manager.value.id, manager.value.email)));
    }
    Ok(PersonNames {
        people,
        departments: departments
            .into_iter()
            .map(|department| (department.value.id, department.value.name))
            .collect(),
    })
}
