//! The port itself: the reads of any table, others that are shaped by a need, one commit, and narrow calls for hot rows.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{KeyHash, KeyRecord};
use candor_domain::event::{Event, FeedFilter, FeedStart};
use candor_domain::id::{EmployeeId, KeyId, OrganizationId};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey, IdempotencyRecord};
use candor_domain::organization::Organization;
use candor_domain::page::Position;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;

use candor_tables::Version;

use crate::change::{ChangeSet, CommitError, Committed};
use crate::error::Read;
use crate::mail_queue::MailQueue;
use crate::queue::{Queue, Webhooks};
use crate::read::Rows;
use crate::search_index::SearchIndex;
use crate::upkeep::Upkeep;

/// An answer that was kept for retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// What was asked.
    pub fingerprint: Fingerprint,
    /// The status of the answer.
    pub status: u16,
    /// Its sealed headers and body.
    pub sealed: Vec<u8>,
}

/// What a cycle check needs to know (decision D1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reporting {
    /// The version of the tenant's reporting tree.
    pub tree: Version,
    /// Whether the proposed manager is the person, or reports to them at any depth.
    pub is_below: bool,
}

/// Reporting lines, as they were no earlier than the tree had this version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinesAbove {
    /// The version of the tenant's reporting tree.
    pub tree: Version,
    /// Each person with their manager; who stands at the top is not in it.
    pub lines: Vec<(EmployeeId, EmployeeId)>,
}

/// A piece of the event feed, in commit order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Where the next page starts: behind the last event, or behind whatever was looked at and not wanted, so that nothing
    /// is looked at twice. `None` only if nothing was ever there.
    pub next: Option<Position>,
    /// Whether it is worth asking for the next page at once: more events are there, or not all were looked at.
    pub more: bool,
}

/// People and the lines between them.
#[async_trait]
pub trait People {
    /// The reporting lines of these people and of everybody above them.
    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<LinesAbove>;
    /// The people below a manager at any depth, whatever their status, in no order.
    async fn people_below(&self, tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>>;
    /// The direct reports of each of these people who have not left, by last name, first name and id; at most `most`
    /// for each.
    async fn direct_reports(&self, tenant: Tenant, managers: &[EmployeeId], most: u16) -> Read<Vec<Employee>>;
    /// What is to be known before `manager` becomes the manager of `employee`.
    async fn reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting>;
}

/// What is read of all tenants at once.
#[async_trait]
pub trait Everyone {
    /// Organizations as their live data sets have them, by id, after this one, for the operator.
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>>;
    /// The key behind the hash of a secret, current or previous, with the person it acts for.
    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>>;
    /// Notes when keys were last used. Their version stays.
    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()>;
}

/// What has served its time: whatever is from before these times goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry {
    /// Answers that are kept for retries, by the end of their time.
    pub answers: Timestamp,
    /// Events, by their creation.
    pub events: Timestamp,
    /// Notifications, by when they were read.
    pub read_notifications: Timestamp,
    /// Notifications, by their creation.
    pub notifications: Timestamp,
}

impl Expiry {
    /// Nothing has expired.
    pub const NOTHING: Self = {
        let never = Timestamp::from_millis(0);
        Self { answers: never, events: never, read_notifications: never, notifications: never }
    };
}

/// What is written with every change.
#[async_trait]
pub trait History {
    /// The answer kept for a key, unless it has expired.
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredAnswer>>;
    /// Keeps the answer of a request that changed nothing else, as a commit keeps that of one that did. Says whether the
    /// key was free; if it was not, the answer that is kept for it stays.
    async fn keep(&self, tenant: Tenant, replay: IdempotencyRecord) -> Read<bool>;
    /// Events in commit order, gap-free: none that is committed later will ever come before `next` (decision F9). None is
    /// from before `oldest`. A filter looks at a bounded number of events, so a page can be empty where more follow.
    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        oldest: Timestamp,
        start: &FeedStart,
        limit: u16,
    ) -> Read<FeedPage>;
    /// Removes, of all tenants, what has expired, the oldest first and at most `most` of each kind; says how many went.
    async fn sweep(&self, expiry: Expiry, most: u32) -> Read<u64>;
}

/// A store.
#[async_trait]
pub trait Storage:
    Rows + SearchIndex + People + Everyone + History + Webhooks + Queue + MailQueue + Upkeep + Send + Sync + 'static
{
    /// Saves a change set whole, or not at all. Once called it is carried out even if the returned future is dropped,
    /// or not begun; it never leaves a transaction open.
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError>;
    /// The same store for reads that may show what was there a moment ago: they go to a replica, where there is one. Each
    /// shows what was there at one moment, and moments never come out of their order in the feed of events; whatever has to
    /// show the client's own last change does not belong there.
    fn replica(&self) -> &dyn Storage;
}
