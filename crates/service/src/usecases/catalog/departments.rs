//! Departments. Their routes need the scopes of employees; writes need admin level as well (decision B3).

use candor_domain::catalog::Department;
use candor_domain::catalog::department::{Filter, parse_new, parse_patch};
use candor_domain::id::DepartmentId;
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::time::Timestamp;
use candor_port_storage::{Require, StorageExt};
use candor_tables::rows;

use super::holder;
use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;

/// `GET /departments`: lists departments.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::departments::list(&request.filter, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /departments/{id}`: returns a department.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(context: &RequestContext, id: DepartmentId) -> Result<Reply, Error> {
    expand::plain(context, &context.find_stored::<Department>(id).await?).await
}

/// `POST /departments`: creates a department.
///
/// # Errors
/// Invalid fields, not an admin, a name in use; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let name = parse_new(body);
    let decide = async |at: Timestamp| {
        let name = context.validate_create(|| name.clone())?;
        let holder = holder(context, rows::departments::BY_NAME, Some(&name)).await?;
        Ok(PendingChange::new(Department::create(context.services.id(at), name, holder, at)?))
    };
    context.create(decide).await
}

/// `PATCH /departments/{id}`: renames a department.
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name in use; see [`Error`].
pub async fn update(context: &RequestContext, id: DepartmentId, body: Object) -> Result<Reply, Error> {
    let update = parse_patch(body);
    let decide = async |at: Timestamp| {
        let department = context.find_stored::<Department>(id).await?;
        let name = context.validate_update(department.version, || update.resolve_with(&department.value))?;
        let holder = holder(context, rows::departments::BY_NAME, name.as_deref()).await?;
        let decision = department.value.rename(name, holder, at)?;
        Ok((department, decision.map(PendingChange::new)))
    };
    context.update(decide).await
}

/// `POST /departments/{id}/archive`: archives a department without members.
///
/// # Errors
/// Not found, not an admin, archived already, has members; see [`Error`].
pub async fn archive(context: &RequestContext, id: DepartmentId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let department = context.find_stored::<Department>(id).await?;
        context.validate_action(department.version)?;
        let member =
            context.services.store.first(context.caller.tenant, rows::employees::members_of(id, 1)).await?;
        let decision = department.value.archive(member.is_some(), at)?;
        Ok((department, PendingChange::new(decision).with_requirements([Require::DepartmentVacant(id)])))
    };
    context.act(decide).await
}

/// `POST /departments/{id}/restore`: restores an archived department.
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(context: &RequestContext, id: DepartmentId) -> Result<Reply, Error> {
    context.act_on(id, Department::restore).await
}
