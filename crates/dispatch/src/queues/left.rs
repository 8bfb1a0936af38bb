//! Queues that this process leaves to others for some time.

use std::collections::HashMap;

use candor_port_storage::queue::QueueKey;

use crate::lease::{Ends, Now};

/// So many at most: every claim names them.
const MOST: usize = 256;

/// The queues, and until when.
#[derive(Debug, Default)]
pub(super) struct LeftAlone(HashMap<QueueKey, Ends>);

impl LeftAlone {
    /// One that is left alone already stays so until the time that was said first: else it might never be tried again.
    /// Says whether there was room for it.
    pub(super) fn add(&mut self, queue: QueueKey, now: Now, until: Ends) -> bool {
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

    /// Forgets those whose time is over.
    pub(super) fn forget(&mut self, now: Now) {
        self.0.retain(|_, until| !until.left(now).is_zero());
    }
}
