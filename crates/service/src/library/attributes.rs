//! Attributes. They ride on the scopes of observations; their writes need admin level (decision B3).

use candor_domain::decision::Decision;
use candor_domain::id::AttributeId;
use candor_domain::json::Object;
use candor_domain::library::Attribute;
use candor_domain::library::attribute::{Draft, Filter, Patch};
use candor_domain::params::Params;
use candor_domain::refusal::Refusal;
use candor_domain::text::folded;
use candor_domain::time::Timestamp;
use candor_port_storage::{Row, StorageExt, Write, rows};

use crate::list;
use crate::reply::Reply;
use crate::shell::{ChangePlan, or_not_found, render};
use crate::{Call, Error, Shell};

/// `GET /attributes`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let page = shell
        .store
        .page(call.caller.tenant, rows::attributes::list(&request.filter, request.sort, &request.page))
        .await?;
    list::page(&request, &page, |it| it)
}

/// `GET /attributes/{id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: AttributeId) -> Result<Reply, Error> {
    let stored = or_not_found(shell.store.row::<Attribute>(call.caller.tenant, id).await?)?;
    Ok(Reply::done(render(&stored.value)?, Some(stored.version)))
}

/// `POST /attributes`
///
/// # Errors
/// Invalid fields, not an admin, a name that is taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let draft = Draft::parse(body.clone())?;
        call.caller.require_admin()?;
        let holder = shell.store.id_by(call.caller.tenant, rows::attributes::BY_NAME, folded(&draft.name)).await?;
        let decision = Attribute::create(shell.id(at), draft, holder, at)?;
        let location = format!("/attributes/{}", decision.state.id);
        let (change, body, version) = shell.plan(call, decision, None, at, |it| vec![Write::put(&Row::new(it))])?;
        Ok(ChangePlan::Commit(change, Reply::created(location, body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `PATCH /attributes/{id}`
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name that is taken; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: AttributeId, body: Object) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Attribute>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let patch = Patch::parse(body.clone(), &stored.value)?;
        call.caller.require_admin()?;
        let holder = match &patch.name {
            Some(name) => shell.store.id_by(call.caller.tenant, rows::attributes::BY_NAME, folded(name)).await?,
            None => None,
        };
        let Some(decision) = stored.value.update(patch, holder, at)? else {
            return Ok(ChangePlan::Unchanged(Reply::done(render(&stored.value)?, Some(stored.version))));
        };
        let (change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}

/// `POST /attributes/{id}/archive`
///
/// # Errors
/// Not found, not an admin, archived already; see [`Error`].
pub async fn archive(shell: &Shell, call: &Call, id: AttributeId) -> Result<Reply, Error> {
    act(shell, call, id, Attribute::archive).await
}

/// `POST /attributes/{id}/restore`
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(shell: &Shell, call: &Call, id: AttributeId) -> Result<Reply, Error> {
    act(shell, call, id, Attribute::restore).await
}

async fn act(
    shell: &Shell,
    call: &Call,
    id: AttributeId,
    decide: fn(&Attribute, Timestamp) -> Result<Decision<Attribute>, Refusal>,
) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = or_not_found(shell.store.row::<Attribute>(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        call.caller.require_admin()?;
        let decision = decide(&stored.value, at)?;
        let (change, body, version) = shell
            .plan(call, decision, Some(stored.version), at, |it| vec![Write::put(&Row::seen(it, stored.version))])?;
        Ok(ChangePlan::Commit(change, Reply::done(body, Some(version))))
    };
    shell.change(call, plan).await
}
