//! Assignments and their submissions (decision G).

use std::collections::BTreeSet;

use candor_domain::assignment::{Assignment, Draft, Filter, References, SubmissionDraft};
use candor_domain::catalog::Attribute;
use candor_domain::id::AssignmentId;
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_domain::visibility::LinkedId;
use candor_port_storage::{Require, StorageExt};
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::{expand, external_ids, visible};
use crate::usecases::observations;

/// `GET /assignments`: lists assignments that the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::assignments::list(&request.filter, context.caller.viewer(), request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /assignments/{id}`: returns an assignment.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(context: &RequestContext, id: AssignmentId) -> Result<Reply, Error> {
    expand::plain(context, &visible::require::<Assignment>(context, id).await?).await
}

/// `POST /assignments`: creates an assignment.
///
/// # Errors
/// Invalid fields, another requester than the caller's person, unknown people, an external id in use; see
/// [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?.asked_by(&context.caller)?;
        let (ids, bodies) = (draft.people(), std::slice::from_ref(&draft));
        let people =
            async { Ok::<_, Error>(context.services.store.rows::<Employee>(context.caller.tenant, &ids).await?) };
        let holders = external_ids::find_holders(context, rows::assignments::BY_EXTERNAL_ID, bodies);
        let (people, external_ids) = tokio::try_join!(people, holders)?;
        people.iter().try_for_each(|person| person.value.must_exist("create"))?;
        let references = References {
            people: people.into_iter().map(|person| (person.value.id, person.value.status)).collect(),
            external_ids,
        };
        Ok(PendingChange::new(Assignment::create(context.services.id(at), draft, &references, at)?))
    };
    context.create(decide).await
}

/// `POST /assignments/{id}/cancel`: cancels an open assignment.
///
/// # Errors
/// Not found, neither the requester nor an org admin, not open; see [`Error`].
pub async fn cancel(context: &RequestContext, id: AssignmentId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let assignment = visible::require::<Assignment>(context, id).await?;
        context.validate_action(assignment.version)?;
        assignment.value.may_be_canceled_by(&context.caller)?;
        let decision = assignment.value.cancel(at)?;
        Ok((assignment, PendingChange::new(decision)))
    };
    context.act(decide).await
}

/// `POST /assignments/{id}/submissions`: commits the observations, their events and the new state of the
/// assignment together.
///
/// # Errors
/// Not found, invalid fields, another reviewer than the caller's person, not open, a reviewer who is not asked
/// or has submitted already, invalid references; see [`Error`].
pub async fn submit(context: &RequestContext, id: AssignmentId, body: Object) -> Result<Reply, Error> {
    let _turn = if context.dry_run { None } else { Some(context.services.submission_lock(id).await) };
    let decide = async |at: Timestamp| {
        let assignment = visible::require::<Assignment>(context, id).await?;
        let parse = || SubmissionDraft::parse(body.clone(), &assignment.value, &context.caller, at);
        let draft = context.validate_update(assignment.version, parse)?;
        draft.may_be_submitted_by(&context.caller)?;
        let references = observations::find_named(context, &draft.observations).await?;
        let (decision, observed) = assignment.value.submit(draft, || context.services.id(at), &references, at)?;
        let attributes: BTreeSet<_> =
            observed.iter().flat_map(|observation| observation.state.attribute_ids.iter().copied()).collect();
        let mut pending_change =
            PendingChange::new(decision).with_requirements(attributes.into_iter().map(Require::open::<Attribute>));
        pending_change = pending_change
            .with_visible(observed.iter().map(|observation| LinkedId::Observation(observation.state.id)));
        for it in observed {
            pending_change = pending_change.with_resource(context, it, at)?;
        }
        Ok((assignment, pending_change))
    };
    context.act(decide).await
}
