//! The queue of invitation emails, stored in the rows of the invitations.
//!
//! The row of an emailed invitation contains the sealed token and the due time of the email. So an email is queued
//! if and only if its invitation is saved. As with deliveries, claimed emails are leased: other workers skip them
//! until the lease ends, which also frees the emails of a dead worker.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::InvitationId;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::MailCounter;
use candor_domain::time::{Date, Timestamp};

use candor_tables::Versioned;

use crate::error::Read;
use crate::queue::{Lease, QueueState, WorkerId};

/// Key of an email: its invitation.
pub type MailKey = (Tenant, InvitationId);

/// Result of a leased email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailResult {
    /// The invitation changes to this value, based on this version.
    Changed(Box<Versioned<Invitation>>),
    /// Nothing changed: the email stays due, and another worker may send it.
    Released,
}

/// The queue of invitation emails.
#[async_trait]
pub trait MailQueue {
    /// Leases the emails that have been due for the longest time, of all tenants but `except`. Skips rows locked by
    /// another worker.
    async fn claim_mails(&self, lease: Lease, now: Timestamp, most: u16, except: &[Tenant]) -> Read<Vec<MailKey>>;
    /// Records results in one transaction and ends the leases of their emails. A result is dropped if the worker's
    /// lease or the version of the invitation has changed. Returns the keys of the dropped results.
    async fn record_mails(&self, worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>>;
    /// Counts an email of a day for a mailbox, a domain or an organization, across all tenants. Returns `false`
    /// without counting if `most` are counted already. Removes the counts from before the previous day.
    async fn count_mail(&self, counter: MailCounter, day: Date, most: u32) -> Read<bool>;
    /// Returns the number of emails that were counted by this counter on a day.
    async fn counted_mails(&self, counter: MailCounter, day: Date) -> Read<u32>;
    /// Returns the length and age of the queue.
    async fn mail_queue_state(&self, now: Timestamp) -> Read<QueueState>;
}
