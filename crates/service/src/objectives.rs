//! Objectives (§4.2, decisions C).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::access::Permission;
use candor_domain::audit;
use candor_domain::decision::Decision;
use candor_domain::id::{EmployeeId, ObjectiveId, SummaryId};
use candor_domain::json::Object;
use candor_domain::objective::{Action, Draft, Expand, Family, Filter, Objective, OwnerFound, Patch, Sight, Verb};
use candor_domain::organization::{Organization, Review};
use candor_domain::params::Params;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_port_storage::{Row, StorageExt, Versioned, Write, rows};
use serde::Serialize;

use crate::list::{self, may_expand};
use crate::reply::Reply;
use crate::shell::{ChangePlan, or_not_found, render};
use crate::{Call, Error, Shell, audit_log};

#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    objective: &'a Objective,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Option<&'a Employee>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linked_summaries: Option<Vec<&'a serde_json::Value>>,
}

/// What the objectives of a page refer to, as far as it is to be inlined.
struct Inlined {
    owners: Option<BTreeMap<EmployeeId, Employee>>,
    summaries: Option<BTreeMap<SummaryId, serde_json::Value>>,
}

impl Inlined {
    async fn load(shell: &Shell, call: &Call, expand: &[Expand], items: &[Objective]) -> Result<Self, Error> {
        // Nothing keeps summaries yet, so none of the linked ones is found.
        let summaries = expand.contains(&Expand::LinkedSummaries).then(BTreeMap::new);
        if !expand.contains(&Expand::Owner) {
            return Ok(Self { owners: None, summaries });
        }
        let ids: Vec<_> = items.iter().map(|it| it.owner_id).collect::<BTreeSet<_>>().into_iter().collect();
        let owners = shell.store.rows::<Employee>(call.caller.tenant, &ids).await?;
        Ok(Self { owners: Some(owners.into_iter().map(|it| (it.value.id, it.value)).collect()), summaries })
    }

    /// An objective with what was found of it. A summary that is linked and not there is left out.
    fn view<'a>(&'a self, objective: &'a Objective) -> View<'a> {
        let owner = self.owners.as_ref().map(|all| all.get(&objective.owner_id));
        let linked =
            |all: &'a BTreeMap<_, _>| objective.linked_summary_ids.iter().filter_map(|id| all.get(id)).collect();
        View { objective, owner, linked_summaries: self.summaries.as_ref().map(linked) }
    }
}

fn may_inline(call: &Call, expand: &[Expand]) -> Result<(), Error> {
    may_expand(call, expand, &Expand::Owner, Permission::EmployeesRead)?;
    may_expand(call, expand, &Expand::LinkedSummaries, Permission::SummariesRead)
}

/// `GET /{resource}`: what the caller sees, filtered in the store.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, family: Family, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(family, params)?;
    may_inline(call, &request.expand)?;
    let sight = Sight::of(&call.caller);
    let page = shell
        .store
        .page(call.caller.tenant, rows::objectives::list(&request.filter, sight, request.sort, &request.page))
        .await?;
    if request.expand.is_empty() {
        return list::page(&request, &page, |it| it);
    }
    let inlined = Inlined::load(shell, call, &request.expand, &page.items).await?;
    list::page(&request, &page, |it| inlined.view(it))
}

/// The objective, if it stands in this family and the caller sees it; anything else is not there (decision A2, B5).
async fn seen(shell: &Shell, call: &Call, family: Family, id: ObjectiveId) -> Result<Versioned<Objective>, Error> {
    let stored = or_not_found(shell.store.row::<Objective>(call.caller.tenant, id).await?)?;
    let in_family = family.scopes().contains(&stored.value.scope);
    let sight = Sight::of(&call.caller);
    // Whether the owner reports to the caller is asked only where that decides.
    let seen = in_family
        && (sight.sees(&stored.value, false)
            || sight.sees(&stored.value, reports_to(shell, call, sight, stored.value.owner_id).await?));
    or_not_found(seen.then_some(stored))
}

/// Whether somebody reports to the caller's person, at any depth.
async fn reports_to(shell: &Shell, call: &Call, sight: Sight, owner: EmployeeId) -> Result<bool, Error> {
    match sight {
        Sight::Of(person) if person != owner => {
            Ok(shell.store.reporting(call.caller.tenant, person, owner).await?.is_below)
        }
        Sight::All | Sight::Of(_) => Ok(false),
    }
}

/// `GET /{resource}/{id}`
///
/// # Errors
/// Not found, also in the wrong resource; invalid parameters; see [`Error`].
pub async fn get(
    shell: &Shell,
    call: &Call,
    family: Family,
    id: ObjectiveId,
    mut params: Params,
) -> Result<Reply, Error> {
    let expand: Vec<Expand> = params.expand();
    let stored = seen(shell, call, family, id).await?;
    params.finish(())?;
    if expand.is_empty() {
        return Ok(Reply::done(render(&stored.value)?, Some(stored.version)));
    }
    may_inline(call, &expand)?;
    let inlined = Inlined::load(shell, call, &expand, std::slice::from_ref(&stored.value)).await?;
    Ok(Reply::done(render(&inlined.view(&stored.value))?, None))
}

/// `GET /{resource}/{id}/history`: what was done with it, newest first (decision C9).
///
/// # Errors
/// Not found; invalid parameters; see [`Error`].
pub async fn history(
    shell: &Shell,
    call: &Call,
    family: Family,
    id: ObjectiveId,
    mut params: Params,
) -> Result<Reply, Error> {
    let stored = seen(shell, call, family, id).await?;
    let filter = audit::Filter { target_id: Some(stored.value.id.to_string()), ..audit::Filter::default() };
    let request = params.list::<audit::AuditEntry, _, ()>(&format!("history of {id}"), filter, vec![]);
    let request = params.finish(request)?;
    audit_log::history(shell, call, &request).await
}

/// `POST /{resource}`
///
/// # Errors
/// Invalid fields, an org objective without admin context, an owner who is not there; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, family: Family, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let draft = Draft::parse(family, body.clone())?;
        let owner = async {
            match draft.owner.id {
                None => Ok(None),
                Some(id) => shell.store.row::<Employee>(call.caller.tenant, id).await,
            }
        };
        let (review, owner) = tokio::try_join!(review(shell, call), async { owner.await.map_err(Error::from) })?;
        draft.may_be_created_by(&call.caller, review)?;
        let sight = Sight::of(&call.caller);
        let owner = match owner.map(|it| it.value) {
            None => None,
            Some(it) => {
                let below = reports_to(shell, call, sight, it.id).await?;
                Some(OwnerFound { role: it.role, in_reach: sight.reaches(it.id, below) })
            }
        };
        let decision = Objective::create(shell.id(at), draft, owner, at)?;
        let location = format!("{}/{}", family.path(), decision.state.id);
        let (change, body, version) = shell.plan(call, decision, None, at, |it| vec![Write::put(&Row::new(it))])?;
        Ok(ChangePlan::Commit(change, Reply::created(location, body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `PATCH /{resource}/{id}`
///
/// # Errors
/// Not found, invalid fields, no admin context for an org objective, a status that PATCH cannot reach; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, family: Family, id: ObjectiveId, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = seen(shell, call, family, id).await?;
        call.check(stored.version)?;
        let patch = Patch::parse(body.clone(), &stored.value)?;
        stored.value.may_be_changed_by(&call.caller)?;
        match stored.value.update(&patch, at)? {
            None => Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version)))),
            Some(decision) => commit(shell, call, &stored, decision, at).await,
        }
    };
    shell.change(call, plan).await
}

/// `POST /{resource}/{id}/{action}` (§3.1)
///
/// # Errors
/// Not found, invalid fields, no admin context for an org objective, a transition that is not allowed; see [`Error`].
pub async fn act(
    shell: &Shell,
    call: &Call,
    family: Family,
    id: ObjectiveId,
    what: Verb,
    body: Object,
) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let (stored, review) = tokio::try_join!(seen(shell, call, family, id), review(shell, call))?;
        call.check(stored.version)?;
        let action = Action::parse(what, body.clone())?;
        stored.value.may_be_changed_by(&call.caller)?;
        let decision = stored.value.apply(action, review, at)?;
        commit(shell, call, &stored, decision, at).await
    };
    shell.change(call, plan).await
}

/// How the organization reviews objectives (decision C10).
async fn review(shell: &Shell, call: &Call) -> Result<Review, Error> {
    Ok(or_not_found(shell.store.row::<Organization>(call.caller.tenant, call.caller.tenant.organization).await?)?
        .value
        .objective_review)
}

/// Plans the commit of a change, with the people who are told of it.
async fn commit(
    shell: &Shell,
    call: &Call,
    stored: &Versioned<Objective>,
    decision: Decision<Objective>,
    at: Timestamp,
) -> Result<ChangePlan, Error> {
    let notices = crate::notifications::addressed(shell, call.caller.tenant, &decision.notices, at).await?;
    let (mut change, body, version) =
        shell.plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
    change.notices = notices;
    Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
}
