//! Sign-out: ends the session of the request.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::ApiKey;
use candor_port_storage::{Row, StorageExt, Write};
use candor_sign_in::IdentityProvider;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// Longest wait for the discovery document of a provider. The session ends even without the document.
const PATIENCE: Duration = Duration::from_secs(2);

/// The address that ends the session at the provider.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogoutUrl {
    /// Address at the identity provider that ends the session there. Null if the provider has none, or does not answer.
    #[schemars(extend("format" = "uri"))]
    url: Option<String>,
}

/// `POST /sign-in/logout`: ends the session of the key, and all keys that it created. The request is about its own key, so an
/// idempotency key gives no replay: that of another session would leave this one open.
///
/// # Errors
/// Conflict for a key that is no session; see [`Error`].
pub async fn log_out(context: &RequestContext) -> Result<Reply, Error> {
    let context = &RequestContext { idempotency: None, ..context.clone() };
    let id = context.caller.key;
    let url = find_end(context).await?;
    let plan = async |at| {
        let session = context.find_stored::<ApiKey>(id).await?;
        let decision = session.value.end_session(at)?;
        let json = render(&decision.state)?;
        let (mut change, state) = context.change_set(decision, &json, at)?;
        change.writes.push(Write::put(&Row::at_version(state, session.version)));
        let reply = Reply::ok(render(&LogoutUrl { url: url.clone() })?, None);
        Ok(ChangePlan::Commit(Box::new(change), reply))
    };
    let reply = context.change(plan).await;
    context.services.auth.forget(id);
    reply
}

/// Returns the address that ends the session at the provider and leads back to the console. Returns `None` for a key
/// without a provider, and if the provider has no such address or does not answer in time.
async fn find_end(context: &RequestContext) -> Result<Option<String>, Error> {
    let tenant = Tenant::live(context.caller.tenant.organization);
    let key = context.services.store.row::<ApiKey>(tenant, context.caller.key).await?;
    let Some(provider) = key.and_then(|key| key.value.identity_provider_id) else { return Ok(None) };
    let Some(provider) = context.services.store.row::<IdentityProvider>(tenant, provider).await? else {
        return Ok(None);
    };
    let metadata = timeout(PATIENCE, context.services.find_metadata(tenant.organization, &provider.value)).await;
    let console = format!("{}/console", context.services.settings.public_url.trim_end_matches('/'));
    Ok(metadata.ok().flatten().and_then(|metadata| metadata.logout_url(&provider.value.client_id, &console)))
}
