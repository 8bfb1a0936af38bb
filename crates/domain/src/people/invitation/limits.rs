//! Limits of invitation mails, which keep the service from flooding mailboxes (decisions G).

use super::{Invitation, MailFailure};
use crate::fields::StringEnum;
use crate::id::OrganizationId;
use crate::refusal::{Conflict, DomainError, RetryAfter};
use crate::text::address_key;
use crate::time::Timestamp;

/// Shortest time between two invitation mails to one person, in seconds.
pub const RESEND_SECONDS: i64 = 60;
/// Maximum number of invitation mails of one organization to one mailbox per day (UTC).
pub const MAILS_PER_DAY: u32 = 5;
/// Maximum number of invitation mails to one mailbox per day (UTC), over all organizations that are not known at its
/// domain. Two organizations are needed to use it up.
const MAILBOX_MAILS_IN_ALL: u32 = 2 * MAILS_PER_DAY;
/// Maximum number of invitation mails of one organization to the mailboxes of one domain per day (UTC). An
/// organization that is known at the domain has no such limit.
pub const DOMAIN_MAILS_PER_DAY: u32 = 50;
/// Maximum number of invitation mails to the mailboxes of one domain per day (UTC), over all organizations with
/// the limit [`DOMAIN_MAILS_PER_DAY`]. No organization uses up more than a tenth of it.
const DOMAIN_MAILS_IN_ALL: u32 = 10 * DOMAIN_MAILS_PER_DAY;
/// Default for the maximum number of invitation mails of one organization per day (UTC).
pub const ORGANIZATION_MAILS_PER_DAY: u32 = 50;
/// Number of accepted invitations from which on an organization may send ten times as many mails per day.
pub const ACCEPTED_TO_TRUST: u16 = 10;
/// Factor of the daily limit of an organization after [`ACCEPTED_TO_TRUST`] accepted invitations.
const TRUSTED_FACTOR: u32 = 10;

/// Mailbox, domain or organization for which mails are counted, as a SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MailCounter(pub [u8; 32]);

impl MailCounter {
    /// Returns the counter of the mailbox with this e-mail address: without case and without a `+tag`, which selects
    /// a folder of the same mailbox.
    #[must_use]
    pub fn for_mailbox(email: &str) -> Self {
        Self(super::hash(&mailbox(email)))
    }

    /// Returns the counter of the mails of an organization to the mailbox with this e-mail address.
    #[must_use]
    pub fn for_mailbox_of(id: OrganizationId, email: &str) -> Self {
        Self(super::hash(&format!("{id}\n{}", mailbox(email))))
    }

    /// Returns the counter of the domain of this e-mail address. The line break keeps it apart from mailboxes.
    #[must_use]
    pub fn for_domain(email: &str) -> Self {
        Self(super::hash(&format!("\n{}", domain(email))))
    }

    /// Returns the counter of the mails of an organization to the domain of this e-mail address.
    #[must_use]
    pub fn for_domain_of(id: OrganizationId, email: &str) -> Self {
        Self(super::hash(&format!("{id}\n{}", domain(email))))
    }

    /// Returns the counter of an organization.
    #[must_use]
    pub fn for_organization(id: OrganizationId) -> Self {
        Self(super::hash(&id.to_string()))
    }
}

fn mailbox(email: &str) -> String {
    let address = address_key(email);
    let (local, domain) = address.rsplit_once('@').unwrap_or((&address, ""));
    let mailbox = local.split_once('+').map_or(local, |(mailbox, _)| mailbox);
    format!("{mailbox}@{domain}")
}

fn domain(email: &str) -> String {
    let address = address_key(email);
    address.rsplit_once('@').map_or_else(String::new, |(_, domain)| domain.to_owned())
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
    /// Sentences about the limit, for clients that invite people.
    message: &'static str,
}

/// A limit of the invitation mails of one day that organizations share. A mail over the limit is sent on a later day.
/// No response names the limit, because an organization must not learn how many mails other organizations send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMailLimit {
    /// Counter of the mails.
    pub counter: MailCounter,
    /// Maximum number of mails.
    pub most: u32,
}

/// Returns the limit of an organization with this number of accepted invitations. `most_at_first` is the limit before
/// [`ACCEPTED_TO_TRUST`] invitations are accepted.
#[must_use]
pub fn organization_limit(id: OrganizationId, accepted: usize, most_at_first: u32) -> MailLimit {
    let is_trusted = accepted >= ACCEPTED_TO_TRUST.into();
    let most = if is_trusted { most_at_first.saturating_mul(TRUSTED_FACTOR) } else { most_at_first };
    let (counter, failure) = (MailCounter::for_organization(id), MailFailure::OrganizationLimit);
    let message = "The organization has sent all invitation mails that it may send today. The mail is sent on a later \
                   day.";
    MailLimit { counter, most, failure, message }
}

/// Returns the limits of the mails of one organization to the recipient. `is_known_domain` is `true` if an invitation
/// of the organization to the domain was accepted, or the organization has proven the domain.
#[must_use]
pub fn recipient_limits(id: OrganizationId, email: &str, is_known_domain: bool) -> Vec<MailLimit> {
    let failure = MailFailure::RecipientLimit;
    let to_mailbox = MailLimit {
        counter: MailCounter::for_mailbox_of(id, email),
        most: MAILS_PER_DAY,
        failure,
        message: "The organization has sent 5 invitation mails to this mailbox today. Send the request again after \
                  the time in `Retry-After`.",
    };
    if is_known_domain {
        return vec![to_mailbox];
    }
    let to_domain = MailLimit {
        counter: MailCounter::for_domain_of(id, email),
        most: DOMAIN_MAILS_PER_DAY,
        failure,
        message: "The organization has sent 50 invitation mails to the domain of this address today, none of its \
                  invitations to the domain was accepted, and the domain is not proven. Send the request again after \
                  the time in `Retry-After`.",
    };
    vec![to_domain, to_mailbox]
}

/// Returns the limits that organizations share while they are not known at the domain; none for an organization
/// that is known there. The caller counts the limits of the organization first, so that a mail over a limit of the
/// organization uses up no shared limit, and then the shared limits in this order: mailbox, domain.
#[must_use]
pub fn shared_limits(email: &str, is_known_domain: bool) -> Vec<SharedMailLimit> {
    if is_known_domain {
        return vec![];
    }
    vec![
        SharedMailLimit { counter: MailCounter::for_mailbox(email), most: MAILBOX_MAILS_IN_ALL },
        SharedMailLimit { counter: MailCounter::for_domain(email), most: DOMAIN_MAILS_IN_ALL },
    ]
}

/// Checks that another invitation mail may be sent now.
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
    let mail_refusal = |mail: &str, seconds: i64, message| {
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
        return mail_refusal(limit.failure.word(), next_day(at).1, limit.message);
    }
    let last_mail = newest.and_then(|invitation| Some((invitation.created_at, invitation.mail.as_ref()?)));
    let Some((created_at, mail)) = last_mail else { return Ok(()) };
    let wait_millis = created_at.plus_seconds(RESEND_SECONDS).millis() - at.millis();
    if wait_millis <= 0 || mail.failure == Some(MailFailure::RecipientLimit) {
        return Ok(());
    }
    let message = "The previous invitation mail is less than 60 seconds old. Send the request again after the \
                   time in `Retry-After`.";
    mail_refusal(mail.status.word(), wait_millis.saturating_add(999) / 1000, message)
}

/// Returns the start of the next day (UTC), and the whole seconds until then, rounded up.
pub(super) const fn next_day(at: Timestamp) -> (Timestamp, i64) {
    const DAY_MILLIS: i64 = 86_400_000;
    let millis = DAY_MILLIS - at.millis().rem_euclid(DAY_MILLIS);
    (Timestamp::from_millis(at.millis() + millis), (millis + 999) / 1000)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::employee;
    use super::super::{MailStatus, Status, token};
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
        let limits = recipient_limits(OrganizationId::from_ulid(Ulid(1)), "ada@example.com", false);
        match within_limits(newest, limits.first().filter(|_| is_reached), at) {
            Ok(()) => None,
            Err(DomainError::Conflict(conflict)) => Some(conflict.retry_after.unwrap().seconds),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn resend_within_60_seconds_of_a_mail_is_refused() {
        let mailed_invitation = invitation().by_mail(vec![1], NOON);
        let sent_invitation = mailed_invitation.mail_attempted(Ok(()), NOON);
        for newest in [&mailed_invitation, &sent_invitation, &mailed_invitation.revoke(NOON)] {
            for (millis, wanted) in
                [(0, Some(60)), (1, Some(60)), (59_000, Some(1)), (59_999, Some(1)), (60_000, None)]
            {
                let time = Timestamp::from_millis(NOON.millis() + millis);
                assert_eq!(wait(Some(newest), false, time), wanted, "{millis}");
            }
        }
        for newest in
            [None, Some(&invitation()), Some(&invitation().over_mail_limit(MailFailure::RecipientLimit, NOON))]
        {
            assert_eq!(wait(newest, false, NOON), None, "without a mail there is no limit");
        }
        for (failure, status) in [
            (MailFailure::OrganizationLimit, MailStatus::Queued),
            (MailFailure::RecipientLimit, MailStatus::Failed),
        ] {
            let mail = mailed_invitation.clone().over_mail_limit(failure, NOON).mail.unwrap();
            assert_eq!((mail.status, mail.failure), (status, Some(failure)));
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
    }

    #[test]
    fn limits_of_an_organization_are_its_own() {
        let limits = |id, email, is_known| {
            let limits = recipient_limits(OrganizationId::from_ulid(Ulid(id)), email, is_known);
            limits.into_iter().map(|limit| (limit.counter, limit.most)).collect::<Vec<_>>()
        };
        let (one, other) = (limits(1, "ada@example.com", false), limits(2, "ada@example.com", false));
        assert_eq!(one.iter().map(|limit| limit.1).collect::<Vec<_>>(), [50, 5]);
        assert!(one.iter().all(|limit| !other.contains(limit)), "no organization counts the mails of another one");
        assert_eq!(one, limits(1, "ADA+1@EXAMPLE.com", false));
        assert_eq!(one[0], limits(1, "ida@example.com", false)[0]);
        assert_ne!(one[0], limits(1, "ada@example.org", false)[0]);
        assert_eq!(limits(1, "ada@example.com", true), one[1..], "a known domain has no limit of its own");
    }

    #[test]
    fn shared_limits_bind_organizations_unknown_at_the_domain() {
        let limits = shared_limits("ada@example.com", false);
        let counts: Vec<_> = limits.iter().map(|limit| limit.most).collect();
        assert_eq!(counts, [10, 500], "no organization uses up a shared limit alone");
        assert_eq!(limits[1], shared_limits("ida@example.com", false)[1]);
        assert_eq!(shared_limits("ada@example.com", true), []);
    }
}
