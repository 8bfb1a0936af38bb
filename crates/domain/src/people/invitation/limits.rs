//! Limits of invitation mails, which keep the service from flooding a mailbox (decisions G).

use super::{Invitation, MailFailure};
use crate::fields::StringEnum;
use crate::refusal::{Conflict, DomainError, RetryAfter};
use crate::text::folded;
use crate::time::Timestamp;

/// Shortest time between two invitation mails to one person, in seconds.
pub const RESEND_SECONDS: i64 = 60;
/// Most invitation mails to one address per day (UTC), over all organizations.
pub const MAILS_PER_DAY: u32 = 5;

/// An e-mail address for which mails are counted: the SHA-256 hash of the case-folded address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recipient(pub [u8; 32]);

impl Recipient {
    /// Returns the recipient with this e-mail address.
    #[must_use]
    pub fn from_email(email: &str) -> Self {
        Self(super::hash(&folded(email)))
    }
}

/// Checks whether another invitation mail may be sent now.
///
/// `newest` is the person's newest invitation, `mails_today` the number of mails to the address today.
///
/// # Errors
/// Returns [`DomainError::Conflict`] with the seconds to wait.
pub fn within_limits(newest: Option<&Invitation>, mails_today: u32, at: Timestamp) -> Result<(), DomainError> {
    let refused = |mail: &str, seconds: i64, message| {
        let conflict = Conflict {
            field: "mail".to_owned(),
            current: mail.into(),
            attempted_transition: Some("invite".to_owned()),
            conflicting_id: None,
            rule: None,
            retry_after: Some(RetryAfter { seconds, message }),
        };
        Err(DomainError::Conflict(Box::new(conflict)))
    };
    if mails_today >= MAILS_PER_DAY {
        let message = "This address has received 5 invitation mails today. Send the request again after the time \
                       in `Retry-After`.";
        return refused(MailFailure::RecipientLimit.word(), seconds_until_tomorrow(at), message);
    }
    let mailed = newest.and_then(|invitation| Some((invitation.created_at, invitation.mail.as_ref()?)));
    let Some((created_at, mail)) = mailed else { return Ok(()) };
    let wait_millis = created_at.plus_seconds(RESEND_SECONDS).millis() - at.millis();
    if wait_millis <= 0 || mail.failure == Some(MailFailure::RecipientLimit) {
        return Ok(());
    }
    let message = "The previous invitation mail is less than 60 seconds old. Send the request again after the \
                   time in `Retry-After`.";
    refused(mail.status.word(), wait_millis.saturating_add(999) / 1000, message)
}

/// Returns the whole seconds until the next day (UTC), rounded up.
const fn seconds_until_tomorrow(at: Timestamp) -> i64 {
    const DAY_MILLIS: i64 = 86_400_000;
    (DAY_MILLIS - at.millis().rem_euclid(DAY_MILLIS) + 999) / 1000
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::employee;
    use super::super::{Status, token};
    use super::*;
    use crate::id::InvitationId;
    use crate::people::Employee;
    use ulid::Ulid;

    /// Noon of 1 March 2026 in UTC.
    const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    fn invitation() -> Invitation {
        let pending = Employee { status: Status::PendingInvite, ..employee(1) };
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32]), NOON).unwrap()
    }

    fn wait(newest: Option<&Invitation>, mails_today: u32, at: Timestamp) -> Option<i64> {
        match within_limits(newest, mails_today, at) {
            Ok(()) => None,
            Err(DomainError::Conflict(conflict)) => Some(conflict.retry_after.unwrap().seconds),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn resend_within_60_seconds_of_a_mail_is_refused() {
        let mailed = invitation().by_mail(vec![1], NOON);
        let sent = mailed.mail_attempted(Ok(()), NOON);
        for newest in [&mailed, &sent, &mailed.revoke(NOON)] {
            for (millis, wanted) in
                [(0, Some(60)), (1, Some(60)), (59_000, Some(1)), (59_999, Some(1)), (60_000, None)]
            {
                let at = Timestamp::from_millis(NOON.millis() + millis);
                assert_eq!(wait(Some(newest), 1, at), wanted, "{millis}");
            }
        }
        for newest in [None, Some(&invitation()), Some(&invitation().over_mail_limit())] {
            assert_eq!(wait(newest, 0, NOON), None, "without a mail there is no limit");
        }
    }

    #[test]
    fn sixth_mail_of_a_day_is_refused_until_the_next_day() {
        let last = Timestamp::from_millis(NOON.millis() + 43_199_999);
        assert_eq!(wait(None, 4, NOON), None);
        for (at, seconds) in [(NOON, 43_200), (last, 1)] {
            assert_eq!(wait(None, 5, at), Some(seconds));
            assert_eq!(
                wait(Some(&invitation().by_mail(vec![1], at)), 6, at),
                Some(seconds),
                "the daily limit ends later"
            );
        }
    }

    #[test]
    fn recipient_is_the_same_in_any_case() {
        assert_eq!(Recipient::from_email("Ada@Example.com"), Recipient::from_email("ada@example.COM"));
        assert_ne!(Recipient::from_email("ada@example.com"), Recipient::from_email("ida@example.com"));
    }
}
