//! Recording people, changing their records, and their lifecycle (§3.3, §4.3).

use candor_domain::access::Tenant;
use candor_domain::decision::Decision;
use candor_domain::fields::Reference;
use candor_domain::id::{DepartmentKind, EmployeeId, EmployeeKind};
use candor_domain::json::Object;
use candor_domain::library::Department;
use candor_domain::people::{
    Connector, Draft, Employee, Invitation, LineChange, Patch, References, Rehire, ReportingLine, Status, invitation,
};
use candor_domain::text::folded;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::{Lines, Require, Row, StorageExt, Version, Versioned, Write, rows};

use crate::reply::Reply;
use crate::shell::{ChangePlan, or_not_found, render};
use crate::{Call, Error, Shell};

/// `POST /employees`
///
/// # Errors
/// Invalid fields, a role or a place that the caller may not give, references that do not hold, an address that is
/// taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let draft = Draft::parse(body.clone())?;
        let wanted = Wanted {
            person: None,
            manager: draft.manager.as_ref(),
            department: draft.department.as_ref(),
            email: Some(&draft.email),
            external_id: draft.external_id.as_deref(),
        };
        let known = wanted.load(shell, call.caller.tenant).await?.references;
        let new_manager = draft.manager.as_ref().and_then(|it| it.id).filter(|_| known.manager.is_some());
        let (line, on_tree) = line_change(shell, call, None, new_manager).await?;
        draft.may_be_recorded_by(call.caller.acts_for(), line)?;
        let invited = draft.send_invite;
        let decision = Employee::create(shell.id(at), draft, &known, at)?;
        let person = decision.state.clone();
        let lines = person.manager_id.map(|_| Lines { seen: None });
        let location = format!("/employees/{}", person.id);
        let (mut change, body, version) =
            shell.plan(call, decision, None, at, |it| vec![Write::employee(&Row::new(it), lines)])?;
        change.requires.extend(person.department_id.map(Require::DepartmentOpen));
        change.requires.extend(on_tree.map(Require::TreeUnchanged));
        if invited {
            let token = invitation::token(random32(&*shell.ids)?);
            let invitation = Invitation::new(shell.id(at), &person, &token, at)?;
            change.writes.push(Write::put(&Row::new(invitation)));
        }
        Ok(ChangePlan::Commit(change, Reply::created(location, body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `PATCH /employees/{id}`
///
/// # Errors
/// Not found, invalid fields, a role or a place that the caller may not give, references that do not hold, an address that
/// is taken; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: EmployeeId, body: Object) -> Result<Reply, Error> {
    let _turn = if moves(&body) { Some(shell.move_lock(call.caller.tenant).await) } else { None };
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Employee>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let patch = Patch::parse(body.clone(), &stored.value)?;
        let known = wanted_by(&patch, &stored.value).load(shell, call.caller.tenant).await?;
        let tree = authorized(shell, call, &patch, &stored.value, known.tree).await?;
        let Some(decision) = stored.value.update(&patch, &known.references, at)? else {
            return Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version))));
        };
        changed(shell, call, &stored, decision, tree, at)
    };
    shell.change(call, plan).await
}

/// `POST /employees/{id}/rehire`
///
/// # Errors
/// Not found, invalid fields, a place that the caller may not give, not deactivated, references that do not hold; see [`Error`].
pub async fn rehire(shell: &Shell, call: &Call, id: EmployeeId, body: Object) -> Result<Reply, Error> {
    let _turn = if moves(&body) { Some(shell.move_lock(call.caller.tenant).await) } else { None };
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Employee>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let rehire = Rehire::parse(body.clone(), &stored.value)?;
        let known = wanted_by(rehire.patch(), &stored.value).load(shell, call.caller.tenant).await?;
        let tree = authorized(shell, call, rehire.patch(), &stored.value, known.tree).await?;
        let decision = stored.value.rehire(&rehire, &known.references, at)?;
        changed(shell, call, &stored, decision, tree, at)
    };
    shell.change(call, plan).await
}

/// Whether a body may change a reporting line.
fn moves(body: &Object) -> bool {
    body.iter().any(|(name, _)| name == "manager_id")
}

/// `POST /employees/{id}/deactivate`
///
/// # Errors
/// Not found, deactivated already; see [`Error`].
pub async fn deactivate(shell: &Shell, call: &Call, id: EmployeeId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let tenant = call.caller.tenant;
        let stored = or_not_found(shell.store.row::<Employee>(tenant, id).await?)?;
        call.check(stored.version)?;
        let decision = stored.value.deactivate(at)?;
        let mut writes = vec![];
        if stored.value.status == Status::PendingInvite
            && let Some(it) = shell.store.first(tenant, rows::invitations::newest(id)).await?
        {
            writes.push(Write::put(&Row::seen(it.value.revoke(at), it.version)));
        }
        let (mut change, body, version) = shell.plan(call, decision, Some(stored.version), at, |it| {
            vec![Write::employee(&Row::seen(it, stored.version), None)]
        })?;
        change.writes.append(&mut writes);
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `POST /employees/{id}/reactivate`
///
/// # Errors
/// Not found, not deactivated; see [`Error`].
pub async fn reactivate(shell: &Shell, call: &Call, id: EmployeeId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Employee>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let decision = stored.value.reactivate(at)?;
        changed(shell, call, &stored, decision, None, at)
    };
    shell.change(call, plan).await
}

/// Whether the caller may change the record like this; answers the oldest version of the tree that was looked at.
async fn authorized(
    shell: &Shell,
    call: &Call,
    patch: &Patch,
    stored: &Employee,
    seen: Option<Version>,
) -> Result<Option<Version>, Error> {
    let (line, on_tree) = line_change(shell, call, Some(stored.id), patch.new_manager(stored)).await?;
    patch.may_be_made_by(stored, call.caller.acts_for(), line)?;
    Ok(seen.into_iter().chain(on_tree).min())
}

/// Where a change of a reporting line leads, seen from the person whom the caller acts for, and the version of the tree on
/// which that holds. The manager was found before: whoever is there has their line in the tree.
async fn line_change(
    shell: &Shell,
    call: &Call,
    person: Option<EmployeeId>,
    manager: Option<EmployeeId>,
) -> Result<(LineChange, Option<Version>), Error> {
    let (Some(own), Some(manager)) = (call.caller.acts_for(), manager) else { return Ok(Default::default()) };
    let to = shell.store.reporting(call.caller.tenant, own, manager).await?;
    let Some(person) = person else {
        return Ok((LineChange { to_below: to.is_below, from_below: false }, Some(to.tree)));
    };
    let from = shell.store.reporting(call.caller.tenant, own, person).await?;
    let line = LineChange { to_below: to.is_below, from_below: from.is_below };
    Ok((line, Some(to.tree.min(from.tree))))
}

/// Plans the commit of a changed record, with what its references rely upon.
fn changed(
    shell: &Shell,
    call: &Call,
    stored: &Versioned<Employee>,
    decision: Decision<Employee>,
    tree: Option<Version>,
    at: Timestamp,
) -> Result<ChangePlan, Error> {
    let (before, after) = (&stored.value, &decision.state);
    let lines = (before.manager_id != after.manager_id).then_some(Lines { seen: tree });
    let joined = after.department_id.filter(|it| before.department_id != Some(*it));
    let requires = joined.map(Require::DepartmentOpen);
    let (mut change, body, version) = shell.plan(call, decision, Some(stored.version), at, |it| {
        vec![Write::employee(&Row::seen(it, stored.version), lines)]
    })?;
    change.requires.extend(requires);
    Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
}

/// What a body refers to, or may collide with.
struct Wanted<'a> {
    person: Option<&'a Employee>,
    manager: Option<&'a Reference<EmployeeKind>>,
    department: Option<&'a Reference<DepartmentKind>>,
    email: Option<&'a str>,
    external_id: Option<&'a str>,
}

/// What is stored of it.
struct Known {
    references: References,
    tree: Option<Version>,
}

fn wanted_by<'a>(patch: &'a Patch, stored: &'a Employee) -> Wanted<'a> {
    Wanted {
        person: Some(stored),
        manager: patch.manager.as_ref().and_then(Option::as_ref),
        department: patch.department.as_ref().and_then(Option::as_ref),
        email: patch.email.as_deref(),
        external_id: patch.external_id.as_ref().and_then(Option::as_deref),
    }
}

impl Wanted<'_> {
    /// Reads everything side by side.
    async fn load(&self, shell: &Shell, tenant: Tenant) -> Result<Known, Error> {
        let store = &shell.store;
        let manager = async {
            let Some(id) = self.manager.and_then(|it| it.id) else { return Ok((None, None)) };
            let ids = [id];
            let status =
                async { Ok::<_, Error>(store.rows::<Employee>(tenant, &ids).await?.pop().map(|it| it.value.status)) };
            let reporting = async {
                match self.person {
                    Some(person) => Ok(Some(store.reporting(tenant, person.id, id).await?)),
                    None => Ok(None),
                }
            };
            let (status, reporting) = tokio::try_join!(status, reporting)?;
            let is_below = reporting.is_some_and(|it| it.is_below);
            Ok::<_, Error>((status.map(|status| ReportingLine { status, is_below }), reporting.map(|it| it.tree)))
        };
        let department = async {
            let Some(id) = self.department.and_then(|it| it.id) else { return Ok(None) };
            Ok::<_, Error>(store.row::<Department>(tenant, id).await?.map(|it| it.value.archived_at.is_some()))
        };
        let email = async {
            let Some(email) = self.email else { return Ok(None) };
            Ok::<_, Error>(store.id_by(tenant, rows::employees::BY_EMAIL, folded(email)).await?)
        };
        let external_id = async {
            let Some(external_id) = self.external_id else { return Ok(None) };
            Ok::<_, Error>(store.id_by(tenant, rows::employees::BY_EXTERNAL_ID, external_id.to_owned()).await?)
        };
        let managed = async {
            let Some(id) = self.person.and_then(|it| it.connector_id) else { return Ok(vec![]) };
            let connector = store.row::<Connector>(tenant, id).await?;
            Ok::<_, Error>(connector.map(|it| it.value.mapped_custom_field_keys).unwrap_or_default())
        };
        let ((manager, tree), department_archived, email_holder, external_id_holder, managed_keys) =
            tokio::try_join!(manager, department, email, external_id, managed)?;
        let references =
            References { manager, department_archived, email_holder, external_id_holder, managed_keys, acting: None };
        Ok(Known { references, tree })
    }
}
