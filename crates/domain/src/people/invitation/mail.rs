//! The mail with an invitation's link: whether it is still to be sent, when, and what became of it (decisions G).

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::fields::{Word, as_word};
use crate::time::Timestamp;

/// How long after a failed attempt the next one is due, in minutes; the last delay is that of every attempt after it. A
/// receiver that asks for patience (greylisting) wants minutes, and a mailbox that is full wants days.
const DELAYS_MINUTES: [i64; 7] = [1, 5, 15, 60, 4 * 60, 12 * 60, 24 * 60];

/// What has become of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum MailStatus {
    /// It is to be sent, for the first time or again.
    Queued,
    /// A mail server took it.
    Sent,
    /// It was given up: it was refused for good, or was not taken as long as the invitation was valid.
    Failed,
    /// It was not wanted any more before a mail server took it: the invitation was accepted or revoked.
    Canceled,
}

impl Word for MailStatus {
    const NAME: &'static str = "MailStatus";
}

/// Why an attempt to send a mail failed: the same words in the API, in the metrics and in what is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum MailFailure {
    /// No connection to the mail server came about.
    Connect,
    /// No TLS session came about, e.g. because the certificate is not good, or the server offers none.
    Tls,
    /// The mail server did not accept the user name and password.
    Credentials,
    /// The mail server takes no mail from anybody now.
    Busy,
    /// The mail server takes no mail from this sender.
    Sender,
    /// The mail server did not answer in time.
    Timeout,
    /// The connection ended in between, or what came is not SMTP.
    Closed,
    /// The mail server asked to try this mail again later.
    Deferred,
    /// The mail server refused this mail for good, e.g. because there is no such mailbox.
    Refused,
    /// No mail can be made out to the address.
    Unsendable,
    /// No master key of the process opens the token that the link needs.
    Sealed,
    /// The invitation expired before it could be sent.
    Expired,
    /// The address got as many invitation mails today as it may get ([`MAILS_PER_DAY`](super::MAILS_PER_DAY)).
    RecipientLimit,
}

impl Word for MailFailure {
    const NAME: &'static str = "MailFailure";
}

impl MailFailure {
    /// Whether no later attempt can do better.
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
            | Self::Sealed => false,
        }
    }

    /// Whether it says nothing of the mail: every other one would meet it as well.
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
            | Self::RecipientLimit => false,
        }
    }
}

/// The mail of one invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationMail {
    /// What has become of it.
    pub status: MailStatus,
    /// The token, sealed, for as long as the mail is queued.
    pub sealed_token: Option<Vec<u8>>,
    /// How often it was attempted.
    pub attempts: u32,
    /// When it is attempted next, for as long as it is queued.
    pub due_at: Option<Timestamp>,
    /// When it was attempted last.
    pub attempted_at: Option<Timestamp>,
    /// Why the last attempt failed.
    pub failure: Option<MailFailure>,
}

/// The JSON form of a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MailView {
    #[serde(serialize_with = "as_word")]
    status: MailStatus,
    attempts: u32,
    last_attempt_at: Option<Timestamp>,
    next_attempt_at: Option<Timestamp>,
    failure: Option<&'static str>,
}

impl InvitationMail {
    /// A mail that is due.
    #[must_use]
    pub const fn queued(sealed_token: Vec<u8>, at: Timestamp) -> Self {
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

    /// It is not wanted any more. What has become of it stays.
    #[must_use]
    pub(super) fn canceled(&self) -> Self {
        if self.status == MailStatus::Queued { self.ended(MailStatus::Canceled) } else { self.clone() }
    }

    /// If it is still to be sent, it is too late for that.
    #[must_use]
    pub(super) fn expired(&self) -> Self {
        if self.status != MailStatus::Queued {
            return self.clone();
        }
        Self { failure: Some(MailFailure::Expired), ..self.ended(MailStatus::Failed) }
    }

    /// After an attempt that ended at this time, where nothing is sent from `expires_at` on. Whoever takes the mail may
    /// have done so while it was canceled.
    #[must_use]
    pub(super) fn attempted(&self, outcome: Result<(), MailFailure>, at: Timestamp, expires_at: Timestamp) -> Self {
        let next = Self {
            attempts: self.attempts.saturating_add(1),
            attempted_at: Some(at),
            failure: outcome.err(),
            ..self.clone()
        };
        match (outcome, self.status) {
            (Ok(()), _) => next.ended(MailStatus::Sent),
            (Err(failure), MailStatus::Queued) => {
                let due_at = at.plus_seconds(60 * delay_minutes(next.attempts));
                if failure.is_final() || due_at >= expires_at {
                    next.ended(MailStatus::Failed)
                } else {
                    Self { due_at: Some(due_at), ..next }
                }
            }
            (Err(_), MailStatus::Sent | MailStatus::Failed | MailStatus::Canceled) => next,
        }
    }

    /// Nothing is sent from now on, so the token goes.
    fn ended(&self, status: MailStatus) -> Self {
        Self { status, sealed_token: None, due_at: None, ..self.clone() }
    }

    /// Its JSON form.
    #[must_use]
    pub(super) fn view(&self) -> MailView {
        MailView {
            status: self.status,
            attempts: self.attempts,
            last_attempt_at: self.attempted_at,
            next_attempt_at: self.due_at,
            failure: self.failure.map(Word::word),
        }
    }
}

/// How long after this many attempts the next one is due.
fn delay_minutes(attempts: u32) -> i64 {
    let at = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    DELAYS_MINUTES[at.min(DELAYS_MINUTES.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_000_000);
    const END: Timestamp = START.plus_seconds(super::super::VALID_SECONDS);

    fn queued() -> InvitationMail {
        InvitationMail::queued(vec![1, 2, 3], START)
    }

    #[test]
    fn attempts_become_rarer_and_end_before_the_invitation_does() {
        let (mut it, mut waits, mut at) = (queued(), vec![], START);
        while let Some(due_at) = it.due_at {
            assert_eq!((it.status, it.sealed_token.is_some()), (MailStatus::Queued, true));
            assert!(due_at < END, "{due_at}");
            waits.push((due_at.millis() - at.millis()) / 60_000);
            at = due_at;
            it = it.attempted(Err(MailFailure::Deferred), at, END);
        }
        assert_eq!(waits[..9], [0, 1, 5, 15, 60, 240, 720, 1440, 1440]);
        assert_eq!((it.attempts, waits.len()), (20, 20));
        assert_eq!((it.status, it.failure), (MailStatus::Failed, Some(MailFailure::Deferred)));
        assert_eq!(it.sealed_token, None, "the token goes with the last attempt");
    }

    #[test]
    fn every_status_meets_every_outcome() {
        use MailStatus::{Canceled, Failed, Queued, Sent};
        let later = MailFailure::Timeout;
        let never = MailFailure::Refused;
        let table = [
            //         taken, failed, refused, canceled, expired
            (Queued, [Sent, Queued, Failed, Canceled, Failed]),
            (Sent, [Sent, Sent, Sent, Sent, Sent]),
            (Failed, [Sent, Failed, Failed, Failed, Failed]),
            (Canceled, [Sent, Canceled, Canceled, Canceled, Canceled]),
        ];
        for (status, wanted) in table {
            let it = if status == Queued { queued() } else { queued().ended(status) };
            let tried = |outcome| it.attempted(outcome, START, END);
            let all = [tried(Ok(())), tried(Err(later)), tried(Err(never)), it.canceled(), it.expired()];
            assert_eq!(all.clone().map(|it| it.status), wanted, "{status:?}");
            for it in all {
                let is_queued = it.status == Queued;
                assert_eq!((it.sealed_token.is_some(), it.due_at.is_some()), (is_queued, is_queued), "{it:?}");
            }
        }
    }

    #[test]
    fn an_attempt_is_counted_and_told_with_its_reason() {
        let at = START.plus_seconds(5);
        let it = queued().attempted(Err(MailFailure::Busy), at, END);
        assert_eq!(
            it.view(),
            MailView {
                status: MailStatus::Queued,
                attempts: 1,
                last_attempt_at: Some(at),
                next_attempt_at: Some(at.plus_seconds(60)),
                failure: Some("busy"),
            }
        );
        let sent = it.attempted(Ok(()), at.plus_seconds(60), END);
        assert_eq!((sent.attempts, sent.failure, sent.due_at), (2, None, None));
    }
}
