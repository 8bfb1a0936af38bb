//! Rows whose key another row has too. Both were stored before keys were computed as they are now.

use candor_domain::access::{Environment, Tenant};
use candor_domain::catalog::{Attribute, Department};
use candor_domain::id::{AttributeId, DepartmentId, EmployeeId, OrganizationId};
use candor_domain::people::Employee;
use candor_port_storage::{Storage, StorageError, StorageExt};
use candor_tables::rows;

/// Maximum number of twins read per kind and data set. Also the number of organizations per page.
const MOST: u16 = 100;

/// People, departments and attributes that are found by no address or name, because another row has the same key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Twins {
    pub people: Vec<EmployeeId>,
    pub departments: Vec<DepartmentId>,
    pub attributes: Vec<AttributeId>,
}

/// Returns the twins of all organizations, up to 100 of each kind and data set.
///
/// # Errors
/// The store fails.
pub async fn find_twins(store: &dyn Storage) -> Result<Twins, StorageError> {
    let mut twins = Twins::default();
    let mut last: Option<OrganizationId> = None;
    loop {
        let page = store.organizations(last, MOST).await?;
        for organization in page.iter().map(|organization| organization.id) {
            for environment in [Environment::Live, Environment::Test] {
                twins.add(store, Tenant { organization, environment }).await?;
            }
        }
        last = page.last().map(|organization| organization.id);
        if page.len() < usize::from(MOST) {
            return Ok(twins);
        }
    }
}

impl Twins {
    async fn add(&mut self, store: &dyn Storage, tenant: Tenant) -> Result<(), StorageError> {
        let people = store.page::<Employee>(tenant, rows::twins(MOST)).await?;
        self.people.extend(people.items.iter().map(|person| person.id));
        let departments = store.page::<Department>(tenant, rows::twins(MOST)).await?;
        self.departments.extend(departments.items.iter().map(|department| department.id));
        let attributes = store.page::<Attribute>(tenant, rows::twins(MOST)).await?;
        self.attributes.extend(attributes.items.iter().map(|attribute| attribute.id));
        Ok(())
    }
}
