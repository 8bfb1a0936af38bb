//! Change sets: a decision with all its consequences, saved completely or not at all.

mod require;

use candor_domain::audit::AuditEntry;
use candor_domain::event::Event;
use candor_domain::id::{ConversationId, DeliveryId, EmployeeId, EventId, WebhookId};
use candor_domain::idempotency::Replay;
use candor_domain::notification::Notification;
use candor_domain::people::Employee;
use candor_domain::time::Timestamp;
use candor_subscriptions::{Job, Subscription};

use candor_tables::flat::{BackgroundWorker, Stored};
use candor_tables::{AnyRow, Row, Unique, Version};

use crate::erasing::ErasureChange;
use crate::error::StorageError;
use crate::queue::Lease;

pub use require::{Require, RowKey, RowLimit, ValidKeys};

/// All consequences of one decision, or of a batch of decisions.
///
/// In the same transaction, the store also queues the events of the change set for every active subscription that
/// selects them (§6.1), except for [`ChangeSet::written_subscriptions`].
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing is saved until this is committed"]
pub struct ChangeSet {
    /// Rows to write, in order.
    pub writes: Vec<Write>,
    /// Conditions that the decision relied on, about rows that the change set does not write.
    pub requires: Vec<Require>,
    /// Events to publish with the change.
    pub events: Vec<Event>,
    /// The audit entry. It is not optional: every change has an author.
    pub audit: AuditEntry,
    /// Further audit entries, for batches.
    pub more_audit: Vec<AuditEntry>,
    /// In-app notifications to create.
    pub notices: Vec<Notification>,
    /// Response to store for retries.
    pub replay: Option<Replay>,
    /// Lease for the deliveries that this change queues as due, so that they need not be claimed.
    pub lease: Option<Lease>,
}

/// Results of a commit beyond the saved rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Deliveries queued under the lease of the change set. The worker of the lease attempts them.
    pub leased: Vec<(WebhookId, EventId)>,
}

impl ChangeSet {
    /// Creates a change set without writes.
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

    /// Adds the parts of another change set behind those of this one. A replay and a lease belong to the whole
    /// commit, so those of `part` are dropped.
    pub fn append(&mut self, mut part: Self) {
        self.writes.append(&mut part.writes);
        self.requires.append(&mut part.requires);
        self.events.append(&mut part.events);
        self.notices.append(&mut part.notices);
        self.more_audit.push(part.audit);
        self.more_audit.append(&mut part.more_audit);
    }

    /// Returns `true` if `worker` has work once this change set is saved.
    #[must_use]
    pub fn wakes(&self, worker: BackgroundWorker) -> bool {
        self.writes.iter().any(|write| write.wakes() == Some(worker))
    }

    /// Returns `true` if this change set moves people within the reporting tree. It is then stale after any other
    /// move of the tenant.
    #[must_use]
    pub fn moves_people(&self) -> bool {
        let moves = |write: &Write| {
            matches!(write, Write::PutReporting { lines: ReportingLineChange { seen: Some(_) }, .. })
        };
        self.writes.iter().any(moves)
    }

    /// Returns the subscriptions that this change set writes or reports as failing. The events of the change set
    /// are not queued for them: a subscription is not told about itself (decision F9).
    #[must_use]
    pub fn written_subscriptions(&self) -> Vec<WebhookId> {
        let subscription = |write: &Write| match write {
            Write::Put(row) => row.id_of::<Subscription>(),
            Write::FailingReported(id) => Some(*id),
            Write::PutReporting { .. }
            | Write::NotificationsRead(..)
            | Write::MessageAdded(..)
            | Write::StreakReset(_)
            | Write::WebhookRemoved(..)
            | Write::Enqueue(_)
            | Write::Removed(..)
            | Write::Erase(_)
            | Write::BringForward(..) => None,
        };
        self.writes.iter().filter_map(subscription).collect()
    }

    /// Returns all audit entries.
    pub fn audit_entries(&self) -> impl Iterator<Item = &AuditEntry> {
        std::iter::once(&self.audit).chain(&self.more_audit)
    }

    /// Returns the rows that are added after the writes: notifications, events and audit entries.
    #[must_use]
    pub fn appended_rows(&self) -> Vec<AnyRow> {
        let notifications = self.notices.iter().map(AnyRow::new);
        notifications
            .chain(self.events.iter().map(AnyRow::new))
            .chain(self.audit_entries().map(AnyRow::new))
            .collect()
    }
}

/// A write of a change set.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Writes a whole row of any type. See [`Write::put`].
    Put(AnyRow),
    /// Writes a person whose reporting line starts or changes. The store updates the closure of the reporting
    /// tree in the same transaction. See [`Write::employee`].
    PutReporting {
        /// Row of the person.
        row: AnyRow,
        /// The new manager; `None` moves the person to the top.
        manager: Option<EmployeeId>,
        /// The tree version that the change relies on.
        lines: ReportingLineChange,
    },
    /// Marks unread notifications of a person as read at this time: the oldest
    /// [`MAX_READ_AT_ONCE`](candor_domain::notification::MAX_READ_AT_ONCE).
    NotificationsRead(EmployeeId, Timestamp),
    /// Raises `last_message_at` of a conversation to this time. Its version does not change, so that writers
    /// of messages never conflict. Fails with [`CommitError::Stale`] if the conversation is archived or
    /// missing.
    MessageAdded(ConversationId, Timestamp),
    /// Resets the failure streak of a subscription.
    StreakReset(WebhookId),
    /// Deletes a subscription if it has this version. Its queued deliveries are dropped later.
    WebhookRemoved(WebhookId, Version),
    /// Queues deliveries. A delivery that is already queued does not change; if the new one has a promised id, the
    /// commit fails with [`CommitError::Stale`].
    Enqueue(Vec<Job>),
    /// Marks the event `webhook.failing` of a subscription as fired. Fails with [`CommitError::Stale`] if the
    /// event is not due.
    FailingReported(WebhookId),
    /// Deletes a row if it has this version, but not its rows in side tables. Fails with [`CommitError::Stale`] if
    /// the row has another version or is missing.
    Removed(RowKey, Version),
    /// Makes changes that remove data, before the other writes.
    Erase(Vec<ErasureChange>),
    /// Makes queued deliveries due at this time if they are due later and not leased. Leased and parked deliveries
    /// keep their due time. See [`ExpediteDelivery`].
    BringForward(Vec<ExpediteDelivery>, Timestamp),
}

impl Write {
    /// Creates the write of a whole row, except for columns that are recorded separately, see
    /// [`recorded`](candor_tables::flat::Table::recorded).
    #[must_use]
    pub fn put<T: Stored>(row: &Row<T>) -> Self {
        Self::Put(AnyRow::from_row(row))
    }

    /// Returns the background worker that has work once this write is saved, if there is one.
    #[must_use]
    pub const fn wakes(&self) -> Option<BackgroundWorker> {
        match self {
            Self::Put(row) | Self::PutReporting { row, .. } => row.table().wakes,
            Self::WebhookRemoved(..) | Self::Enqueue(_) | Self::BringForward(..) => {
                Some(BackgroundWorker::Delivery)
            }
            Self::NotificationsRead(..)
            | Self::MessageAdded(..)
            | Self::StreakReset(_)
            | Self::Removed(..)
            | Self::Erase(_)
            | Self::FailingReported(_) => None,
        }
    }

    /// Creates the write of a person, with the change of their reporting line if there is one.
    #[must_use]
    pub fn employee(row: &Row<Employee>, lines: Option<ReportingLineChange>) -> Self {
        match lines {
            None => Self::put(row),
            Some(lines) => Self::put_reporting(row, row.value.manager_id, lines),
        }
    }

    /// Creates the write of a person with the change of the line to their manager.
    #[must_use]
    pub fn put_reporting<T: Stored>(
        row: &Row<T>,
        manager: Option<EmployeeId>,
        lines: ReportingLineChange,
    ) -> Self {
        Self::PutReporting { row: AnyRow::from_row(row), manager, lines }
    }
}

/// A queued delivery to expedite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpediteDelivery {
    /// Id of the subscription.
    pub webhook_id: WebhookId,
    /// Id of the event.
    pub event_id: EventId,
    /// Number of the next attempt, and the id that was promised to the client for it. The commit fails with
    /// [`CommitError::Stale`] if another number is next or another id was promised. If a running attempt of the
    /// delivery fails, the following attempt is due at once and gets the id.
    pub promised: Option<(u16, DeliveryId)>,
}

/// A change of a reporting line. It locks the tenant's reporting tree until the commit.
///
/// Only moving a person under a manager can close a cycle. So only a move must have seen the current tree, and
/// only a move increments its version. A new person has no reports, and losing a manager only removes lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportingLineChange {
    /// Version of the tenant's reporting tree that the cycle check of a move saw; `None` if no check was needed.
    /// All moves of one change set carry the same version, from before the change set. They are written from the
    /// top down.
    pub seen: Option<Version>,
}

/// Reason why a change set was not saved. None of its parts was.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A row or the reporting tree has another version than the decision saw, a row is in a state that the
    /// [`Write`] does not allow, or more than [`MAX_REPORTING_DEPTH`](candor_domain::people::MAX_REPORTING_DEPTH)
    /// managers would be above a person who moves or starts.
    #[error("another change came first")]
    Stale,
    /// Another resource has the same unique value.
    #[error("{0:?} is taken")]
    Taken(Unique),
    /// A required condition does not hold.
    #[error("{0:?} does not hold")]
    Broken(Require),
    /// A referenced row does not exist.
    #[error("a referenced row is missing")]
    Missing,
    /// The idempotency key already has a response. Takes precedence over all other errors: a repeated request
    /// conflicts with its own first attempt.
    #[error("the idempotency key was used before")]
    Replayed,
    /// The change set moves people whose reporting lines are more than
    /// [`MAX_LINES_AT_ONCE`](candor_domain::people::MAX_LINES_AT_ONCE), and the store does not write them in pieces.
    #[error("the moved people have too many reporting lines")]
    TooWide,
    /// The store failed to answer.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::audit::{Actor, Changes, Origin, Target};
    use candor_domain::catalog::Department;
    use candor_domain::id::Id;
    use candor_domain::people::Invitation;

    const AT: Timestamp = Timestamp::from_millis(1_000);

    fn change(writes: Vec<Write>) -> ChangeSet {
        let audit = AuditEntry {
            id: Id::from_bytes([1; 16]),
            occurred_at: AT,
            action: "test.change".to_owned(),
            actor: Actor::system("test"),
            target: Target { kind: "test".to_owned(), id: String::new() },
            changes: Changes::new(),
            comment: None,
            request_id: None,
            context: Origin::default(),
        };
        ChangeSet { writes, ..ChangeSet::new(audit) }
    }

    #[test]
    fn appended_change_set_keeps_its_parts_in_order() {
        let read = |id| vec![Write::NotificationsRead(Id::from_bytes([id; 16]), AT)];
        let requires = |id| vec![Require::DepartmentVacant(Id::from_bytes([id; 16]))];
        let change_of = |action: &str, id| {
            let mut one = ChangeSet { requires: requires(id), ..change(read(id)) };
            action.clone_into(&mut one.audit.action);
            one
        };
        let mut pair = change_of("second", 2);
        pair.more_audit.push(change_of("third", 3).audit);
        let mut all = change_of("first", 1);
        all.append(pair);
        let actions: Vec<_> = all.audit_entries().map(|entry| entry.action.as_str()).collect();
        assert_eq!(actions, ["first", "second", "third"]);
        assert_eq!(all.writes, [read(1), read(2)].concat());
        assert_eq!(all.requires, [requires(1), requires(2)].concat());
    }

    #[test]
    fn change_set_wakes_the_workers_of_any_of_its_writes() {
        let department = Department::create(Id::from_bytes([2; 16]), "Sales".to_owned(), None, AT).unwrap().state;
        let invitation = Invitation {
            id: Id::from_bytes([3; 16]),
            employee_id: Id::from_bytes([4; 16]),
            token_hash: [0; 32],
            created_at: AT,
            accepted_at: None,
            revoked_at: None,
            mail: None,
            domain_hash: None,
        };
        let (quiet, mail) = (Write::put(&Row::new(department)), Write::put(&Row::new(invitation)));
        let read = Write::NotificationsRead(Id::from_bytes([4; 16]), AT);
        let removal = Write::WebhookRemoved(Id::from_bytes([5; 16]), Version(1));
        for (writes, wakes_delivery, wakes_mail) in [
            (vec![], false, false),
            (vec![quiet.clone(), read], false, false),
            (vec![quiet.clone(), mail.clone()], false, true),
            (vec![removal.clone(), quiet], true, false),
            (vec![Write::Enqueue(vec![])], true, false),
            (vec![mail, removal], true, true),
        ] {
            let change = change(writes);
            let wake_flags =
                [BackgroundWorker::Delivery, BackgroundWorker::Mail].map(|worker| change.wakes(worker));
            assert_eq!(wake_flags, [wakes_delivery, wakes_mail], "{:?}", change.writes);
        }
    }
}
