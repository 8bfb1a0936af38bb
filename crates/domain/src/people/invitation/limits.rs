//! Limits of invitation mails, which keep the service from flooding mailboxes (decisions G).

use super::{Invitation, MailFailure};
use crate::fields::StringEnum;
use crate::id::OrganizationId;
use crate::refusal::{Conflict, DomainError, RetryAfter};
use crate::text::address_key;
use crate::time::Timestamp;

/// Shortest time between two invitation mails to one person, in seconds.
pub const RESEND_SECONDS: i64 = 60;
/// Most invitation mails to one mailbox per day (UTC), over all organizations.
pub const MAILS_PER_DAY: u32 = 5;
/// Most invitation mails to the mailboxes of one domain per day (UTC), over all organizations. An organization whose
/// invitation to the domain was accepted is not counted.
pub const DOMAIN_MAILS_PER_DAY: u32 = 50;
/// Default of the most invitation mails of one organization per day (UTC).
pub const ORGANIZATION_MAILS_PER_DAY: u32 = 50;
/// Number of accepted invitations after which an organization sends ten times as many mails.
pub const ACCEPTED_TO_TRUST: u16 = 10;
/// Factor of the mails of an organization whose invitations were accepted.
const TRUSTED_FACTOR: u32 = 10;

/// Mailbox, domain or organization for which mails are counted, as a SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MailCounter(pub [u8; 32]);

impl MailCounter {
    /// Returns the counter of the mailbox with this e-mail address: without case and without a `+tag`, which selects
    /// a folder of the same mailbox.
    #[must_use]
    pub fn for_mailbox(email: &str) -> Self {
        let address = address_key(email);
        let (local, domain) = address.rsplit_once('@').unwrap_or((&address, ""));
        let mailbox = local.split_once('+').map_or(local, |(mailbox, _)| mailbox);
        Self(super::hash(&format!("{mailbox}@{domain}")))
    }

    /// Returns the counter of the domain of this e-mail address. The line break keeps it apart from mailboxes.
    #[must_use]
    pub fn for_domain(email: &str) -> Self {
        let address = address_key(email);
        let domain = address.rsplit_once('@').map_or("", |(_, domain)| domain);
        Self(super::hash(&format!("\n{domain}")))
    }

    /// Returns the counter of an organization.
    #[must_use]
    pub fn for_organization(id: OrganizationId) -> Self {
        Self(super::hash(&id.to_string()))
    }
}

/// A limit of the invitation mails of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailLimit {
    /// Counter of the mails.
    pub counter: MailCounter,
    /// Maximum number of mails.
    pub most: u32,
    /// Failure of a mail over the limit.
    pub failure: MailFailure,
}

/// Returns the limit of an organization with this number of accepted invitations. `most_at_first` is the limit before
/// any was accepted.
#[must_use]
pub fn organization_limit(id: OrganizationId, accepted: usize, most_at_first: u32) -> MailLimit {
    let is_trusted = accepted >= ACCEPTED_TO_TRUST.into();
    let most = if is_trusted { most_at_first.saturating_mul(TRUSTED_FACTOR) } else { most_at_first };
    MailLimit { counter: MailCounter::for_organization(id), most, failure: MailFailure::OrganizationLimit }
}

/// Returns the limits of the recipient of a mail. `is_known_domain` says that an invitation of the organization to the
/// domain was accepted.
#[must_use]
pub fn recipient_limits(email: &str, is_known_domain: bool) -> Vec<MailLimit> {
    let limit = |counter, most| MailLimit { counter, most, failure: MailFailure::RecipientLimit };
    let mailbox = limit(MailCounter::for_mailbox(email), MAILS_PER_DAY);
    let domain = limit(MailCounter::for_domain(email), DOMAIN_MAILS_PER_DAY);
    std::iter::once(mailbox).chain((!is_known_domain).then_some(domain)).collect()
}

/// Checks whether another invitation mail may be sent now.
///
/// `newest` is the person's newest invitation, `reached` a limit of the recipient that is reached today.
///
/// # Errors
/// Returns [`DomainError::Conflict`] with the seconds to wait.
pub fn within_limits(
    newest: Option<&Invitation>,
    reached: Option<&MailLimit>,
    at: Timestamp,
) -> Result<(), DomainError> {
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
    if let Some(limit) = reached {
        let message = if limit.most == MAILS_PER_DAY {
            "This mailbox has received 5 invitation mails today. Send the request again after the time in `Retry-After`."
        } else {
            "The domain of this address has received 50 invitation mails today, and no invitation of the organization \
             to it was accepted. Send the request again after the time in `Retry-After`."
        };
        return refused(limit.failure.word(), tomorrow(at).1, message);
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

/// Returns the start of the next day (UTC), and the whole seconds until then, rounded up.
pub(super) const fn tomorrow(at: Timestamp) -> (Timestamp, i64) {
    const DAY_MILLIS: i64 = 86_400_000;
    let millis = DAY_MILLIS - at.millis().rem_euclid(DAY_MILLIS);
    (Timestamp::from_millis(at.millis() + millis), (millis + 999) / 1000)
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
        Invitation::new(InvitationId::from_ulid(Ulid(1)), &pending, &token([7; 32], "ada@example.com"), NOON)
            .unwrap()
    }

    fn wait(newest: Option<&Invitation>, is_reached: bool, at: Timestamp) -> Option<i64> {
        let limits = recipient_limits("ada@example.com", false);
        match within_limits(newest, limits.first().filter(|_| is_reached), at) {
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
                assert_eq!(wait(Some(newest), false, at), wanted, "{millis}");
            }
        }
        for newest in
            [None, Some(&invitation()), Some(&invitation().over_mail_limit(MailFailure::RecipientLimit, NOON))]
        {
            assert_eq!(wait(newest, false, NOON), None, "without a mail there is no limit");
        }
    }

    #[test]
    fn mail_over_a_limit_is_refused_until_the_next_day() {
        let last = Timestamp::from_millis(NOON.millis() + 43_199_999);
        for (at, seconds) in [(NOON, 43_200), (last, 1)] {
            assert_eq!(wait(None, true, at), Some(seconds));
            assert_eq!(
                wait(Some(&invitation().by_mail(vec![1], at)), true, at),
                Some(seconds),
                "the daily limit ends later"
            );
        }
    }

    #[test]
    fn mailbox_is_the_same_in_any_case_and_with_any_tag() {
        let mailbox = MailCounter::for_mailbox("ada@example.com");
        for same in ["Ada@Example.com", "ada+1@example.com", "ADA+a+b@example.COM", "ada+@example.com"] {
            assert_eq!(MailCounter::for_mailbox(same), mailbox, "{same}");
        }
        for other in ["ida@example.com", "ada@example.org", "a.da@example.com"] {
            assert_ne!(MailCounter::for_mailbox(other), mailbox, "{other}");
        }
        assert_eq!(MailCounter::for_domain("ida@Example.com"), MailCounter::for_domain("ada@example.com"));
        assert_ne!(MailCounter::for_domain("+@example.com"), MailCounter::for_mailbox("+@example.com"));
    }

    #[test]
    fn limits_grow_with_accepted_invitations() {
        let id = OrganizationId::from_ulid(Ulid(1));
        let most = |accepted| organization_limit(id, accepted, 50).most;
        assert_eq!([most(0), most(9), most(10)], [50, 50, 500]);
        let limits = |is_known| recipient_limits("ada@example.com", is_known).len();
        assert_eq!((limits(false), limits(true)), (2, 1), "a known domain has no limit of its own");
    }
}
