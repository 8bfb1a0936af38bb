//! Queue between callers and threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use candor_domain::access::Tenant;
use candor_fair_share::FairQueue;

/// A queue that can be closed. Organizations take turns; the items of one organization keep their order.
pub(crate) struct TaskQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: FairQueue<QueuedItem<T>>,
    length: usize,
    open: bool,
}

/// An item with its tenant; `None` is the service itself.
pub(crate) type QueuedItem<T> = (Option<Tenant>, T);

impl<T> State<T> {
    fn take(&mut self, most: usize) -> Vec<QueuedItem<T>> {
        let tasks: Vec<_> = std::iter::from_fn(|| self.waiting.pop()).take(most).collect();
        self.length -= tasks.len();
        tasks
    }
}

impl<T> TaskQueue<T> {
    pub(crate) fn new() -> Self {
        let state = State { waiting: FairQueue::default(), length: 0, open: true };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item and returns the queue length, or returns the item if the queue is closed.
    pub(crate) fn push(&self, tenant: Option<Tenant>, item: T) -> Result<usize, T> {
        let mut state = self.lock();
        if !state.open {
            return Err(item);
        }
        state.waiting.push(tenant, (tenant, item));
        state.length += 1;
        let waiting = state.length;
        drop(state);
        self.changed.notify_one();
        Ok(waiting)
    }

    /// Puts back items that were taken, also into a closed queue. These items are taken next, in their former order.
    pub(crate) fn put_back(&self, items: Vec<QueuedItem<T>>) {
        let mut state = self.lock();
        state.length += items.len();
        for (tenant, item) in items.into_iter().rev() {
            state.waiting.put_back(tenant, (tenant, item));
        }
    }

    /// Waits for items and takes at most `most`. Returns `None` once the queue is closed and empty.
    pub(crate) fn take(&self, most: usize) -> Option<Vec<QueuedItem<T>>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if !state.open {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(state.take(most))
    }

    /// Takes at most `most` queued items without waiting.
    pub(crate) fn take_waiting(&self, most: usize) -> Vec<QueuedItem<T>> {
        self.lock().take(most)
    }

    /// Refuses new items; queued ones can still be taken.
    pub(crate) fn close(&self) {
        self.lock().open = false;
        self.changed.notify_all();
    }

    /// Refuses new items and drops the queued ones, for a queue without a consumer.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.open = false;
        state.waiting.clear();
        state.length = 0;
    }
}

/// Guard that abandons the queue when its consumer ends, even by a panic, so that no caller waits for ever.
pub(crate) struct ConsumerGuard<'q, T>(pub(crate) &'q TaskQueue<T>);

impl<T> Drop for ConsumerGuard<'_, T> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_queue_returns_waiting_tasks() {
        let queue = TaskQueue::new();
        assert_eq!((queue.push(None, 1), queue.push(None, 2), queue.push(None, 3)), (Ok(1), Ok(2), Ok(3)));
        queue.close();
        assert_eq!(queue.push(None, 4), Err(4));
        assert_eq!(queue.take(2), Some(vec![(None, 1), (None, 2)]));
        queue.put_back(vec![(None, 2)]);
        assert_eq!(queue.take(2), Some(vec![(None, 2), (None, 3)]));
        assert_eq!(queue.take(2), None);
    }

    #[test]
    fn queue_without_a_consumer_refuses_tasks() {
        let queue = TaskQueue::new();
        assert_eq!(queue.push(None, 1), Ok(1));
        drop(ConsumerGuard(&queue));
        assert_eq!(queue.push(None, 2), Err(2));
        assert_eq!(queue.take(2), None);
    }
}
