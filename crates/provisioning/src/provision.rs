//! Decides the change of one person by a SCIM request, with the transitions of an employee.

use candor_domain::catalog::Department;
use candor_domain::decision::Decision;
use candor_domain::external_id::ExternalIdHolders;
use candor_domain::fields::Reference;
use candor_domain::id::{DepartmentId, EmployeeId, Id, Kind};
use candor_domain::json::Value;
use candor_domain::people::MAX_REPORTING_DEPTH;
use candor_domain::people::{Draft, Employee, Patch, References, Rehire, ReportingLine, Status};
use candor_domain::refusal::{BrokenRule, DomainError};
use candor_domain::time::Timestamp;
use candor_scim::{ScimError, ScimErrorType, UserDocument};

use super::mapping::ScimUser;
use super::matching::{ProvisioningError, UserIdentity};
use super::targets::{DepartmentTarget, ManagerTarget};
use crate::connector::Connector;
use crate::connector::{IssueDraft, IssueKind, ScimLink, SyncIssue};

/// The kind of request, as far as it decides about absent attributes and inactive people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// POST: absent attributes stay, and a person who left returns.
    Create,
    /// PUT: absent attributes are removed if the connector created the person. Other people keep values that the
    /// provider never sent.
    Replace,
    /// PATCH: the document has every stored attribute, so absent attributes are removed.
    Change,
}

/// The input of a decision about one person.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the others say everything")]
pub struct ProvisioningInput<'a> {
    pub kind: WriteKind,
    pub connector: &'a Connector,
    pub user: &'a ScimUser,
    /// Id of the person; a new id for a new person.
    pub id: EmployeeId,
    pub person: Option<&'a Employee>,
    /// Stored link of the person. It may be an ended link of another connector.
    pub link: Option<&'a ScimLink>,
    pub manager: ManagerTarget,
    pub department: DepartmentTarget,
    /// The person who has the e-mail address.
    pub email_holder: Option<EmployeeId>,
    /// The person who has the external id.
    pub external_id_holder: Option<EmployeeId>,
    /// The person that the connector knows by the `userName`.
    pub user_name_link: Option<EmployeeId>,
    /// The person that the connector knows by the `externalId`.
    pub external_id_link: Option<EmployeeId>,
    /// `true` if another active org admin exists. It is looked up only for the deactivation of an org admin.
    pub has_other_admin: bool,
    /// Resolved issues by which admins confirmed adoptions of the person. They are looked up only for an org admin,
    /// and for a person without a connector.
    pub issues: &'a [SyncIssue],
    pub at: Timestamp,
}

/// The change of one person.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvisionedUser {
    /// Decisions about the person, in order. Empty if the record does not change.
    pub decisions: Vec<Decision<Employee>>,
    /// The department to create.
    pub department: Option<Decision<Department>>,
    /// The link after the request.
    pub link: ScimLink,
    /// `true` if the link differs from the stored one.
    pub is_link_changed: bool,
    /// Attributes that were not applied.
    pub issues: Vec<IssueDraft>,
}

impl ProvisionedUser {
    /// Returns the person after the request; `before` is the stored one.
    #[must_use]
    pub fn person<'a>(&'a self, before: Option<&'a Employee>) -> Option<&'a Employee> {
        self.decisions.last().map(|decision| &decision.state).or(before)
    }

    /// Returns `true` if the request changes nothing.
    #[must_use]
    pub const fn is_unchanged(&self) -> bool {
        self.decisions.is_empty() && !self.is_link_changed
    }

    /// Returns `true` if the request deactivates the stored person.
    #[must_use]
    pub fn deactivates(&self, before: &Employee) -> bool {
        let status_after = self.person(Some(before)).map(|person| person.status);
        before.status != Status::Deactivated && status_after == Some(Status::Deactivated)
    }
}

pub(super) fn reference<K: Kind>(id: Id<K>) -> Reference<K> {
    Reference { text: id.to_string(), id: Some(id) }
}

/// Converts an error of the rules of an employee into the refusal of a SCIM request.
fn refusal(input: &ProvisioningInput<'_>, error: DomainError) -> ProvisioningError {
    match error {
        DomainError::Invalid(problems) | DomainError::Unprocessable(problems) => {
            ScimError::from_problems(&problems).into()
        }
        DomainError::Conflict(conflict) if conflict.conflicting_id.is_some() => {
            let message =
                format!("Another person has this {}. Correct it at the identity provider.", conflict.field);
            input.identity().into_refusal(IssueKind::IdentityConflict, message)
        }
        other @ (DomainError::Conflict(_) | DomainError::NotFound | DomainError::Denied(_)) => {
            ScimError::new(ScimErrorType::Uniqueness, other.to_string()).into()
        }
    }
}

/// The references of a person that a request sets, and the attributes that it cannot apply.
#[derive(Default)]
struct AppliedReferences {
    manager: Option<Option<EmployeeId>>,
    department: Option<Option<DepartmentId>>,
    is_manager_unknown: bool,
    is_manager_kept: bool,
    is_department_kept: bool,
    issues: Vec<IssueDraft>,
}

impl ProvisioningInput<'_> {
    /// Returns the identifiers of the user. A new person is unknown until the request is applied.
    fn identity(&self) -> UserIdentity<'_> {
        UserIdentity::from_user(self.user, self.person.map(|person| person.id))
    }

    /// Returns the stored link, if it is one of this connector.
    fn own_link(&self) -> Option<&ScimLink> {
        self.link.filter(|link| link.connector_id == self.connector.id)
    }

    /// Returns `true` if the request removes attributes that it omits.
    fn clears(&self) -> bool {
        match self.kind {
            WriteKind::Create => false,
            WriteKind::Change => true,
            WriteKind::Replace => {
                let live = self.link.filter(|link| link.is_live_of(self.connector.id));
                live.zip(self.person).is_some_and(|(link, person)| link.linked_at <= person.created_at)
            }
        }
    }

    /// Decides the change.
    ///
    /// # Errors
    /// `invalidValue` for values that an employee cannot have; `uniqueness` for identifiers of another person, for
    /// an adoption that needs a confirmation and has none, and for the deactivation of the last active org admin.
    pub fn decide(&self) -> Result<ProvisionedUser, ProvisioningError> {
        self.require_free_identifiers()?;
        self.require_confirmed_adoption()?;
        let reference_result = self.apply_references();
        let mut decisions = match self.person {
            None => vec![self.create(&reference_result)?],
            Some(person) => self.change(person, &reference_result)?,
        };
        self.move_status(&mut decisions)?;
        let department = match &self.department {
            DepartmentTarget::New(decision) => Some((**decision).clone()),
            DepartmentTarget::Absent | DepartmentTarget::Known { .. } => None,
        };
        let link = self.link(&decisions, &reference_result);
        let is_link_changed = self.link.is_none_or(|stored| !is_equal(stored, &link));
        let link = match self.link {
            Some(stored) if decisions.is_empty() && !is_link_changed => stored.clone(),
            _ => link,
        };
        Ok(ProvisionedUser { decisions, department, link, is_link_changed, issues: reference_result.issues })
    }

    /// Refuses identifiers that the connector uses for another person.
    fn require_free_identifiers(&self) -> Result<(), ProvisioningError> {
        let is_taken = |holder: Option<EmployeeId>| holder.is_some_and(|holder| holder != self.id);
        let conflicts =
            [("userName", is_taken(self.user_name_link)), ("externalId", is_taken(self.external_id_link))];
        let Some((name, _)) = conflicts.into_iter().find(|(_, is_taken)| *is_taken) else { return Ok(()) };
        let message = format!("Another user has this {name}. Correct it at the identity provider.");
        Err(self.identity().into_refusal(IssueKind::IdentityConflict, message))
    }

    fn apply_references(&self) -> AppliedReferences {
        let clears = self.clears();
        let mut applied_references = AppliedReferences::default();
        let identity = UserIdentity::from_user(self.user, Some(self.id));
        let issue = |kind, message: String| identity.issue(kind, message);
        let manager_text = self.user.manager.as_ref().map(|manager| manager.text()).unwrap_or_default();
        match self.manager {
            ManagerTarget::Absent => applied_references.manager = clears.then_some(None),
            ManagerTarget::Unknown => {
                applied_references.is_manager_unknown = true;
                let message = format!(
                    "No person has the id, externalId or e-mail address `{manager_text}` of the manager. The manager is set \
                     when that person arrives."
                );
                applied_references.issues.push(issue(IssueKind::ManagerPending, message));
            }
            ManagerTarget::Known { is_below: true, .. } => {
                applied_references.is_manager_kept = true;
                let message =
                    format!("The manager `{manager_text}` reports to the person. The stored manager stays.");
                applied_references.issues.push(issue(IssueKind::ReportingCycle, message));
            }
            ManagerTarget::Known { id, depth, .. }
                if depth > MAX_REPORTING_DEPTH && self.has_other_manager(id) =>
            {
                applied_references.is_manager_kept = true;
                let message = format!(
                    "The manager `{manager_text}` would put more than {MAX_REPORTING_DEPTH} managers above a person. The stored manager \
                     stays."
                );
                applied_references.issues.push(issue(IssueKind::TooDeep, message));
            }
            ManagerTarget::Known { id, .. } => applied_references.manager = Some(Some(id)),
        }
        let department_before = self.person.and_then(|person| person.department_id);
        match &self.department {
            DepartmentTarget::Absent => applied_references.department = clears.then_some(None),
            DepartmentTarget::Known { id, is_archived: true } if department_before != Some(*id) => {
                applied_references.is_department_kept = true;
                let name = self.user.department.as_deref().unwrap_or_default();
                let message = format!("The department `{name}` is archived. Restore it, or send another name.");
                applied_references.issues.push(issue(IssueKind::DepartmentArchived, message));
            }
            DepartmentTarget::Known { id, .. } => applied_references.department = Some(Some(*id)),
            DepartmentTarget::New(decision) => applied_references.department = Some(Some(decision.state.id)),
        }
        applied_references
    }

    fn has_other_manager(&self, id: EmployeeId) -> bool {
        self.person.and_then(|person| person.manager_id) != Some(id)
    }

    /// Returns facts with which the manager and the department pass validation: the caller has resolved both already.
    fn references(&self) -> References {
        let mut external_ids = ExternalIdHolders::default();
        if let (Some(external_id), Some(holder)) = (&self.user.external_id, self.external_id_holder) {
            external_ids.add(external_id, holder, true);
        }
        References {
            manager: Some(ReportingLine { status: Status::Active, is_below: false, depth: 1 }),
            department_archived: Some(false),
            email_holder: self.email_holder,
            external_ids,
            acting: Some(self.connector.id),
            ..References::default()
        }
    }

    /// Returns the body of a single write. It contains the result of [`Self::external_id`], if there is one.
    fn body(&self, clears: bool) -> candor_domain::json::Object {
        let mut body = self.user.employee_body(clears);
        if let Some(external_id) = self.external_id() {
            body.push("external_id", Value::Text(external_id.clone()));
        }
        body
    }

    /// Returns the external id that the person gets: the id of the request, unless another person has it or the
    /// stored id is from another source.
    fn external_id(&self) -> Option<&String> {
        let external_id_before = self.person.and_then(|person| person.external_id.as_ref());
        let linked_external_id = self.own_link().and_then(|link| link.external_id.as_ref());
        let is_free = self.external_id_holder.is_none_or(|holder| holder == self.id);
        self.user
            .external_id
            .as_ref()
            .filter(|_| is_free && (external_id_before.is_none() || external_id_before == linked_external_id))
    }

    fn create(&self, applied: &AppliedReferences) -> Result<Decision<Employee>, ProvisioningError> {
        let mut draft = Draft::parse(self.body(false)).map_err(|problems| ScimError::from_problems(&problems))?;
        draft.manager = applied.manager.flatten().map(reference);
        draft.department = applied.department.flatten().map(reference);
        let creation = Employee::create(self.id, draft, &self.references(), self.at);
        let mut decision = creation.map_err(|error| refusal(self, error))?;
        decision.state = self.connector.in_charge_of(decision.state);
        Ok(decision)
    }

    fn change(
        &self,
        person: &Employee,
        applied: &AppliedReferences,
    ) -> Result<Vec<Decision<Employee>>, ProvisioningError> {
        let mut decisions: Vec<_> = self.connector.manage(person, self.at).into_iter().collect();
        let now = decisions.last().map_or(person, |decision| &decision.state);
        let parsed_patch = Patch::parse(self.body(self.clears())).resolve_with(now);
        let mut patch = parsed_patch.map_err(|problems| ScimError::from_problems(&problems))?;
        patch.manager = applied.manager.map(|manager| manager.map(reference));
        patch.department = applied.department.map(|department| department.map(reference));
        let update_decision =
            now.update(&patch, &self.references(), self.at).map_err(|error| refusal(self, error))?;
        if let Some(update) = update_decision {
            // A change of the record emits one event, also if the connector takes charge of the record.
            if let Some(first) = decisions.first_mut() {
                first.events.clear();
            }
            decisions.push(update);
        }
        Ok(decisions)
    }

    /// Adds the change of the status that the request asks for.
    fn move_status(&self, decisions: &mut Vec<Decision<Employee>>) -> Result<(), ProvisioningError> {
        let Some(now) = decisions.last().map(|decision| &decision.state).or(self.person) else { return Ok(()) };
        let default = if self.kind == WriteKind::Create { Some(true) } else { None };
        let status_change = match (self.user.active.or(default), now.status) {
            (Some(false), Status::Active | Status::PendingInvite) => {
                self.require_other_admin(now)?;
                now.deactivate(self.at)
            }
            (Some(true), Status::Deactivated) if self.kind == WriteKind::Create => {
                now.rehire(&Rehire::default(), &self.references(), self.at)
            }
            (Some(true), Status::Deactivated) => now.reactivate(self.at),
            (Some(true), Status::PendingInvite) => now.accept_invitation(self.at),
            (None, _) | (Some(true), Status::Active) | (Some(false), Status::Deactivated) => return Ok(()),
        };
        decisions.push(status_change.map_err(|error| refusal(self, error))?);
        Ok(())
    }

    /// Refuses to deactivate the last active org admin.
    fn require_other_admin(&self, now: &Employee) -> Result<(), ProvisioningError> {
        let is_last = self.person.is_some() && now.is_active_org_admin();
        if !is_last || self.has_other_admin {
            return Ok(());
        }
        Err(last_admin(self.identity()))
    }

    fn link(&self, decisions: &[Decision<Employee>], applied: &AppliedReferences) -> ScimLink {
        let Self { user, at, .. } = self;
        let manager_ref = user.manager.as_ref().filter(|_| applied.is_manager_unknown);
        let is_manager_pending = applied.is_manager_unknown || applied.is_manager_kept;
        let extra: UserDocument = user.extra(applied.is_department_kept, is_manager_pending);
        let had_left = self.person.is_none_or(|person| person.status == Status::Deactivated);
        let has_left = decisions.last().is_some_and(|decision| decision.state.status == Status::Deactivated);
        let deactivated_at = (has_left && !had_left).then_some(*at);
        let link_before = self.own_link();
        // `linked_at` stays while the connector manages the person, also over a removal. [`Self::clears`] compares it
        // with the creation of the person, to tell whether the connector created the person.
        let is_managed = self.person.is_some_and(|person| person.connector_id == Some(self.connector.id));
        ScimLink {
            id: self.id,
            connector_id: self.connector.id,
            user_name: user.user_name.clone(),
            external_id: user.external_id.clone(),
            manager_ref: manager_ref.map(|manager| manager.text().to_owned()),
            extra: extra.into(),
            linked_at: link_before.filter(|_| is_managed).map_or(*at, |link| link.linked_at),
            updated_at: link_before.map_or(*at, |link| at.strictly_after(link.updated_at)),
            deactivated_at: deactivated_at.or_else(|| link_before.and_then(|link| link.deactivated_at)),
            removed_at: None,
        }
    }
}

/// Returns `true` if links differ at most in the time of their change.
fn is_equal(stored: &ScimLink, link: &ScimLink) -> bool {
    let rest = |link: &ScimLink| ScimLink {
        extra: UserDocument::default().into(),
        updated_at: Timestamp::from_millis(0),
        ..link.clone()
    };
    rest(stored) == rest(link) && stored.extra.is_equal(&link.extra)
}

/// Returns the refusal to deactivate the last active org admin.
pub(super) fn last_admin(identity: UserIdentity<'_>) -> ProvisioningError {
    identity.into_refusal(IssueKind::LastAdmin, BrokenRule::LastAdmin.message().to_owned())
}

mod adoption;
#[cfg(test)]
mod tests;
