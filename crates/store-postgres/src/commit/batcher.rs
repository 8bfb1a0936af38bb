//! Batches of change sets that only add rows: they wait for a free slot and then share one transaction.
//!
//! A statement that adds the rows of ten change sets costs the server far less than ten statements. If one change
//! set fails, the transaction is rolled back and each is committed alone, so no change set makes another one fail.
//! Retries whose idempotency keys already have replays are answered together; the remaining change sets are sent
//! once more.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use candor_domain::access::Tenant;
use candor_domain::id::{EventId, WebhookId};
use candor_domain::idempotency::Replay;
use candor_fair_share::FairQueue;
use candor_port_storage::{ChangeSet, CommitError, Committed, Require, StorageError, Write};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::execute::{Executor, record_duration};
use super::interpret::is_replayed;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::layout::statement::LeasedDelivery;
use crate::nodes::transaction::TransactionOutcome;

/// Maximum number of concurrent short transactions for each server. One can be in progress while the next is
/// built; a small number makes change sets share transactions under load.
const SLOTS: usize = 3;
/// Maximum number of change sets in one transaction. A larger batch saves little, and the first change set would
/// wait for the last.
const MOST: usize = 16;
/// Maximum number of waiting change sets that the choice for a transaction skips, so that the choice takes
/// microseconds.
const MOST_SKIPPED: usize = 256;
/// Time for which a transaction keeps its slot, for each change set in it. A slower transaction waits for the
/// network, the disk or a lock, and frees its slot for other batches.
const PATIENCE: Duration = Duration::from_micros(1500);

/// Queue of change sets that wait for a shared transaction. Clones share the queue.
#[derive(Clone)]
pub(super) struct Batcher {
    executor: Executor,
    runtime: Handle,
    queue: Arc<Mutex<CommitQueue>>,
}

#[derive(Default)]
struct CommitQueue {
    waiting: FairQueue<PendingCommit>,
    /// Number of slots in use. Transactions that exceeded [`PATIENCE`] hold none.
    slots: usize,
}

/// A change set that waits for its commit, with the channel for the result.
struct PendingCommit {
    tenant: Tenant,
    change: ChangeSet,
    since: Instant,
    result_sender: oneshot::Sender<Result<Committed, CommitError>>,
}

/// Returns `true` if a change set can share a transaction: it adds one resource with a new id and no other unique
/// value, and its requirements take no row locks. Two of these change sets can only contend for an idempotency key
/// and for the conversation of a message; a transaction locks the keys, and the conversations, in a fixed order.
pub(super) fn may_share(change: &ChangeSet) -> bool {
    let adds = |write: &Write| match write {
        Write::Put(row) => row.version_read().is_none() && row.table().shares_commits && !row.has_unique_value(),
        Write::PutReporting { .. }
        | Write::NotificationsRead(..)
        | Write::MessageAdded(..)
        | Write::StreakReset(_)
        | Write::FailingReported(_)
        | Write::WebhookRemoved(..)
        | Write::Enqueue(_)
        | Write::Removed(..)
        | Write::Erase(_)
        | Write::BringForward(..) => false,
    };
    let shared = |require: &Require| match require {
        Require::Open(require) => !require.table.held_open,
        Require::DepartmentVacant(_) | Require::Unchanged(..) | Require::RowsBelow(_) | Require::KeysBelow(..) => {
            false
        }
    };
    matches!(change.writes.as_slice(), [one] | [one, Write::MessageAdded(..)] if adds(one))
        && change.requires.iter().all(shared)
}

impl Batcher {
    pub(super) fn new(executor: Executor, runtime: Handle) -> Self {
        Self { executor, runtime, queue: Arc::default() }
    }

    /// Commits a change set that may share a transaction, at once if a slot is free. The commit continues if the
    /// caller drops the future.
    pub(super) async fn commit(&self, tenant: Tenant, change: ChangeSet) -> Result<Committed, CommitError> {
        let (result_sender, result_receiver) = oneshot::channel();
        let pending = PendingCommit { tenant, change, since: Instant::now(), result_sender };
        self.queue().waiting.push(Some(tenant), pending);
        self.open_slot();
        let cause = || "the service stops, or a defect ended the batch".to_owned();
        let stopping = |_| CommitError::Storage(StorageError::Unavailable(cause()));
        result_receiver.await.map_err(stopping)?
    }

    fn queue(&self) -> MutexGuard<'_, CommitQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a slot if change sets wait and a slot is free.
    fn open_slot(&self) {
        let mut queue = self.queue();
        if queue.waiting.is_empty() || queue.slots >= SLOTS * self.executor.servers() {
            return;
        }
        queue.slots += 1;
        drop(queue);
        let slot = Slot { batcher: self.clone(), is_left: false };
        self.runtime.spawn(async move { slot.run().await });
    }
}

/// A slot in use.
struct Slot {
    batcher: Batcher,
    is_left: bool,
}

impl Drop for Slot {
    /// Drops the waiting change sets if the task of the slot panicked or the service stops. Their callers get an
    /// error and can retry.
    fn drop(&mut self) {
        if !self.is_left {
            let mut queue = self.batcher.queue();
            queue.slots -= 1;
            queue.waiting.clear();
        }
    }
}

impl Slot {
    /// Sends transactions until the queue is empty or a transaction exceeds [`PATIENCE`], and frees the slot. A slow
    /// transaction is then completed without a slot.
    async fn run(self) {
        loop {
            let group = self.batcher.queue().next_batch(self.batcher.executor.layout);
            if group.is_empty() {
                return self.leave();
            }
            let patience = PATIENCE * u32::try_from(group.len()).unwrap_or(u32::MAX);
            let batcher = self.batcher.clone();
            let mut transaction = pin!(batcher.carry_out(group));
            if timeout(patience, &mut transaction).await.is_err() {
                self.leave();
                return transaction.await;
            }
        }
    }

    /// Frees the slot and opens another one: a change set may have arrived just now, or wait behind a slow
    /// transaction.
    fn leave(mut self) {
        self.is_left = true;
        self.batcher.queue().slots -= 1;
        self.batcher.open_slot();
    }
}

impl CommitQueue {
    /// Takes the change sets of the next transaction, from the organizations in turn. Change sets with the same
    /// idempotency key never share a transaction. On a cluster, neither do change sets of different tenants or
    /// lease holders.
    fn next_batch(&mut self, layout: SharedLayout) -> Vec<PendingCommit> {
        let (mut group, mut skipped): (Vec<PendingCommit>, Vec<PendingCommit>) = (vec![], vec![]);
        while group.len() < MOST && skipped.len() < MOST_SKIPPED {
            let Some(next) = self.waiting.pop() else { break };
            let is_apart = |pending_commit: &PendingCommit| {
                !layout.spans_tenants() && pending_commit.grouping_key() != next.grouping_key()
            };
            let is_skipped = group.iter().any(|group| group.is_twin_of(&next) || is_apart(group));
            if is_skipped { skipped.push(next) } else { group.push(next) }
        }
        for pending in skipped.into_iter().rev() {
            self.waiting.put_back(Some(pending.tenant), pending);
        }
        group
    }
}

impl PendingCommit {
    fn is_twin_of(&self, other: &Self) -> bool {
        let key = |waiting: &Self| waiting.change.replay.as_ref().map(|replay| replay.key.clone());
        self.tenant == other.tenant && key(self).is_some() && key(self) == key(other)
    }

    /// Returns the idempotency key with its tenant: keys are unique for each tenant. `None` if the change set has
    /// no key.
    fn place_of_key(&self) -> Option<(Tenant, String)> {
        self.change.replay.as_ref().map(|replay| (self.tenant, replay.key.as_str().to_owned()))
    }

    /// Returns the grouping key: change sets of a batch with equal grouping keys share one statement.
    fn grouping_key(&self) -> (Tenant, Option<[u8; 16]>) {
        (self.tenant, self.change.lease.map(|lease| lease.worker.0))
    }

    fn send_result(self, result: Result<Committed, CommitError>) {
        // The caller may have gone away; the commit holds all the same.
        drop(self.result_sender.send(result));
    }
}

impl Batcher {
    async fn carry_out(&self, group: Vec<PendingCommit>) {
        let group = match <[PendingCommit; 1]>::try_from(group) {
            Ok([pending]) => return self.carry_out_alone(pending).await,
            Err(group) => group,
        };
        match self.send_all(&group).await {
            TransactionOutcome::Done(leased) => self.send_results(group, &leased).await,
            TransactionOutcome::Undone(failure) => self.divide(group, failure).await,
            TransactionOutcome::Unknown(failure) => {
                let text = failure.text();
                for pending in group {
                    pending.send_result(Err(StorageError::Unavailable(text.clone()).into()));
                }
            }
        }
    }

    async fn send_all(&self, group: &[PendingCommit]) -> TransactionOutcome<LeasedDelivery> {
        let mut statements: BTreeMap<_, Vec<&ChangeSet>> = BTreeMap::new();
        for pending in group {
            statements.entry(pending.grouping_key()).or_default().push(&pending.change);
        }
        let statements = statements.into_iter().map(|((tenant, _), changes)| (tenant, changes));
        self.executor.send_batch(statements.collect()).await
    }

    async fn send_results(&self, group: Vec<PendingCommit>, leased: &[LeasedDelivery]) {
        let rows = group.iter().map(|pending| pending.change.writes.len()).sum();
        for pending in group {
            record_duration(pending.since);
            let commit = Committed { leased: pending.own_leases(leased) };
            pending.send_result(Ok(commit));
        }
        self.executor.record_writes(rows).await;
    }

    /// Answers the retries of a failed batch, and commits the other change sets once more. If there is no retry,
    /// each change set is committed alone.
    async fn divide(&self, group: Vec<PendingCommit>, failure: Failure) {
        self.executor.note_subscribers(&failure, group.iter().map(|pending| pending.tenant));
        let keys = if is_replayed(&failure) { self.find_replayed_keys(&group).await } else { BTreeSet::new() };
        if keys.is_empty() {
            tracing::debug!(
                reason = failure.text(),
                "a transaction of several change sets failed; each of them is committed alone"
            );
            for pending in group {
                let this = self.clone();
                self.runtime.spawn(async move { this.carry_out_alone(pending).await });
            }
            return;
        }
        let is_retry = |pending: &PendingCommit| pending.place_of_key().is_some_and(|key| keys.contains(&key));
        let (retries, others): (Vec<_>, Vec<_>) = group.into_iter().partition(is_retry);
        retries.into_iter().for_each(|pending| pending.send_result(Err(CommitError::Replayed)));
        if !others.is_empty() {
            Box::pin(self.carry_out(others)).await;
        }
    }

    /// Returns the idempotency keys of a batch that already have a replay. Empty if they cannot be read.
    async fn find_replayed_keys(&self, group: &[PendingCommit]) -> BTreeSet<(Tenant, String)> {
        let mut keys_by_tenant: BTreeMap<Tenant, Vec<&Replay>> = BTreeMap::new();
        for pending in group {
            keys_by_tenant.entry(pending.tenant).or_default().extend(&pending.change.replay);
        }
        let mut replayed_keys = BTreeSet::new();
        for (tenant, keys) in keys_by_tenant.into_iter().filter(|(_, keys)| !keys.is_empty()) {
            let Some(keys) = self.executor.replayed_keys(tenant, &keys).await else {
                return BTreeSet::new();
            };
            replayed_keys.extend(keys.into_iter().map(|key| (tenant, key)));
        }
        replayed_keys
    }

    async fn carry_out_alone(&self, pending: PendingCommit) {
        let result = self.executor.commit_single(pending.tenant, &pending.change, pending.since).await;
        pending.send_result(result);
    }
}

impl PendingCommit {
    fn own_leases(&self, all: &[LeasedDelivery]) -> Vec<(WebhookId, EventId)> {
        let own = |event: EventId| {
            self.change.lease.is_some() && self.change.events.iter().any(|fired| fired.id == event)
        };
        all.iter().flatten().filter(|(_, event)| own(*event)).copied().collect()
    }
}

#[cfg(test)]
mod tests;
