//! Legal holds on the data of people (decision H3).

use candor_domain::decision::Decision;
use candor_domain::id::EmployeeId;
use candor_domain::json::Object;
use candor_domain::people::{Employee, HoldDraft, LegalHold};
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Row, Version, Write};

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{or_not_found, render};

/// `GET /employees/{id}/legal-hold`: returns the hold.
///
/// # Errors
/// Not found, also if the person has no hold; see [`Error`].
pub async fn get(context: &RequestContext, id: EmployeeId) -> Result<Reply, Error> {
    let employee = context.find_stored::<Employee>(id).await?;
    context.authorize()?;
    hold_reply(employee.value.legal_hold())
}

/// `PUT /employees/{id}/legal-hold`: sets a hold, or changes the reason of the hold.
///
/// # Errors
/// Not found, invalid fields, no admin-level key; see [`Error`].
pub async fn put(context: &RequestContext, id: EmployeeId, body: Object) -> Result<Reply, Error> {
    let draft = HoldDraft::parse(body);
    let plan = async |at: Timestamp| {
        let employee = context.find_stored::<Employee>(id).await?;
        let draft = context.validate_update(employee.shown_version(), || draft.clone())?;
        let Some(decision) = employee.value.set_hold(draft, at)? else {
            return Ok(ChangePlan::Unchanged(hold_reply(employee.value.legal_hold())?));
        };
        let hold = hold_reply(decision.state.legal_hold())?;
        Ok(ChangePlan::Commit(build_hold_change(context, decision, employee.version, at)?, hold))
    };
    context.change(plan).await
}

/// `DELETE /employees/{id}/legal-hold`: ends the hold.
///
/// # Errors
/// Not found, also if the person has no hold; no admin-level key; see [`Error`].
pub async fn delete(context: &RequestContext, id: EmployeeId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let employee = context.find_stored::<Employee>(id).await?;
        context.validate_action(employee.shown_version())?;
        let decision = employee.value.release_hold()?;
        Ok(ChangePlan::Commit(build_hold_change(context, decision, employee.version, at)?, Reply::no_content()))
    };
    context.change(plan).await
}

fn build_hold_change(
    context: &RequestContext,
    decision: Decision<Employee>,
    seen: Version,
    at: Timestamp,
) -> Result<Box<ChangeSet>, Error> {
    let state_json = render(&decision.state)?;
    let (mut change, person) = context.change_set(decision, &state_json, at)?;
    change.writes = vec![Write::put(&Row::at_version(person, seen))];
    Ok(Box::new(change))
}

fn hold_reply(hold: Option<LegalHold>) -> Result<Reply, Error> {
    Ok(Reply::ok(render(&or_not_found(hold)?)?, None))
}
