//! Creating, updating, deactivating and rehiring people (§3.3, §4.3).

use candor_domain::access::Tenant;
use candor_domain::catalog::Department;
use candor_domain::decision::Decision;
use candor_domain::external_id::ExternalIdHolders;
use candor_domain::fields::Reference;
use candor_domain::id::{DepartmentKind, EmployeeId, EmployeeKind};
use candor_domain::json::Object;
use candor_domain::people::{Draft, Employee, ManagedFields, Patch, References, Rehire, ReportingLine, Status};
use candor_domain::text::address_key;
use candor_domain::time::Timestamp;
use candor_port_storage::{ReportingLineChange, Require, Row, StorageExt, Version, Versioned, Write};
use candor_provisioning::Connector;
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::invitation_events;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::Services;
use crate::usecases::invitations;

/// Maximum number of org admins that are read to find one who stays.
const MOST_ADMINS: u16 = 20;

/// `POST /employees`: creates a person, with an invitation if requested.
///
/// # Errors
/// Invalid fields, a caller without write access to people, invalid references, an email address in use; see
/// [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let rows_to_read = ReferencedRows {
            person: None,
            manager: draft.manager.as_ref(),
            department: draft.department.as_ref(),
            email: Some(&draft.content.email),
            external_id: draft.content.external_id.as_deref(),
        };
        let references = rows_to_read.load(&context.services, context.caller.tenant).await?.references;
        let is_invited = draft.send_invite;
        let decision = Employee::create(context.services.id(at), draft, &references, at)?;
        let person = &decision.state;
        let lines = person.manager_id.map(|_| ReportingLineChange { seen: None });
        let requires = person.department_id.map(Require::open::<Department>);
        let invitation = if is_invited {
            Some(invitations::with_employee(&context.services, context.caller.tenant, person, at).await?)
        } else {
            None
        };
        let events = match &invitation {
            Some(invitation) => invitation_events::events(&context.services, None, invitation, person.status, at)?,
            None => vec![],
        };
        let invitation = invitation.map(|invitation| Write::put(&Row::new(invitation)));
        Employee::authorize_admin_change(None, person, context.caller.is_data_admin())?;
        let pending_change = PendingChange::new(decision).with_lines(lines).with_requirements(requires);
        Ok(pending_change.with_writes(invitation).with_events(events))
    };
    context.create(decide).await
}

/// `PATCH /employees/{id}`: updates a person.
///
/// # Errors
/// Not found, invalid fields, a caller without write access to people, invalid references, an email address in
/// use; see [`Error`].
pub async fn update(context: &RequestContext, id: EmployeeId, body: Object) -> Result<Reply, Error> {
    let _turn = if takes_turn(context, &body) {
        Some(context.services.move_lock(context.caller.tenant).await)
    } else {
        None
    };
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let employee = context.find_stored::<Employee>(id).await?;
        let patch = context.validate_update(employee.shown_version(), || update.resolve_with(&employee.value))?;
        let rows_read = wanted_by(&patch, &employee.value).load(&context.services, context.caller.tenant).await?;
        let Some(decision) = employee.value.update(&patch, &rows_read.references, at)? else {
            return Ok((employee, None));
        };
        let other_admin = guard_admins(context, &employee.value, &decision.state).await?;
        let pending_change =
            build_pending_change(&employee.value, decision, rows_read.tree).with_requirements(other_admin);
        Ok((employee, Some(pending_change)))
    };
    context.update(decide).await
}

/// `POST /employees/{id}/rehire`: rehires a deactivated person.
///
/// # Errors
/// Not found, invalid fields, a caller without write access to people, not deactivated, invalid references; see
/// [`Error`].
pub async fn rehire(context: &RequestContext, id: EmployeeId, body: Object) -> Result<Reply, Error> {
    let _turn = if takes_turn(context, &body) {
        Some(context.services.move_lock(context.caller.tenant).await)
    } else {
        None
    };
    let update = Rehire::parse(body);
    let decide = async |at: Timestamp| {
        let employee = context.find_stored::<Employee>(id).await?;
        let rehire = context.validate_update(employee.shown_version(), || update.resolve_with(&employee.value))?;
        let rows_read =
            wanted_by(rehire.patch(), &employee.value).load(&context.services, context.caller.tenant).await?;
        let decision = employee.value.rehire(&rehire, &rows_read.references, at)?;
        let other_admin = guard_admins(context, &employee.value, &decision.state).await?;
        let pending_change =
            build_pending_change(&employee.value, decision, rows_read.tree).with_requirements(other_admin);
        Ok((employee, pending_change))
    };
    context.act(decide).await
}

/// Returns `true` if a request takes the lock on the reporting tree, because it may change a reporting line.
fn takes_turn(context: &RequestContext, body: &Object) -> bool {
    !context.dry_run && body.iter().any(|(name, _)| name == "manager_id")
}

/// `POST /employees/{id}/deactivate`: deactivates a person and revokes a pending invitation.
///
/// # Errors
/// Not found, a caller without write access to people, deactivated already; see [`Error`].
pub async fn deactivate(context: &RequestContext, id: EmployeeId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let employee = context.find_stored::<Employee>(id).await?;
        context.validate_action(employee.shown_version())?;
        let decision = employee.value.deactivate(at)?;
        let invitation = match employee.value.status {
            Status::PendingInvite => {
                context.services.store.first(context.caller.tenant, rows::invitations::newest(id)).await?
            }
            Status::Active | Status::Deactivated => None,
        };
        let status_after = decision.state.status;
        let other_admin = guard_admins(context, &employee.value, &decision.state).await?;
        let mut pending_change = PendingChange::new(decision).with_requirements(other_admin);
        if let Some(Versioned { value, version }) = invitation {
            let revocation = value.revoke(at);
            let events =
                invitation_events::events(&context.services, Some(&value), &revocation, status_after, at)?;
            pending_change = pending_change
                .with_writes([Write::put(&Row::at_version(revocation, version))])
                .with_events(events);
        }
        Ok((employee, pending_change))
    };
    context.act(decide).await
}

/// `POST /employees/{id}/reactivate`: reactivates a deactivated person.
///
/// # Errors
/// Not found, a caller without write access to people, not deactivated; see [`Error`].
pub async fn reactivate(context: &RequestContext, id: EmployeeId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let employee = context.find_stored::<Employee>(id).await?;
        context.validate_action(employee.shown_version())?;
        let decision = employee.value.reactivate(at)?;
        let other_admin = guard_admins(context, &employee.value, &decision.state).await?;
        let pending_change = build_pending_change(&employee.value, decision, None).with_requirements(other_admin);
        Ok((employee, pending_change))
    };
    context.act(decide).await
}

/// Checks the rules about org admins (decision D12). If the change ends the role of an org admin, returns the condition
/// that the row of another active org admin is unchanged at commit time.
async fn guard_admins(
    context: &RequestContext,
    before: &Employee,
    after: &Employee,
) -> Result<Option<Require>, Error> {
    Employee::authorize_admin_change(Some(before), after, context.caller.is_data_admin())?;
    if !Employee::ceases_as_admin(Some(before), after) {
        return Ok(None);
    }
    let other = other_admin(&context.services, context.caller.tenant, before.id).await?;
    Employee::require_other_admin(Some(before), after, other.is_some())?;
    Ok(other)
}

/// Returns up to 20 active org admins with their versions. A change that takes the role from one of them needs to know
/// only that another one stays.
pub(crate) async fn org_admins(services: &Services, tenant: Tenant) -> Result<Vec<(EmployeeId, Version)>, Error> {
    let admins = services.store.page(tenant, rows::employees::org_admins(MOST_ADMINS)).await?;
    let ids: Vec<_> = admins.items.iter().map(|admin| admin.id).collect();
    // The list has no versions. An admin may have left between the two reads.
    let people = services.store.rows::<Employee>(tenant, &ids).await?;
    let active = people.into_iter().filter(|admin| admin.value.is_active_org_admin());
    Ok(active.map(|admin| (admin.value.id, admin.version)).collect())
}

/// Returns the condition that the row of an active org admin other than this person is unchanged at commit time.
/// Returns `None` if there is no such admin.
pub(crate) async fn other_admin(
    services: &Services,
    tenant: Tenant,
    person: EmployeeId,
) -> Result<Option<Require>, Error> {
    let other = org_admins(services, tenant).await?.into_iter().find(|(id, _)| *id != person);
    Ok(other.map(|(id, version)| Require::has_version::<Employee>(id, version)))
}

/// Creates the change of a person, with the conditions on the referenced rows at commit time.
fn build_pending_change(
    before: &Employee,
    decision: Decision<Employee>,
    tree: Option<Version>,
) -> PendingChange<Employee> {
    let state_after = &decision.state;
    let lines = (before.manager_id != state_after.manager_id).then_some(ReportingLineChange { seen: tree });
    let new_department =
        state_after.department_id.filter(|department_id| before.department_id != Some(*department_id));
    PendingChange::new(decision)
        .with_lines(lines)
        .with_requirements(new_department.map(Require::open::<Department>))
}

/// Rows that a body refers to, and unique values that it may collide with.
struct ReferencedRows<'a> {
    person: Option<&'a Employee>,
    manager: Option<&'a Reference<EmployeeKind>>,
    department: Option<&'a Reference<DepartmentKind>>,
    email: Option<&'a str>,
    external_id: Option<&'a str>,
}

/// Stored state of the wanted rows and values.
struct StoredReferences {
    references: References,
    tree: Option<Version>,
}

fn wanted_by<'a>(patch: &'a Patch, stored: &'a Employee) -> ReferencedRows<'a> {
    ReferencedRows {
        person: Some(stored),
        manager: patch.manager.as_ref().and_then(Option::as_ref),
        department: patch.department.as_ref().and_then(Option::as_ref),
        email: patch.content.email.as_deref(),
        external_id: patch.content.external_id.as_ref().and_then(Option::as_deref),
    }
}

/// Returns the depth of the reporting tree once `person` reports to `manager`: the number of managers above the person,
/// or above the person's deepest report. `person` is `None` for a new person, who has no reports.
async fn depth_under(
    services: &Services,
    tenant: Tenant,
    person: Option<EmployeeId>,
    manager: EmployeeId,
) -> Result<u32, Error> {
    let depth_above = services.store.lines_above(tenant, &[manager]).await?.lines.len();
    let height_below =
        services.store.heights(tenant, person.as_slice()).await?.pop().map_or(0, |(_, height)| height);
    Ok(u32::try_from(depth_above).unwrap_or(u32::MAX).saturating_add(1 + height_below))
}

impl ReferencedRows<'_> {
    /// Reads all wanted rows concurrently.
    async fn load(&self, services: &Services, tenant: Tenant) -> Result<StoredReferences, Error> {
        let store = &services.store;
        let manager = async {
            let Some(id) = self.manager.and_then(|manager| manager.id) else { return Ok((None, None)) };
            let ids = [id];
            let status = async {
                Ok::<_, Error>(store.rows::<Employee>(tenant, &ids).await?.pop().map(|row| row.value.status))
            };
            let reporting = async {
                match self.person {
                    Some(person) => Ok(Some(store.read_reporting(tenant, person.id, id).await?)),
                    None => Ok(None),
                }
            };
            let depth = depth_under(services, tenant, self.person.map(|person| person.id), id);
            let (status, reporting, depth) = tokio::try_join!(status, reporting, depth)?;
            let is_below = reporting.is_some_and(|reporting| reporting.is_below);
            Ok::<_, Error>((
                status.map(|status| ReportingLine { status, is_below, depth }),
                reporting.map(|reporting| reporting.tree),
            ))
        };
        let department = async {
            let Some(id) = self.department.and_then(|department| department.id) else { return Ok(None) };
            Ok::<_, Error>(store.row::<Department>(tenant, id).await?.map(|row| row.value.archived_at.is_some()))
        };
        let email = async {
            let Some(email) = self.email else { return Ok(None) };
            Ok::<_, Error>(store.id_by(tenant, rows::employees::BY_EMAIL, address_key(email)).await?)
        };
        let external_ids = async {
            let mut holders = ExternalIdHolders::default();
            let Some(external_id) = self.external_id else { return Ok(holders) };
            let external_id_column = rows::employees::BY_EXTERNAL_ID;
            if let Some(holder) = store.id_by(tenant, external_id_column, external_id.to_owned()).await? {
                // Every caller sees all people.
                holders.add(external_id, holder, true);
            }
            Ok::<_, Error>(holders)
        };
        let managed_fields = async {
            let Some(id) = self.person.and_then(|person| person.connector_id) else {
                return Ok(ManagedFields::default());
            };
            // The settings of a connector are in the live data set.
            let connector = store.row::<Connector>(Tenant::live(tenant.organization), id).await?;
            Ok::<_, Error>(connector.map(|connector| connector.value.managed_fields()).unwrap_or_default())
        };
        let ((manager, tree), department_archived, email_holder, external_ids, managed_fields) =
            tokio::try_join!(manager, department, email, external_ids, managed_fields)?;
        let references = References {
            manager,
            department_archived,
            email_holder,
            external_ids,
            managed: managed_fields,
            acting: None,
        };
        Ok(StoredReferences { references, tree })
    }
}
