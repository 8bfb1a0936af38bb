//! Queue between callers and threads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A FIFO queue that can be closed.
pub(crate) struct TaskQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    open: bool,
}

impl<T> TaskQueue<T> {
    pub(crate) const fn new() -> Self {
        Self { state: Mutex::new(State { waiting: VecDeque::new(), open: true }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item and returns the queue length, or returns the item if the queue is closed.
    pub(crate) fn push(&self, it: T) -> Result<usize, T> {
        let mut state = self.lock();
        if !state.open {
            return Err(it);
        }
        state.waiting.push_back(it);
        let waiting = state.waiting.len();
        drop(state);
        self.changed.notify_one();
        Ok(waiting)
    }

    /// Waits for items and takes at most `most`. Returns `None` once the queue is closed and empty.
    pub(crate) fn take(&self, most: usize) -> Option<Vec<T>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if !state.open {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.waiting.len().min(most);
        Some(state.waiting.drain(..count).collect())
    }

    /// Takes at most `most` queued items without waiting.
    pub(crate) fn take_waiting(&self, most: usize) -> Vec<T> {
        let mut state = self.lock();
        let count = state.waiting.len().min(most);
        state.waiting.drain(..count).collect()
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
        assert_eq!((queue.push(1), queue.push(2), queue.push(3)), (Ok(1), Ok(2), Ok(3)));
        queue.close();
        assert_eq!(queue.push(4), Err(4));
        assert_eq!(queue.take(2), Some(vec![1, 2]));
        assert_eq!(queue.take(2), Some(vec![3]));
        assert_eq!(queue.take(2), None);
    }

    #[test]
    fn queue_without_a_consumer_refuses_tasks() {
        let queue = TaskQueue::new();
        assert_eq!(queue.push(1), Ok(1));
        drop(ConsumerGuard(&queue));
        assert_eq!(queue.push(2), Err(2));
        assert_eq!(queue.take(2), None);
    }
}
