//! Reads and conditions with which removals of data spare the resources of people under a legal hold (decisions
//! H3, H4, H5).

use std::collections::BTreeSet;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, ObjectiveId};
use candor_domain::objective::CheckIn;
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::people::Employee;
use candor_domain::retention::Retained;
use candor_port_storage::StorageExt;
use candor_port_storage::erasing::ErasureChange;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::person_data;
use crate::context::services::Services;

/// The people under a legal hold, among the people of some resources.
pub(crate) struct HeldPeople(BTreeSet<EmployeeId>);

impl HeldPeople {
    /// Reads which people of these resources are under a legal hold.
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

    /// Returns `true` if a resource must stay, because one of its people is under a legal hold.
    pub(crate) fn keep(&self, resource: &impl Retained) -> bool {
        resource.people().iter().any(|person| self.0.contains(person))
    }
}

/// Returns the condition of a commit that removes these resources: at commit time, none of their people is under a
/// legal hold.
pub(crate) fn require_unheld<'a, T: Retained + 'a>(resources: impl IntoIterator<Item = &'a T>) -> ErasureChange {
    let people: BTreeSet<_> = resources.into_iter().flat_map(Retained::people).collect();
    ErasureChange::RequireUnheld { people: people.into_iter().collect() }
}

/// Returns the people in the summaries that include an observation or objective. A legal hold on one of these people
/// keeps the summaries from removal, and also everything that the summaries include.
pub(crate) async fn people_of_including(
    services: &Services,
    tenant: Tenant,
    included: [u8; 16],
) -> Result<BTreeSet<EmployeeId>, Error> {
    let (mut people, mut page) = (BTreeSet::new(), PageRequest::ALL);
    loop {
        let summaries = services.store.page(tenant, rows::summaries::list_including(included, &page)).await?;
        people.extend(summaries.items.iter().flat_map(Retained::people));
        page.after = summaries.items.last().and_then(person_data::position);
        if !summaries.more || page.after.is_none() {
            return Ok(people);
        }
    }
}

/// Returns the authors of the check-ins of an objective. The removal of the objective removes their texts too.
pub(crate) async fn check_in_authors(
    services: &Services,
    tenant: Tenant,
    objective: ObjectiveId,
) -> Result<BTreeSet<EmployeeId>, Error> {
    let (mut authors, mut page) = (BTreeSet::new(), PageRequest::ALL);
    loop {
        let list = rows::check_ins::list(objective, CheckIn::DEFAULT, &page);
        let check_ins = services.store.page(tenant, list).await?;
        authors.extend(check_ins.items.iter().filter_map(|check_in| check_in.author_id));
        page.after = check_ins.items.last().and_then(person_data::position);
        if !check_ins.more || page.after.is_none() {
            return Ok(authors);
        }
    }
}
