//! Identity providers of the organization (decision B9).

use candor_domain::access::Tenant;
use candor_domain::id::IdentityProviderId;
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_storage::change::RowKey;
use candor_port_storage::{Require, Row, StorageExt, Write};
use candor_sign_in::{Draft, IdentityProvider, MAX_PROVIDERS, Patch, ProviderRemoval};
use candor_tables::flat::Stored;
use candor_tables::rows;

use crate::change::ChangePlan;
use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::expand;
use crate::context::identity_proofs::proof_writes;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::sealed_secrets;
use crate::context::services::{Services, render};

/// `GET /identity-providers`: lists identity providers.
///
/// # Errors
/// Invalid parameters, no admin-level key of the organization; see [`Error`].
pub async fn list(context: &RequestContext, mut params: Params) -> Result<Reply, Error> {
    let request = params.list_by_update_time::<IdentityProvider>("identity-providers");
    let request = params.finish(request)?;
    let listing = rows::identity_providers::list(request.filter, request.sort, &request.page);
    expand::plain_page(context, &request, listing).await
}

/// `GET /identity-providers/{id}`: returns an identity provider.
///
/// # Errors
/// Not found, no admin-level key of the organization; see [`Error`].
pub async fn get(context: &RequestContext, id: IdentityProviderId) -> Result<Reply, Error> {
    expand::plain(context, &context.find_stored::<IdentityProvider>(id).await?).await
}

/// `POST /identity-providers`: creates an identity provider.
///
/// # Errors
/// Invalid fields, no admin-level key of the organization, more access than the caller has, the maximum number of
/// providers is reached; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let organization = context.caller.tenant.organization;
        draft.require_https(context.services.identity_transport.has_trusted_network(organization))?;
        let id = context.services.id(at);
        let sealed_secret = match &draft.client_secret {
            Some(secret) => Some(seal(&context.services, (context.caller.tenant, id), secret)?),
            None => None,
        };
        let decision = IdentityProvider::create(id, draft, sealed_secret, &context.caller, at)?;
        let providers =
            context.services.store.entries(context.caller.tenant, rows::identity_providers::all()).await?;
        IdentityProvider::admit(providers.len())?;
        Ok(PendingChange::new(decision)
            .with_requirements([Require::rows_below::<IdentityProvider>(MAX_PROVIDERS)]))
    };
    context.create(decide).await
}

/// `PATCH /identity-providers/{id}`: updates an identity provider.
///
/// # Errors
/// Not found, invalid fields, no admin-level key of the organization, more access than the caller has, a status that
/// the present one does not lead to; see [`Error`].
pub async fn update(context: &RequestContext, id: IdentityProviderId, body: Object) -> Result<Reply, Error> {
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let provider = context.find_stored::<IdentityProvider>(id).await?;
        let patch = context.validate_update(provider.version, || Patch::resolve(&update, &provider.value))?;
        let owner = (context.caller.tenant, id);
        let sealed_secret = match &patch.client_secret {
            None => None,
            Some(wanted) => {
                reseal(&context.services, owner, provider.value.client_secret.as_deref(), wanted.as_ref())?
            }
        };
        let Some(decision) = provider.value.update(patch, sealed_secret, &context.caller, at)? else {
            return Ok((provider, None));
        };
        let proofs = proof_writes(&provider.value, Some(&decision.state), at);
        Ok((provider, Some(PendingChange::new(decision).with_writes(proofs))))
    };
    let reply = context.update(decide).await?;
    context.services.auth.forget_people_of(context.caller.tenant.organization);
    context.services.tokens.forget_rights();
    Ok(reply)
}

/// `DELETE /identity-providers/{id}`: removes an identity provider.
///
/// # Errors
/// Not found, no admin-level key of the organization, less access than the provider gives; see [`Error`].
pub async fn remove(context: &RequestContext, id: IdentityProviderId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let provider = context.find_stored::<IdentityProvider>(id).await?;
        context.validate_action(provider.version)?;
        let decision = provider.value.delete(&context.caller, at)?;
        let json = render(&decision.state)?;
        let (mut change, _) = context.change_set(decision, &json, at)?;
        let key = RowKey { table: IdentityProvider::TABLE, id: id.to_bytes() };
        // The links may be as many as there are people, so a worker removes them.
        let removal = ProviderRemoval { id, deleted_at: at };
        change.writes = vec![Write::Removed(key, provider.version), Write::put(&Row::new(removal))];
        change.writes.extend(proof_writes(&provider.value, None, at));
        Ok(ChangePlan::Commit(Box::new(change), Reply::no_content()))
    };
    let reply = context.change(plan).await?;
    context.services.auth.forget_people_of(context.caller.tenant.organization);
    context.services.tokens.forget_rights();
    Ok(reply)
}

fn seal(services: &Services, owner: (Tenant, IdentityProviderId), secret: &Secret) -> Result<Vec<u8>, Error> {
    Ok(sealed_secrets::seal(&services.vault, &*services.ids, owner, secret)?)
}

/// Returns the new stored form of the client secret: `None` if the secret is unchanged, `Some(None)` if the secret is
/// removed.
fn reseal(
    services: &Services,
    owner: (Tenant, IdentityProviderId),
    stored: Option<&[u8]>,
    wanted: Option<&Secret>,
) -> Result<Option<Option<Vec<u8>>>, Error> {
    let Some(secret) = wanted else { return Ok(stored.map(|_| None)) };
    let secret_before = stored.map(|sealed| sealed_secrets::open(&services.vault, owner, sealed));
    if matches!(&secret_before, Some(Ok(before)) if before == secret) {
        return Ok(None);
    }
    seal(services, owner, secret).map(|sealed| Some(Some(sealed)))
}
