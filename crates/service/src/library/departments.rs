//! Departments. They ride on the scopes of employees; their writes need admin level (decision B3).

use candor_domain::id::DepartmentId;
use candor_domain::json::Object;
use candor_domain::library::Department;
use candor_domain::library::department::{Filter, parse_new};
use candor_domain::params::Params;
use candor_domain::text::folded;
use candor_domain::time::Timestamp;
use candor_port_storage::{Require, StorageExt, Versioned, rows};

use crate::change::Planned;
use crate::expand;
use crate::reply::Reply;
use crate::shell::or_not_found;
use crate::{Call, Error, Shell};

/// `GET /departments`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let listing = rows::departments::list(&request.filter, request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /departments/{id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Reply, Error> {
    expand::plain(call, &stored(shell, call, id).await?)
}

async fn stored(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Versioned<Department>, Error> {
    or_not_found(shell.store.row(call.caller.tenant, id).await?)
}

/// The department that has a name, without case.
async fn holder(shell: &Shell, call: &Call, name: Option<&str>) -> Result<Option<DepartmentId>, Error> {
    let Some(name) = name else { return Ok(None) };
    Ok(shell.store.id_by(call.caller.tenant, rows::departments::BY_NAME, folded(name)).await?)
}

/// `POST /departments`
///
/// # Errors
/// Invalid fields, not an admin, a name that is taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let name = call.admit_new(|| parse_new(body.clone()))?;
        let holder = holder(shell, call, Some(&name)).await?;
        Ok(Planned::of(Department::create(shell.id(at), name, holder, at)?))
    };
    shell.create(call, "/departments", decide).await
}

/// `PATCH /departments/{id}`
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name that is taken; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: DepartmentId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = stored(shell, call, id).await?;
        let name = call.admit(stored.version, || stored.value.parse_patch(body.clone()))?;
        let holder = holder(shell, call, name.as_deref()).await?;
        let decision = stored.value.rename(name, holder, at)?;
        Ok((stored, decision.map(Planned::of)))
    };
    shell.update(call, decide).await
}

/// `POST /departments/{id}/archive`
///
/// # Errors
/// Not found, not an admin, archived already, has members; see [`Error`].
pub async fn archive(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = stored(shell, call, id).await?;
        call.admit_act(stored.version)?;
        let member = shell.store.first(call.caller.tenant, rows::employees::members_of(id, 1)).await?;
        let decision = stored.value.archive(member.is_some(), at)?;
        Ok((stored, Planned::of(decision).requiring([Require::DepartmentVacant(id)])))
    };
    shell.act(call, decide).await
}

/// `POST /departments/{id}/restore`
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(shell: &Shell, call: &Call, id: DepartmentId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = stored(shell, call, id).await?;
        call.admit_act(stored.version)?;
        let decision = stored.value.restore(at)?;
        Ok((stored, Planned::of(decision)))
    };
    shell.act(call, decide).await
}
