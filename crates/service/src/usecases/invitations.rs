//! Invitations (§3.3, decisions G).

use candor_domain::access::Tenant;
use candor_domain::audit::{Actor, ActorKind, AuditEntry, Origin};
use candor_domain::id::{EmployeeId, OrganizationId, RequestId};
use candor_domain::json::Object;
use candor_domain::people::invitation::{self, MailLimit};
use candor_domain::people::{Employee, Invitation, Status};
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_clock::random32;
use candor_port_storage::error::Read;
use candor_port_storage::{ChangeSet, Row, StorageExt, Version, Versioned, Write};
use candor_tables::rows;
use schemars::JsonSchema;
use serde::Serialize;

use crate::change::{Attempt, ChangePlan};
use crate::context::error::Error;
use crate::context::invitation_events::events;
use crate::context::mail_limits;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::sealed_secrets;
use crate::context::services::{Services, or_not_found, render};

/// A new invitation, with its link if no mail is sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SentInvitation {
    #[serde(flatten)]
    invitation: invitation::View,
    /// Link to accept the invitation. Present for admin-level keys if no mail is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    accept_url: Option<String>,
}

/// The person who accepted an invitation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcceptedInvitation {
    /// Id of the person who accepted the invitation.
    employee_id: EmployeeId,
    /// Organization of the person.
    organization_id: OrganizationId,
    /// New status of the person.
    status: Status,
}

/// Creates an invitation of a person with its token. Queues the email if invitations of the tenant are sent by email.
///
/// # Errors
/// Not pending; see [`Error`].
fn create_invitation(
    services: &Services,
    tenant: Tenant,
    person: &Employee,
    (made_at, at): (Timestamp, Timestamp),
) -> Result<(Invitation, Secret), Error> {
    let token = invitation::token(random32(&*services.ids)?, &person.email);
    let new = Invitation::new(services.id(made_at), person, &token, at)?;
    if !is_mailed(services, tenant) {
        return Ok((new, token));
    }
    let sealed_token = sealed_secrets::seal(&services.vault, &*services.ids, (tenant, new.id), &token)?;
    Ok((new.by_mail(sealed_token, made_at), token))
}

/// Returns `true` if invitations of a tenant are sent by email.
fn is_mailed(services: &Services, tenant: Tenant) -> bool {
    services.settings.sends_mail && invitation::is_mailed(tenant)
}

/// Returns the daily limit of emails that an address has reached. `None` if it has reached none, or if the service
/// sends no email for this tenant.
async fn reached_limit(
    services: &Services,
    tenant: Tenant,
    email: &str,
    at: Timestamp,
) -> Read<Option<MailLimit>> {
    if !is_mailed(services, tenant) {
        return Ok(None);
    }
    mail_limits::find_reached(services, tenant, email, at).await
}

/// Creates the invitation of a new person. Exceeding the limit of emails does not fail the creation: the email
/// is not sent, and the invitation says so.
///
/// # Errors
/// See [`Error`].
pub(crate) async fn with_employee(
    services: &Services,
    tenant: Tenant,
    person: &Employee,
    at: Timestamp,
) -> Result<Invitation, Error> {
    let (new, _) = create_invitation(services, tenant, person, (at, at))?;
    // The mailer enforces the limit exactly; this check only reports it earlier, so a failure of the check is ignored.
    let exceeded_limit = reached_limit(services, tenant, &person.email, at).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "cannot read how many mails an address got");
        None
    });
    Ok(match exceeded_limit {
        None => new,
        Some(limit) => new.over_mail_limit(limit.failure, at),
    })
}

/// `GET /employees/{id}/invitation`: returns the person's newest invitation.
///
/// # Errors
/// Not found: the person, or an invitation of the person; see [`Error`].
pub async fn get(context: &RequestContext, employee: EmployeeId) -> Result<Reply, Error> {
    let (tenant, at) = (context.caller.tenant, context.services.clock.now());
    let (stored, person) = tokio::try_join!(
        context.services.store.first(tenant, rows::invitations::newest(employee)),
        context.services.store.row::<Employee>(tenant, employee)
    )?;
    let (stored, person) = (or_not_found(stored)?, or_not_found(person)?.value.status);
    let body = render(&stored.value.view(person, at))?;
    Ok(Reply::ok(body, Some(stored.version)).with_etag_extra(stored.value.stands(person, at).mark()))
}

/// Members of the response to an invitation that hold its link.
const SECRET_MEMBERS: &[&str] = &["accept_url"];

/// `POST /employees/{id}/invite`: sends a new invitation and revokes the previous one.
///
/// If no email is sent, a key of admin level gets the link and must pass it on.
///
/// # Errors
/// Not found, a caller without write access to people, not pending, over the limits of emails; see [`Error`].
pub async fn invite(context: &RequestContext, employee: EmployeeId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let tenant = context.caller.tenant;
        let (person, before) = tokio::try_join!(
            context.services.store.row::<Employee>(tenant, employee),
            context.services.store.first(tenant, rows::invitations::newest(employee))
        )?;
        let person = or_not_found(person)?;
        context.validate_action(person.shown_version())?;
        person.value.authorize_invitation(context.caller.is_data_admin())?;
        // Only the newest invitation is valid, so two within a millisecond need different times.
        let sent_at = before.as_ref().map_or(at, |row| at.strictly_after(row.value.created_at));
        let (new, token) = create_invitation(&context.services, tenant, &person.value, (at, sent_at))?;
        if new.mail.is_some() {
            let exceeded_limit = reached_limit(&context.services, tenant, &person.value.email, at).await?;
            invitation::within_limits(before.as_ref().map(|newest| &newest.value), exceeded_limit.as_ref(), at)?;
        }
        let is_passed_on = new.mail.is_none() && context.caller.is_data_admin();
        let accept_url = is_passed_on.then(|| context.services.settings.accept_url(&token));
        let sent_invitation = SentInvitation { invitation: new.view(person.value.status, at), accept_url };
        let draft = candor_domain::audit::AuditDraft::new(&person.value, "employee.invite");
        let mut change = ChangeSet::new(context.audit(context.services.id(at), draft, at));
        if let Some(invitation_before) = before {
            let revocation = invitation_before.value.revoke(at);
            change.events =
                events(&context.services, Some(&invitation_before.value), &revocation, person.value.status, at)?;
            change.writes = vec![Write::put(&Row::at_version(revocation, invitation_before.version))];
        }
        change.events.extend(events(&context.services, None, &new, person.value.status, at)?);
        change.writes.push(Write::put(&Row::new(new)));
        change.requires = vec![candor_port_storage::Require::has_version::<Employee>(employee, person.version)];
        let reply = Reply::ok(render(&sent_invitation)?, Some(Version::FIRST));
        let secret_members = if is_passed_on { SECRET_MEMBERS } else { &[] };
        Ok(ChangePlan::Commit(Box::new(change), reply.with_made_members(secret_members)))
    };
    context.change(plan).await
}

/// `POST /invitations/accept`: accepts an invitation by its token, without an API key.
///
/// # Errors
/// Not found, the same error for unknown, used, expired and revoked tokens; invalid fields; see [`Error`].
pub async fn accept(
    services: &Services,
    request: RequestId,
    origin: Origin,
    body: Object,
) -> Result<Reply, Error> {
    let token = invitation::parse_acceptance(body)?;
    let hash = invitation::hash(&token);
    let plan = async |at: Timestamp| {
        let (tenant, stored) =
            or_not_found(services.store.row_in_any_tenant(rows::invitations::BY_TOKEN, hash).await?)?;
        let acceptance = stored.value.accept(at)?;
        let accepted_row = AcceptedRow { before: stored.value, accepted: acceptance, seen: stored.version };
        let person = services.store.row::<Employee>(tenant, accepted_row.before.employee_id).await?;
        let person = or_not_found(person.filter(|person| invitation::is_for(&token, &person.value.email)))?;
        let (change, state) = build_acceptance(services, (request, origin.clone()), accepted_row, &person, at)?;
        Ok(Attempt::Commit(tenant, Box::new(change), render_reply(tenant, &state)?))
    };
    services.retry(plan).await
}

/// Returns the change by which a sign-in accepts the newest invitation of a person, without the session. `None` if it was
/// revoked, has expired, was made for another address, or there is none.
///
/// # Errors
/// See [`Error`].
pub(super) async fn accept_by_sign_in(
    services: &Services,
    tenant: Tenant,
    actor: (RequestId, Origin),
    person: &Versioned<Employee>,
    at: Timestamp,
) -> Result<Option<ChangeSet>, Error> {
    let newest = services.store.first(tenant, rows::invitations::newest(person.value.id)).await?;
    let Some(newest) = newest else { return Ok(None) };
    let Ok(acceptance) = newest.value.accept_by_address(person.value.address_changed_at, at) else {
        return Ok(None);
    };
    let row = AcceptedRow { before: newest.value, accepted: acceptance, seen: newest.version };
    let (change, _) = build_acceptance(services, actor, row, person, at)?;
    Ok(Some(change))
}

/// An invitation before and after its acceptance.
struct AcceptedRow {
    before: Invitation,
    accepted: Invitation,
    seen: Version,
}

fn build_acceptance(
    services: &Services,
    (request, origin): (RequestId, Origin),
    AcceptedRow { before, accepted, seen }: AcceptedRow,
    person: &Versioned<Employee>,
    at: Timestamp,
) -> Result<(ChangeSet, Employee), Error> {
    let decision = person.value.accept_invitation(at)?;
    let state = decision.state;
    let name = format!("{} {}", state.first_name, state.last_name);
    let mut change = ChangeSet::new(AuditEntry {
        id: services.id(at),
        occurred_at: at,
        action: decision.audit.action.to_owned(),
        actor: Actor { kind: ActorKind::Employee, id: Some(state.id.to_string()), name },
        target: decision.audit.target,
        changes: decision.audit.changes,
        comment: None,
        request_id: Some(request.to_string()),
        context: origin,
    });
    change.events = services.events(&decision.events, &render(&state)?, at);
    change.events.extend(events(services, Some(&before), &accepted, state.status, at)?);
    change.writes = vec![
        Write::put(&Row::at_version(accepted, seen)),
        Write::employee(&Row::at_version(state.clone(), person.version), None),
    ];
    Ok((change, state))
}

fn render_reply(tenant: Tenant, state: &Employee) -> Result<Reply, Error> {
    let accepted_invitation =
        AcceptedInvitation { employee_id: state.id, organization_id: tenant.organization, status: state.status };
    Ok(Reply::ok(render(&accepted_invitation)?, None))
}
