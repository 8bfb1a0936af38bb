//! Departments. Their routes need the scopes of employees, and writes admin level too (decision B3).

use candor_domain::id::DepartmentId;
use candor_domain::json::Object;
use candor_domain::library::Department;
use candor_domain::library::department::{Filter, parse_new};
use candor_domain::params::Params;
use candor_domain::time::Timestamp;
use candor_port_storage::{Require, StorageExt};
use candor_tables::rows;

use super::holder;
use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::shell::Shell;

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
    expand::plain(shell, call, &shell.stored::<Department>(call, id).await?).await
}

/// `POST /departments`
///
/// # Errors
/// Invalid fields, not an admin, a name that is taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let name = call.admit_new(|| parse_new(body.clone()))?;
        let holder = holder(shell, call, rows::departments::BY_NAME, Some(&name)).await?;
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
        let stored = shell.stored::<Department>(call, id).await?;
        let name = call.admit(stored.version, || stored.value.parse_patch(body.clone()))?;
        let holder = holder(shell, call, rows::departments::BY_NAME, name.as_deref()).await?;
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
        let stored = shell.stored::<Department>(call, id).await?;
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
    shell.act_on(call, id, Department::restore).await
}
