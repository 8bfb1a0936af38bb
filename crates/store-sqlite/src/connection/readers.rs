//! Reader threads, each with its own connection, for lists and other long reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::oneshot;
use tracing::Span;

use candor_domain::access::Tenant;
use candor_fair_share::FairQueue;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;

use crate::sql::Db;

/// A queued read, which sends its own result.
type WaitingRead = Box<dyn FnOnce(&mut Db) + Send>;

/// Queued reads of a group of threads. Organizations take turns; the reads of one organization keep their order.
pub(crate) struct Reads {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: FairQueue<WaitingRead>,
    is_open: bool,
}

impl Reads {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { waiting: FairQueue::default(), is_open: true }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a read; drops it if the queue is closed.
    fn push(&self, tenant: Option<Tenant>, read: WaitingRead) {
        let mut state = self.lock();
        if state.is_open {
            state.waiting.push(tenant, read);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits for a read. Returns `None` once the queue is closed and empty.
    fn take(&self) -> Option<WaitingRead> {
        let mut state = self.lock();
        loop {
            if let Some(read) = state.waiting.pop() {
                return Some(read);
            }
            if !state.is_open {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Refuses new reads; queued ones are still executed.
    pub(crate) fn close(&self) {
        self.lock().is_open = false;
        self.changed.notify_all();
    }
}

/// Hands a read to the next free thread and waits for its result. Reads of the service itself have no tenant.
pub(crate) async fn ask<T: Send + 'static>(
    reads: &Reads,
    tenant: Option<Tenant>,
    read: impl FnOnce(&mut Db) -> Read<T> + Send + 'static,
) -> Read<T> {
    let (result_sender, result_receiver) = oneshot::channel();
    let span = Span::current();
    let work = move |db: &mut Db| {
        let _span = span.entered();
        // Skips the read if the caller is gone: nothing would receive the result.
        if !result_sender.is_closed() {
            drop(result_sender.send(read(db)));
        }
    };
    reads.push(tenant, Box::new(work));
    result_receiver.await.map_err(|_| stopped_error())?
}

/// Returns the error of a read without a result: the store stops, or the read panicked.
pub(crate) fn stopped_error() -> StorageError {
    StorageError::Unavailable("the store stops, or a defect ended the read".to_owned())
}

/// Executes reads until the queue is closed and empty.
pub(crate) fn work(mut db: Db, reads: &Reads, gate: Option<Arc<RwLock<()>>>) {
    while let Some(read) = reads.take() {
        let _gate = gate.as_ref().map(|gate| gate.read().unwrap_or_else(PoisonError::into_inner));
        // The caller of a read that panics gets an error, because its channel is dropped; the thread continues.
        drop(catch_unwind(AssertUnwindSafe(|| read(&mut db))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::open::{DatabaseLocation, Source};
    use candor_domain::id::OrganizationId;
    use futures_util::FutureExt;
    use futures_util::future::join_all;

    fn tenant(number: u8) -> Option<Tenant> {
        Some(Tenant::live(OrganizationId::from_bytes([number; 16])))
    }

    fn reader() -> Db {
        Source::new(&DatabaseLocation::Memory).unwrap().reader().unwrap()
    }

    #[tokio::test]
    async fn reads_of_tenants_take_turns() {
        let (reads, order) = (Reads::new(), Arc::new(Mutex::new(vec![])));
        let note = |owner: u8, number: u8| {
            let order = Arc::clone(&order);
            let note = move |_: &mut Db| {
                order.lock().unwrap().push((owner, number));
                Ok(())
            };
            ask(&reads, tenant(owner), note).boxed()
        };
        let mut all = join_all([note(1, 1), note(1, 2), note(1, 3), note(2, 1), note(3, 1), note(2, 2)]);
        // The first poll queues them all; no thread reads yet.
        assert!((&mut all).now_or_never().is_none());
        reads.close();
        work(reader(), &reads, None);
        assert!(all.await.into_iter().all(|read| read.is_ok()));
        assert_eq!(*order.lock().unwrap(), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (1, 3)]);
    }

    #[test]
    fn read_of_a_dropped_request_is_skipped() {
        let (reads, order) = (Reads::new(), Arc::new(Mutex::new(vec![])));
        let note = |number: u8| {
            let order = Arc::clone(&order);
            let note = move |_: &mut Db| {
                order.lock().unwrap().push(number);
                Ok(())
            };
            ask(&reads, tenant(1), note).boxed()
        };
        let (mut dropped, mut kept) = (note(1), note(2));
        assert!((&mut dropped).now_or_never().is_none() && (&mut kept).now_or_never().is_none());
        drop(dropped);
        reads.close();
        work(reader(), &reads, None);
        assert_eq!(*order.lock().unwrap(), [2]);
    }

    #[tokio::test]
    async fn closed_queue_refuses_reads() {
        let reads = Reads::new();
        reads.close();
        assert!(matches!(ask(&reads, None, |_| Ok(())).await, Err(StorageError::Unavailable(_))));
    }
}
