//! Creation and update of employees (§4.3, decisions A8, D1 to D4, D8).

use super::{Content, ContentPatch, CustomFields, CustomPatch, Employee, MANUAL, Status};
use crate::decision::Decision;
use crate::event::EventType;
use crate::external_id::ExternalIdHolders;
use crate::fields::{Fields, Reference};
use crate::id::{ConnectorId, DepartmentId, DepartmentKind, EmployeeId, EmployeeKind};
use crate::keyed::{self, KeyedMap};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Field, Flag, ReferenceRule};
use crate::text::fold_case;
use crate::time::Timestamp;
use crate::update::{Update, parse_new, parse_update};

/// Fields that only the service sets.
const READ_ONLY: &[&str] = &[
    "id",
    "status",
    "is_hris_managed",
    "hris_source",
    "created_at",
    "updated_at",
    "deactivated_at",
    "returned_at",
];

const MANAGER: Field<ReferenceRule<EmployeeKind>> = Field::new("manager_id", rule::reference());
const DEPARTMENT: Field<ReferenceRule<DepartmentKind>> = Field::new("department_id", rule::reference());
const SEND_INVITE: Field<Flag> = Field::with_about(
    "send_invite",
    rule::flag(),
    "`true` sends an invitation. The status is `pending_invite` until the person accepts it.",
);
/// The body of a creation, validated on its own.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "fields of the contract, §2.3")]
pub struct Draft {
    pub content: Content,
    pub manager: Option<Reference<EmployeeKind>>,
    pub department: Option<Reference<DepartmentKind>>,
    pub custom_fields: CustomFields,
    /// `true` to invite the person, who stays pending until they accept.
    pub send_invite: bool,
}

/// The body of an update, validated on its own. `None` keeps the stored value.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "fields of the contract, §2.3")]
pub struct Patch {
    pub content: ContentPatch,
    pub manager: Option<Option<Reference<EmployeeKind>>>,
    pub department: Option<Option<Reference<DepartmentKind>>>,
    /// Changes of custom fields, per key.
    pub custom_fields: CustomPatch,
}

/// Maximum number of managers above a person. It bounds the reporting lines that a move writes for each moved person.
pub const MAX_REPORTING_DEPTH: u32 = 64;
/// Maximum number of reporting lines that one commit deletes and writes. A move deletes the lines from the moved
/// person, and from everyone below, to each manager above before the move. It writes a line to each manager above
/// after the move. So many lines take about a second, during which the event feeds of other data sets may wait.
pub const MAX_LINES_AT_ONCE: u32 = 20_000;

/// The stored state of the manager that a body refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportingLine {
    /// Employment status of the manager.
    pub status: Status,
    /// `true` if the manager is the person or reports to the person at any depth.
    pub is_below: bool,
    /// Number of managers above the person after the change, or above the deepest person of the person's team,
    /// whichever is more.
    pub depth: u32,
}

/// Fields that a connector manages in addition to address, names, manager and department, which every connector
/// manages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManagedFields {
    /// Keys of custom fields.
    pub keys: Vec<String>,
    /// `true` if the connector manages the job title.
    pub job_title: bool,
}

/// The stored state of the resources that a body refers to or collides with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The manager, if they exist.
    pub manager: Option<ReportingLine>,
    /// `true` if the department is archived; `None` if the department does not exist.
    pub department_archived: Option<bool>,
    /// The person who has the e-mail address.
    pub email_holder: Option<EmployeeId>,
    /// The person who has the external id.
    pub external_ids: ExternalIdHolders<EmployeeKind>,
    /// Fields that the person's connector manages.
    pub managed: ManagedFields,
    /// The connector that makes the change; it may change the fields that it manages.
    pub acting: Option<ConnectorId>,
}

impl Draft {
    /// Declares and reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let content = Content::read(fields);
        let manager = fields.optional(&MANAGER);
        let department = fields.optional(&DEPARTMENT);
        let send_invite = fields.present_or(&SEND_INVITE, false);
        let custom_fields = keyed::read_new(fields);
        Some(Self { content: content?, manager, department, custom_fields, send_invite })
    }
}

parse_new!(Draft, READ_ONLY);

impl Patch {
    /// Declares and reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self { content: ContentPatch::read(fields), ..Self::read_rehire(fields) }
    }

    /// Declares and reads the fields of a rehire.
    pub(super) fn read_rehire(fields: &mut Fields) -> Self {
        Self {
            manager: fields.nullable(&MANAGER),
            department: fields.nullable(&DEPARTMENT),
            custom_fields: keyed::read_patch::<CustomFields>(fields),
            ..Self::default()
        }
    }

    /// Requires that `stored` has at most the allowed number of custom fields after this update.
    pub(super) fn check_custom_fields(&self, stored: &Employee, fields: &mut Fields) {
        keyed::check_merged(&stored.custom_fields, &self.custom_fields, fields);
    }

    /// Returns a problem for every member that an HR system manages and that differs from `stored` (§2.3, decision
    /// D8).
    fn managed_field_problems(&self, stored: &Employee, managed: &ManagedFields) -> ValidationErrors {
        let mut problems = ValidationErrors::none();
        let mut refuse = |field: &str, differs: bool| {
            if differs {
                let message = format!("is managed by {}", stored.hris_source);
                problems.add(field, ValueError::new(Code::FieldManagedExternally, message));
            }
        };
        let reference = |id: &Option<EmployeeId>| id.map(|id| id.to_string());
        let department = |id: &Option<DepartmentId>| id.map(|id| id.to_string());
        let content = &self.content;
        refuse("email", content.email.as_ref().is_some_and(|email| *email != stored.email));
        refuse("first_name", content.first_name.as_ref().is_some_and(|name| *name != stored.first_name));
        refuse("last_name", content.last_name.as_ref().is_some_and(|name| *name != stored.last_name));
        let job_title = content.job_title.as_ref().is_some_and(|title| *title != stored.job_title);
        refuse("job_title", managed.job_title && job_title);
        let manager = self.manager.as_ref().map(|field| field.as_ref().map(|reference| reference.text.clone()));
        refuse("manager_id", manager.is_some_and(|text| text != reference(&stored.manager_id)));
        let department_text =
            self.department.as_ref().map(|field| field.as_ref().map(|reference| reference.text.clone()));
        refuse("department_id", department_text.is_some_and(|text| text != department(&stored.department_id)));
        for (key, value) in &self.custom_fields {
            let differs = managed.keys.contains(key) && stored.custom_fields.0.get(key) != value.as_ref();
            refuse(&format!("custom_fields.{key}"), differs);
        }
        problems
    }
}

parse_update!(Patch, [READ_ONLY]);

impl Update<Patch> {
    /// Checks the update against the stored person.
    ///
    /// # Errors
    /// One problem for each wrong or immutable field, and for too many custom fields.
    pub fn resolve_with(&self, stored: &Employee) -> Result<Patch, ValidationErrors> {
        let (patch, mut fields) = self.compare(stored);
        patch.check_custom_fields(stored, &mut fields);
        fields.finish(Some(patch))
    }
}

impl Employee {
    /// Creates a person: pending if they are invited, otherwise active (§3.3, §4.3).
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] for invalid references, [`DomainError::Conflict`] for an e-mail
    /// address or external id that another person has.
    pub fn create(
        id: EmployeeId,
        draft: Draft,
        found: &References,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let mut problems = ValidationErrors::none();
        let manager_id = draft
            .manager
            .and_then(|reference| problems.take("manager_id", manager(&reference, found, &[Status::Active])));
        let department_id =
            draft.department.and_then(|reference| problems.take("department_id", department(&reference, found)));
        problems.or(()).map_err(DomainError::Unprocessable)?;
        must_have_free_email(&draft.content.email, found, None)?;
        found.external_ids.require_free(draft.content.external_id.as_deref(), None)?;
        let state = Self {
            id,
            email: draft.content.email,
            external_id: draft.content.external_id,
            first_name: draft.content.first_name,
            last_name: draft.content.last_name,
            job_title: draft.content.job_title,
            role: draft.content.role,
            manager_id,
            department_id,
            status: if draft.send_invite { Status::PendingInvite } else { Status::Active },
            custom_fields: draft.custom_fields,
            is_hris_managed: false,
            hris_source: MANUAL.to_owned(),
            connector_id: None,
            created_at: at,
            updated_at: at,
            deactivated_at: None,
            returned_at: None,
            address_changed_at: None,
            hold: None,
            hold_changes: 0,
            erased_at: None,
            is_twin: false,
        };
        Ok(Decision::for_creation(state, "employee.create", vec![EventType::EmployeeCreated]))
    }

    /// Updates a person, or returns `None` if nothing changes (decision A8).
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] for invalid references, a reporting cycle or fields that an HR
    /// system manages. Returns [`DomainError::Conflict`] for an erased person, and for an e-mail address or external
    /// id that another person has.
    pub fn update(
        &self,
        patch: &Patch,
        found: &References,
        at: Timestamp,
    ) -> Result<Option<Decision<Self>>, DomainError> {
        self.must_exist("update")?;
        let mut state = self.apply_patch(patch, found)?;
        // A twin keeps the address that it has.
        let own = if state.is_twin { found.email_holder } else { Some(self.id) };
        must_have_free_email(&state.email, found, own)?;
        found.external_ids.require_free(state.external_id.as_deref(), Some(self.id))?;
        if state == *self {
            return Ok(None);
        }
        state.updated_at = at.strictly_after(self.updated_at);
        if !self.has_mailbox(&state.email) {
            state.address_changed_at = Some(state.updated_at);
        }
        Ok(Some(Decision::for_change(self, state, "employee.update", vec![EventType::EmployeeUpdated])))
    }

    /// Returns this person with a patch applied, after checking every reference of the patch.
    pub(super) fn apply_patch(&self, patch: &Patch, found: &References) -> Result<Self, DomainError> {
        let mut problems = ValidationErrors::none();
        if self.is_hris_managed && (found.acting.is_none() || found.acting != self.connector_id) {
            problems.extend(patch.managed_field_problems(self, &found.managed));
        }
        let mut state = self.clone();
        if let Some(manager_field) = &patch.manager {
            let keep = manager_field
                .as_ref()
                .is_some_and(|reference| reference.id.is_some() && reference.id == self.manager_id);
            let valid_statuses = [Status::Active, Status::PendingInvite];
            let manager_id = manager_field
                .as_ref()
                .filter(|_| !keep)
                .and_then(|reference| problems.take("manager_id", manager(reference, found, &valid_statuses)));
            state.manager_id = if keep { self.manager_id } else { manager_id };
        }
        if let Some(department_field) = &patch.department {
            let keep = department_field
                .as_ref()
                .is_some_and(|reference| reference.id.is_some() && reference.id == self.department_id);
            let department_id = department_field
                .as_ref()
                .filter(|_| !keep)
                .and_then(|reference| problems.take("department_id", department(reference, found)));
            state.department_id = if keep { self.department_id } else { department_id };
        }
        problems.or(()).map_err(DomainError::Unprocessable)?;
        patch.content.clone().apply_to(&mut state);
        state.is_twin &= state.email == self.email;
        state.custom_fields = self.custom_fields.apply_patch(&patch.custom_fields);
        Ok(state)
    }
}

fn manager(
    wanted: &Reference<EmployeeKind>,
    found: &References,
    allowed: &[Status],
) -> Result<EmployeeId, ValueError> {
    let (Some(id), Some(line)) = (wanted.id, found.manager) else { return Err(wanted.not_found()) };
    if line.is_below {
        return Err(ValueError::new(
            Code::ReportingCycle,
            "would make the person their own manager, directly or through others",
        ));
    }
    if line.depth > MAX_REPORTING_DEPTH {
        return Err(too_deep());
    }
    if !allowed.contains(&line.status) {
        return Err(ValueError::new(Code::InvalidState, "must be active"));
    }
    Ok(id)
}

/// Returns the problem of a manager who would put too many managers above a person.
#[must_use]
pub fn too_deep() -> ValueError {
    let message = format!(
        "would put more than {MAX_REPORTING_DEPTH} managers above a person; choose a manager nearer to the top"
    );
    ValueError::new(Code::TooDeep, message)
}

/// Returns the problem of a change of managers whose reporting lines the store cannot write at once.
#[must_use]
pub fn too_wide() -> ValueError {
    let message = format!(
        "would change more than {MAX_LINES_AT_ONCE} reporting lines at once; first move the teams below the person, \
         one at a time"
    );
    ValueError::new(Code::TooLong, message)
}

fn department(wanted: &Reference<DepartmentKind>, found: &References) -> Result<DepartmentId, ValueError> {
    match (wanted.id, found.department_archived) {
        (Some(id), Some(false)) => Ok(id),
        (Some(_), Some(true)) => Err(ValueError::new(Code::InvalidState, "must not be archived")),
        _ => Err(wanted.not_found()),
    }
}

/// Requires that no person other than `own` has the address.
fn must_have_free_email(email: &str, found: &References, own: Option<EmployeeId>) -> Result<(), DomainError> {
    match found.email_holder.filter(|holder| Some(*holder) != own) {
        Some(holder) => Err(DomainError::already_taken("email", fold_case(email), Some(holder))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
