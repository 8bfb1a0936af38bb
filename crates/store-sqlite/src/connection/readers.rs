//! Threads that read, each with a connection of its own: lists, and whatever else may take a while.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::oneshot;
use tracing::Span;

use candor_port_storage::StorageError;

use crate::connection::tasks::TaskQueue;
use crate::sql::Db;

/// The reads that wait.
pub(crate) type Reads = TaskQueue<Box<dyn FnOnce(&mut Db) + Send>>;

/// Hands a read to the next free thread and waits for the answer.
pub(crate) async fn ask<T: Send + 'static>(
    reads: &Reads,
    read: impl FnOnce(&mut Db) -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    let (answer, answered) = oneshot::channel();
    let span = Span::current();
    let work = move |db: &mut Db| {
        let _span = span.entered();
        // Nobody waits for the answer of a request that was given up.
        if !answer.is_closed() {
            drop(answer.send(read(db)));
        }
    };
    reads.push(Box::new(work)).map_err(|_| stopped())?;
    answered.await.map_err(|_| stopped())?
}

/// What a read comes to that nobody carries out.
pub(crate) fn stopped() -> StorageError {
    StorageError::Unavailable("the store has stopped".to_owned())
}

/// Reads until the queue is closed and empty.
pub(crate) fn work(mut db: Db, reads: &Reads, gate: Option<Arc<RwLock<()>>>) {
    while let Some(waiting) = reads.take(1) {
        for read in waiting {
            let _gate = gate.as_ref().map(|it| it.read().unwrap_or_else(PoisonError::into_inner));
            // A read that panics is answered by its dropped channel; the thread goes on.
            drop(catch_unwind(AssertUnwindSafe(|| read(&mut db))));
        }
    }
}
