//! Issues of a change: opened or counted with the change, resolved when a request applies everything.

use candor_domain::id::EmployeeId;
use candor_domain::people::{Employee, Role};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, StorageExt, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{IssueDraft, IssueKind, SyncIssue};
use candor_tables::rows;

use super::ScimContext;
use crate::context::error::Error;
use crate::usecases::connectors::provider::{self, IssueChange};

/// Maximum number of open issues about a person that one request resolves. Later requests resolve the remaining issues.
const MOST: u16 = 20;

/// An issue that a request resolves.
pub(super) struct EndedIssue {
    pub(super) stored: Versioned<SyncIssue>,
    pub(super) state: SyncIssue,
}

impl EndedIssue {
    pub(super) fn write(&self) -> Write {
        Write::put(&Row::at_version(self.state.clone(), self.stored.version))
    }
}

impl ScimContext {
    /// Adds issues to a change set.
    pub(super) async fn add_issues(
        &self,
        connector: &Connector,
        drafts: Vec<IssueDraft>,
        change: &mut ChangeSet,
    ) -> Result<(), Error> {
        for draft in drafts {
            let issue = provider::issue_change(&self.request, connector, draft).await?;
            let IssueChange { writes, events, notices } = issue;
            change.writes.extend(writes);
            change.events.extend(events);
            change.notices.extend(notices);
        }
        Ok(())
    }

    /// Returns open issues about people, at most [`MOST`] of each.
    pub(super) async fn issues_about(&self, people: &[EmployeeId]) -> Result<Vec<Versioned<SyncIssue>>, Error> {
        let mut issues = vec![];
        for person in people {
            let list = rows::sync_issues::open_about(*person, MOST);
            issues.extend(self.services().store.entries(self.tenant(), list).await?);
        }
        Ok(issues)
    }

    /// Returns the newest issues by which an admin has confirmed an adoption of a person.
    pub(super) async fn confirmed_adoptions(
        &self,
        person: Option<&Employee>,
    ) -> Result<Vec<Versioned<SyncIssue>>, Error> {
        let person_to_confirm =
            person.filter(|person| person.connector_id.is_none() || person.role == Role::OrgAdmin);
        let Some(person) = person_to_confirm else { return Ok(vec![]) };
        let list = rows::sync_issues::confirmed_adoptions(person.id, MOST);
        Ok(self.services().store.entries(self.tenant(), list).await?)
    }

    /// Returns the connector's open issues about these people, as resolved, except issues that only an admin can
    /// resolve and those for which `recurs` returns `true`. The caller must write the resolved issues.
    pub(super) async fn resolved_issues(
        &self,
        people: &[EmployeeId],
        recurs: impl Fn(&SyncIssue) -> bool,
        at: Timestamp,
    ) -> Result<Vec<EndedIssue>, Error> {
        let issues = self.issues_about(people).await?;
        let own = issues.into_iter().filter(|issue| issue.value.connector_id == self.connector);
        let own = own.filter(|issue| issue.value.ends_by_itself());
        let ended_issues = own
            .filter(|issue| !recurs(&issue.value))
            .filter_map(|issue| issue.value.resolve(at).map(|state| EndedIssue { stored: issue, state }));
        Ok(ended_issues.collect())
    }
}

/// Returns `true` if one of the drafts is another occurrence of an open issue.
pub(super) fn recurs(issue: &SyncIssue, drafts: &[IssueDraft]) -> bool {
    let key = issue.open_key();
    key.is_some() && drafts.iter().any(|draft| key == Some(SyncIssue::occurrence_key(issue.connector_id, draft)))
}

/// Returns `true` unless the issue waits for a manager.
pub(super) fn is_not_pending(issue: &SyncIssue) -> bool {
    issue.kind != IssueKind::ManagerPending
}
