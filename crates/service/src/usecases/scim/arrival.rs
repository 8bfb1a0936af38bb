//! Sets managers after the commit of a request, for people who still wait for their manager: people beyond the limit of
//! its transaction, and people who were created at the same time as their manager.
//!
//! Of two concurrent requests, neither sees the person of the other one before that one commits. So both search again
//! after their own commit, and the later search finds the person of the earlier request.

use candor_domain::id::EmployeeId;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageExt;
use candor_provisioning::Connector;
use candor_provisioning::ProvisionedUser;
use candor_provisioning::connector::ScimLink;
use candor_tables::rows;

use super::ScimContext;
use super::change::ScimChange;
use crate::change::Attempt;
use crate::context::error::Error;

/// A committed person whose manager or reports may have been committed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrival {
    person: EmployeeId,
    /// Reference to a manager who was unknown.
    manager_ref: Option<String>,
    /// References by which other people may wait for the person. Empty unless the change set one of them.
    names: Vec<String>,
    /// `true` if the transaction of the change did not set the manager of all people who wait for the person.
    has_more: bool,
}

impl Arrival {
    /// Returns the arrival of a manager with more waiting people than one transaction sets.
    pub(super) const fn of_manager(person: EmployeeId) -> Self {
        Self { person, manager_ref: None, names: Vec::new(), has_more: true }
    }

    /// Returns the arrival of a person. `None` if the change affects no references. `before` and `known` are the
    /// stored person and their link of the connector.
    pub(super) fn of_change(
        before: Option<&Employee>,
        known: Option<&ScimLink>,
        provisioned: &ProvisionedUser,
        has_more: bool,
    ) -> Option<Self> {
        let person = provisioned.person(before)?;
        let names = new_names(before, known, provisioned);
        let manager_ref = provisioned.link.manager_ref.clone();
        let is_relevant = has_more || manager_ref.is_some() || !names.is_empty();
        is_relevant.then_some(Self { person: person.id, manager_ref, names, has_more })
    }
}

/// Returns the references to a person that a change sets, and by which other people may wait for this person.
pub(super) fn new_names(
    before: Option<&Employee>,
    known: Option<&ScimLink>,
    provisioned: &ProvisionedUser,
) -> Vec<String> {
    let external_id_before = known.and_then(|link| link.external_id.as_ref());
    let external_id = provisioned.link.external_id.as_ref().filter(|id| external_id_before != Some(*id));
    let email = provisioned.person(before).map(|person| &person.email);
    let email = email.filter(|email| before.map(|before| &before.email) != Some(*email));
    external_id.into_iter().chain(email).cloned().collect()
}

impl ScimContext {
    /// Sets the managers of people who still wait after the commit. A failure does not fail the request, which is
    /// committed: the people wait until the next request about them or the manager.
    pub(super) async fn settle(&self, connector: &Connector, arrival: &Arrival) {
        if let Err(failure) = self.set_managers(connector, arrival).await {
            let person = arrival.person;
            tracing::warn!(
                %person, ?failure,
                "cannot set the managers of some people of an identity provider; the next request about these people \
                 or the manager retries"
            );
        }
    }

    async fn set_managers(&self, connector: &Connector, arrival: &Arrival) -> Result<(), Error> {
        if let Some(text) = &arrival.manager_ref
            && let Some(manager) = self.find_manager(text).await?
        {
            self.set_manager_of_waiting(connector, manager).await?;
        }
        if arrival.has_more {
            return self.set_manager_of_waiting(connector, arrival.person).await;
        }
        let keys: Vec<_> = arrival.names.iter().map(|name| ScimLink::manager_key(self.connector, name)).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let waiting = self.services().store.entries(self.tenant(), rows::scim_users::waiting_for(keys, 1)).await?;
        if waiting.is_empty() {
            return Ok(());
        }
        self.set_manager_of_waiting(connector, arrival.person).await
    }

    /// Sets the manager of the people who wait for this person, in transactions of a bounded size.
    async fn set_manager_of_waiting(&self, connector: &Connector, manager: EmployeeId) -> Result<(), Error> {
        let _turn = self.services().move_lock(self.tenant()).await;
        let resolve = async |at: Timestamp| {
            let people = self.services().store.rows(self.tenant(), &[manager]).await?;
            let Some(user) = self.load_users(people).await?.pop() else {
                return Ok(Attempt::Done(false));
            };
            let external_id = user.live_link(self.connector).and_then(|link| link.external_id.as_deref());
            let mut change = ScimChange::new(self, connector, at).await?;
            let has_more = change.resolve_waiting(&user.person.value, external_id, None).await?;
            Ok::<_, Error>(match change.finish_unchanged() {
                Some(change) => Attempt::Commit(self.tenant(), Box::new(change), has_more),
                None => Attempt::Done(false),
            })
        };
        while self.services().retry(resolve).await? {}
        Ok(())
    }
}
