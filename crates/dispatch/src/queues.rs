//! State machine that decides which delivery is attempted next.
//!
//! A queue holds the deliveries of one subscription. Organizations take turns, and so do the queues of each.
//! The number of concurrent attempts of a queue adapts to the responses of its receiver. Queues whose
//! receivers are not known to be quick share at most half of the capacity. So hanging receivers do not delay
//! quick ones.

mod left;
mod limited;
mod pace;
mod rate;
mod ring;
mod state;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use candor_port_storage::queue::QueueKey;

use crate::lease::{LeaseDeadline, Now};
use left::SkippedQueues;
use pace::ConcurrencyWindow;
pub use pace::ReceiverResponse;
pub(crate) use rate::{RATE_LEASE, RateDecision};
use ring::RoundRobin;
use state::{HeldItem, QueueCount, State};

/// Number of queues above which idle ones are dropped, with the concurrency that they had adapted.
const REMEMBERED: usize = 4096;

/// Capacity limits of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Maximum number of concurrent attempts.
    pub attempts: usize,
    /// Maximum number of waiting deliveries.
    pub waiting: usize,
    /// Maximum number of results per batch.
    pub batch: usize,
}

/// A delivery to attempt now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedAttempt<T> {
    /// Slot of the attempt, to be passed to the end of the attempt.
    pub place: QueuePlace,
    /// The delivery to attempt.
    pub item: T,
    /// End of the delivery's lease.
    pub ends: LeaseDeadline,
    /// `true` if its queue was full before and no longer is.
    pub makes_room: bool,
    /// Position of the delivery in the order in which this process took deliveries.
    order: u64,
}

/// Slot of a running attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePlace {
    /// Queue of the subscription.
    pub queue: QueueKey,
    /// Round of the queue's [`Pace`] in which the attempt began.
    round: u32,
    /// Number of the attempt in this process.
    number: u64,
}

impl QueueLimits {
    /// Limits of one process. Each attempt uses a socket.
    pub const OF_A_PROCESS: Self = Self { attempts: 256, waiting: 1280, batch: 256 };

    /// Returns the maximum number of deliveries in memory, without those that a claim has to give back.
    #[must_use]
    pub const fn room(self) -> usize {
        self.attempts + self.waiting
    }
}

/// All held deliveries by queue.
#[derive(Debug)]
pub(crate) struct SubscriptionQueues<T> {
    limits: QueueLimits,
    /// Minimum remaining lease for an attempt to begin.
    needs: Duration,
    queues: HashMap<QueueKey, State<T>>,
    /// Queues that this process skips for a while.
    left_alone: SkippedQueues,
    /// Queues with waiting deliveries, in the order of their turns.
    ring: RoundRobin,
    /// Totals of all queues. `slow` has the totals of those whose receivers are not known to be quick.
    all: QueueCount,
    slow: QueueCount,
    /// Number of waiting deliveries of queues with a rate.
    limited_waiting: usize,
    /// Number of deliveries taken so far.
    taken: u64,
    /// Number of attempts so far.
    begun: u64,
    /// Number of results that are not recorded yet.
    unrecorded: usize,
    reserved: usize,
    open: bool,
}

impl<T> SubscriptionQueues<T> {
    pub(crate) fn new(limits: QueueLimits, needs: Duration) -> Self {
        Self {
            limits,
            needs,
            queues: HashMap::new(),
            left_alone: SkippedQueues::default(),
            ring: RoundRobin::default(),
            all: QueueCount::default(),
            slow: QueueCount::default(),
            limited_waiting: 0,
            taken: 0,
            begun: 0,
            unrecorded: 0,
            reserved: 0,
            open: true,
        }
    }

    /// Returns the number of held deliveries, from their claim until their result is recorded.
    pub(crate) const fn held(&self) -> usize {
        self.all.attempts + self.all.waiting + self.unrecorded
    }

    /// Returns the number of running attempts.
    pub(crate) const fn attempts(&self) -> usize {
        self.all.attempts
    }

    /// Returns the number of deliveries that can be added.
    pub(crate) const fn room(&self) -> usize {
        if !self.open {
            return 0;
        }
        self.limits.room().saturating_sub(self.held() + self.reserved)
    }

    /// Reserves capacity and returns `true` if there was enough. [`SubscriptionQueues::release`] ends the
    /// reservation.
    pub(crate) const fn reserve(&mut self, count: usize) -> bool {
        let fits = self.room() >= count;
        if fits {
            self.reserved += count;
        }
        fits
    }

    pub(crate) const fn release(&mut self, count: usize) {
        self.reserved = self.reserved.saturating_sub(count);
    }

    /// Returns `true` if a queue can take another delivery in addition to `coming` ones.
    pub(crate) fn takes(&self, queue: QueueKey, coming: usize) -> bool {
        if self.left_alone.has(queue) {
            return false;
        }
        let (waiting, depth, quick) =
            self.queues.get(&queue).map_or((0, ConcurrencyWindow::new().depth(), false), State::<T>::measures);
        let crowded = !quick && self.slow.waiting + coming >= self.limits.waiting / 2
            || waiting + coming > 0 && self.is_limited(queue) && self.is_crowded_by_limited(coming);
        self.room() > coming
            && self.all.waiting + coming < self.limits.waiting
            && waiting + coming < depth
            && !crowded
    }

    /// Returns `true` if a test can be taken: it waits for no rate and no other delivery of its queue.
    pub(crate) const fn takes_test(&self) -> bool {
        self.room() > 0 && self.all.waiting < self.limits.waiting
    }

    /// Adds a delivery, or returns it if there is no capacity.
    pub(crate) fn offer(
        &mut self,
        queue: QueueKey,
        item: T,
        ends: LeaseDeadline,
        is_unlimited: bool,
    ) -> Result<(), T> {
        let takes = if is_unlimited { self.takes_test() } else { self.takes(queue, 0) };
        // A queue that refuses a delivery needs an entry, too: claims skip only queues that `full` finds.
        self.tidy();
        let state = self.queues.entry(queue).or_insert_with(State::new);
        if !takes {
            return Err(item);
        }
        self.taken += 1;
        let held = HeldItem { item, ends, is_unlimited, order: self.taken };
        if is_unlimited {
            state.waiting.push_front(held)
        } else {
            state.waiting.push_back(held)
        }
        self.all.waiting += 1;
        self.slow.waiting += usize::from(!state.pace.is_quick());
        self.limited_waiting += usize::from(state.rate.is_some());
        if !state.in_ring {
            state.in_ring = true;
            self.ring.push(queue);
        }
        Ok(())
    }

    /// Returns the next delivery to attempt, if one may begin. Drops deliveries with too little lease left:
    /// their lease expires and they are claimed again.
    pub(crate) fn start(&mut self, now: Now) -> Option<StartedAttempt<T>> {
        if !self.open || self.all.attempts >= self.limits.attempts {
            return None;
        }
        for _ in 0..self.ring.len() {
            let queue = self.ring.pop()?;
            let begun = self.start_in(queue, now);
            if let Some(state) = self.queues.get_mut(&queue) {
                state.in_ring = !state.waiting.is_empty();
                if state.in_ring {
                    self.ring.push(queue);
                }
            }
            if begun.is_some() {
                return begun;
            }
        }
        None
    }

    fn start_in(&mut self, queue: QueueKey, now: Now) -> Option<StartedAttempt<T>> {
        if !self.queues.get(&queue).is_some_and(|state| self.has_slot(state)) {
            return None;
        }
        let Self { needs, all, slow, limited_waiting, begun, .. } = self;
        let state = self.queues.get_mut(&queue)?;
        let quick = state.pace.is_quick();
        let was_full = state.is_full();
        while state.may_begin(now) {
            let HeldItem { item, ends, is_unlimited, order } = state.waiting.pop_front()?;
            all.waiting -= 1;
            slow.waiting -= usize::from(!quick);
            *limited_waiting -= usize::from(state.rate.is_some());
            if ends.remaining(now) >= *needs {
                *begun += 1;
                let place = QueuePlace { queue, round: state.pace.round(), number: *begun };
                if let Some(rate) = state.rate.as_mut().filter(|_| !is_unlimited) {
                    rate.begin(place.number);
                }
                state.attempts += 1;
                all.attempts += 1;
                slow.attempts += usize::from(!quick);
                let makes_room = was_full && !state.is_full();
                return Some(StartedAttempt { place, item, ends, makes_room, order });
            }
        }
        None
    }

    /// Returns `true` if the concurrency of a queue and the capacity for slow receivers permit another attempt.
    fn has_slot(&self, state: &State<T>) -> bool {
        let crowded = !state.pace.is_quick() && self.slow.attempts >= self.limits.attempts / 2;
        // While few attempts wait for slow receivers, a queue narrowed by timeouts may run as many as a new one.
        let ease = self.slow.attempts < self.limits.attempts / 4;
        let width = if ease { state.pace.at_ease() } else { state.pace.width() };
        !crowded && state.attempts < width
    }

    /// Ends an attempt whose result is to be recorded. `answer` is `None` if no request was sent.
    pub(crate) fn release_slot(&mut self, place: QueuePlace, answer: Option<ReceiverResponse>) {
        self.unrecorded += 1;
        self.release_without_effect(place, answer);
    }

    /// Ends an attempt without a result.
    pub(crate) fn release_without_effect(
        &mut self,
        QueuePlace { queue, round, number }: QueuePlace,
        answer: Option<ReceiverResponse>,
    ) {
        self.all.attempts = self.all.attempts.saturating_sub(1);
        let Some(state) = self.queues.get_mut(&queue) else { return };
        state.attempts = state.attempts.saturating_sub(1);
        if let Some(rate) = &mut state.rate {
            rate.end(number);
        }
        let before = state.pace.is_quick();
        self.slow.attempts = self.slow.attempts.saturating_sub(usize::from(!before));
        if let Some(answer) = answer {
            state.pace.learn(round, answer);
        }
        let held = QueueCount { attempts: state.attempts, waiting: state.waiting.len() };
        match (before, state.pace.is_quick()) {
            (true, false) => self.slow.add(held),
            (false, true) => self.slow.subtract(held),
            (true, true) | (false, false) => {}
        }
        self.tidy();
    }

    /// Counts further unrecorded results, of deliveries that were not attempted.
    pub(crate) const fn owe(&mut self, count: usize) {
        self.unrecorded += count;
    }

    /// Subtracts `count` unrecorded results that are now recorded.
    pub(crate) const fn remove_unrecorded(&mut self, count: usize) {
        self.unrecorded = self.unrecorded.saturating_sub(count);
    }

    /// Drops deliveries with too little lease left. Returns their number.
    pub(crate) fn forget(&mut self, now: Now) -> usize {
        self.left_alone.forget(now);
        let before = self.all.waiting;
        for state in self.queues.values_mut() {
            let waited = state.waiting.len();
            state.waiting.retain(|held| held.ends.remaining(now) >= self.needs);
            let gone = waited - state.waiting.len();
            self.all.waiting -= gone;
            if let Some(rate) = &mut state.rate {
                rate.forget(now);
                self.limited_waiting -= gone;
            }
            if !state.pace.is_quick() {
                self.slow.waiting -= gone;
            }
        }
        before - self.all.waiting
    }

    /// Returns the queues that claims skip, sorted: those that are too full, and those in `left_alone`.
    pub(crate) fn full(&self) -> Vec<QueueKey> {
        let crowded = self.slow.waiting >= self.limits.waiting / 2;
        let crowded_by_limited = self.is_crowded_by_limited(0);
        let is_full = |state: &State<T>| {
            state.is_full()
                || crowded && !state.pace.is_quick()
                || crowded_by_limited && state.rate.is_some() && !state.waiting.is_empty()
        };
        let mut full: Vec<_> =
            self.queues.iter().filter(|(_, queue)| is_full(queue)).map(|(queue, _)| *queue).collect();
        full.extend(self.left_alone.queues());
        full.sort_unstable();
        full.dedup();
        full
    }

    /// Returns how many more deliveries the fullest of these queues can take.
    pub(crate) fn least_free(&self, queues: &[QueueKey]) -> Option<usize> {
        let free = |queue| {
            let (waiting, depth, _) =
                self.queues.get(queue).map_or((0, ConcurrencyWindow::new().depth(), false), State::<T>::measures);
            depth.saturating_sub(waiting)
        };
        queues.iter().map(free).min()
    }

    /// Skips a queue until `until`, so that other processes can serve it. Returns `false` if too many queues
    /// are skipped already.
    pub(crate) fn leave_alone(&mut self, queue: QueueKey, now: Now, until: LeaseDeadline) -> bool {
        self.left_alone.add(queue, now, until)
    }

    /// Stops new attempts and returns the waiting deliveries, ordered by queue.
    pub(crate) fn close(&mut self) -> Vec<T> {
        self.open = false;
        self.ring = RoundRobin::default();
        self.all.waiting = 0;
        self.slow.waiting = 0;
        self.limited_waiting = 0;
        let mut queues: Vec<_> = self.queues.iter_mut().collect();
        queues.sort_unstable_by_key(|(queue, _)| **queue);
        queues.into_iter().flat_map(|(_, queue)| queue.waiting.drain(..)).map(|held| held.item).collect()
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// Returns `true` if the queues are closed and nothing is held or reserved.
    pub(crate) const fn is_done(&self) -> bool {
        !self.open && self.held() == 0 && self.reserved == 0
    }

    /// Drops idle queues, with their adapted concurrency, if there are more than [`REMEMBERED`] queues.
    fn tidy(&mut self) {
        if self.queues.len() > REMEMBERED {
            self.queues.retain(|_, queue| !queue.is_idle() || queue.is_leased());
        }
    }
}
