//! Check-ins of objectives (decision C12).

use candor_domain::decision::Resource;
use candor_domain::event::EventType;
use candor_domain::id::{CheckInId, ObjectiveId};
use candor_domain::json::Object;
use candor_domain::objective::{CheckIn, CheckInDraft, CheckedInObjective, Family, read_check_ins};
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{Row, StorageExt, Write};
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{or_not_found, render};
use crate::usecases::objectives::find_in_family;

/// `GET /{resource}/{id}/check-ins`: lists the check-ins of an objective that the caller sees.
///
/// # Errors
/// Not found, invalid parameters; see [`Error`].
pub async fn list(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    params: Params,
) -> Result<Reply, Error> {
    find_in_family(context, family, id).await?;
    let request = params.parse(|params| read_check_ins(id, params))?;
    let listing = rows::check_ins::list(id, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /{resource}/{id}/check-ins/{check_in_id}`: returns one check-in.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    check_in: CheckInId,
) -> Result<Reply, Error> {
    find_in_family(context, family, id).await?;
    let stored_check_in = context.services.store.row::<CheckIn>(context.caller.tenant, check_in).await?;
    let check_in_row = stored_check_in.filter(|row| row.value.objective_id == id);
    expand::plain(context, &or_not_found(check_in_row)?).await
}

/// `POST /{resource}/{id}/check-ins`: adds a check-in, which sets the figures of the objective.
///
/// # Errors
/// Not found, invalid fields, no admin context for an org objective, another author than the caller's person, a status
/// without check-ins, an unknown author or key result; see [`Error`].
pub async fn create(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    body: Object,
) -> Result<Reply, Error> {
    let draft = CheckInDraft::parse(body);
    // The version of the objective admits one check-in at a time, and a whole team may check in at once.
    let _turn = if context.dry_run { None } else { Some(context.services.check_in_lock(id).await) };
    let decide = async |at: Timestamp| {
        let stored_objective = find_in_family(context, family, id).await?;
        let draft = context.validate_update(stored_objective.version, || draft.clone())?;
        stored_objective.value.may_be_changed_by(&context.caller)?;
        let draft = draft.written_by(&context.caller)?;
        let author = match draft.author().and_then(|author| author.id) {
            None => None,
            Some(author) => context.services.store.row::<Employee>(context.caller.tenant, author).await?,
        };
        if let Some(author) = &author {
            author.value.must_exist("create")?;
        }
        let (objective, decision) =
            stored_objective.value.check_in(context.services.id(at), draft, author.is_some(), at)?;
        let data =
            render(&CheckedInObjective { objective: &objective.without_linked_ids(), check_in: &decision.state })?;
        let events = context.services.events(&[EventType::ObjectiveCheckedIn], &data, at);
        let objective_write = Write::put(&Row::at_version(objective, stored_objective.version));
        Ok(PendingChange::new(decision).with_writes([objective_write]).with_events(events))
    };
    context.create(decide).await
}
