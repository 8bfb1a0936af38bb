//! Portal links into the console (decision B8).

use std::net::IpAddr;
use std::sync::Arc;

use candor_domain::access::api_key::{
    ApiKey, KeyRecord, LinkDraft, LinkExchange, generate, generate_code, parse_exchange, read_code,
};
use candor_domain::access::{Caller, Environment, Tenant};
use candor_domain::audit::{Actor, ActorKind, AuditEntry, Origin};
use candor_domain::decision::Decision;
use candor_domain::id::RequestId;
use candor_domain::idempotency::Fingerprint;
use candor_domain::json::Object;
use candor_domain::refusal::DomainError;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::{ChangeSet, Row, StorageExt, Write};
use candor_sign_in::command_line::name_program;
use candor_sign_in::session::hash_code;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::Attempt;
use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::{Idempotency, RequestContext};
use crate::context::services::{Services, or_not_found, render};
use crate::context::sessions;
use crate::usecases::keys::{MADE_MEMBERS as SECRET_MEMBERS, require_room, with_secret};
use crate::usecases::sign_in::{Browser, cookie_after_sign_in, open_browser};

/// Members of [`PortalLink`] with the code or a part of it.
const MADE_MEMBERS: &[&str] = &["url", "last4"];
/// Method in the fingerprint of requests by test keys.
const BY_TEST_KEY: &str = "test";

/// The API key of a portal link, with the URL of the link.
///
/// Only the response to the creation carries the URL.
#[derive(Serialize, JsonSchema)]
pub struct PortalLink<'a> {
    #[serde(flatten)]
    api_key: &'a ApiKey,
    /// Link that opens the console signed in, once. Its fragment has the code, which cannot be retrieved later.
    #[schemars(with = "String", extend("format" = "uri"))]
    url: &'a str,
}

/// Returns the context under which keys are written: they belong to the live tenant of their organization.
///
/// Test and live keys then share idempotency keys. Requests by test keys have other fingerprints, so that no key
/// gets a replay of the other environment.
fn of_organization(context: &RequestContext) -> RequestContext {
    if context.caller.tenant.environment == Environment::Live {
        return context.clone();
    }
    let tenant = Tenant::live(context.caller.tenant.organization);
    let with_other_fingerprint = |idempotency: &Idempotency| Idempotency {
        key: idempotency.key.clone(),
        fingerprint: Fingerprint::from_body(BY_TEST_KEY, "", "", &idempotency.fingerprint.to_bytes()),
    };
    RequestContext {
        caller: Arc::new(Caller { tenant, ..(*context.caller).clone() }),
        idempotency: context.idempotency.as_ref().map(with_other_fingerprint),
        ..context.clone()
    }
}

/// `POST /portal-links`: creates a link into the console, and the API key for which the code of the link is exchanged.
///
/// # Errors
/// Invalid fields, not an admin, more access than the caller has, no console, the maximum number of valid keys is
/// reached; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let link = LinkDraft::parse(body);
    let decide = async |at: Timestamp| {
        let link = context.validate_create(|| link.clone())?;
        if !context.services.settings.has_console {
            return Err(DomainError::transition("console", "off", "open").into());
        }
        let draft = link.for_granter(&context.caller, at);
        let code = generate_code(random32(&*context.services.ids)?);
        let decision = ApiKey::create_link(context.services.id(at), draft, &code, Some(&context.caller), at)?;
        let url = context.services.settings.portal_url(&link.start, &code);
        let body = render(&PortalLink { api_key: &decision.state, url: &url })?;
        let room = require_room(context, &decision.state, at).await?;
        Ok(PendingChange::new(decision).with_requirements([room]).with_body(body, MADE_MEMBERS))
    };
    of_organization(context).create(decide).await
}

/// `POST /portal-links/exchange`: exchanges the code of a link for its API key, once and without an API key.
/// `client` is the address of the request, or `None` if it cannot be read. `cookie` is the cookie of sign-ins of the
/// browser. The code of a session counts as unknown without this cookie and without the verifier of the program that
/// began the sign-in.
///
/// # Errors
/// Not found, the same error for unknown, used, expired and revoked codes, and outside the networks of the key; invalid
/// fields; see [`Error`].
pub async fn exchange(
    services: &Services,
    request: RequestId,
    (origin, client): (Origin, Option<IpAddr>),
    cookie: Option<&str>,
    body: Object,
) -> Result<Reply, Error> {
    let LinkExchange { code: text, verifier } = parse_exchange(body)?;
    let code_of_link = or_not_found(read_code(&text))?;
    // The code of a session belongs to the browser of its sign-in, or to the program that waits for it.
    let browser = cookie.and_then(|cookie| open_browser(services, cookie)).filter(|_| verifier.is_none());
    let exchanger = verifier.as_deref().map(name_program).or_else(|| browser.as_ref().map(Browser::text));
    let code_of_session = exchanger.map(|exchanger| hash_code(&text, &exchanger));
    let open = async |at: Timestamp| {
        let mut code = code_of_link;
        let mut record = services.store.key_by_hash(code).await?;
        if let (None, Some(code_of_session)) = (&record, code_of_session) {
            code = code_of_session;
            record = services.store.key_by_hash(code).await?;
        }
        let record = or_not_found(record)?;
        let tenant = Tenant::live(record.organization);
        let key_row = or_not_found(services.store.row::<ApiKey>(tenant, record.key.id).await?)?;
        let record = KeyRecord { key: key_row.value, ..record };
        if record.key.session_root().is_some() {
            let basis = sessions::load_basis(&*services.store, record.organization, &record.key).await?;
            or_not_found(basis.filter(|basis| basis.lasts(at)))?;
        }
        let secret = generate(record.key.environment, random32(&*services.ids)?);
        let decision = record.open_link(code, &secret, client, at)?;
        let body = with_secret(&decision.state, &secret)?;
        let mut change = ChangeSet::new(build_exchange_entry(services, &decision, (request, origin.clone()), at));
        change.writes = vec![Write::put(&Row::at_version(decision.state, key_row.version))];
        let reply = Reply::ok(body, Some(key_row.version.next())).with_made_members(SECRET_MEMBERS);
        let own_browser = browser.as_ref().filter(|_| Some(code) == code_of_session);
        let new_cookie = own_browser.map(|browser| cookie_after_sign_in(services, browser, tenant.organization));
        let reply = Reply { browser_cookie: new_cookie.transpose()?.flatten(), ..reply };
        Ok::<_, Error>(Attempt::Commit(tenant, Box::new(change), (record.key.id, reply)))
    };
    let (key, reply) = services.retry(open).await?;
    services.auth.forget(key);
    services.auth.forget_unknown();
    Ok(reply)
}

/// Creates the audit entry of an exchange. The actor is the key itself, because no other key authenticates the
/// request.
fn build_exchange_entry(
    services: &Services,
    decision: &Decision<ApiKey>,
    (request, origin): (RequestId, Origin),
    at: Timestamp,
) -> AuditEntry {
    let key = &decision.state;
    let actor = Actor { kind: ActorKind::ApiKey, id: Some(key.id.to_string()), name: key.name.clone() };
    decision.audit.clone().into_entry(services.id(at), at, actor, Some(request.to_string()), origin)
}
