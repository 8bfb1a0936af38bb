//! Authentication by bearer tokens of identity providers. An account without a link is linked, as by a sign-in
//! (decision B11).

use std::sync::Arc;

use candor_domain::access::{Caller, Tenant};
use candor_domain::audit::{Actor, ActorKind, Origin, Via};
use candor_domain::id::{EmployeeId, RequestId};
use candor_domain::page::{PageRequest, Sortable};
use candor_domain::params::Bounds;
use candor_domain::people::Employee;
use candor_domain::people::connector::Type as ConnectorType;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Require, Row, StorageExt, Versioned, Write};
use candor_provisioning::Connector;
use candor_provisioning::connector::ScimLink;
use candor_sign_in::bearer::BearerError;
use candor_sign_in::link_decision::{
    CandidateKey, KnownPeople, LinkCandidate, LinkError, LinkSettings, decide_sign_in,
};
use candor_sign_in::{IdentityLink, IdentityProvider};
use candor_tables::rows;
use candor_tokens::claims::TokenSubject;

use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::services::Services;
use crate::context::tokens::TokenResult;
use crate::context::tokens::bearer_token::BearerToken;

/// The caller of a token, with the token by which it is looked up again.
pub type BearerCaller = (Arc<Caller>, Arc<BearerToken>);

/// Returns the caller of a bearer token. Links the account of the token if it has no link and the rule of the
/// provider finds a person for it. `None` if the token authenticates no person; the cause is counted and logged.
///
/// # Errors
/// Errors of the store; see [`Error`].
pub async fn authenticate(
    services: &Services,
    text: &str,
    (request, origin): (RequestId, Origin),
) -> Result<Option<BearerCaller>, Error> {
    let token = match services.authenticate_token(text, false).await? {
        TokenResult::Known(caller, token) => return Ok(Some((caller, token))),
        TokenResult::Refused => return Ok(None),
        TokenResult::Unlinked(token) => token,
    };
    if let Err(refusal) = link(services, &token, (request, origin)).await? {
        services.refuse_bearer(&token, refusal);
        return Ok(None);
    }
    authenticate_anew(services, text).await
}

/// Returns the caller of a bearer token with the rights that the store has now, or `None` if the token is refused or
/// its account has no link. Links no account.
///
/// # Errors
/// Errors of the store; see [`Error`].
pub async fn authenticate_anew(services: &Services, text: &str) -> Result<Option<BearerCaller>, Error> {
    Ok(match services.authenticate_token(text, true).await? {
        TokenResult::Known(caller, token) => Some((caller, token)),
        TokenResult::Unlinked(_) | TokenResult::Refused => None,
    })
}

/// Links the account of a token to the person that the rule of its provider finds. An active link stays as it is.
/// Returns the refusal if no person may be linked.
async fn link(
    services: &Services,
    token: &BearerToken,
    (request, origin): (RequestId, Origin),
) -> Result<Result<(), BearerError>, Error> {
    let (tenant, provider_id) = token.owner();
    let plan = async |at: Timestamp| {
        let refuse = |refusal: BearerError| Ok::<_, Error>(Attempt::Done(Err(refusal)));
        let Some(provider) = services.store.row::<IdentityProvider>(tenant, provider_id).await? else {
            return refuse(BearerError::UnknownProvider);
        };
        let claims = match services.judge_claims(token, &provider.value) {
            Ok(claims) => claims,
            Err(refusal) => return refuse(refusal),
        };
        let account = IdentityLink::id_of(provider_id, &claims.subject.subject);
        let stored_link = services.store.row::<IdentityLink>(tenant, account).await?;
        if stored_link.as_ref().is_some_and(|link| link.value.removed_at.is_none()) {
            return Ok(Attempt::Done(Ok(())));
        }
        let removed_link = stored_link.as_ref().map(|link| &link.value);
        let account = (&claims.subject, removed_link.is_some());
        let person = match find_person(services, tenant, &provider.value, account).await? {
            Ok(person) => person,
            Err(refusal) => return refuse(refusal.into()),
        };
        let (link, draft) =
            IdentityLink::link_account(provider_id, &claims.subject.subject, &person.value, removed_link, at);
        let actor = Actor {
            kind: ActorKind::Employee,
            id: Some(person.value.id.to_string()),
            name: format!("{} {}", person.value.first_name, person.value.last_name),
        };
        let origin = Origin { via: Some(Via { identity_provider_id: provider_id }), ..origin.clone() };
        let entry =
            draft.into_entry(services.id(at), at.max(link.updated_at), actor, Some(request.to_string()), origin);
        let version = stored_link.as_ref().map(|link| link.version);
        let change = ChangeSet {
            writes: vec![Write::put(&Row { value: link, seen: version })],
            requires: vec![
                Require::has_version::<IdentityProvider>(provider_id, provider.version),
                Require::has_version::<Employee>(person.value.id, person.version),
            ],
            ..ChangeSet::new(entry)
        };
        Ok(Attempt::Commit(tenant, Box::new(change), Ok(())))
    };
    services.retry(plan).await
}

/// Returns the person of an account without a link, by the rule of the provider. `is_unlinked` is `true` if the link of
/// the account was removed. A token accepts no invitation: only the person may accept it.
async fn find_person(
    services: &Services,
    tenant: Tenant,
    provider: &IdentityProvider,
    (subject, is_unlinked): (&TokenSubject, bool),
) -> Result<Result<Versioned<Employee>, LinkError>, Error> {
    let domains = provider.domains.iter().filter(|entry| entry.is_proven).map(|entry| entry.domain.clone());
    let proven_domains: Vec<_> = domains.collect();
    let settings =
        LinkSettings { rule: provider.link_by, proven_domains: &proven_domains, created_at: provider.created_at };
    let key = match settings.candidate_key(subject) {
        Ok(key) => key,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut people = vec![];
    for id in find_candidates(services, tenant, key).await? {
        people.extend(services.store.row::<Employee>(tenant, id).await?);
    }
    let mut candidates = vec![];
    for person in &people {
        let candidate = describe(services, tenant, (provider, &subject.subject), &person.value).await?;
        candidates.push(LinkCandidate { is_unlinked, ..candidate });
    }
    Ok(decide_sign_in(settings, KnownPeople::Unlinked(&candidates)).and_then(|decision| {
        if decision.accepts_invitation {
            return Err(LinkError::PendingInvite);
        }
        people.into_iter().find(|person| person.value.id == decision.person).ok_or(LinkError::NoPerson)
    }))
}

/// Returns the ids of the people who have the address or the external id that an account claims. For an external id,
/// each SCIM connector may have one person.
pub(super) async fn find_candidates(
    services: &Services,
    tenant: Tenant,
    key: CandidateKey,
) -> Result<Vec<EmployeeId>, Error> {
    let id = match key {
        CandidateKey::Address(address) => {
            let id = services.store.id_by(tenant, rows::employees::BY_EMAIL, address).await?;
            return Ok(id.into_iter().collect());
        }
        CandidateKey::ExternalId(id) => id,
    };
    let mut people = vec![];
    let connectors = rows::connectors::list(Bounds::default(), Connector::DEFAULT, &PageRequest::ALL);
    let connectors = services.store.entries(tenant, connectors).await?;
    let is_scim = |connector: &&Versioned<Connector>| connector.value.kind == ConnectorType::Scim;
    for connector in connectors.iter().filter(is_scim) {
        let key = ScimLink::external_key(connector.value.id, &id);
        let link = services.store.row_by(tenant, rows::scim_users::BY_EXTERNAL_ID, key).await?;
        people.extend(link.filter(|link| link.value.removed_at.is_none()).map(|link| link.value.id));
    }
    Ok(people)
}

/// Describes a person for the decision about a first link of an account, which a concurrent request may have linked. The
/// account has had no link.
pub(super) async fn describe(
    services: &Services,
    tenant: Tenant,
    (provider, subject): (&IdentityProvider, &str),
    person: &Employee,
) -> Result<LinkCandidate, Error> {
    let key = IdentityLink::person_key(provider.id, person.id);
    let own_link = services.store.row_by(tenant, rows::identity_links::BY_PERSON, key).await?;
    Ok(LinkCandidate {
        id: person.id,
        status: person.status,
        role: person.role,
        has_other_account: own_link.is_some_and(|link| link.value.subject != subject),
        address_changed_at: person.address_changed_at,
        has_returned: person.returned_at.is_some(),
        is_unlinked: false,
    })
}
