//! The queue of mails with invitations: narrow calls on the rows of the invitations themselves.
//!
//! An invitation whose link goes out by mail has the sealed token and the time at which the mail is due in its row, so it
//! is queued with the invitation, or not at all. As with deliveries, what is claimed is leased: nobody else has it until
//! the lease ends, and what a dead worker had comes round by itself.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::InvitationId;
use candor_domain::people::Invitation;
use candor_domain::people::invitation::Recipient;
use candor_domain::time::{Date, Timestamp};

use candor_tables::Versioned;

use crate::error::Read;
use crate::queue::{Lease, QueueState, WorkerId};

/// Which invitation's mail.
pub type MailKey = (Tenant, InvitationId);

/// What has become of a leased mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailResult {
    /// The invitation is like this from now on, decided on the version that it had.
    Changed(Box<Versioned<Invitation>>),
    /// Nothing: it is as due as it was, and somebody else may have it.
    Released,
}

/// The queue of mails.
#[async_trait]
pub trait MailQueue {
    /// Leases mails that are due now, the longest due first, whoever they are for. What another worker is just claiming
    /// is passed over, never waited for.
    async fn claim_mails(&self, lease: Lease, now: Timestamp, most: u16) -> Read<Vec<MailKey>>;
    /// Records what has become of leased mails, all at once or not at all. Each result holds only while the worker's
    /// lease and the version of the invitation are what they were; answers those that do not. Nothing is leased any more
    /// that was recorded.
    async fn record_mails(&self, worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>>;
    /// Counts one more mail to a recipient on a day, over all tenants, unless `most` are counted already. Returns `true`
    /// if it was counted. Removes the counts of days before the day before.
    async fn count_mail(&self, recipient: Recipient, day: Date, most: u32) -> Read<bool>;
    /// Returns the number of mails that were counted for a recipient on a day.
    async fn counted_mails(&self, recipient: Recipient, day: Date) -> Read<u32>;
    /// How the queue does.
    async fn mail_queue_state(&self, now: Timestamp) -> Read<QueueState>;
}
