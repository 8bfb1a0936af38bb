//! Legal holds: what they keep from every removal of data (decisions H3, H4, H5).

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::people::Employee;
use candor_domain::retention::Retained;
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::ErasureChange;

use crate::context::error::Error;
use crate::context::services::Services;

/// Resources of a page, and the people in them who are under a legal hold.
pub(crate) struct HeldPeople(BTreeSet<EmployeeId>);

impl HeldPeople {
    /// Finds the held people in some resources.
    pub(crate) async fn find<'a, T: Retained + 'a>(
        services: &Services,
        tenant: Tenant,
        resources: impl IntoIterator<Item = &'a T>,
    ) -> Result<Self, Error> {
        let people: BTreeSet<_> = resources.into_iter().flat_map(Retained::people).collect();
        let ids: Vec<_> = people.into_iter().collect();
        let rows = services.store.rows::<Employee>(tenant, &ids).await?;
        Ok(Self(rows.into_iter().filter(|row| row.value.hold.is_some()).map(|row| row.value.id).collect()))
    }

    /// Returns `true` if a resource stays because of a hold.
    pub(crate) fn keep(&self, resource: &impl Retained) -> bool {
        resource.people().iter().any(|person| self.0.contains(person))
    }
}

/// Returns the condition of a piece that removes these resources: no hold on their people began meanwhile.
pub(crate) fn unheld<'a, T: Retained + 'a>(resources: impl IntoIterator<Item = &'a T>) -> ErasureChange {
    let people: BTreeSet<_> = resources.into_iter().flat_map(Retained::people).collect();
    ErasureChange::RequireUnheld { people: people.into_iter().collect() }
}
