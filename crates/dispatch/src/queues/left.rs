//! Queues that this process skips for a while.

use crate::HashMap;

use candor_port_storage::queue::QueueKey;

use crate::lease::{LeaseDeadline, Now};

/// Maximum number of skipped queues: every claim lists them.
const MOST: usize = 256;

/// The skipped queues, each with the end of its skip.
#[derive(Debug, Default)]
pub(super) struct SkippedQueues(HashMap<QueueKey, LeaseDeadline>);

impl SkippedQueues {
    /// Skips a queue until `until`. If the queue is skipped already, the earlier end stays, because otherwise the
    /// queue might never be tried again. Returns `false` if too many queues are skipped.
    pub(super) fn add(&mut self, queue: QueueKey, now: Now, until: LeaseDeadline) -> bool {
        self.forget(now);
        let fits = self.has(queue) || self.0.len() < MOST;
        if fits {
            self.0.entry(queue).or_insert(until);
        }
        fits
    }

    pub(super) fn has(&self, queue: QueueKey) -> bool {
        self.0.contains_key(&queue)
    }

    pub(super) fn queues(&self) -> impl Iterator<Item = QueueKey> {
        self.0.keys().copied()
    }

    /// Ends the skip of queues whose time is over.
    pub(super) fn forget(&mut self, now: Now) {
        self.0.retain(|_, until| !until.remaining(now).is_zero());
    }
}
