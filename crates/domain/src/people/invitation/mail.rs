//! The mail with the link of an invitation: its status, retries and failures (decisions G).

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::fields::{StringEnum, string_enum};
use crate::time::Timestamp;

/// Delays between attempts, in minutes; the last one repeats. Greylisting servers accept a mail after minutes, and
/// a full mailbox may take days.
const DELAYS_MINUTES: [i64; 7] = [1, 5, 15, 60, 4 * 60, 12 * 60, 24 * 60];

/// The status of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum MailStatus {
    /// The mail waits for its first or next attempt.
    Queued,
    /// A mail server accepted the mail.
    Sent,
    /// The mail was refused permanently, or no attempt succeeded while the invitation was valid.
    Failed,
    /// The invitation was accepted or revoked before a mail server accepted the mail.
    Canceled,
}

string_enum!(MailStatus, "MailStatus");

/// The reason why an attempt failed; the API, metrics and logs use the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum MailFailure {
    /// The connection to the mail server could not be established.
    Connect,
    /// The TLS handshake failed, e.g. because the certificate is invalid or the server does not offer TLS.
    Tls,
    /// The mail server refused the user name or password.
    Credentials,
    /// The mail server currently accepts no mail.
    Busy,
    /// The mail server refused the sender address.
    Sender,
    /// The mail server did not respond in time.
    Timeout,
    /// The connection was closed early, or the response was not valid SMTP.
    Closed,
    /// The mail server asked to retry this mail later.
    Deferred,
    /// The mail server refused this mail permanently, e.g. because the mailbox does not exist.
    Refused,
    /// The address cannot be used in a mail.
    Unsendable,
    /// The token cannot be opened with the master keys of this process.
    Sealed,
    /// The invitation expired before the mail was sent.
    Expired,
    /// The mails of the organization to the mailbox or its domain have reached a daily limit
    /// ([`MAILS_PER_DAY`](super::MAILS_PER_DAY), [`DOMAIN_MAILS_PER_DAY`](super::DOMAIN_MAILS_PER_DAY)).
    RecipientLimit,
    /// The organization has reached its daily limit of invitation mails. The mail is sent on a later day.
    OrganizationLimit,
}

string_enum!(MailFailure, "MailFailure");

impl MailFailure {
    /// Returns `true` if no later attempt can succeed.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Refused | Self::Unsendable | Self::Expired | Self::RecipientLimit => true,
            Self::Connect
            | Self::Tls
            | Self::Credentials
            | Self::Busy
            | Self::Sender
            | Self::Timeout
            | Self::Closed
            | Self::Deferred
            | Self::OrganizationLimit
            | Self::Sealed => false,
        }
    }

    /// Returns `true` if the mail server, not this mail, is the cause, so that other mails would fail too.
    #[must_use]
    pub const fn is_of_the_server(self) -> bool {
        match self {
            Self::Connect | Self::Tls | Self::Credentials | Self::Busy | Self::Sender => true,
            Self::Timeout
            | Self::Closed
            | Self::Deferred
            | Self::Refused
            | Self::Unsendable
            | Self::Sealed
            | Self::Expired
            | Self::RecipientLimit
            | Self::OrganizationLimit => false,
        }
    }
}

/// The mail of one invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say everything")]
pub struct InvitationMail {
    pub status: MailStatus,
    /// The sealed token; only while the mail is queued.
    pub sealed_token: Option<Vec<u8>>,
    pub attempts: u32,
    /// Time of the next attempt; only while the mail is queued.
    pub due_at: Option<Timestamp>,
    /// Time of the last attempt.
    pub attempted_at: Option<Timestamp>,
    /// The reason why the last attempt failed.
    pub failure: Option<MailFailure>,
}

/// State of the mail that contains an invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "InvitationMail")]
pub struct MailView {
    /// Status of the mail.
    status: MailStatus,
    /// Number of attempts to send the mail.
    attempts: u32,
    /// Time of the last attempt. Null if there was none.
    last_attempt_at: Option<Timestamp>,
    /// Time of the next attempt. Null if there is none.
    next_attempt_at: Option<Timestamp>,
    /// Reason for the failure of the last attempt. Null if it did not fail.
    #[schemars(with = "Option<MailFailure>")]
    failure: Option<&'static str>,
}

impl InvitationMail {
    /// Creates a mail that is due at `at`.
    #[must_use]
    pub const fn new_queued(sealed_token: Vec<u8>, at: Timestamp) -> Self {
        Self {
            status: MailStatus::Queued,
            sealed_token: Some(sealed_token),
            attempts: 0,
            due_at: Some(at),
            attempted_at: None,
            failure: None,
        }
    }

    /// Creates a mail that is not sent because of the limit of its recipient.
    #[must_use]
    pub(super) const fn over_limit() -> Self {
        Self {
            status: MailStatus::Failed,
            sealed_token: None,
            attempts: 0,
            due_at: None,
            attempted_at: None,
            failure: Some(MailFailure::RecipientLimit),
        }
    }

    /// Postpones the mail to `due_at` without an attempt. The mail fails if the invitation expires first. `failure` is
    /// the reason that the mail shows; without one, a mail that fails shows that the invitation expired.
    #[must_use]
    pub(super) fn postpone(self, failure: Option<MailFailure>, due_at: Timestamp, expires_at: Timestamp) -> Self {
        if due_at >= expires_at {
            let failure = failure.or(Some(MailFailure::Expired));
            return Self { failure, ..self }.with_final_status(MailStatus::Failed);
        }
        Self { failure, due_at: Some(due_at), ..self }
    }

    /// Cancels the mail if it is queued.
    #[must_use]
    pub(super) fn cancel(&self) -> Self {
        if self.status == MailStatus::Queued { self.with_final_status(MailStatus::Canceled) } else { self.clone() }
    }

    /// Marks the mail as failed if it is queued, because the invitation has expired.
    #[must_use]
    pub(super) fn expire(&self) -> Self {
        if self.status != MailStatus::Queued {
            return self.clone();
        }
        Self { failure: Some(MailFailure::Expired), ..self.with_final_status(MailStatus::Failed) }
    }

    /// Records an attempt that ended at `at`; no attempt follows from `expires_at` on. A server may have accepted
    /// the mail while it was being canceled: the mail then counts as sent.
    #[must_use]
    pub(super) fn record_attempt(
        &self,
        outcome: Result<(), MailFailure>,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> Self {
        let next = Self {
            attempts: self.attempts.saturating_add(1),
            attempted_at: Some(at),
            failure: outcome.err(),
            ..self.clone()
        };
        match (outcome, self.status) {
            (Ok(()), _) => next.with_final_status(MailStatus::Sent),
            (Err(failure), MailStatus::Queued) => {
                let due_at = at.plus_seconds(60 * delay_minutes(next.attempts));
                if failure.is_final() || due_at >= expires_at {
                    next.with_final_status(MailStatus::Failed)
                } else {
                    Self { due_at: Some(due_at), ..next }
                }
            }
            (Err(_), MailStatus::Sent | MailStatus::Failed | MailStatus::Canceled) => next,
        }
    }

    /// Ends the mail with a final status and drops the token.
    fn with_final_status(&self, status: MailStatus) -> Self {
        Self { status, sealed_token: None, due_at: None, ..self.clone() }
    }

    /// Returns the JSON form.
    #[must_use]
    pub(super) fn view(&self) -> MailView {
        MailView {
            status: self.status,
            attempts: self.attempts,
            last_attempt_at: self.attempted_at,
            next_attempt_at: self.due_at,
            failure: self.failure.map(StringEnum::word),
        }
    }
}

/// Returns the delay of the next attempt after this many attempts, in minutes.
fn delay_minutes(attempts: u32) -> i64 {
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    DELAYS_MINUTES[index.min(DELAYS_MINUTES.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_000_000);
    const END: Timestamp = START.plus_seconds(super::super::VALID_SECONDS);

    fn queued() -> InvitationMail {
        InvitationMail::new_queued(vec![1, 2, 3], START)
    }

    #[test]
    fn delays_grow_and_attempts_end_before_the_invitation_expires() {
        let (mut mail, mut waits, mut at) = (queued(), vec![], START);
        while let Some(due_at) = mail.due_at {
            assert_eq!((mail.status, mail.sealed_token.is_some()), (MailStatus::Queued, true));
            assert!(due_at < END, "{due_at}");
            waits.push((due_at.millis() - at.millis()) / 60_000);
            at = due_at;
            mail = mail.record_attempt(Err(MailFailure::Deferred), at, END);
        }
        assert_eq!(waits[..9], [0, 1, 5, 15, 60, 240, 720, 1440, 1440]);
        assert_eq!((mail.attempts, waits.len()), (20, 20));
        assert_eq!((mail.status, mail.failure), (MailStatus::Failed, Some(MailFailure::Deferred)));
        assert_eq!(mail.sealed_token, None, "the token is dropped after the last attempt");
    }

    #[test]
    fn status_after_each_outcome_follows_the_table() {
        use MailStatus::{Canceled, Failed, Queued, Sent};
        let failure = MailFailure::Timeout;
        let never = MailFailure::Refused;
        let table = [
            //         sent, deferred, refused, canceled, expired
            (Queued, [Sent, Queued, Failed, Canceled, Failed]),
            (Sent, [Sent, Sent, Sent, Sent, Sent]),
            (Failed, [Sent, Failed, Failed, Failed, Failed]),
            (Canceled, [Sent, Canceled, Canceled, Canceled, Canceled]),
        ];
        for (status, wanted) in table {
            let mail = if status == Queued { queued() } else { queued().with_final_status(status) };
            let mail_after = |outcome| mail.record_attempt(outcome, START, END);
            let all = [
                mail_after(Ok(())),
                mail_after(Err(failure)),
                mail_after(Err(never)),
                mail.cancel(),
                mail.expire(),
            ];
            assert_eq!(all.clone().map(|mail| mail.status), wanted, "{status:?}");
            for mail in all {
                let is_queued = mail.status == Queued;
                assert_eq!(
                    (mail.sealed_token.is_some(), mail.due_at.is_some()),
                    (is_queued, is_queued),
                    "{mail:?}"
                );
            }
        }
    }

    #[test]
    fn postponed_mail_waits_or_fails_with_the_invitation() {
        let just_before = END.plus_seconds(-1);
        let limit = Some(MailFailure::RecipientLimit);
        for (failure, due_at, status, shown_failure) in [
            (None, just_before, MailStatus::Queued, None),
            (limit, just_before, MailStatus::Queued, limit),
            (None, END, MailStatus::Failed, Some(MailFailure::Expired)),
            (limit, END, MailStatus::Failed, limit),
        ] {
            let mail = queued().postpone(failure, due_at, END);
            assert_eq!((mail.status, mail.failure, mail.attempts), (status, shown_failure, 0), "{due_at}");
            assert_eq!(mail.due_at, Some(due_at).filter(|_| status == MailStatus::Queued), "{due_at}");
        }
    }

    #[test]
    fn attempt_is_counted_and_shown_with_its_failure() {
        let attempt_time = START.plus_seconds(5);
        let mail = queued().record_attempt(Err(MailFailure::Busy), attempt_time, END);
        assert_eq!(
            mail.view(),
            MailView {
                status: MailStatus::Queued,
                attempts: 1,
                last_attempt_at: Some(attempt_time),
                next_attempt_at: Some(attempt_time.plus_seconds(60)),
                failure: Some("busy"),
            }
        );
        let sent_mail = mail.record_attempt(Ok(()), attempt_time.plus_seconds(60), END);
        assert_eq!((sent_mail.attempts, sent_mail.failure, sent_mail.due_at), (2, None, None));
    }
}
