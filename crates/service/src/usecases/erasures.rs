//! Erasures of people and their receipts (decision H4).

use candor_domain::erasure::{Erasure, ErasureDraft, Filter, Requester};
use candor_domain::id::{EmployeeId, ErasureId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_tables::rows;

use crate::change::ChangePlan;
use crate::context::erasing::{ErasureOrigin, begin};
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// `GET /erasures`: lists erasures.
///
/// # Errors
/// Invalid parameters, no admin-level key; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    context.authorize()?;
    let listing = rows::erasures::list(request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /erasures/{id}`: returns an erasure with its receipt.
///
/// # Errors
/// Not found, no admin-level key; see [`Error`].
pub async fn get(context: &RequestContext, id: ErasureId) -> Result<Reply, Error> {
    let erasure = context.find_stored::<Erasure>(id).await?;
    context.authorize()?;
    Ok(Reply::ok(render(&erasure.value)?, None))
}

/// `POST /employees/{id}/erasure`: replaces the person by a pseudonym, revokes their keys, and begins to remove
/// the other data.
///
/// # Errors
/// Not found, invalid fields, no admin-level key, not deactivated, on hold, erased before; see [`Error`].
pub async fn create(context: &RequestContext, id: EmployeeId, body: Object) -> Result<Reply, Error> {
    let draft = ErasureDraft::parse(body);
    let plan = async |at: Timestamp| {
        let tenant = context.caller.tenant;
        let employee = context.find_stored::<Employee>(id).await?;
        let draft = context.validate_update(employee.shown_version(), || draft.clone())?;
        let decision = employee.value.erase(draft, at)?;
        let origin = ErasureOrigin {
            id: context.services.id(at),
            requested_by: Requester::key(context.caller.key),
            requested_at: at,
        };
        let state_json = render(&decision.state)?;
        let (mut change, person) = context.change_set(decision, &state_json, at)?;
        let (erasure, mut writes) = begin(&context.services, tenant, (&employee, person), origin, at).await?;
        change.writes.append(&mut writes);
        Ok(ChangePlan::Commit(Box::new(change), Reply::accepted(render(&erasure)?)))
    };
    let reply = context.change(plan).await?;
    Ok(reply)
}
