//! The promise about rates: no window of one second has more requests to a receiver than its rate.

use crate::promises::Promises;
use crate::queue::Key;
use candor_port_storage::queue::QueueKey;
use std::collections::{BTreeMap, VecDeque};

/// Length of the window in milliseconds.
const WINDOW: i64 = 1_000;
/// Time after a clock change forward in which a lease may be held twice: the longest rate lease and one window.
const DOUBTFUL: i64 = 11_000;

/// Times of the requests of the last second, by subscription.
#[derive(Debug, Default)]
pub(crate) struct Rates(BTreeMap<QueueKey, VecDeque<i64>>);

impl Rates {
    /// Records a request. Returns the number of requests in the window that ends with it.
    fn add(&mut self, queue: QueueKey, now: i64) -> usize {
        let sent_times = self.0.entry(queue).or_default();
        sent_times.push_back(now);
        while sent_times.front().is_some_and(|at| *at + WINDOW <= now) {
            sent_times.pop_front();
        }
        sent_times.len()
    }
}

impl Promises {
    /// Checks a request against the rate of its receiver.
    pub(crate) fn check_rate(&mut self, key: Key, max_per_second: Option<u16>, now: i64) {
        let Some(rate) = max_per_second else { return };
        let count = self.rates.add(key.0, now);
        if count > usize::from(rate) && self.set_forward_at.is_none_or(|at| at < now - DOUBTFUL) {
            let what =
                format!("the receiver has {count} requests within a second: its rate of {rate} is exceeded");
            self.break_promise(now, key, &what);
        }
    }
}
