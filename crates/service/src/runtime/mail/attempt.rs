//! One attempt to send a mail, from preparation to result. It holds no transaction or lock, only the lease.

use std::time::Instant;

use candor_domain::fields::StringEnum;
use candor_domain::id::Id;
use candor_domain::organization::Organization;
use candor_domain::people::invitation::{MailFailure, recipient_limits, shared_limits};
use candor_domain::people::{Employee, Invitation};
use candor_port_events::Mail;
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::{StorageExt, Versioned};
use tracing::Instrument;

use super::invitation_email::InvitationEmail;
use super::mailer::MailerShared;
use crate::context::mail_limits;
use crate::context::sealed_secrets;

/// Result of an attempt to send a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MailEnding {
    /// Result to record. If `None`, the lease expires and the mail is claimed again.
    pub(super) result: Option<MailResult>,
    /// `true` if the mail server answered, `false` if the server and not this mail caused the failure. `None` if
    /// the attempt says nothing about the server.
    pub(super) reached: Option<bool>,
}

impl MailEnding {
    /// Creates the ending of an attempt without any result.
    pub(super) const fn without_result() -> Self {
        Self { result: None, reached: None }
    }

    /// Creates the ending of an attempt that did not try to reach the server.
    pub(super) const fn not_attempted(result: MailResult) -> Self {
        Self { result: Some(result), reached: None }
    }

    /// Creates the ending of an attempt that tried to hand the mail to the server.
    pub(super) const fn from_attempt(result: MailResult, outcome: Result<(), MailFailure>) -> Self {
        let is_reachable = match outcome {
            Ok(()) | Err(MailFailure::Deferred | MailFailure::Refused) => Some(true),
            Err(failure) if failure.is_of_the_server() => Some(false),
            Err(_) => None,
        };
        Self { result: Some(result), reached: is_reachable }
    }
}

/// Data that an attempt needs, read just before it.
struct MailAttemptData {
    invitation: Versioned<Invitation>,
    person: Employee,
    organization: Organization,
}

impl MailerShared {
    /// Makes an attempt, unless the mail must not be sent any more.
    pub(super) async fn attempt(&self, mail: MailKey) -> MailEnding {
        let ready = match self.look_up(mail).await {
            Ok(Some(ready)) => ready,
            Ok(None) => return MailEnding::without_result(),
            Err(error) => {
                tracing::warn!(%error, "cannot read the data of a mail; retrying soon");
                return MailEnding::without_result();
            }
        };
        let Versioned { value: invitation, version } = &ready.invitation;
        let changed_invitation = |value| MailResult::Changed(Box::new(Versioned { value, version: *version }));
        let sealed_token = match invitation.token_to_send(ready.person.status, self.services.clock.now()) {
            Ok(sealed) => sealed,
            Err(ended) if *ended == *invitation => return MailEnding::not_attempted(MailResult::Released),
            Err(ended) => return MailEnding::not_attempted(changed_invitation(*ended)),
        };
        match self.find_reached_limit(mail, &ready).await {
            Ok(None) => {}
            Ok(Some(invitation_after)) => {
                return MailEnding::not_attempted(changed_invitation(invitation_after));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot count the mails of the day; retrying soon");
                return MailEnding::without_result();
            }
        }
        let start = Instant::now();
        let outcome = self.send(mail, sealed_token, &ready).await;
        self.metrics.count_attempt(outcome, start.elapsed());
        log(mail, outcome);
        let invitation_after = invitation.mail_attempted(outcome, self.services.clock.now());
        MailEnding::from_attempt(changed_invitation(invitation_after), outcome)
    }

    async fn look_up(&self, (tenant, id): MailKey) -> Read<Option<MailAttemptData>> {
        let store = &self.services.store;
        let Some(invitation) = store.row::<Invitation>(tenant, id).await? else { return Ok(None) };
        let (person, organization) = tokio::try_join!(
            store.row::<Employee>(tenant, invitation.value.employee_id),
            store.row::<Organization>(tenant, Id::from_bytes(tenant.organization.to_bytes())),
        )?;
        let both = person.zip(organization);
        Ok(both.map(|(person, organization)| MailAttemptData {
            invitation,
            person: person.value,
            organization: organization.value,
        }))
    }

    /// Counts the mail, unless an earlier attempt counted it. If a daily limit is reached, returns the invitation
    /// as failed by this limit, or as delayed if organizations share the limit. The limit of the organization
    /// counts first and the shared limits of organizations last: a mail over one limit must not use up the next
    /// one.
    async fn find_reached_limit(&self, (tenant, _): MailKey, ready: &MailAttemptData) -> Read<Option<Invitation>> {
        let invitation = &ready.invitation.value;
        if invitation.mail.as_ref().is_some_and(|mail| mail.attempts > 0) {
            return Ok(None);
        }
        let (services, email, now) = (&self.services, &ready.person.email, self.services.clock.now());
        let is_known_domain = mail_limits::is_known_domain(services, tenant, email).await?;
        let mut limits = vec![mail_limits::find_organization_limit(services, tenant).await?];
        limits.extend(recipient_limits(tenant.organization, email, is_known_domain));
        for limit in limits {
            if !services.store.count_mail(limit.counter, now.date(), limit.most).await? {
                return Ok(Some(invitation.clone().over_mail_limit(limit.failure, now)));
            }
        }
        for limit in shared_limits(email, is_known_domain) {
            if !services.store.count_mail(limit.counter, now.date(), limit.most).await? {
                return Ok(Some(invitation.clone().over_shared_limit(now)));
            }
        }
        Ok(None)
    }

    async fn send(&self, mail: MailKey, sealed: &[u8], ready: &MailAttemptData) -> Result<(), MailFailure> {
        let MailAttemptData { invitation: Versioned { value: invitation, .. }, person, organization } = ready;
        let token = sealed_secrets::open(&self.services.vault, mail, sealed).map_err(|_| MailFailure::Sealed)?;
        let link = self.services.settings.accept_url(&token);
        let email = InvitationEmail::new(&person.first_name, &organization.name, &link, invitation.expires_at());
        let mail = Mail {
            id: invitation.id.to_string(),
            to: person.email.clone(),
            subject: email.subject.to_owned(),
            text: email.text,
            html: email.html,
            date: invitation.created_at,
            deadline: self.deadline,
        };
        let span = tracing::info_span!(
            target: "candor_spans",
            "mail",
            otel.kind = "client",
            invitation_id = %invitation.id,
        );
        self.transport.send(mail).instrument(span).await
    }
}

/// Logs the result of an attempt: ids and reason words, never an address or the content of the mail.
fn log((tenant, invitation): MailKey, outcome: Result<(), MailFailure>) {
    let organization = tenant.organization;
    match outcome {
        Ok(()) => tracing::debug!(%organization, %invitation, "a mail was sent"),
        Err(failure) if failure.is_of_the_server() => {
            tracing::warn!(
                reason = failure.word(),
                "cannot send mail through the mail server; retrying soon. \
                                                     If the warning stays, run `candor doctor`"
            );
        }
        Err(MailFailure::Sealed) => {
            tracing::error!(
                %organization, %invitation,
                "cannot open the token of an invitation; add the key that encrypted the token to \
                 CANDOR_MASTER_KEY, or invite the person again"
            );
        }
        Err(failure) => {
            tracing::info!(
                %organization, %invitation, reason = failure.word(),
                "an invitation mail was not sent; `mail` of the invitation has the reason and the next attempt"
            );
        }
    }
}
