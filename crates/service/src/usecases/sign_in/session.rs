//! The change that begins a session: the key, the link of the account, the acceptance of an invitation, and the proof of
//! the client id, in one transaction.

use std::cmp::Reverse;

use candor_domain::access::api_key::{ApiKey, generate_code};
use candor_domain::audit::{Actor, ActorKind, AuditDraft};
use candor_domain::people::Employee;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::change::RowKey;
use candor_port_storage::{ChangeSet, Require, Row, StorageExt, Versioned, Write};
use candor_sign_in::link_decision::{
    KnownPeople, LinkCandidate, LinkError, LinkSettings, LinkedPerson, SignInDecision, decide_sign_in,
};
use candor_sign_in::session::{MAX_SESSIONS_OF_PERSON, READ_SESSIONS_OF_PERSON, SessionStart, create_session};
use candor_sign_in::sign_in::SignInError;
use candor_sign_in::{IdentityLink, IdentityProvider};
use candor_tables::flat::Stored;
use candor_tables::rows;
use candor_tokens::claims::IdClaims;

use super::callback::SignIn;
use crate::change::Attempt;
use crate::context::error::Error;
use crate::context::identity_proofs::{find_holders, proof_writes};
use crate::context::services::{Services, render};
use crate::usecases::{bearer, invitations};

/// The person of an account, as the store has them.
struct Account {
    /// Link of the account, also a removed one.
    link: Option<Versioned<IdentityLink>>,
    person: Versioned<Employee>,
    decision: SignInDecision,
}

/// Begins the session of an account. Returns the code of the session, or the reason why the sign-in is refused.
///
/// # Errors
/// Errors of the store; see [`Error`].
pub(super) async fn begin_session(
    services: &Services,
    sign_in: &SignIn,
    claims: &IdClaims,
) -> Result<Result<Secret, SignInError>, Error> {
    let plan = async |at: Timestamp| {
        let refuse = |refusal: SignInError| Ok::<_, Error>(Attempt::Done(Err(refusal)));
        let row = services.store.row::<IdentityProvider>(sign_in.tenant, sign_in.provider.id).await?;
        // A changed client id ends the sign-in, because the code was exchanged with the earlier client id.
        let is_same = |row: &&Versioned<IdentityProvider>| row.value.client_id == sign_in.provider.client_id;
        let Some(provider) = row.as_ref().filter(is_same).filter(|row| row.value.takes_sign_ins()) else {
            return refuse(SignInError::InactiveProvider);
        };
        if services.store.row::<ApiKey>(sign_in.tenant, sign_in.state.session).await?.is_some() {
            return refuse(SignInError::Expired);
        }
        let account = match find_account(services, sign_in, &provider.value, claims).await? {
            Ok(account) => account,
            Err(refusal) => return refuse(refusal.into()),
        };
        if account.link.as_ref().is_some_and(|link| link.value.is_after_sign_in(claims)) {
            return refuse(SignInError::Ended);
        }
        let code = generate_code(random32(&*services.ids)?);
        match build(services, sign_in, (provider, &account, claims), &code, at).await? {
            Ok(change) => Ok(Attempt::Commit(sign_in.tenant, Box::new(change), Ok(code))),
            Err(refusal) => refuse(refusal),
        }
    };
    services.retry(plan).await
}

/// Finds the person of an account and decides about the link.
async fn find_account(
    services: &Services,
    sign_in: &SignIn,
    provider: &IdentityProvider,
    claims: &IdClaims,
) -> Result<Result<Account, LinkError>, Error> {
    let tenant = sign_in.tenant;
    let domains = provider.domains.iter().filter(|entry| entry.is_proven).map(|entry| entry.domain.clone());
    let proven_domains: Vec<_> = domains.collect();
    let settings =
        LinkSettings { rule: provider.link_by, proven_domains: &proven_domains, created_at: provider.created_at };
    let account = IdentityLink::id_of(provider.id, &claims.subject.subject);
    let link = services.store.row::<IdentityLink>(tenant, account).await?;
    if let Some(active_link) = link.as_ref().filter(|link| link.value.removed_at.is_none()) {
        let Some(person) = services.store.row::<Employee>(tenant, active_link.value.employee_id).await? else {
            return Ok(Err(LinkError::NoPerson));
        };
        let linked_person = LinkedPerson {
            id: person.value.id,
            status: person.value.status,
            needs_confirmation: active_link.value.needs_confirmation(person.value.returned_at),
        };
        let decision = decide_sign_in(settings, KnownPeople::Linked(linked_person));
        return Ok(decision.map(|decision| Account { link, person, decision }));
    }
    let key = match settings.candidate_key(&claims.subject) {
        Ok(key) => key,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (mut people, mut candidates) = (vec![], vec![]);
    for id in bearer::find_candidates(services, tenant, key).await? {
        people.extend(services.store.row::<Employee>(tenant, id).await?);
    }
    for person in &people {
        let account = (provider, claims.subject.subject.as_str());
        let candidate = bearer::describe(services, tenant, account, &person.value).await?;
        candidates.push(LinkCandidate { is_unlinked: link.is_some(), ..candidate });
    }
    let decision = match decide_sign_in(settings, KnownPeople::Unlinked(&candidates)) {
        Ok(decision) => decision,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let person = people.into_iter().find(|person| person.value.id == decision.person);
    Ok(person.map(|person| Account { link, person, decision }).ok_or(LinkError::NoPerson))
}

/// Builds the change of a sign-in.
async fn build(
    services: &Services,
    sign_in: &SignIn,
    (provider, account, claims): (&Versioned<IdentityProvider>, &Account, &IdClaims),
    code: &Secret,
    at: Timestamp,
) -> Result<Result<ChangeSet, SignInError>, Error> {
    let (request, origin) = (sign_in.request, sign_in.origin.clone());
    let person = &account.person;
    let mut change = None;
    if account.decision.accepts_invitation {
        let invitee = (request, origin.clone());
        change = invitations::accept_by_sign_in(services, sign_in.tenant, invitee, person, at).await?;
        if change.is_none() {
            return Ok(Err(LinkError::PendingInvite.into()));
        }
    }
    let actor = person_actor(&person.value);
    let enter = |draft: AuditDraft, at: Timestamp| {
        draft.into_entry(services.id(at), at, actor.clone(), Some(request.to_string()), origin.clone())
    };
    let (link, link_audit) = match &account.link {
        Some(stored) if !account.decision.is_new_link => (stored.value.clone(), None),
        old_link => {
            let old_link = old_link.as_ref().map(|stored| &stored.value);
            let subject = &claims.subject.subject;
            let (link, audit) =
                IdentityLink::link_account(provider.value.id, subject, &person.value, old_link, at);
            (link, Some(audit))
        }
    };
    let exchanger = sign_in.state.exchanger();
    let start = SessionStart { id: sign_in.state.session, code, browser: &exchanger };
    let (session, audit) = create_session(start, (&provider.value, &link, &person.value), claims, at)?;
    let entry = enter(audit, session.created_at);
    let mut change = match change.take() {
        None => ChangeSet {
            requires: vec![Require::has_version::<Employee>(person.value.id, person.version)],
            ..ChangeSet::new(entry)
        },
        Some(acceptance) => ChangeSet { more_audit: vec![entry], ..acceptance },
    };
    let seen_version = account.link.as_ref().map(|stored| stored.version);
    match (link_audit, seen_version) {
        (Some(audit), _) => {
            change.more_audit.push(enter(audit, at.max(link.updated_at)));
            change.writes.push(Write::put(&Row { value: link, seen: seen_version }));
        }
        (None, Some(version)) => change.requires.push(Require::has_version::<IdentityLink>(link.id, version)),
        (None, None) => {}
    }
    change.writes.push(Write::put(&Row::new(session)));
    if let Err(refusal) = add_provider(services, sign_in, provider, (&mut change, &enter), at).await? {
        return Ok(Err(refusal));
    }
    end_older_sessions(services, sign_in, person, (&mut change, &enter), at).await?;
    Ok(Ok(change))
}

fn person_actor(person: &Employee) -> Actor {
    let name = format!("{} {}", person.first_name, person.last_name);
    Actor { kind: ActorKind::Employee, id: Some(person.id.to_string()), name }
}

/// Function that turns a draft into an audit entry whose actor is the person who signs in.
type Enter<'a> = &'a dyn Fn(AuditDraft, Timestamp) -> candor_domain::audit::AuditEntry;

/// Adds the proof of the client id by its secret, and the time of the sign-in. If neither changes the provider, adds
/// the condition that the provider is unchanged at commit time.
async fn add_provider(
    services: &Services,
    sign_in: &SignIn,
    provider: &Versioned<IdentityProvider>,
    (change, enter): (&mut ChangeSet, Enter<'_>),
    at: Timestamp,
) -> Result<Result<(), SignInError>, Error> {
    let stored_provider = &provider.value;
    let values = stored_provider.select_unproven(&stored_provider.values_of_sign_in());
    let holders = find_holders(services, &stored_provider.proof_ids_of(&values)).await?;
    let Ok(proof) = stored_provider.prove(sign_in.tenant, &values, &holders, None, at) else {
        return Ok(Err(SignInError::TakenClientId));
    };
    let proven_state = proof.as_ref().map(|decision| decision.state.clone());
    let dated_state = proven_state.as_ref().unwrap_or(stored_provider).with_sign_in(at);
    let Some(state) = dated_state.or(proven_state) else {
        change.requires.push(Require::has_version::<IdentityProvider>(stored_provider.id, provider.version));
        return Ok(Ok(()));
    };
    if let Some(decision) = proof {
        change.events.extend(services.events(&decision.events, &render(&state)?, at));
        change.more_audit.push(enter(decision.audit, at.max(state.updated_at)));
        change.writes.extend(proof_writes(stored_provider, Some(&state), at));
    }
    change.writes.push(Write::put(&Row::at_version(state, provider.version)));
    Ok(Ok(()))
}

/// Ends the oldest sessions of a person who has as many as may be valid, or more, and removes some that ended long ago.
async fn end_older_sessions(
    services: &Services,
    sign_in: &SignIn,
    person: &Versioned<Employee>,
    (change, enter): (&mut ChangeSet, Enter<'_>),
    at: Timestamp,
) -> Result<(), Error> {
    let valid_sessions = rows::api_keys::valid_sessions_of(person.value.id, at, READ_SESSIONS_OF_PERSON);
    let mut valid_sessions = services.store.entries(sign_in.tenant, valid_sessions).await?;
    valid_sessions.sort_by_key(|session| Reverse((session.value.created_at, session.value.id)));
    for session in valid_sessions.iter().skip(usize::from(MAX_SESSIONS_OF_PERSON) - 1) {
        let decision = session.value.revoke(at)?;
        change.more_audit.push(enter(decision.audit, decision.state.updated_at));
        change.writes.push(Write::put(&Row::at_version(decision.state, session.version)));
    }
    let oldest = rows::api_keys::oldest_sessions_of(person.value.id, READ_SESSIONS_OF_PERSON);
    let oldest = services.store.entries(sign_in.tenant, oldest).await?;
    change.writes.extend(oldest.iter().filter(|session| session.value.is_bygone(at)).map(|session| {
        Write::Removed(RowKey { table: ApiKey::TABLE, id: session.value.id.to_bytes() }, session.version)
    }));
    Ok(())
}
