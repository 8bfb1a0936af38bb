//! The organization's settings (decision C10).

use candor_domain::json::Object;
use candor_domain::organization::{Organization, Patch};
use candor_domain::time::Timestamp;
use candor_port_storage::Versioned;

use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;

/// Returns the organization of the caller.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn load(context: &RequestContext) -> Result<Versioned<Organization>, Error> {
    context.find_stored(context.caller.tenant.organization).await
}

/// `GET /organization`: returns the caller's organization.
///
/// # Errors
/// See [`Error`].
pub async fn get(context: &RequestContext) -> Result<Reply, Error> {
    expand::plain(context, &load(context).await?).await
}

/// `PATCH /organization`: updates the organization's settings.
///
/// # Errors
/// Invalid fields, not an admin, a retention by a key that may not erase people; see [`Error`].
pub async fn update(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let organization = load(context).await?;
        let patch = context.validate_update(organization.version, || update.finish(&organization.value))?;
        patch.authorize(&context.caller)?;
        let decision = organization.value.update(&patch, at);
        Ok((organization, decision.map(PendingChange::new)))
    };
    context.update(decide).await
}
