//! Attributes. Their routes need the scopes of observations, and writes admin level too (decision B3).

use candor_domain::id::AttributeId;
use candor_domain::json::Object;
use candor_domain::library::Attribute;
use candor_domain::library::attribute::{Draft, Filter, Patch};
use candor_domain::params::Params;
use candor_domain::time::Timestamp;
use candor_tables::rows;

use super::holder;
use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::shell::Shell;

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
    expand::plain(shell, call, &shell.stored::<Attribute>(call, id).await?).await
}

/// `POST /attributes`
///
/// # Errors
/// Invalid fields, not an admin, a name that is taken; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone()))?;
        let holder = holder(shell, call, rows::attributes::BY_NAME, Some(&draft.name)).await?;
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
        let stored = shell.stored::<Attribute>(call, id).await?;
        let patch = call.admit(stored.version, || Patch::parse(body.clone(), &stored.value))?;
        let holder = holder(shell, call, rows::attributes::BY_NAME, patch.name.as_deref()).await?;
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
    shell.act_on(call, id, Attribute::archive).await
}

/// `POST /attributes/{id}/restore`
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(shell: &Shell, call: &Call, id: AttributeId) -> Result<Reply, Error> {
    shell.act_on(call, id, Attribute::restore).await
}
