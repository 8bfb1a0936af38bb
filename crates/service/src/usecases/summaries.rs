//! Summaries (decisions G).

use std::collections::{BTreeSet, HashMap};

use candor_domain::access::{Access, Permission};
use candor_domain::audit;
use candor_domain::external_id::ExternallyIdentified;
use candor_domain::fields::Reference;
use candor_domain::id::{EmployeeId, Id, Kind, ObjectiveKind, ObservationId, ObservationKind, SummaryId};
use candor_domain::json::Object;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::summary::{
    Action, ActionKind, Draft, Expand, Filter, Patch, References, StoredObservation, Summary,
};
use candor_domain::time::Timestamp;
use candor_domain::visibility::LinkedId;
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand::{self, Expandable, Inlined};
use crate::context::external_ids;
use crate::context::list::JsonObjectWriter;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::visible;
use crate::usecases::{audit_log, organization};

/// Number of summaries whose included resources are read together. Each may have 300 resources of up to 30 KB.
const WITH_INCLUDED_AT_A_TIME: usize = 10;

/// Resources to inline in the summaries of a page.
pub(crate) struct Included {
    people: HashMap<EmployeeId, Employee>,
    employee: bool,
    author: bool,
    objectives: Inlined<Objective>,
    observations: Inlined<Observation>,
}

impl Expandable for Summary {
    type Path = Expand;
    type Included = Included;

    fn access(path: Expand) -> Option<Access> {
        Some(Access::scope(match path {
            Expand::Employee | Expand::Author => Permission::EmployeesRead,
            Expand::IncludedObjectives => Permission::ObjectivesRead,
            Expand::IncludedObservations => Permission::ObservationsRead,
        }))
    }

    fn at_a_time(paths: &[Expand]) -> usize {
        let is_large =
            |expand: &Expand| matches!(expand, Expand::IncludedObjectives | Expand::IncludedObservations);
        if paths.iter().any(is_large) { WITH_INCLUDED_AT_A_TIME } else { usize::MAX }
    }

    async fn find(context: &RequestContext, paths: &[Expand], items: &[Self]) -> Result<Included, Error> {
        let is_requested = |path: Expand| paths.contains(&path);
        let (employee, author) = (is_requested(Expand::Employee), is_requested(Expand::Author));
        let people = items.iter().flat_map(|item| {
            let employee = employee.then_some(item.employee_id);
            employee.into_iter().chain(item.author_id.filter(|_| author))
        });
        let objectives = items.iter().flat_map(|item| item.included_objective_ids.iter().copied());
        let observations = items.iter().flat_map(|item| item.included_observation_ids.iter().copied());
        let (people, objectives, observations) = tokio::try_join!(
            expand::inline_referenced(context, employee || author, people),
            visible::inline_many(context, is_requested(Expand::IncludedObjectives), objectives),
            visible::inline_many(context, is_requested(Expand::IncludedObservations), observations),
        )?;
        Ok(Included { people: people.unwrap_or_default(), employee, author, objectives, observations })
    }

    /// Writes the inlined resources. Omits objectives and observations that the caller does not see.
    fn inline(&self, found: &Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error> {
        shown.member("employee", found.employee.then(|| found.people.get(&self.employee_id)))?;
        shown.member("author", found.author.then(|| self.author_id.and_then(|id| found.people.get(&id))))?;
        shown
            .list("included_objectives", list_included(&self.included_objective_ids, found.objectives.as_ref()))?;
        shown.list(
            "included_observations",
            list_included(&self.included_observation_ids, found.observations.as_ref()),
        )
    }
}

/// Returns the resources that were found, in the order in which the summary includes them. `None` if the request does
/// not ask for them.
fn list_included<'a, K: Kind, T>(ids: &[Id<K>], found: Option<&'a HashMap<Id<K>, T>>) -> Option<Vec<&'a T>> {
    found.map(|all| ids.iter().filter_map(|id| all.get(id)).collect())
}

/// `GET /summaries`: lists summaries that the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let mut request = params.parse(Filter::read)?;
    let filter = &mut request.filter;
    let objective = filter.included_objective_id.map(LinkedId::Objective);
    let observation = filter.included_observation_id.map(LinkedId::Observation);
    if !visible::may_filter_by(context, objective.into_iter().chain(observation)).await? {
        filter.included_observation_id = Some(ObservationId::from_bytes([0; 16]));
    }
    let listing = rows::summaries::list(&request.filter, context.caller.viewer(), request.sort, &request.page);
    expand::page(context, &request, listing).await
}

/// `GET /summaries/{id}`: returns a summary, also an archived one.
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn get(context: &RequestContext, id: SummaryId, params: Params) -> Result<Reply, Error> {
    expand::one(context, params, visible::require::<Summary>(context, id)).await
}

/// `GET /summaries/{id}/history`: lists the changes of a summary, newest first, for those who may change it (decision G).
///
/// # Errors
/// Not found, a summary that the caller sees only because it was shared, invalid parameters; see [`Error`].
pub async fn history(context: &RequestContext, id: SummaryId, mut params: Params) -> Result<Reply, Error> {
    let summary = visible::require::<Summary>(context, id).await?;
    summary.value.may_be_changed_by(&context.caller)?;
    let filter = audit::Filter { target_id: Some(id.to_string()), ..audit::Filter::default() };
    let request = params.list::<audit::AuditEntry, _, ()>(&format!("history of {id}"), filter, vec![]);
    let request = params.finish(request)?;
    audit_log::history(context, &request).await
}

/// `POST /summaries`: creates a draft of a summary.
///
/// # Errors
/// Invalid fields, another author than the caller's person, invalid references; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?.written_by(&context.caller)?;
        let people = [Some(&draft.employee), draft.author()].into_iter().flatten().filter_map(|person| person.id);
        let references =
            references(context, people.collect(), &draft.objectives, &draft.observations, &draft).await?;
        Ok(PendingChange::new(Summary::create(context.services.id(at), draft, &references, at)?))
    };
    context.create(decide).await
}

/// `PATCH /summaries/{id}`: updates a draft or a summary in review.
///
/// # Errors
/// Not found, invalid fields, a summary that the caller may only read, approved or archived already, invalid
/// references; see [`Error`].
pub async fn update(context: &RequestContext, id: SummaryId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let summary = visible::require::<Summary>(context, id).await?;
        let visible_summary = visible::as_shown(context, &summary).await?.value;
        let patch = context.validate_update(summary.version, || update.resolve_with(&visible_summary))?;
        summary.value.may_be_changed_by(&context.caller)?;
        let objectives =
            find_added_references(patch.objectives.as_deref(), &visible_summary.included_objective_ids);
        let observations =
            find_added_references(patch.observations.as_deref(), &visible_summary.included_observation_ids);
        let (references, organization) = tokio::try_join!(
            references(context, BTreeSet::new(), &objectives, &observations, &patch),
            organization::load(context)
        )?;
        let editor = context.caller.bound_to();
        let needs_approval =
            summary.value.needs_approval_from_others(&context.caller, organization.value.summary_review);
        let decision = summary.value.update(&visible_summary, patch, &references, editor, needs_approval, at)?;
        Ok((summary, decision.map(PendingChange::new)))
    };
    context.update(decide).await
}

/// `POST /summaries/{id}/{action}`: runs an action of the lifecycle, such as `submit`.
///
/// # Errors
/// Not found, invalid fields, an action that the caller may not take, a transition that is not allowed; see
/// [`Error`].
pub async fn act(context: &RequestContext, id: SummaryId, what: ActionKind, body: Object) -> Result<Reply, Error> {
    let action = Action::parse(what, body);
    let decide = async |at: Timestamp| {
        let (stored, organization) =
            tokio::try_join!(visible::require::<Summary>(context, id), organization::load(context))?;
        let action = context.validate_update(stored.version, || action.clone())?;
        let review = organization.value.summary_review;
        stored.value.may_be_acted_on_by(&context.caller, what, review)?;
        let decision = stored.value.apply(action, context.caller.bound_to(), review, at)?;
        Ok((stored, PendingChange::new(decision)))
    };
    context.act(decide).await
}

/// Returns the references of a change that were not in the resource before.
fn find_added_references<K: Kind>(wanted: Option<&[Reference<K>]>, before: &[Id<K>]) -> Vec<Reference<K>> {
    let ids_before: BTreeSet<_> = before.iter().collect();
    let is_new = |reference: &&Reference<K>| reference.id.is_none_or(|id| !ids_before.contains(&id));
    wanted.unwrap_or_default().iter().filter(is_new).cloned().collect()
}

/// Returns the stored state of the resources that a body refers to, with one query per kind, and the summary with
/// the external id of the body.
async fn references(
    context: &RequestContext,
    people: BTreeSet<EmployeeId>,
    objectives: &[Reference<ObjectiveKind>],
    observations: &[Reference<ObservationKind>],
    body: &impl ExternallyIdentified,
) -> Result<References, Error> {
    let ids = |reference: &Reference<ObservationKind>| reference.id;
    let (people, objectives, observations, external_ids) = tokio::try_join!(
        expand::find_referenced::<Employee>(context, !people.is_empty(), people),
        visible::find_many::<Objective>(
            context,
            !objectives.is_empty(),
            objectives.iter().filter_map(|objective| objective.id)
        ),
        visible::find_many::<Observation>(context, !observations.is_empty(), observations.iter().filter_map(ids)),
        external_ids::find_holders(context, rows::summaries::BY_EXTERNAL_ID, std::slice::from_ref(body)),
    )?;
    let observation = |observation: Observation| {
        (
            observation.id,
            StoredObservation {
                employee_id: observation.employee_id,
                is_archived: observation.archived_at.is_some(),
            },
        )
    };
    let people = people.unwrap_or_default();
    people.values().try_for_each(|person| person.must_exist("create"))?;
    Ok(References {
        people: people.into_keys().collect(),
        objectives: objectives.unwrap_or_default().into_keys().collect(),
        observations: observations.unwrap_or_default().into_values().map(observation).collect(),
        external_ids,
    })
}
