//! Assignments and their submissions (decision G).

use std::collections::BTreeSet;

use candor_domain::assignment::{Assignment, Draft, Filter, References, SubmissionDraft};
use candor_domain::id::AssignmentId;
use candor_domain::json::Object;
use candor_domain::library::Attribute;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_domain::visibility::LinkedId;
use candor_port_storage::{Require, StorageExt};
use candor_tables::rows;

use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::shell::Shell;
use crate::context::{expand, visible};
use crate::usecases::observations;

/// `GET /assignments`: what the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let listing = rows::assignments::list(&request.filter, call.caller.viewer(), request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /assignments/{id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: AssignmentId) -> Result<Reply, Error> {
    expand::plain(shell, call, &visible::require::<Assignment>(shell, call, id).await?).await
}

/// `POST /assignments`
///
/// # Errors
/// Invalid fields, another requester than the caller acts for, people who are not there; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone()))?.asked_by(&call.caller)?;
        let people = shell.store.rows::<Employee>(call.caller.tenant, &draft.people()).await?;
        let found = References { people: people.into_iter().map(|it| (it.value.id, it.value.status)).collect() };
        Ok(Planned::of(Assignment::create(shell.id(at), draft, &found, at)?))
    };
    shell.create(call, "/assignments", decide).await
}

/// `POST /assignments/{id}/cancel`
///
/// # Errors
/// Not found, neither the requester nor an org admin, not open; see [`Error`].
pub async fn cancel(shell: &Shell, call: &Call, id: AssignmentId) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = visible::require::<Assignment>(shell, call, id).await?;
        call.admit_act(stored.version)?;
        stored.value.may_be_canceled_by(&call.caller)?;
        let decision = stored.value.cancel(at)?;
        Ok((stored, Planned::of(decision)))
    };
    shell.act(call, decide).await
}

/// `POST /assignments/{id}/submissions`: the observations, their events and what becomes of the assignment are one change.
///
/// # Errors
/// Not found, invalid fields, another reviewer than the caller acts for, not open, a reviewer who is not asked or has
/// submitted already, references that do not hold; see [`Error`].
pub async fn submit(shell: &Shell, call: &Call, id: AssignmentId, body: Object) -> Result<Reply, Error> {
    let _turn = shell.submission_lock(id).await;
    let decide = async |at: Timestamp| {
        let stored = visible::require::<Assignment>(shell, call, id).await?;
        let parse = || SubmissionDraft::parse(body.clone(), &stored.value, &call.caller, at.date());
        let draft = call.admit(stored.version, parse)?;
        draft.may_be_submitted_by(&call.caller)?;
        let found = observations::named(shell, call, &draft.observations).await?;
        let (decision, observed) = stored.value.submit(draft, || shell.id(at), &found, at)?;
        let attributes: BTreeSet<_> = observed.iter().flat_map(|it| it.state.attribute_ids.iter().copied()).collect();
        let mut planned = Planned::of(decision).requiring(attributes.into_iter().map(Require::open::<Attribute>));
        planned = planned.showing(observed.iter().map(|observation| LinkedId::Observation(observation.state.id)));
        for it in observed {
            planned = planned.adding(shell, call, it, at)?;
        }
        Ok((stored, planned))
    };
    shell.act(call, decide).await
}
