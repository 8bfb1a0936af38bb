//! Departments. They ride on the scopes of employees; their writes need admin level (decision B3).

use candor_domain::id::DepartmentId;
use candor_domain::json::Object;
use candor_domain::library::Department;
use candor_domain::library::department::{Filter, parse_new};
use candor_domain::params::Params;
use candor_domain::text::folded;
use candor_domain::time::Timestamp;
use candor_port_storage::{Require, Row, StorageExt, Write, rows};

use crate::list;
use crate::reply::Reply;
use crate::shell::{ChangePlan, or_not_found, render};
use crate::{Call, Error, Shell};

/// `GET /departments`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let page = shell
        .store
        .page(call.caller.tenant, rows::departments::list(&request.filter, request.sort, &request.page))
        .await?;
    list::page(&request, &page, |it| it)
}

/// `GET /departments/{id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Reply, Error> {
    let stored = or_not_found(shell.store.row::<Department>(call.caller.tenant, id).await?)?;
    Ok(Reply::done(render(&stored.value)?, Some(stored.version)))
}

/// `POST /departments`
///
/// # Errors
/// Invalid fields, not an admin, a name that is taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let name = parse_new(body.clone())?;
        call.caller.require_admin()?;
        let holder = shell.store.id_by(call.caller.tenant, rows::departments::BY_NAME, folded(&name)).await?;
        let decision = Department::create(shell.id(at), name, holder, at)?;
        let location = format!("/departments/{}", decision.state.id);
        let (change, body, version) = shell.plan(call, decision, None, at, |it| vec![Write::put(&Row::new(it))])?;
        Ok(ChangePlan::Commit(change, Reply::created(location, body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `PATCH /departments/{id}`
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name that is taken; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: DepartmentId, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Department>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let name = stored.value.parse_patch(body.clone())?;
        call.caller.require_admin()?;
        let holder = match &name {
            Some(name) => shell.store.id_by(call.caller.tenant, rows::departments::BY_NAME, folded(name)).await?,
            None => None,
        };
        let Some(decision) = stored.value.rename(name, holder, at)? else {
            return Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version))));
        };
        let (change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `POST /departments/{id}/archive`
///
/// # Errors
/// Not found, not an admin, archived already, has members; see [`Error`].
pub async fn archive(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Department>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        call.caller.require_admin()?;
        let member = shell.store.first(call.caller.tenant, rows::employees::members_of(id, 1)).await?;
        let decision = stored.value.archive(member.is_some(), at)?;
        let (mut change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        change.requires = vec![Require::DepartmentVacant(id)];
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `POST /departments/{id}/restore`
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Department>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        call.caller.require_admin()?;
        let decision = stored.value.restore(at)?;
        let (change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}
