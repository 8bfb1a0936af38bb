//! Invitations: a token with which a pending person becomes active (§3.3, decisions G).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{Employee, Status};
use crate::access::{Environment, Tenant};
use crate::event::EventType;
use crate::fields::{Fields, StringEnum, string_enum};
use crate::id::{EmployeeId, InvitationId};
use crate::json::Object;
use crate::problem::ValidationErrors;
use crate::refusal::DomainError;
use crate::rule::{self, Field};
use crate::secret::Secret;
use crate::text::fold_case;
use crate::time::Timestamp;

mod limits;
mod mail;
#[cfg(test)]
mod tests;

pub use limits::{
    ACCEPTED_TO_TRUST, DOMAIN_MAILS_PER_DAY, MAILS_PER_DAY, MailCounter, MailLimit, ORGANIZATION_MAILS_PER_DAY,
    RESEND_SECONDS, SharedMailLimit, organization_limit, recipient_limits, shared_limits, within_limits,
};
pub use mail::{InvitationMail, MailFailure, MailStatus, MailView};

/// Validity of an invitation, in seconds.
pub const VALID_SECONDS: i64 = 14 * 24 * 3600;
/// Maximum number of attempts to accept an invitation, per minute and client address.
pub const ACCEPTS_PER_MINUTE: u32 = 20;

/// Length of the longest token that is looked up, in characters.
const TOKEN_CHARS: usize = 200;

/// Declares and reads the token of an acceptance.
pub fn read_acceptance(fields: &mut Fields) -> Option<String> {
    fields.required(&Field::with_about(
        "token",
        rule::text(1..=TOKEN_CHARS),
        "Token of the invitation, from its link.",
    ))
}

/// Reads the token from the body of an acceptance.
///
/// # Errors
/// Returns every invalid field.
pub fn parse_acceptance(body: Object) -> Result<String, ValidationErrors> {
    let mut fields = Fields::new(body);
    let token = read_acceptance(&mut fields);
    fields.finish(token)
}

/// The status of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum State {
    /// The invitation can be accepted.
    Pending,
    /// The person accepted the invitation.
    Accepted,
    /// The invitation was not accepted in time.
    Expired,
    /// A newer invitation replaced this one, or the person left.
    Revoked,
}

string_enum!(State, "InvitationStatus");

impl State {
    /// Returns a number for the `ETag`: the status can change with time or with the person, without a new version.
    #[must_use]
    pub const fn mark(self) -> u64 {
        match self {
            Self::Pending => 0,
            Self::Accepted => 1,
            Self::Expired => 2,
            Self::Revoked => 3,
        }
    }
}

/// An invitation of a person. Its token is stored as a hash; a queued mail also has the encrypted token.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "members of the contract, decisions G")]
pub struct Invitation {
    pub id: InvitationId,
    /// Person who may accept the invitation.
    pub employee_id: EmployeeId,
    /// SHA-256 hash of the token.
    pub token_hash: [u8; 32],
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// The mail with the link, queued or ended. `None` if the invitation is not mailed.
    pub mail: Option<InvitationMail>,
    /// The [`MailCounter`] of the domain that the invitation was for. `None` for older invitations.
    pub domain_hash: Option<[u8; 32]>,
}

/// An invitation of a person, without its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Invitation")]
pub struct View {
    /// Id of the invitation, with the prefix `inv_`.
    id: InvitationId,
    /// Id of the invited person.
    employee_id: EmployeeId,
    /// Status of the invitation.
    status: State,
    /// Time of the invitation.
    created_at: Timestamp,
    /// Expiry time of the token, 14 days after the invitation.
    expires_at: Timestamp,
    /// Time of acceptance. Null if it was not accepted.
    accepted_at: Option<Timestamp>,
    /// State of the invitation mail. Null if none is sent: no mail server is configured, or the data is test data.
    mail: Option<MailView>,
}

/// Returns `true` if invitations of this data set are mailed. Invitations of test data never are (decision B6).
#[must_use]
pub const fn is_mailed(tenant: Tenant) -> bool {
    match tenant.environment {
        Environment::Live => true,
        Environment::Test => false,
    }
}

/// Length of the mark of an address in a token, in bytes.
const MARK_BYTES: usize = 8;

/// Creates a token from 256 random bits and the mark of the address that it is for.
#[must_use]
pub fn token(random: [u8; 32], email: &str) -> Secret {
    Secret::new(URL_SAFE_NO_PAD.encode([&random[..], &mark_of(email)].concat()))
}

/// Returns `true` if a token was made for this address: after the person gets another address, the reader of the
/// former mailbox cannot use the token. Tokens of earlier versions have no mark and are for every address.
#[must_use]
pub fn is_for(token: &str, email: &str) -> bool {
    let bytes = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
    bytes.get(32..).is_none_or(|mark| mark.is_empty() || mark == mark_of(email))
}

fn mark_of(email: &str) -> [u8; MARK_BYTES] {
    let mut mark = [0; MARK_BYTES];
    mark.copy_from_slice(&hash(&fold_case(email))[..MARK_BYTES]);
    mark
}

/// Returns the SHA-256 hash of a token, by which its invitation is found.
#[must_use]
pub fn hash(token: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, token.as_bytes()).as_ref());
    hash
}

impl Invitation {
    /// Creates an invitation for a pending person.
    ///
    /// # Errors
    /// Returns [`DomainError::Conflict`] for a person with another status.
    pub fn new(id: InvitationId, employee: &Employee, token: &Secret, at: Timestamp) -> Result<Self, DomainError> {
        if employee.status != Status::PendingInvite {
            return Err(DomainError::transition("status", employee.status.word(), "invite"));
        }
        let token_hash = hash(token.reveal());
        Ok(Self {
            id,
            employee_id: employee.id,
            token_hash,
            created_at: at,
            accepted_at: None,
            revoked_at: None,
            mail: None,
            domain_hash: Some(MailCounter::for_domain(&employee.email).0),
        })
    }

    /// Queues the mail with the link. The sealed token is kept until the mail was sent.
    #[must_use]
    pub fn by_mail(self, sealed_token: Vec<u8>, at: Timestamp) -> Self {
        let mail = Some(InvitationMail::new_queued(sealed_token, at));
        Self { mail, ..self }
    }

    /// Records that the mail is over a daily limit. A mail over a limit of its recipient is never sent. A mail over
    /// the limit of the organization is sent on the next day.
    #[must_use]
    pub fn over_mail_limit(self, failure: MailFailure, at: Timestamp) -> Self {
        let end = self.expires_at();
        let mail = if failure == MailFailure::OrganizationLimit {
            self.mail.map(|mail| mail.postpone(Some(failure), limits::next_day(at).0, end))
        } else {
            Some(InvitationMail::over_limit())
        };
        Self { mail, ..self }
    }

    /// Postpones the mail to the next day (UTC), because it is over a limit that organizations share. The state of
    /// the mail does not show this reason.
    #[must_use]
    pub fn over_shared_limit(self, at: Timestamp) -> Self {
        let end = self.expires_at();
        let mail = self.mail.map(|mail| mail.postpone(None, limits::next_day(at).0, end));
        Self { mail, ..self }
    }

    /// Returns the time until which the invitation can be accepted.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.created_at.plus_seconds(VALID_SECONDS)
    }

    /// Returns the status of the invitation without regard to its person.
    #[must_use]
    pub fn state(&self, at: Timestamp) -> State {
        match (self.accepted_at, self.revoked_at) {
            (Some(_), _) => State::Accepted,
            (None, Some(_)) => State::Revoked,
            (None, None) if at >= self.expires_at() => State::Expired,
            (None, None) => State::Pending,
        }
    }

    /// Returns the status of the invitation, given the status of its person: if the person is not pending any
    /// more, a pending invitation counts as revoked.
    #[must_use]
    pub fn stands(&self, person: Status, at: Timestamp) -> State {
        let state = self.state(at);
        if state == State::Pending && person != Status::PendingInvite { State::Revoked } else { state }
    }

    /// Accepts the invitation.
    ///
    /// # Errors
    /// Returns [`DomainError::NotFound`] unless the invitation is pending, so that clients cannot tell used,
    /// expired and unknown tokens apart.
    pub fn accept(&self, at: Timestamp) -> Result<Self, DomainError> {
        if self.state(at) != State::Pending {
            return Err(DomainError::NotFound);
        }
        Ok(Self { accepted_at: Some(at), ..self.without_mail() })
    }

    /// Accepts the invitation for the holder of the person's address, who has no token. As its token, it serves the mailbox
    /// that it was made for: `address_changed_at` is the time of the last change of the mailbox.
    ///
    /// # Errors
    /// As [`Invitation::accept`].
    pub fn accept_by_address(
        &self,
        address_changed_at: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<Self, DomainError> {
        if address_changed_at.is_some_and(|changed_at| changed_at >= self.created_at) {
            return Err(DomainError::NotFound);
        }
        self.accept(at)
    }

    /// Revokes the invitation and cancels its mail.
    #[must_use]
    pub fn revoke(&self, at: Timestamp) -> Self {
        Self { revoked_at: self.revoked_at.or(Some(at)), ..self.without_mail() }
    }

    /// Returns the invitation with a queued mail canceled.
    fn without_mail(&self) -> Self {
        Self { mail: self.mail.as_ref().map(InvitationMail::cancel), ..self.clone() }
    }

    /// Returns the sealed token if the mail is still to be sent, given the status of the person.
    ///
    /// # Errors
    /// Returns the invitation as it must be stored, if there is nothing to send: the mail is not queued any more,
    /// the invitation has expired, or the person is not pending.
    pub fn token_to_send(&self, person: Status, at: Timestamp) -> Result<&[u8], Box<Self>> {
        let sealed_token = self.mail.as_ref().and_then(|mail| mail.sealed_token.as_deref());
        match (self.stands(person, at), sealed_token) {
            (State::Pending, Some(sealed)) => Ok(sealed),
            (State::Expired, Some(_)) => {
                Err(Box::new(Self { mail: self.mail.as_ref().map(InvitationMail::expire), ..self.clone() }))
            }
            (State::Pending | State::Accepted | State::Revoked | State::Expired, _) => {
                Err(Box::new(self.without_mail()))
            }
        }
    }

    /// Records an attempt to send the mail, which ended at `at`.
    #[must_use]
    pub fn mail_attempted(&self, outcome: Result<(), MailFailure>, at: Timestamp) -> Self {
        let mail = self.mail.as_ref().map(|mail| mail.record_attempt(outcome, at, self.expires_at()));
        Self { mail, ..self.clone() }
    }

    /// Returns the event of the change from `before` to this state; `before` is `None` for a new invitation.
    /// `None` if GET shows the same as before.
    #[must_use]
    pub fn event_since(&self, before: Option<&Self>) -> Option<EventType> {
        let Some(invitation_before) = before else { return Some(EventType::InvitationCreated) };
        let mail = |invitation: &Self| invitation.mail.as_ref().map(InvitationMail::view);
        if self.accepted_at != invitation_before.accepted_at {
            Some(EventType::InvitationAccepted)
        } else if self.revoked_at != invitation_before.revoked_at {
            Some(EventType::InvitationRevoked)
        } else {
            (mail(self) != mail(invitation_before)).then_some(EventType::InvitationUpdated)
        }
    }

    /// Returns the JSON form, given the status of the person.
    #[must_use]
    pub fn view(&self, person: Status, at: Timestamp) -> View {
        View {
            id: self.id,
            employee_id: self.employee_id,
            status: self.stands(person, at),
            created_at: self.created_at,
            expires_at: self.expires_at(),
            accepted_at: self.accepted_at,
            mail: self.mail.as_ref().map(InvitationMail::view),
        }
    }
}
