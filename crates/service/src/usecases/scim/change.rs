//! Converts the decision about one person to a change set, which also sets this person as manager of the people
//! who wait for their manager.

use candor_domain::audit::AuditDraft;
use candor_domain::catalog::Department;
use candor_domain::decision::{Decision, Resource};
use candor_domain::id::EmployeeId;
use candor_domain::people::{Employee, Status};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, ReportingLineChange, Require, Row, StorageExt, Version, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::{IssueDraft, ScimLink, SyncIssue};
use candor_provisioning::{ProvisionedUser, resolve_manager};
use candor_tables::rows;

use super::ScimContext;
use super::issues::{EndedIssue, is_not_pending, recurs};
use super::load::{ResolvedReferences, TreePosition};
use super::view::LoadedUser;
use super::write::paused_error;
use crate::change::Batch;
use crate::context::error::Error;
use crate::context::invitation_events;
use crate::context::services::render;
use crate::usecases::connectors::provider;

/// Maximum number of waiting people whose manager one transaction sets. Further transactions set the remaining ones.
const MAX_WAITING: u16 = 100;

/// A change set under construction. The connector is the actor of its audit entries.
pub(super) struct ScimChange<'a> {
    context: &'a ScimContext,
    connector: &'a Connector,
    at: Timestamp,
    batch: Batch,
    writes: Vec<Write>,
    requires: Vec<Require>,
}

/// The stored rows of a person that a change replaces.
pub(super) struct StoredRows<'a> {
    pub(super) person: Option<&'a Versioned<Employee>>,
    pub(super) link: Option<&'a Versioned<ScimLink>>,
}

impl<'a> StoredRows<'a> {
    /// Returns the rows of a loaded user.
    pub(super) fn of_user(user: Option<&'a LoadedUser>) -> Self {
        Self { person: user.map(|user| &user.person), link: user.and_then(|user| user.link.as_ref()) }
    }
}

impl<'a> ScimChange<'a> {
    pub(super) async fn new(
        context: &'a ScimContext,
        connector: &'a Connector,
        at: Timestamp,
    ) -> Result<Self, Error> {
        let copy = provider::copy_for_test_data(&context.request, connector).await?;
        let writes = copy.into_iter().collect();
        Ok(Self { context, connector, at, batch: Batch::default(), writes, requires: vec![] })
    }

    /// Adds the events and the audit entry of a decision, and returns its state.
    fn add<T: Resource>(&mut self, decision: Decision<T>) -> Result<T, Error> {
        let state_json = render(&decision.state)?;
        let (one, state) = self.context.request.change_set(decision, &state_json, self.at)?;
        self.merge(one);
        Ok(state)
    }

    fn merge(&mut self, mut one: ChangeSet) {
        one.audit.act_as(self.connector.id, &self.connector.hris_source);
        self.batch.add(one);
    }

    /// Adds the audit entry of a change that concerns only the link.
    fn add_link_entry(&mut self, person: &Employee) {
        let draft = AuditDraft::new(person, "employee.link");
        let request = &self.context.request;
        self.merge(ChangeSet::new(request.audit(self.context.services().id(self.at), draft, self.at)));
    }

    /// Adds the decision about the person of the request.
    pub(super) async fn add_user(
        &mut self,
        provisioned: &ProvisionedUser,
        stored: &StoredRows<'_>,
        references: &ResolvedReferences,
    ) -> Result<(), Error> {
        let stored_person = stored.person.map(|person| &person.value);
        let changed_person = provisioned.person(stored_person).cloned();
        let department = changed_person.as_ref().and_then(|person| person.department_id);
        let new_department =
            department.filter(|id| stored_person.and_then(|person| person.department_id) != Some(*id));
        if let Some(decision) = &provisioned.department {
            let department_state = self.add(decision.clone())?;
            self.writes.push(Write::put(&Row::new(department_state)));
        } else {
            self.requires.extend(new_department.map(Require::open::<Department>));
        }
        for decision in &provisioned.decisions {
            self.add(decision.clone())?;
        }
        let Some(person_after) = changed_person else { return Ok(()) };
        if provisioned.decisions.is_empty() {
            self.add_link_entry(&person_after);
        } else {
            let is_moved = stored_person.and_then(|person| person.manager_id) != person_after.manager_id;
            let tree_version = stored_person
                .and(person_after.manager_id)
                .and(references.position.as_ref())
                .map(|position| position.tree);
            let lines = is_moved.then_some(ReportingLineChange { seen: tree_version });
            let row = match stored.person {
                Some(person) => Row::at_version(person_after.clone(), person.version),
                None => Row::new(person_after.clone()),
            };
            self.writes.push(Write::employee(&row, lines));
        }
        self.write_link(provisioned.link.clone(), stored.link);
        if let Some(person_before) = stored_person {
            self.end_invitation(person_before, &person_after).await?;
        }
        Ok(())
    }

    /// Counts the deactivation of a person. `link` is their stored link of the connector.
    ///
    /// # Errors
    /// 503 if the brake refuses.
    pub(super) async fn count_deactivation(&mut self, link: Option<&ScimLink>) -> Result<(), Error> {
        let earlier = link.and_then(|link| link.deactivated_at);
        let request = &self.context.request;
        let count_write = provider::count_deactivation(request, self.connector, earlier, self.at).await?;
        self.writes.push(count_write.ok_or_else(paused_error)?);
        Ok(())
    }

    /// Writes the link of a person.
    pub(super) fn write_link(&mut self, link: ScimLink, stored: Option<&Versioned<ScimLink>>) {
        let row = match stored {
            Some(stored) => Row::at_version(link, stored.version),
            None => Row::new(link),
        };
        self.writes.push(Write::put(&row));
    }

    /// Adds the removal of a person.
    pub(super) async fn add_removal(
        &mut self,
        decision: Option<Decision<Employee>>,
        link: ScimLink,
        stored: &StoredRows<'_>,
    ) -> Result<(), Error> {
        let Some(person) = stored.person else { return Ok(()) };
        match decision {
            Some(decision) => {
                let state_after = self.add(decision)?;
                self.writes.push(Write::put(&Row::at_version(state_after.clone(), person.version)));
                self.end_invitation(&person.value, &state_after).await?;
            }
            None => self.add_link_entry(&person.value),
        }
        self.write_link(link, stored.link);
        Ok(())
    }

    /// Revokes the invitation of a person who is adopted, or not pending any more.
    async fn end_invitation(&mut self, before: &Employee, after: &Employee) -> Result<(), Error> {
        let status = after.status;
        let stays = status == Status::PendingInvite && before.connector_id == after.connector_id;
        if before.status != Status::PendingInvite || stays {
            return Ok(());
        }
        let newest = rows::invitations::newest(before.id);
        let Some(invitation) = self.context.services().store.first(self.context.tenant(), newest).await? else {
            return Ok(());
        };
        let revocation = invitation.value.revoke(self.at);
        let events = invitation_events::events(
            self.context.services(),
            Some(&invitation.value),
            &revocation,
            status,
            self.at,
        )?;
        if let Some(change) = self.batch.so_far() {
            change.events.extend(events);
        }
        self.writes.push(Write::put(&Row::at_version(revocation, invitation.version)));
        Ok(())
    }

    pub(super) fn require(&mut self, requires: impl IntoIterator<Item = Require>) {
        self.requires.extend(requires);
    }

    /// Sets the manager of the people who wait for this person. `position` is read if it is `None` and people
    /// wait. Returns `true` if more people may wait.
    pub(super) async fn resolve_waiting(
        &mut self,
        person: &Employee,
        external_id: Option<&str>,
        position: Option<&TreePosition>,
    ) -> Result<bool, Error> {
        let (store, tenant, connector) =
            (&self.context.services().store, self.context.tenant(), self.connector.id);
        let id = person.id.to_string();
        let texts = [Some(id.as_str()), external_id, Some(person.email.as_str())];
        let mut keys: Vec<_> =
            texts.into_iter().flatten().map(|text| ScimLink::manager_key(connector, text)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut waiting = store.entries(tenant, rows::scim_users::waiting_for(keys, MAX_WAITING)).await?;
        let has_more = waiting.len() == usize::from(MAX_WAITING);
        waiting.retain(|link| link.value.id != person.id);
        if waiting.is_empty() {
            return Ok(false);
        }
        let new_position = match position {
            None => Some(self.context.position(person.id).await?),
            Some(_) => None,
        };
        let Some(position) = position.or(new_position.as_ref()) else { return Ok(false) };
        let ids: Vec<EmployeeId> = waiting.iter().map(|link| link.value.id).collect();
        let people = store.rows::<Employee>(tenant, &ids).await?;
        for link in waiting {
            let Some(report) = people.iter().find(|report| report.value.id == link.value.id) else { continue };
            if report.value.connector_id != Some(connector) {
                continue;
            }
            self.resolve_one(report, &link, person.id, position).await?;
        }
        let resolved_issues = self.context.resolved_issues(&ids, is_not_pending, self.at).await?;
        self.writes.extend(resolved_issues.iter().map(EndedIssue::write));
        Ok(has_more)
    }

    async fn resolve_one(
        &mut self,
        report: &Versioned<Employee>,
        link: &Versioned<ScimLink>,
        manager: EmployeeId,
        position: &TreePosition,
    ) -> Result<(), Error> {
        let is_below = position.above.contains(&report.value.id);
        let height = self.context.height(report.value.id).await?;
        let depth = u32::try_from(position.above.len()).unwrap_or(u32::MAX).saturating_add(1 + height);
        let set = resolve_manager(&report.value, &link.value, manager, is_below, depth, self.at);
        match set.decision {
            Some(decision) => {
                let state_after = self.add(decision)?;
                let lines = ReportingLineChange { seen: Some(position.tree) };
                let row = Row::at_version(state_after, report.version);
                self.writes.push(Write::employee(&row, Some(lines)));
            }
            None => self.add_link_entry(&report.value),
        }
        self.write_link(set.link, Some(link));
        if let (Some(issue), Some(change)) = (set.issue, self.batch.so_far()) {
            self.context.add_issues(self.connector, vec![issue], change).await?;
        }
        Ok(())
    }

    /// Resolves the open issues about a person that a request without changes does not repeat. `issues` are the issues
    /// of the request.
    pub(super) async fn end_issues(&mut self, person: EmployeeId, issues: &[IssueDraft]) -> Result<(), Error> {
        let ended_issues = self.context.resolved_issues(&[person], |issue| recurs(issue, issues), self.at).await?;
        for issue in ended_issues {
            let draft = AuditDraft::new(&issue.state, "connector.resolve_issue");
            let draft = draft.with_changes(&issue.stored.value, &issue.state);
            let audit = self.context.request.audit(self.context.services().id(self.at), draft, self.at);
            self.merge(ChangeSet::new(audit));
            self.writes.push(issue.write());
        }
        Ok(())
    }

    /// Uses up the confirmation that this change needed.
    pub(super) fn use_confirmation(&mut self, issue: Option<Versioned<SyncIssue>>) {
        let used_issue =
            issue.and_then(|stored| stored.value.consume_confirmation().map(|state| EndedIssue { stored, state }));
        self.writes.extend(used_issue.iter().map(EndedIssue::write));
    }

    /// Returns the change set of a request that changes no attribute of its person. `None` if no change set was merged.
    pub(super) fn finish_unchanged(self) -> Option<ChangeSet> {
        let Self { batch, mut writes, requires, .. } = self;
        let mut change = batch.finish()?;
        writes.append(&mut change.writes);
        Some(ChangeSet { writes, requires, ..change })
    }

    /// Returns the change set with the new and resolved issues of the person; `None` if nothing was added. `known`
    /// is the person, unless they are new: a new person has no earlier issues.
    pub(super) async fn finish(
        self,
        known: Option<EmployeeId>,
        issues: Vec<IssueDraft>,
    ) -> Result<Option<ChangeSet>, Error> {
        let Self { context, connector, at, batch, mut writes, requires } = self;
        let Some(mut change) = batch.finish() else { return Ok(None) };
        let known_people = known.as_slice();
        let ended_issues = context.resolved_issues(known_people, |issue| recurs(issue, &issues), at).await?;
        writes.append(&mut change.writes);
        writes.extend(ended_issues.iter().map(EndedIssue::write));
        change.writes = writes;
        change.requires = requires;
        context.add_issues(connector, issues, &mut change).await?;
        Ok(Some(change))
    }
}

/// Returns the version of a row after a change. `stored` is the version before the change, `None` for a new row, and
/// `is_written` is `true` if the change writes the row.
pub(super) fn version_after(stored: Option<Version>, is_written: bool) -> Version {
    match stored {
        None => Version::FIRST,
        Some(version) if is_written => version.next(),
        Some(version) => version,
    }
}
