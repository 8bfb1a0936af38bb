//! End of a sign-in: judges what the provider sends with the browser, and begins the session.

use candor_domain::access::Tenant;
use candor_domain::audit::{Actor, AuditDraft, Change, Origin};
use candor_domain::id::{IdentityProviderId, RequestId};
use candor_domain::secret::Secret;
use candor_port_identity::CodeExchange;
use candor_port_storage::{ChangeSet, StorageExt};
use candor_sign_in::IdentityProvider;
use candor_sign_in::sign_in::{SignInError, SignInResponse, SignInState};
use candor_tokens::claims::{IdClaims, IdExpectation};
use candor_tokens::token::SignedToken;
use candor_tokens::token_response::TokenResponse;

use super::session::begin_session;
use super::{open_browser, open_state, redirect_uri};
use crate::context::error::Error;
use crate::context::exchange_turns::Visitor;
use crate::context::sealed_secrets;
use crate::context::services::Services;

/// Name of the service's part that refuses sign-ins, in audit entries.
const ACTOR: &str = "sign-in";

/// A sign-in that came back to the browser that began it.
pub(super) struct SignIn {
    pub(super) tenant: Tenant,
    pub(super) provider: IdentityProvider,
    pub(super) state: SignInState,
    pub(super) visitor: Visitor,
    pub(super) request: RequestId,
    pub(super) origin: Origin,
}

/// A browser that comes back from a provider.
#[derive(Debug, Clone, Copy)]
pub struct ReturningBrowser<'b> {
    /// Value of the cookie of sign-ins.
    pub cookie: Option<&'b str>,
    /// Client address, as quotas count it.
    pub address: [u8; 16],
}

/// Ends a sign-in. Returns the address in the console to which the browser goes: with the code of the session, or with
/// the reason of a refusal.
///
/// # Errors
/// Errors of the store; see [`Error`].
pub async fn complete(
    services: &Services,
    provider: &str,
    response: SignInResponse,
    browser: ReturningBrowser<'_>,
    (request, origin): (RequestId, Origin),
) -> Result<String, Error> {
    let Some(sign_in) = find_sign_in(services, provider, &response, browser, (request, origin)).await? else {
        return Ok(services.settings.refusal_url(SignInError::Expired.reason()));
    };
    let command_line = sign_in.state.command_line.as_ref();
    let result = match judge(services, &sign_in, &response).await {
        Ok(claims) => begin_session(services, &sign_in, &claims).await?,
        Err(refusal) => Err(refusal),
    };
    match result {
        Ok(code) => Ok(command_line.map_or_else(
            || services.settings.portal_url(&sign_in.state.start, &code),
            |program| program.redirect("code", code.reveal()),
        )),
        Err(refusal) => {
            record(services, &sign_in, &refusal).await?;
            Ok(command_line.map_or_else(
                || services.settings.refusal_url(refusal.reason()),
                |program| program.redirect("error", refusal.reason()),
            ))
        }
    }
}

/// Returns the sign-in of a response, with its provider. `None` if this browser did not begin a sign-in at this
/// provider with the state of the response, or the state has expired.
async fn find_sign_in(
    services: &Services,
    provider: &str,
    response: &SignInResponse,
    browser: ReturningBrowser<'_>,
    (request, origin): (RequestId, Origin),
) -> Result<Option<SignIn>, Error> {
    let address = browser.address;
    let browser = browser.cookie.and_then(|cookie| open_browser(services, cookie));
    let provider = provider.parse::<IdentityProviderId>().ok();
    let (Some(browser), Some(provider), Some(sealed)) = (browser, provider, &response.state) else {
        return Ok(None);
    };
    let state = open_state(services, provider, sealed);
    let Some(state) = state.filter(|state| state.serves(&browser.text(), services.clock.now())) else {
        return Ok(None);
    };
    let tenant = Tenant::live(state.organization);
    let visitor = Visitor { address, is_known: browser.organization == Some(state.organization) };
    let provider = services.store.row::<IdentityProvider>(tenant, provider).await?;
    Ok(provider.map(|row| SignIn { tenant, provider: row.value, state, visitor, request, origin }))
}

/// Exchanges the code and judges the ID token.
async fn judge(services: &Services, sign_in: &SignIn, response: &SignInResponse) -> Result<IdClaims, SignInError> {
    let SignIn { tenant, provider, state, .. } = sign_in;
    if !provider.takes_sign_ins() {
        return Err(SignInError::InactiveProvider);
    }
    let metadata = services.find_metadata(tenant.organization, provider).await.ok_or(SignInError::Discovery)?;
    let code = response.to_code(&metadata)?;
    let open = |sealed: &Vec<u8>| sealed_secrets::open(&services.vault, (*tenant, provider.id), sealed);
    let client_secret = provider.client_secret.as_ref().map(open).transpose();
    let exchange = CodeExchange {
        organization: tenant.organization,
        token_endpoint: metadata.token_endpoint.clone(),
        authentication: metadata.client_authentication,
        client_id: provider.client_id.clone(),
        client_secret: client_secret.map_err(|_| SignInError::InactiveProvider)?,
        code: Secret::new(code.to_owned()),
        redirect_uri: redirect_uri(services, provider.id),
        code_verifier: Secret::new(state.verifier.clone()),
    };
    let turn = services.exchange_turns.begin(state, sign_in.visitor).await?;
    let document = services.identity_transport.exchange_code(exchange).await.map_err(SignInError::Exchange)?;
    drop(turn);
    let tokens = TokenResponse::parse(&document.body)?;
    let signed_token = SignedToken::parse(tokens.id_token.reveal())?;
    let keys = services.keys_of(&provider.issuer, *tenant, provider.id, signed_token.key_id()).await;
    let keys = keys.ok_or(SignInError::NoKeys)?;
    let verified_token = signed_token.verify(&keys)?;
    let expectation = IdExpectation {
        nonce: Some(&state.nonce),
        access_token: tokens.access_token.as_ref().map(|token| token.reveal()),
    };
    Ok(verified_token.to_id(&provider.token_rules(), expectation, services.clock.now())?)
}

/// Logs a refusal and adds it to the audit log, which gets a bounded number of them.
async fn record(services: &Services, sign_in: &SignIn, refusal: &SignInError) -> Result<(), Error> {
    let SignIn { tenant, provider, request, origin, .. } = sign_in;
    tracing::info!(
        request_id = %request, identity_provider_id = %provider.id, cause = refusal.word(),
        "sign-in refused: {refusal}"
    );
    let now = services.clock.now();
    if !services.limits.admit_refusal(tenant.organization, now) {
        return Ok(());
    }
    let mut draft = AuditDraft::new(provider, "session.refuse");
    draft.changes.insert("cause".to_owned(), Change::from_null(&refusal.word()));
    let actor = Actor::system(ACTOR);
    let entry = draft.into_entry(services.id(now), now, actor, Some(request.to_string()), origin.clone());
    services
        .retry(async |_| {
            let change = ChangeSet::new(entry.clone());
            Ok::<_, Error>(crate::change::Attempt::Commit(*tenant, Box::new(change), ()))
        })
        .await
}
