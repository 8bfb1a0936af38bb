//! Objectives (§4.2, decisions C).

use candor_domain::access::{Access, Permission};
use candor_domain::audit;
use candor_domain::counts::CountRequest;
use candor_domain::fields::Reference;
use candor_domain::id::{EmployeeId, KeyResultId, ObjectiveId, ObjectiveKind};
use candor_domain::json::Object;
use candor_domain::objective::{
    Action, Draft, Expand, Family, Filter, Objective, ObjectiveCount, ObjectiveGroup, Patch, References,
    StoredOwner, StoredParent, Verb,
};
use candor_domain::organization::Review;
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::summary::Summary;
use candor_domain::time::Timestamp;
use candor_domain::visibility::{LinkedId, Viewer};
use candor_port_storage::{StorageExt, Versioned};
use candor_tables::rows;

use crate::change::resource::PendingChange;
use crate::context::counts;
use crate::context::error::Error;
use crate::context::expand::{self, Expandable, Inlined};
use crate::context::external_ids;
use crate::context::list::JsonObjectWriter;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, or_not_found};
use crate::context::visible;
use crate::usecases::{audit_log, organization};

/// Resources to inline in the objectives of a page.
pub(crate) struct Included {
    owners: Inlined<Employee>,
    summaries: Inlined<Summary>,
    parents: Inlined<Objective>,
}

/// Number of objectives whose summaries are read together; a summary may have 80 KB.
const WITH_SUMMARIES_AT_A_TIME: usize = 5;

impl Expandable for Objective {
    type Path = Expand;
    type Included = Included;

    fn access(path: Expand) -> Option<Access> {
        match path {
            Expand::Owner => Some(Access::scope(Permission::EmployeesRead)),
            Expand::LinkedSummaries => Some(Access::scope(Permission::SummariesRead)),
            Expand::Parent => None,
        }
    }

    fn at_a_time(paths: &[Expand]) -> usize {
        if paths.contains(&Expand::LinkedSummaries) { WITH_SUMMARIES_AT_A_TIME } else { usize::MAX }
    }

    async fn find(context: &RequestContext, paths: &[Expand], items: &[Self]) -> Result<Included, Error> {
        let summaries = items.iter().flat_map(|item| &item.linked_summary_ids).copied();
        let owners = items.iter().map(|item| item.owner_id);
        let parents = items.iter().filter_map(|item| item.parent_id);
        let (owners, summaries, parents) = tokio::try_join!(
            expand::inline_referenced(context, paths.contains(&Expand::Owner), owners),
            visible::inline_many(context, paths.contains(&Expand::LinkedSummaries), summaries),
            visible::inline_many(context, paths.contains(&Expand::Parent), parents),
        )?;
        Ok(Included { owners, summaries, parents })
    }

    /// Writes the inlined resources. Omits summaries that the caller does not see.
    fn inline(&self, found: &Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error> {
        shown.member("owner", found.owners.as_ref().map(|all| all.get(&self.owner_id)))?;
        let summaries = found.summaries.as_ref();
        let linked_summaries =
            summaries.map(|all| self.linked_summary_ids.iter().filter_map(|id| all.get(id)).collect::<Vec<_>>());
        shown.member("linked_summaries", linked_summaries)?;
        let parents = found.parents.as_ref();
        shown.member("parent", parents.map(|all| self.parent_id.and_then(|parent| all.get(&parent))))
    }
}

/// `GET /{resource}`: lists objectives that the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, family: Family, params: Params) -> Result<Reply, Error> {
    let mut request = params.parse(|params| Filter::read(family, params))?;
    hide_unseen(context, &mut request.filter).await?;
    let listing = rows::objectives::list(&request.filter, context.caller.viewer(), request.sort, &request.page);
    expand::page(context, &request, listing).await
}

/// `GET` on the counts of a family: counts the objectives that the caller sees.
///
/// # Errors
/// Invalid parameters, too slow; see [`Error`].
pub async fn counts(context: &RequestContext, family: Family, params: Params) -> Result<Reply, Error> {
    let CountRequest { mut filter, groups } = params.parse(|params| Filter::read_counts(family, params))?;
    hide_unseen(context, &mut filter).await?;
    let keys: Vec<_> = groups.iter().map(|group| rows::objectives::group_key(*group)).collect();
    let listing = rows::objectives::list(&filter, context.caller.viewer(), Objective::DEFAULT, &PageRequest::ALL);
    counts::reply(context, listing, &keys, |counted| {
        let mut group_view = ObjectiveCount { count: counted.count, ..ObjectiveCount::default() };
        for (group, value) in groups.iter().zip(&counted.values) {
            let member = match group {
                ObjectiveGroup::Status => &mut group_view.status,
                ObjectiveGroup::Scope => &mut group_view.scope,
                ObjectiveGroup::Month => &mut group_view.month,
                ObjectiveGroup::Confidence => &mut group_view.confidence,
            };
            *member = counts::text(value);
        }
        group_view
    })
    .await
}

/// Makes a filter match nothing if it names a parent that the caller does not see.
async fn hide_unseen(context: &RequestContext, filter: &mut Filter) -> Result<(), Error> {
    if !visible::may_filter_by(context, filter.parent_id.map(LinkedId::Objective)).await? {
        filter.scopes.clear();
    }
    Ok(())
}

/// Returns the parent that a body names, if it exists and the caller sees it.
async fn parent(
    context: &RequestContext,
    named: Option<&Reference<ObjectiveKind>>,
) -> Result<Option<StoredParent>, Error> {
    let Some(id) = named.and_then(|named| named.id) else { return Ok(None) };
    let objective = visible::find::<Objective>(context, id).await?.map(|row| row.value);
    Ok(objective.map(|parent| StoredParent { id, scope: parent.scope, status: parent.status }))
}

/// Returns an id for each new key result.
fn key_result_ids(services: &Services, count: usize, at: Timestamp) -> Vec<KeyResultId> {
    (0..count).map(|_| services.id(at)).collect()
}

/// Returns the objective, which must belong to this family and be visible to the caller (decisions A2, B5).
pub(super) async fn find_in_family(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
) -> Result<Versioned<Objective>, Error> {
    let objective_row = visible::find::<Objective>(context, id).await?;
    or_not_found(objective_row.filter(|row| family.scopes().contains(&row.value.scope)))
}

/// Returns `true` if the owner reports to the caller's person, at any depth.
async fn reports_to(context: &RequestContext, viewer: Viewer, owner: EmployeeId) -> Result<bool, Error> {
    match viewer {
        Viewer::Person(person) if person != owner => {
            Ok(context.services.store.read_reporting(context.caller.tenant, person, owner).await?.is_below)
        }
        Viewer::Everything | Viewer::Person(_) => Ok(false),
    }
}

/// `GET /{resource}/{id}`: returns an objective of this family.
///
/// # Errors
/// Not found, also for an objective of the other family; invalid parameters; see [`Error`].
pub async fn get(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    params: Params,
) -> Result<Reply, Error> {
    expand::one(context, params, find_in_family(context, family, id)).await
}

/// `GET /{resource}/{id}/history`: lists the changes of an objective, newest first (decision C9).
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn history(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    mut params: Params,
) -> Result<Reply, Error> {
    let objective = find_in_family(context, family, id).await?;
    let filter = audit::Filter { target_id: Some(objective.value.id.to_string()), ..audit::Filter::default() };
    let request = params.list::<audit::AuditEntry, _, ()>(&format!("history of {id}"), filter, vec![]);
    let request = params.finish(request)?;
    audit_log::history(context, &request).await
}

/// `POST /{resource}`: creates an objective.
///
/// # Errors
/// Invalid fields, an org objective without admin context, an owner who is unknown or out of the caller's reach,
/// an external id in use; see [`Error`].
pub async fn create(context: &RequestContext, family: Family, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(family, body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let owner = async {
            match draft.owner.id {
                None => Ok(None),
                Some(id) => {
                    Ok::<_, Error>(context.services.store.row::<Employee>(context.caller.tenant, id).await?)
                }
            }
        };
        let bodies = std::slice::from_ref(&draft);
        let holders = external_ids::find_holders(context, rows::objectives::BY_EXTERNAL_ID, bodies);
        let parent = parent(context, draft.parent.as_ref());
        let (review, owner, external_ids, parent) = tokio::try_join!(review(context), owner, holders, parent)?;
        draft.may_be_created_by(&context.caller, review)?;
        let owner = match owner.map(|owner| owner.value) {
            None => None,
            Some(it) => {
                it.must_exist("create")?;
                let viewer = context.caller.viewer();
                let is_report = reports_to(context, viewer, it.id).await?;
                Some(StoredOwner { role: it.role, in_reach: viewer.reaches(it.id, is_report) })
            }
        };
        let key_result_ids = key_result_ids(&context.services, draft.new_key_results(), at);
        let references = References { owner, external_ids, parent, key_result_ids };
        let decision = Objective::create(context.services.id(at), draft, &references, at)?;
        Ok(PendingChange::new(decision).with_new_ids(references.key_result_ids))
    };
    context.create(decide).await
}

/// `PATCH /{resource}/{id}`: updates an objective.
///
/// # Errors
/// Not found, invalid fields, no admin context for an org objective, a status that PATCH cannot set, an external
/// id in use; see [`Error`].
pub async fn update(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    body: Object,
) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let objective = find_in_family(context, family, id).await?;
        let visible_objective = visible::as_shown(context, &objective).await?;
        let patch =
            context.validate_update(objective.version, || update.resolve_with(&visible_objective.value))?;
        objective.value.may_be_changed_by(&context.caller)?;
        let bodies = std::slice::from_ref(&patch);
        let holders = external_ids::find_holders(context, rows::objectives::BY_EXTERNAL_ID, bodies);
        let parent = parent(context, patch.parent.as_ref().and_then(Option::as_ref));
        let (external_ids, review, parent) = tokio::try_join!(holders, review(context), parent)?;
        let needs_approval = objective.value.needs_approval_from_others(&context.caller, review);
        let key_result_ids = key_result_ids(&context.services, patch.new_key_results(), at);
        let references = References { owner: None, external_ids, parent, key_result_ids };
        let decision = objective.value.update(&patch, &references, needs_approval, at)?;
        let change = decision.map(|decision| PendingChange::new(decision).with_new_ids(references.key_result_ids));
        Ok((objective, change))
    };
    context.update(decide).await
}

/// `POST /{resource}/{id}/{action}`: runs an action of the lifecycle, such as `approve` (§3.1).
///
/// # Errors
/// Not found, invalid fields, no admin context for an org objective, a required review by the owner, a
/// transition that is not allowed; see [`Error`].
pub async fn act(
    context: &RequestContext,
    family: Family,
    id: ObjectiveId,
    what: Verb,
    body: Object,
) -> Result<Reply, Error> {
    let action = Action::parse(what, body);
    let decide = async |at: Timestamp| {
        let (stored, review) = tokio::try_join!(find_in_family(context, family, id), review(context))?;
        let action = context.validate_update(stored.version, || action.clone())?;
        stored.value.may_be_acted_on_by(&context.caller, what, review)?;
        let decision = stored.value.apply(action, review, at)?;
        Ok((stored, PendingChange::new(decision)))
    };
    context.act(decide).await
}

/// Returns the organization's review setting of objectives (decision C10).
async fn review(context: &RequestContext) -> Result<Review, Error> {
    Ok(organization::load(context).await?.value.objective_review)
}
