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
use crate::context::services::Services;

/// `GET /attributes`: lists attributes.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(services: &Services, context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::attributes::list(&request.filter, request.sort, &request.page);
    expand::plain_page(services, context, &request, listing).await
}

/// `GET /attributes/{id}`: returns an attribute.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(services: &Services, context: &RequestContext, id: AttributeId) -> Result<Reply, Error> {
    expand::plain(services, context, &services.find_stored::<Attribute>(context, id).await?).await
}

/// `POST /attributes`: creates an attribute.
///
/// # Errors
/// Invalid fields, not an admin, a name in use; see [`Error`].
pub async fn create(services: &Services, context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let holder = holder(services, context, rows::attributes::BY_NAME, Some(&draft.name)).await?;
        Ok(PendingChange::new(Attribute::create(services.id(at), draft, holder, at)?))
    };
    services.create(context, decide).await
}

/// `PATCH /attributes/{id}`: updates an attribute.
///
/// # Errors
/// Not found, invalid fields, not an admin, archived, a name in use; see [`Error`].
pub async fn update(
    services: &Services,
    context: &RequestContext,
    id: AttributeId,
    body: Object,
) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let attribute = services.find_stored::<Attribute>(context, id).await?;
        let patch = context.validate_update(attribute.version, || update.resolve_with(&attribute.value))?;
        let holder = holder(services, context, rows::attributes::BY_NAME, patch.name.as_deref()).await?;
        let decision = attribute.value.update(patch, holder, at)?;
        Ok((attribute, decision.map(PendingChange::new)))
    };
    services.update(context, decide).await
}

/// `POST /attributes/{id}/archive`: archives an attribute.
///
/// # Errors
/// Not found, not an admin, archived already; see [`Error`].
pub async fn archive(services: &Services, context: &RequestContext, id: AttributeId) -> Result<Reply, Error> {
    services.act_on(context, id, Attribute::archive).await
}

/// `POST /attributes/{id}/restore`: restores an archived attribute.
///
/// # Errors
/// Not found, not an admin, not archived; see [`Error`].
pub async fn restore(services: &Services, context: &RequestContext, id: AttributeId) -> Result<Reply, Error> {
    services.act_on(context, id, Attribute::restore).await
}
