//! Attributes. Their routes need the scopes of observations; writes need admin level as well (decision B3).

use candor_domain::catalog::Attribute;
use candor_domain::catalog::attribute::{Draft, Filter, Patch};
use candor_domain::id::AttributeId;
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::time::Timestamp;
use candor_tables::rows;

use super::holder;
use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;

/// `GET /attributes`: lists attributes.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::attributes::list(&request.filter, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /attributes/{id}`: returns an attribute.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(context: &RequestContext, id: AttributeId) -> Result<Reply, Error> {
    expand::plain(context, &context.find_stored::<Attribute>(id).await?).await
}

/// `POST /attributes`: creates an attribute.
///
/// # Errors
/// Invalid fields, not an admin, a name in use; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let holder = holder(context, rows::attributes::BY_NAME, Some(&draft.name)).await?;
        Ok(PendingChange::new(Attribute::create(context.services.id(at), draft, holder, at)?))
    };
    context.create(decide).await
}

/// `PATCH /attributes/{id}`: updates an attribute.
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name in use; see [`Error`].
pub async fn update(context: &RequestContext, id: AttributeId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let attribute = context.find_stored::<Attribute>(id).await?;
        let patch = context.validate_update(attribute.version, || update.resolve_with(&attribute.value))?;
        let holder = holder(context, rows::attributes::BY_NAME, patch.name.as_deref()).await?;
        let decision = attribute.value.update(patch, holder, at)?;
        Ok((attribute, decision.map(PendingChange::new)))
    };
    context.update(decide).await
}

/// `POST /attributes/{id}/archive`: archives an attribute.
///
/// # Errors
/// Not found, not an admin, archived already; see [`Error`].
pub async fn archive(context: &RequestContext, id: AttributeId) -> Result<Reply, Error> {
    context.act_on(id, Attribute::archive).await
}

/// `POST /attributes/{id}/restore`: restores an archived attribute.
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(context: &RequestContext, id: AttributeId) -> Result<Reply, Error> {
    context.act_on(id, Attribute::restore).await
}
