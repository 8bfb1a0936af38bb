//! The storage port: generic reads, specific reads, one commit, and separate writes of frequently changed columns.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::{KeyHash, KeyRecord};
use candor_domain::event::{Event, FeedFilter, FeedStart};
use candor_domain::id::{EmployeeId, KeyId, OrganizationId};
use candor_domain::idempotency::{IdempotencyKey, Replay};
use candor_domain::organization::Organization;
use candor_domain::page::Position;
use candor_domain::time::Timestamp;

use candor_tables::Version;

use crate::change::{ChangeSet, CommitError, Committed, ValidKeys};
use crate::erasing::Erasing;
use crate::error::Read;
use crate::mail_queue::MailQueue;
use crate::provisioning::Provisioning;
use crate::queue::{Queue, Webhooks};
use crate::read::Rows;
use crate::replay::StoredReplay;
use crate::request_counts::RequestCounts;
use crate::search_index::SearchIndex;
use crate::upkeep::Upkeep;

/// Result of a cycle check (decision D1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reporting {
    /// Version of the tenant's reporting tree.
    pub tree: Version,
    /// `true` if the proposed manager is the person, or reports to them at any depth.
    pub is_below: bool,
}

/// Reporting lines, read when the reporting tree had the version `tree` or a later one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestors {
    /// Version of the tenant's reporting tree.
    pub tree: Version,
    /// Pairs of person and manager. People without a manager are left out.
    pub lines: Vec<(EmployeeId, EmployeeId)>,
}

/// A page of the event feed, in commit order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Start of the next page: after the last event, or after the last scanned event, so that no event is
    /// scanned twice. `None` only if there never was an event.
    pub next: Option<Position>,
    /// `true` if the next page should be requested at once: there are more events, or not all were scanned.
    pub more: bool,
}

/// Ids of a manager and of one of their direct reports.
pub type ReportingPair = (EmployeeId, EmployeeId);

/// Reads of people and reporting lines.
#[async_trait]
pub trait People {
    /// Returns the reporting lines of these people and of all their ancestors.
    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Ancestors>;
    /// Returns the people below a manager at any depth and with any status, unordered.
    async fn people_below(&self, tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>>;
    /// Returns pairs of one of these people and a direct report who has not left. The pairs of a manager stand
    /// together, ordered by last name, first name and id of the report; at most `most` for each manager.
    async fn direct_reports(&self, tenant: Tenant, managers: &[EmployeeId], most: u16)
    -> Read<Vec<ReportingPair>>;
    /// Returns the number of levels of the tenant's reporting tree below its highest people. Reads all lines.
    async fn tree_height(&self, tenant: Tenant) -> Read<u32>;
    /// Returns the number of levels below each of these people, without people who have no reports.
    async fn heights(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<(EmployeeId, u32)>>;
    /// Returns the data for the cycle check before `manager` becomes the manager of `employee`.
    async fn read_reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting>;
}

/// Reads across all tenants, and the record of the last use of keys.
#[async_trait]
pub trait Everyone {
    /// Returns organizations after this one, ordered by id, with their settings for live data. For operators.
    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>>;
    /// Returns the key whose current or previous secret has this hash, and the person that the key acts for.
    async fn key_by_hash(&self, hash: KeyHash) -> Read<Option<KeyRecord>>;
    /// Counts the valid keys of an organization that act for one person or for none and end with one session or with
    /// none. Keys with and without an expiry time are counted up to `most` each.
    async fn count_valid_keys(&self, organization: OrganizationId, keys: ValidKeys, most: u32) -> Read<u32>;
    /// Records when keys were last used, without changing their versions.
    async fn touch_keys(&self, used: &[(OrganizationId, KeyId, Timestamp)]) -> Read<()>;
}

/// Cutoff times of a sweep: data from before its cutoff is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry {
    /// Cutoff of replays: those that expire at this time or before are removed.
    pub replays: Timestamp,
    /// Cutoff of events: those from before this time are removed.
    pub events: Timestamp,
    /// Cutoff of read notifications: those that were read before this time are removed.
    pub read_notifications: Timestamp,
    /// Cutoff of notifications: those from before this time are removed.
    pub notifications: Timestamp,
}

impl Expiry {
    /// Cutoff times that remove nothing.
    pub const NOTHING: Self = {
        let never = Timestamp::from_millis(0);
        Self { replays: never, events: never, read_notifications: never, notifications: never }
    };
}

/// Commits of change sets, and the replays and events that they store.
#[async_trait]
pub trait History {
    /// Returns the replay of a key, unless it has expired.
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>>;
    /// Stores the replay of a request that changed nothing else. Returns `false` and keeps the old replay
    /// if the key is taken.
    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool>;
    /// Returns events in commit order without gaps: no later commit adds an event before `next` (decision
    /// F9). Events from before `oldest` are left out. A filter scans a bounded number of events, so a page
    /// may be empty although more follow.
    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        oldest: Timestamp,
        start: &FeedStart,
        limit: u16,
    ) -> Read<FeedPage>;
    /// Removes expired data of all tenants, the oldest first, at most `most` of each kind. Returns the number
    /// of removed rows.
    async fn sweep(&self, expiry: Expiry, most: u32) -> Read<u64>;
}

/// A store: all operations that the service needs.
#[async_trait]
pub trait Storage:
    Rows
    + SearchIndex
    + People
    + Provisioning
    + RequestCounts
    + Erasing
    + Everyone
    + History
    + Webhooks
    + Queue
    + MailQueue
    + Upkeep
    + Send
    + Sync
    + 'static
{
    /// Saves a change set completely or not at all. Once called, it is executed even if the returned future
    /// is dropped. It never leaves a transaction open.
    async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError>;
    /// Answers as [`Storage::commit`] would with the rows that are stored now, without saving anything. It only
    /// reads: it locks nothing and does not wait for other changes. A replay for the idempotency key is
    /// ignored. See [`ChangeSet::conditions`].
    async fn check(&self, tenant: Tenant, change: &ChangeSet) -> Result<(), CommitError>;
    /// Returns the store for reads that may be slightly stale: they go to a replica if there is one. Each
    /// read sees one snapshot, and snapshots of the event feed never go backwards. Reads that must see the
    /// client's own last change must not use it.
    fn replica(&self) -> &dyn Storage;
}
