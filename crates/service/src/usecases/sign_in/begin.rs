//! Begin of a sign-in: finds the provider and builds the authorization request.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::access::Tenant;
use candor_domain::id::{IdentityProviderId, OrganizationId};
use candor_domain::json::Object;
use candor_domain::refusal::DomainError;
use candor_port_clock::random32;
use candor_port_storage::StorageExt;
use candor_sign_in::sign_in::{STATE_SECONDS, SignInDraft, SignInState};
use candor_sign_in::{IdentityProvider, ProvableValue};
use candor_tables::rows;
use candor_tables::rows::identity_proofs::BY_ID;
use schemars::JsonSchema;
use serde::Serialize;

use super::{new_browser, open_browser, redirect_uri, seal_state};
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::services::{Services, or_not_found, render};

/// The next address of a sign-in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignInUrl<'a> {
    /// Address at the identity provider to which the browser goes. It serves once, within 10 minutes, in this browser.
    #[schemars(with = "String", extend("format" = "uri"))]
    url: &'a str,
}

/// `POST /sign-in`: returns the authorization request at the provider of a person. `cookie` is the cookie of an earlier
/// sign-in of the browser.
///
/// # Errors
/// Invalid fields. Not found, as one error for a service without a console, for a person without a provider, and for
/// a provider whose discovery document cannot be used; see [`Error`].
pub async fn begin(services: &Services, cookie: Option<&str>, body: Object) -> Result<Reply, Error> {
    let draft = SignInDraft::parse(body)?;
    if !services.settings.has_console {
        return Err(DomainError::NotFound.into());
    }
    let (tenant, provider) = or_not_found(find_provider(services, &draft).await?)?;
    let metadata = services.find_metadata(tenant.organization, &provider).await;
    let metadata = or_not_found(metadata)?;
    let (browser, new_cookie) = match cookie.and_then(|cookie| open_browser(services, cookie)) {
        Some(browser) => (browser, None),
        None => new_browser(services).map(|(browser, cookie)| (browser, Some(cookie)))?,
    };
    let random_text = || random32(&*services.ids).map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    let now = services.clock.now();
    let state = SignInState {
        session: services.id(now),
        organization: tenant.organization,
        browser: browser.text(),
        nonce: random_text()?,
        verifier: random_text()?,
        start: draft.start,
        command_line: draft.command_line,
        expires_at: now.plus_seconds(STATE_SECONDS).millis(),
    };
    let (sealed_state, redirect_uri) =
        (seal_state(services, provider.id, &state)?, redirect_uri(services, provider.id));
    let url =
        state.authorization_url((&provider, &metadata), &sealed_state, &redirect_uri, draft.email.as_deref());
    let url = or_not_found(url)?;
    let reply = Reply::ok(render(&SignInUrl { url: &url })?, None);
    Ok(Reply { browser_cookie: new_cookie, ..reply })
}

/// Returns the provider at which a person signs in: the named one, the one with the proven domain of the address, or that
/// of the organization.
async fn find_provider(
    services: &Services,
    draft: &SignInDraft,
) -> Result<Option<(Tenant, IdentityProvider)>, Error> {
    let provider = match (find_named(services, draft).await?, draft.organization.as_deref()) {
        (Some(provider), _) => Some(provider),
        (None, Some(organization)) if draft.provider.is_none() => {
            let Ok(organization) = organization.parse::<OrganizationId>() else { return Ok(None) };
            let tenant = Tenant::live(organization);
            let rows = services.store.entries(tenant, rows::identity_providers::all()).await?;
            let providers: Vec<_> = rows.into_iter().map(|row| row.value).collect();
            IdentityProvider::choose_for_sign_in(&providers).map(|provider| (tenant, provider.clone()))
        }
        (None, _) => None,
    };
    let is_of_organization = |tenant: &Tenant| {
        draft.organization.as_ref().is_none_or(|organization| *organization == tenant.organization.to_string())
    };
    Ok(provider.filter(|(tenant, provider)| is_of_organization(tenant) && provider.takes_sign_ins()))
}

/// Returns the provider that a request names, by its id or by the domain of the address.
async fn find_named(
    services: &Services,
    draft: &SignInDraft,
) -> Result<Option<(Tenant, IdentityProvider)>, Error> {
    if let Some(id) = &draft.provider {
        let Ok(id) = id.parse::<IdentityProviderId>() else { return Ok(None) };
        let row = services.store.row_in_any_tenant(rows::identity_providers::BY_ID, id).await?;
        return Ok(row.map(|(tenant, row)| (tenant, row.value)));
    }
    let Some(domain) = draft.domain() else { return Ok(None) };
    let proof = ProvableValue::Domain(&domain).proof_id();
    let Some((tenant, proof)) = services.store.row_in_any_tenant(BY_ID, proof).await? else { return Ok(None) };
    let row = services.store.row::<IdentityProvider>(tenant, proof.value.identity_provider_id).await?;
    Ok(row.map(|row| (tenant, row.value)))
}
