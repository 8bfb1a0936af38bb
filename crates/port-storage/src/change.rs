//! A decision on its way into the store: everything it implies, saved whole or not at all.

use std::fmt;

use candor_domain::audit::AuditEntry;
use candor_domain::event::Event;
use candor_domain::id::{ConversationId, DeliveryId, DepartmentId, EmployeeId, EventId, Id, WebhookId};
use candor_domain::idempotency::IdempotencyRecord;
use candor_domain::notification::Notification;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_domain::webhook::Job;

use candor_tables::flat::{BackgroundWorker, Stored, Table};
use candor_tables::listing::ARCHIVED;
use candor_tables::{AnyRow, Row, Unique, Version};

use crate::error::StorageError;
use crate::queue::Lease;

/// Everything that one decision, or one batch of them, implies.
///
/// Whoever saves it queues its events, in the same transaction, for every active subscription that wants them (§6.1).
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing is saved until this is committed"]
pub struct ChangeSet {
    /// Rows to write, in this order.
    pub writes: Vec<Write>,
    /// What the decision relied upon and does not write.
    pub requires: Vec<Require>,
    /// What fires.
    pub events: Vec<Event>,
    /// Who did what; a change without an author does not type-check.
    pub audit: AuditEntry,
    /// Further entries, for batches.
    pub more_audit: Vec<AuditEntry>,
    /// Who is told in the application.
    pub notices: Vec<Notification>,
    /// The answer to give to retries.
    pub replay: Option<IdempotencyRecord>,
    /// Who takes the deliveries that become due with this at once, so that they need not wait to be claimed.
    pub lease: Option<Lease>,
}

/// What else came of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// The deliveries that were queued under the change set's lease: whoever has the lease attempts them.
    pub leased: Vec<(WebhookId, EventId)>,
}

impl ChangeSet {
    /// A change set of one write.
    pub const fn new(audit: AuditEntry) -> Self {
        Self {
            writes: vec![],
            requires: vec![],
            events: vec![],
            audit,
            more_audit: vec![],
            notices: vec![],
            replay: None,
            lease: None,
        }
    }

    /// Returns `true` if `worker` has work once this is saved.
    #[must_use]
    pub fn wakes(&self, worker: BackgroundWorker) -> bool {
        self.writes.iter().any(|write| write.wakes() == Some(worker))
    }

    /// Every audit entry.
    pub fn audit_entries(&self) -> impl Iterator<Item = &AuditEntry> {
        std::iter::once(&self.audit).chain(&self.more_audit)
    }

    /// The rows that are added with the writes: who is told, what fires, who did what.
    #[must_use]
    pub fn added(&self) -> Vec<AnyRow> {
        let told = self.notices.iter().map(AnyRow::new);
        told.chain(self.events.iter().map(AnyRow::new)).chain(self.audit_entries().map(AnyRow::new)).collect()
    }
}

/// A write.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A whole aggregate, whatever it is. See [`Write::put`].
    Put(AnyRow),
    /// A person whose reporting line changes or begins with their row: the store brings the closure of the reporting tree
    /// up to date in the same transaction. See [`Write::employee`].
    PutReporting {
        /// The person.
        row: AnyRow,
        /// Their manager from now on.
        manager: Option<EmployeeId>,
        /// What the change relies on.
        lines: Lines,
    },
    /// Everything that was sent to a person and not read becomes read at this time.
    NotificationsRead(EmployeeId, Timestamp),
    /// A conversation that is not archived has a message from this time, which becomes that of its newest one unless
    /// there is a later one. Its version stays, so writers of messages never wait for a version. Where it is archived or
    /// not there, nothing is saved, as if another change came first.
    MessageAdded(ConversationId, Timestamp),
    /// The failures of a subscription are forgotten.
    StreakReset(WebhookId),
    /// A subscription that had this version goes for good; what is queued for it dies.
    WebhookRemoved(WebhookId, Version),
    /// Deliveries that are to be attempted when they are first due. One that is queued already stays as it is; if it was to
    /// have an id that somebody is told, nothing is saved, as if another change came first.
    Enqueue(Vec<Job>),
    /// Queued deliveries that nobody has and that are due later become due at this time. What a worker has stays due as
    /// it is, and what is parked stays parked. See [`Sooner`].
    BringForward(Vec<Sooner>, Timestamp),
}

impl Write {
    /// A whole aggregate. What others record of it (see [`Table::recorded`]) is not written.
    #[must_use]
    pub fn put<T: Stored>(row: &Row<T>) -> Self {
        Self::Put(AnyRow::of(row))
    }

    /// Returns the background worker that has work once this is saved.
    #[must_use]
    pub const fn wakes(&self) -> Option<BackgroundWorker> {
        match self {
            Self::Put(row) | Self::PutReporting { row, .. } => row.table().wakes,
            Self::WebhookRemoved(..) | Self::Enqueue(_) | Self::BringForward(..) => Some(BackgroundWorker::Delivery),
            Self::NotificationsRead(..) | Self::MessageAdded(..) | Self::StreakReset(_) => None,
        }
    }

    /// A person, and the change of their reporting line if there is one.
    #[must_use]
    pub fn employee(row: &Row<Employee>, lines: Option<Lines>) -> Self {
        match lines {
            None => Self::put(row),
            Some(lines) => Self::reporting(row, row.value.manager_id, lines),
        }
    }

    /// A person, and the change of the line to their manager.
    #[must_use]
    pub fn reporting<T: Stored>(row: &Row<T>, manager: Option<EmployeeId>, lines: Lines) -> Self {
        Self::PutReporting { row: AnyRow::of(row), manager, lines }
    }
}

/// A queued delivery that is wanted sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sooner {
    /// To which subscription.
    pub webhook_id: WebhookId,
    /// What is delivered.
    pub event_id: EventId,
    /// The number of the attempt that comes next, and the id that somebody is told it will have. If that number is not
    /// next any more, or another id was promised, nothing is saved, as if another change came first. If a worker has the
    /// delivery just then, and its attempt fails, the one that follows is due at once and has the id.
    pub promised: Option<(u16, DeliveryId)>,
}

/// A change of a reporting line. Whoever makes one holds the tenant's reporting tree until the commit.
///
/// Only moving someone under a manager can close a cycle, so only a move must have seen the tree as it is, and only a
/// move counts its version up. A new person has nobody below, and losing a manager takes lines away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The version of the tenant's reporting tree that the cycle check of a move saw; `None` where none was needed.
    /// Several moves of one change set all name the version from before it, and are written from the top down.
    pub seen: Option<Version>,
}

/// What must hold at the moment of the commit; checked inside the transaction, by a lock or an index where it has to stay so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Require {
    /// The row is there and not archived; see [`Require::open`].
    Open(RowKey),
    /// Nobody who has not left belongs to the department, and nobody joins it until the commit.
    DepartmentVacant(DepartmentId),
    /// The person still has this version.
    EmployeeUnchanged(EmployeeId, Version),
    /// The data set has fewer subscriptions than this, and nobody else who requires that makes one until the commit. Its
    /// organization must be there: that is what they wait for each other at.
    SubscriptionsBelow(u32),
}

impl Require {
    /// The resource is there and not archived when the commit looks. Where whoever archives it asks who uses it (see
    /// [`Table::held_open`]), it also stays so until the commit; anything else stays where it is used when it is archived,
    /// so that nobody needs to wait for that.
    #[must_use]
    pub fn open<T: Stored>(id: Id<T::Kind>) -> Self {
        const { assert!(T::TABLE.has(&ARCHIVED), "what is never archived is always open") };
        Self::Open(RowKey { table: T::TABLE, id: id.to_bytes() })
    }
}

/// Which row of which table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RowKey {
    /// Its table.
    pub table: &'static Table,
    /// Its id.
    pub id: [u8; 16],
}

impl fmt::Debug for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:032x}", self.table.name, u128::from_be_bytes(self.id))
    }
}

/// Why a change set was not saved. Nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A row has another version than the one that was seen, or the reporting tree has.
    #[error("another change came first")]
    Stale,
    /// Another resource has the value.
    #[error("{0:?} is taken")]
    Taken(Unique),
    /// What the decision relied upon does not hold.
    #[error("{0:?} does not hold")]
    Broken(Require),
    /// A row that is referred to is not there.
    #[error("a referenced row is missing")]
    Missing,
    /// The idempotency key has an answer already. This is told before anything else that is against the change set: a
    /// twin that comes second finds its own first attempt in its way.
    #[error("the idempotency key was used before")]
    Replayed,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
