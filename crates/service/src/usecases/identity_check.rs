//! Checks of identity providers: fetches their documents and the DNS records of their domains, and records what these
//! prove (decision B9).

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::id::IdentityProviderId;
use candor_domain::json::Object;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_identity::{FetchError, ProviderDocument};
use candor_port_storage::{Row, Write};
use candor_sign_in::evidence::ProviderEvidence;
use candor_sign_in::{IdentityProvider, parse_check};
use candor_tokens::discovery::discovery_address;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::identity_proofs::{find_holders, proof_writes};
use crate::context::provider_requests::read_keys;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, render};

/// Result of a check of an identity provider.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IdentityCheck {
    /// `true` if there is no problem.
    ok: bool,
    /// Problems of the provider, of the DNS records of its domains and of the token.
    problems: Vec<String>,
    /// Issuer that the discovery document confirms. Null if it does not.
    issuer: Option<String>,
    /// Number of keys that can verify tokens.
    keys: usize,
    /// Domains, client id and audiences that are proven after the check.
    proven: Vec<String>,
}

impl IdentityCheck {
    fn new(evidence: &ProviderEvidence, provider: &IdentityProvider) -> Self {
        Self {
            ok: evidence.is_ok(),
            problems: evidence.problems.clone(),
            issuer: evidence.issuer.clone(),
            keys: evidence.keys,
            proven: provider.proven_values(),
        }
    }
}

/// `POST /identity-providers/{id}/check`: checks a provider, and records what the check proves.
///
/// # Errors
/// Not found, invalid fields, no admin-level key of the organization, a proof by a key with less access than the
/// provider gives, a value that another provider has proven; see [`Error`].
pub async fn check(context: &RequestContext, id: IdentityProviderId, body: Object) -> Result<Reply, Error> {
    if let Some(reply) = context.services.find_replay(context).await? {
        return Ok(reply);
    }
    let tenant = context.caller.tenant;
    let provider = context.find_stored::<IdentityProvider>(id).await?;
    let token = context.validate_update(provider.version, || parse_check(body))?;
    let mut evidence = collect_evidence(&context.services, tenant, &provider.value, token.as_ref()).await?;
    // Values that a change takes from the provider meanwhile are not recorded.
    let values = provider.value.judge(&mut evidence);
    let plan = async |at: Timestamp| {
        let provider = context.find_stored::<IdentityProvider>(id).await?;
        context.check_preconditions(provider.version)?;
        let unproven_values = provider.value.select_unproven(&values);
        let holders = find_holders(&context.services, &provider.value.proof_ids_of(&unproven_values)).await?;
        let Some(decision) = provider.value.prove(tenant, &values, &holders, Some(&context.caller), at)? else {
            let body = render(&IdentityCheck::new(&evidence, &provider.value))?;
            return Ok(ChangePlan::Unchanged(Reply::ok(body, None)));
        };
        let body = render(&IdentityCheck::new(&evidence, &decision.state))?;
        let json = render(&decision.state)?;
        let (mut change, state) = context.change_set(decision, &json, at)?;
        change.writes = proof_writes(&provider.value, Some(&state), at);
        change.writes.push(Write::put(&Row::at_version(state, provider.version)));
        Ok(ChangePlan::Commit(Box::new(change), Reply::ok(body, None)))
    };
    let reply = context.change(plan).await?;
    context.services.tokens.forget_rights();
    Ok(reply)
}

/// Fetches the documents of a provider and the records of its unproven domains, and judges the token by them.
async fn collect_evidence(
    services: &Services,
    tenant: Tenant,
    provider: &IdentityProvider,
    token: Option<&Secret>,
) -> Result<ProviderEvidence, Error> {
    let mut evidence = ProviderEvidence::default();
    let fetch = async |address: &str| {
        let document = services.identity_transport.fetch_document(tenant.organization, address).await;
        document.map(|ProviderDocument { body, .. }: ProviderDocument| body)
    };
    let discovery: Result<Bytes, FetchError> = fetch(&discovery_address(&provider.issuer)).await;
    let metadata = evidence.add_discovery(&provider.issuer, discovery.as_deref().map_err(Clone::clone));
    let mut keys = None;
    if let Some(metadata) = metadata {
        let key_set = fetch(&metadata.jwks_uri).await;
        let for_keys = (evidence, metadata.jwks_uri);
        (evidence, keys) = read_keys(&services.large_work, tenant.organization, for_keys, key_set).await?;
    }
    let read = async |domain| (domain, services.identity_transport.read_text_records(domain).await);
    for (domain, records) in join_all(provider.unproven_domains().map(read)).await {
        evidence.add_records(domain, records);
    }
    if let Some(token) = token {
        let (rules, now) = (provider.token_rules(), services.clock.now());
        evidence.add_token(token.reveal(), keys.as_ref(), &rules, provider.id, now);
    }
    Ok(evidence)
}
