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
use candor_port_storage::{StorageExt, Versioned, rows};

use crate::change::Planned;
use crate::expand;
use crate::reply::Reply;
use crate::shell::or_not_found;
use crate::{Call, Error, Shell};

/// `GET /attributes`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let listing = rows::attributes::list(&request.filter, request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /attributes/{id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: AttributeId) -> Result<Reply, Error> {
    expand::plain(call, &stored(shell, call, id).await?)
}

async fn stored(shell: &Shell, call: &Call, id: AttributeId) -> Result<Versioned<Attribute>, Error> {
    or_not_found(shell.store.row(call.caller.tenant, id).await?)
}

/// The attribute that has a name, without case.
async fn holder(shell: &Shell, call: &Call, name: Option<&str>) -> Result<Option<AttributeId>, Error> {
    let Some(name) = name else { return Ok(None) };
    Ok(shell.store.id_by(call.caller.tenant, rows::attributes::BY_NAME, folded(name)).await?)
}

/// `POST /attributes`
///
/// # Errors
/// Invalid fields, not an admin, a name that is taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone()))?;
        let holder = holder(shell, call, Some(&draft.name)).await?;
        Ok(Planned::of(Attribute::create(shell.id(at), draft, holder, at)?))
    };
    shell.create(call, "/attributes", decide).await
}

/// `PATCH /attributes/{id}`
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name that is taken; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: AttributeId, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let stored = stored(shell, call, id).await?;
        let patch = call.admit(stored.version, || Patch::parse(body.clone(), &stored.value))?;
        let holder = holder(shell, call, patch.name.as_deref()).await?;
        let decision = stored.value.update(patch, holder, at)?;
        Ok((stored, decision.map(Planned::of)))
    };
    shell.update(call, decide).await
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
    let decide = async |at: Timestamp| {
        let stored = stored(shell, call, id).await?;
        call.admit_act(stored.version)?;
        let decision = decide(&stored.value, at)?;
        Ok((stored, Planned::of(decision)))
    };
    shell.act(call, decide).await
}
