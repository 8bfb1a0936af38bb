//! The writer thread: commits a group of waiting tasks as one transaction, each task in its own savepoint.
//!
//! One flush serves the whole group, and a failing task rolls back only its own savepoint. A long task has its own
//! transaction. Short tasks go first, so that none of them waits for two long ones. Organizations take turns, and
//! a group ends after [`GROUP_TIME`], so that the tasks of one organization hardly delay those of another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tracing::Span;

use candor_domain::access::Tenant;
use candor_fair_share::FairQueue;
use candor_port_storage::StorageError;

use crate::connection::checkpoint::Gate;
use crate::connection::tasks::{ConsumerGuard, QueuedItem, TaskQueue};
use crate::sql::{Db, Sql};

/// Maximum group size: large enough to share a flush, small enough that the first task does not wait long for
/// the last.
const MOST_AT_ONCE: usize = 512;
/// Time after which a group executes no further task, so that a task that arrives meanwhile does not wait much
/// longer.
pub(crate) const GROUP_TIME: Duration = Duration::from_millis(25);

/// A write that is waiting for the writer.
pub(crate) trait Task: Send {
    /// Returns `true` if the task is too long to share a transaction with other tasks.
    fn is_long(&self) -> bool;

    /// Executes the task. Returns `false` to roll it back.
    fn run(&mut self, db: &mut Db) -> bool;

    /// Sends the result to the caller after the transaction has ended.
    fn finish(self: Box<Self>, ended: Result<(), StorageError>);
}

/// Queue of the writer.
pub(crate) type Tasks = TaskQueue<Box<dyn Task>>;
type QueuedTask = QueuedItem<Box<dyn Task>>;

/// A task made of a closure.
struct ClosureTask<F, T, E> {
    work: Option<F>,
    result: Option<Result<T, E>>,
    result_sender: oneshot::Sender<Result<T, E>>,
    is_long: bool,
    since: Instant,
    /// Tracing span of the caller, in which the task runs.
    span: Span,
}

impl<F, T, E> Task for ClosureTask<F, T, E>
where
    F: FnOnce(&mut Db) -> Result<T, E> + Send,
    T: Send,
    E: From<StorageError> + Send,
{
    fn is_long(&self) -> bool {
        self.is_long
    }

    fn run(&mut self, db: &mut Db) -> bool {
        let _span = self.span.enter();
        self.result = self.work.take().map(|work| work(db));
        matches!(self.result, Some(Ok(_)))
    }

    fn finish(self: Box<Self>, ended: Result<(), StorageError>) {
        metrics::histogram!("candor_store_commit_seconds", "store" => "sqlite").record(self.since.elapsed());
        let result = match (self.result, ended) {
            // A refusal holds whether or not the transaction succeeded.
            (Some(Err(refusal)), _) => Err(refusal),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (_, Err(error)) => Err(error.into()),
            (None, Ok(())) => Err(StorageError::Failed("a defect ended the write".to_owned()).into()),
        };
        // The caller may be gone; the commit stands.
        drop(self.result_sender.send(result));
    }
}

/// Hands work of a tenant, or of the service itself, to the writer and waits for the end of its transaction.
pub(crate) async fn ask<F, T, E>(tasks: &Tasks, tenant: impl Into<Option<Tenant>>, work: F) -> Result<T, E>
where
    F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StorageError> + Send + 'static,
{
    ask_for(tasks, tenant, false, work).await
}

/// Variant of [`ask`] for work that may take long.
pub(crate) async fn ask_for<F, T, E>(
    tasks: &Tasks,
    tenant: impl Into<Option<Tenant>>,
    is_long: bool,
    work: F,
) -> Result<T, E>
where
    F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StorageError> + Send + 'static,
{
    let (result_sender, result_receiver) = oneshot::channel();
    let task = ClosureTask {
        work: Some(work),
        result: None,
        result_sender,
        is_long,
        since: Instant::now(),
        span: Span::current(),
    };
    let waiting = tasks.push(tenant.into(), Box::new(task)).map_err(|_| stopped_error())?;
    queue_length(waiting);
    result_receiver.await.map_err(|_| stopped_error())?
}

fn stopped_error() -> StorageError {
    StorageError::Unavailable("the store has stopped".to_owned())
}

fn queue_length(waiting: usize) {
    let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
    metrics::gauge!("candor_store_queue_length", "store" => "sqlite").set(waiting);
}

/// Counts a transaction and its changes. The writer calls it with zeros at the start, so that both counters
/// exist before the first write.
fn count_group(groups: u64, changes: u64) {
    metrics::counter!("candor_store_groups_total", "store" => "sqlite").increment(groups);
    metrics::counter!("candor_store_grouped_changes_total", "store" => "sqlite").increment(changes);
}

/// State of the writer thread.
pub(crate) struct Writer {
    pub(crate) db: Db,
    pub(crate) tasks: Arc<Tasks>,
    /// Lock that excludes the readers of a database in memory.
    pub(crate) gate: Option<Arc<RwLock<()>>>,
    /// Channel to the checkpoint thread for the number of tasks in each group. `None` without a write-ahead log.
    pub(crate) written: Option<SyncSender<usize>>,
    /// Gate that is closed while the write-ahead log restarts.
    pub(crate) log: Arc<Gate>,
}

impl Writer {
    /// Executes tasks until the queue is closed and empty.
    pub(crate) fn work(mut self) {
        let tasks = Arc::clone(&self.tasks);
        let _taker = ConsumerGuard(&tasks);
        let mut long = FairQueue::default();
        count_group(0, 0);
        loop {
            let waiting = match long.is_empty() {
                true => tasks.take(MOST_AT_ONCE),
                false => Some(tasks.take_waiting(MOST_AT_ONCE)),
            };
            let Some(waiting) = waiting else { return };
            let (late, group): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, task)| task.is_long());
            late.into_iter().for_each(|(tenant, task)| long.push(tenant, (tenant, task)));
            tasks.put_back(self.carry_out(group));
            // The group has one long task, so nothing remains to be put back.
            drop(self.carry_out(long.pop().into_iter().collect()));
        }
    }

    /// Executes tasks as one transaction. Returns those for which the group had no time.
    fn carry_out(&mut self, group: Vec<QueuedTask>) -> Vec<QueuedTask> {
        if group.is_empty() {
            return group;
        }
        self.log.pass();
        let (count, rest) = self.group(group);
        count_group(1, count as u64);
        queue_length(rest.len());
        if let Some(checkpoint_channel) = &self.written {
            // A full channel means that the checkpoint thread has enough to do already.
            let _ = checkpoint_channel.try_send(count);
        }
        rest
    }

    /// Executes tasks in one transaction and sends each executed task its result. Returns the number of executed
    /// tasks, and the remaining tasks.
    fn group(&mut self, mut group: Vec<QueuedTask>) -> (usize, Vec<QueuedTask>) {
        let result = {
            let _gate = self.gate.as_ref().map(|gate| gate.write().unwrap_or_else(PoisonError::into_inner));
            transaction(&mut self.db, &mut group)
        };
        // If the transaction fails, all tasks of the group fail.
        let count = *result.as_ref().unwrap_or(&group.len());
        let rest = group.split_off(count);
        for (_, task) in group {
            task.finish(match &result {
                Ok(_) => Ok(()),
                Err(reason) => Err(for_each_task(reason)),
            });
        }
        (count, rest)
    }
}

/// Returns the failure of a group for one of its tasks. A lack of room stays a lack of room; after any other
/// failure the task may be retried.
fn for_each_task(reason: &StorageError) -> StorageError {
    match reason {
        StorageError::NoRoom(text) => StorageError::NoRoom(text.clone()),
        StorageError::Unavailable(_)
        | StorageError::TooSlow(_)
        | StorageError::Corrupt { .. }
        | StorageError::Failed(_) => StorageError::Unavailable(reason.to_string()),
    }
}

/// Executes tasks in one transaction until [`GROUP_TIME`] has passed. Returns the number of executed tasks.
fn transaction(db: &mut Db, group: &mut [QueuedTask]) -> Result<usize, StorageError> {
    let result = begin_to_commit(db, group);
    if let Err(reason) = &result {
        tracing::error!(
            %reason, tasks = group.len(),
            "cannot save a group of changes; their requests fail, and the clients may retry"
        );
        // Fails if SQLite has already rolled back by itself.
        drop(run(db, "ROLLBACK"));
    }
    result
}

fn begin_to_commit(db: &mut Db, group: &mut [QueuedTask]) -> Result<usize, StorageError> {
    run(db, "BEGIN IMMEDIATE")?;
    if let [(_, only)] = group {
        // The transaction serves as the savepoint: a savepoint would keep a copy of every changed page.
        let end = if run_task(only.as_mut(), db) { "COMMIT" } else { "ROLLBACK" };
        return run(db, end).map(|()| 1);
    }
    let (since, mut count) = (Instant::now(), 0);
    for (_, task) in group {
        savepoint(task.as_mut(), db)?;
        count += 1;
        if since.elapsed() >= GROUP_TIME {
            break;
        }
    }
    run(db, "COMMIT").map(|()| count)
}

/// Runs one task of a group in a savepoint.
fn savepoint(task: &mut dyn Task, db: &mut Db) -> Result<(), StorageError> {
    run(db, "SAVEPOINT task")?;
    if !run_task(task, db) {
        // Fails if the error made SQLite roll back the transaction; then nothing of the group is saved.
        run(db, "ROLLBACK TO task")?;
    }
    run(db, "RELEASE task")
}

fn run(db: &mut Db, text: &'static str) -> Result<(), StorageError> {
    db.run(&Sql::new(text)).map(drop)
}

/// Runs a task. Returns `false` if its writes are to be rolled back, also after a panic.
fn run_task(task: &mut dyn Task, db: &mut Db) -> bool {
    catch_unwind(AssertUnwindSafe(|| task.run(db))).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lack_of_room_at_commit_stays_a_lack_of_room() {
        let full = || StorageError::NoRoom("database or disk is full".to_owned());
        assert!(matches!(for_each_task(&full()), StorageError::NoRoom(_)));
        for other in
            [StorageError::Failed("a defect".to_owned()), StorageError::Unavailable("is locked".to_owned())]
        {
            assert!(matches!(for_each_task(&other), StorageError::Unavailable(_)), "{other}");
        }
    }
}
