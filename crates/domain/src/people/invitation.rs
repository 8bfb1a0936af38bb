//! Invitations: a token that turns a pending person into an active one (§3.3, decisions G).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{Employee, Status};
use crate::access::{Environment, Tenant};
use crate::fields::{Fields, Word, as_word};
use crate::id::{EmployeeId, InvitationId};
use crate::json::Object;
use crate::problem::Problems;
use crate::refusal::Refusal;
use crate::rule::{self, Field};
use crate::secret::Secret;
use crate::time::Timestamp;

mod letter;
mod limits;
mod mail;

pub use letter::Letter;
pub use limits::{MAILS_PER_DAY, RESEND_SECONDS, Recipient, within_limits};
pub use mail::{InvitationMail, MailFailure, MailStatus, MailView};

/// How long an invitation can be accepted.
pub const VALID_SECONDS: i64 = 14 * 24 * 3600;
/// Attempts to accept, per minute and address.
pub const ACCEPTS_PER_MINUTE: u32 = 20;

/// The longest token that is worth a look.
const TOKEN_CHARS: usize = 200;

/// The fields of an acceptance: the token.
pub fn read_acceptance(fields: &mut Fields) -> Option<String> {
    fields.required(&Field::new("token", rule::text(1..=TOKEN_CHARS), "Token of the invitation, from its link."))
}

/// Reads the body of an acceptance: the token.
///
/// # Errors
/// Every field that is wrong.
pub fn parse_acceptance(body: Object) -> Result<String, Problems> {
    let mut fields = Fields::new(body);
    let token = read_acceptance(&mut fields);
    fields.finish(token)
}

/// Where an invitation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum State {
    /// It can be accepted.
    Pending,
    /// It was.
    Accepted,
    /// It was not, in time.
    Expired,
    /// A newer one took its place, or the person left.
    Revoked,
}

impl Word for State {
    const NAME: &'static str = "InvitationStatus";
}

impl State {
    /// A number for each, for `ETag`: time and the person change where an invitation stands, and not its version.
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

/// An invitation. Only the hash of its token is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// Who is invited.
    pub employee_id: EmployeeId,
    /// SHA-256 of the token.
    pub token_hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The mail with its link, if one was to be sent.
    pub mail: Option<InvitationMail>,
}

/// The JSON form of an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct View {
    id: InvitationId,
    employee_id: EmployeeId,
    #[serde(serialize_with = "as_word")]
    status: State,
    created_at: Timestamp,
    expires_at: Timestamp,
    accepted_at: Option<Timestamp>,
    mail: Option<MailView>,
}

/// Whether invitations go out by mail where a server is set: those of test data never do (decision B6).
#[must_use]
pub const fn is_mailed(tenant: Tenant) -> bool {
    match tenant.environment {
        Environment::Live => true,
        Environment::Test => false,
    }
}

/// Makes a token of 256 random bits.
#[must_use]
pub fn token(random: [u8; 32]) -> Secret {
    Secret::new(URL_SAFE_NO_PAD.encode(random))
}

/// What is kept of a token.
#[must_use]
pub fn hash(token: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, token.as_bytes()).as_ref());
    hash
}

impl Invitation {
    /// Invites a person who is pending.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] for anyone else.
    pub fn new(id: InvitationId, employee: &Employee, token: &Secret, at: Timestamp) -> Result<Self, Refusal> {
        if employee.status != Status::PendingInvite {
            return Err(Refusal::transition("status", employee.status.word(), "invite"));
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
        })
    }

    /// The same, whose link goes out by mail from this time on; its token is kept sealed until then.
    #[must_use]
    pub fn by_mail(self, sealed_token: Vec<u8>, at: Timestamp) -> Self {
        let mail = Some(InvitationMail::queued(sealed_token, at));
        Self { mail, ..self }
    }

    /// The same, whose mail is not sent: its recipient got as many mails today as there may be.
    #[must_use]
    pub fn over_mail_limit(self) -> Self {
        Self { mail: Some(InvitationMail::over_limit()), ..self }
    }

    /// Until when it can be accepted.
    #[must_use]
    pub const fn expires_at(&self) -> Timestamp {
        self.created_at.plus_seconds(VALID_SECONDS)
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self, at: Timestamp) -> State {
        match (self.accepted_at, self.revoked_at) {
            (Some(_), _) => State::Accepted,
            (None, Some(_)) => State::Revoked,
            (None, None) if at >= self.expires_at() => State::Expired,
            (None, None) => State::Pending,
        }
    }

    /// Where it stands when its person stands there: whoever is not pending any more, for whatever reason, has nothing
    /// to accept.
    #[must_use]
    pub fn stands(&self, person: Status, at: Timestamp) -> State {
        let state = self.state(at);
        if state == State::Pending && person != Status::PendingInvite { State::Revoked } else { state }
    }

    /// Accepts it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] unless it is pending: used, expired and revoked ones look like none.
    pub fn accept(&self, at: Timestamp) -> Result<Self, Refusal> {
        if self.state(at) != State::Pending {
            return Err(Refusal::NotFound);
        }
        Ok(Self { accepted_at: Some(at), ..self.without_mail() })
    }

    /// Takes it back, if it can still be accepted.
    #[must_use]
    pub fn revoke(&self, at: Timestamp) -> Self {
        Self { revoked_at: self.revoked_at.or(Some(at)), ..self.without_mail() }
    }

    /// The same, whose mail is not wanted any more.
    fn without_mail(&self) -> Self {
        Self { mail: self.mail.as_ref().map(InvitationMail::canceled), ..self.clone() }
    }

    /// The sealed token, if its mail is to be sent while its person stands there.
    ///
    /// # Errors
    /// What becomes of it, if there is nothing to send: the mail is not queued any more, the invitation has expired, or
    /// the person has nothing to accept.
    pub fn token_to_send(&self, person: Status, at: Timestamp) -> Result<&[u8], Box<Self>> {
        let queued = self.mail.as_ref().and_then(|it| it.sealed_token.as_deref());
        match (self.stands(person, at), queued) {
            (State::Pending, Some(sealed)) => Ok(sealed),
            (State::Expired, Some(_)) => {
                Err(Box::new(Self { mail: self.mail.as_ref().map(InvitationMail::expired), ..self.clone() }))
            }
            (State::Pending | State::Accepted | State::Revoked | State::Expired, _) => {
                Err(Box::new(self.without_mail()))
            }
        }
    }

    /// After an attempt to send its mail, which ended at this time.
    #[must_use]
    pub fn mail_attempted(&self, outcome: Result<(), MailFailure>, at: Timestamp) -> Self {
        let mail = self.mail.as_ref().map(|it| it.attempted(outcome, at, self.expires_at()));
        Self { mail, ..self.clone() }
    }

    /// Its JSON form, where its person stands there.
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

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;
    use ulid::Ulid;

    #[test]
    fn an_invitation_is_accepted_once_and_within_14_days() {
        let at = Timestamp::from_millis(0);
        let pending = Employee { status: Status::PendingInvite, ..employee(1) };
        let token = token([7; 32]);
        let it = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token, at).unwrap();
        let last = at.plus_seconds(VALID_SECONDS - 1);
        assert_eq!(it.state(last), State::Pending);
        assert_eq!(it.accept(at.plus_seconds(VALID_SECONDS)), Err(Refusal::NotFound));
        assert_eq!(it.accept(last).unwrap().accept(last), Err(Refusal::NotFound));
        assert_eq!(it.revoke(at).accept(last), Err(Refusal::NotFound));
        assert!(Invitation::new(it.id, &employee(1), &token, at).is_err(), "only who is pending is invited");
    }

    #[test]
    fn whoever_is_not_pending_any_more_has_nothing_to_accept() {
        let at = Timestamp::from_millis(0);
        let pending = Employee { status: Status::PendingInvite, ..employee(1) };
        let it = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32]), at).unwrap();
        let accepted = it.accept(at).unwrap();
        let late = at.plus_seconds(VALID_SECONDS);
        let table = [
            (Status::PendingInvite, [State::Pending, State::Expired, State::Accepted]),
            (Status::Active, [State::Revoked, State::Expired, State::Accepted]),
            (Status::Deactivated, [State::Revoked, State::Expired, State::Accepted]),
        ];
        for (person, wanted) in table {
            assert_eq!([it.stands(person, at), it.stands(person, late), accepted.stands(person, late)], wanted);
        }
    }

    #[test]
    fn a_mail_is_sent_while_there_is_something_to_accept_and_not_longer() {
        let at = Timestamp::from_millis(0);
        let pending = Employee { status: Status::PendingInvite, ..employee(1) };
        let it = Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32]), at).unwrap();
        assert_eq!(it.token_to_send(Status::PendingInvite, at), Err(Box::new(it.clone())), "no mail was to be sent");
        let it = it.by_mail(vec![1, 2], at);
        let late = at.plus_seconds(VALID_SECONDS);
        assert_eq!(it.token_to_send(Status::PendingInvite, at), Ok([1, 2].as_slice()));
        let ended = |it: &Invitation, person, at| {
            let mail = it.token_to_send(person, at).unwrap_err().mail.unwrap();
            (mail.status, mail.sealed_token, mail.failure)
        };
        let canceled = (MailStatus::Canceled, None, None);
        assert_eq!(ended(&it, Status::Active, at), canceled);
        assert_eq!(ended(&it.accept(at).unwrap(), Status::PendingInvite, at), canceled);
        assert_eq!(ended(&it.revoke(at), Status::PendingInvite, late), canceled);
        let expired = (MailStatus::Failed, None, Some(MailFailure::Expired));
        assert_eq!(ended(&it, Status::PendingInvite, late), expired);
        let sent = it.mail_attempted(Ok(()), at);
        assert_eq!(ended(&sent, Status::PendingInvite, at), (MailStatus::Sent, None, None));
        assert_eq!(sent.revoke(at).mail, sent.mail, "what was sent stays sent");
    }
}
