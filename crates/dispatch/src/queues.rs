//! State machine that decides which delivery is attempted next.
//!
//! A queue holds the deliveries of one subscription. Organizations take turns, and so do the queues of each. The
//! number of concurrent attempts of a queue adapts to the responses of its receiver. Queues whose receivers are
//! not known to be quick share at most half of the capacity. So hanging receivers do not delay quick ones. Each
//! organization has a share of all places, so that the hanging receivers of one organization do not delay other
//! organizations either.

mod late;
mod left;
mod limited;
mod pace;
mod rate;
mod ring;
mod shares;
mod state;
#[cfg(test)]
mod tests;

use crate::HashMap;
use std::time::Duration;

use candor_port_storage::queue::QueueKey;

use crate::lease::{LeaseDeadline, Now};
use left::SkippedQueues;
use pace::ConcurrencyWindow;
pub use pace::ReceiverResponse;
pub(crate) use rate::{RATE_LEASE, RateDecision};
use ring::RoundRobin;
use shares::Shares;
use state::{HeldItem, State};

/// Number of known queues above which idle queues are dropped. They lose the concurrency that they had adapted.
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
    /// Slot of the attempt, to be passed to
    /// [`Dispatcher::handle_attempt_ended`](crate::Dispatcher::handle_attempt_ended).
    pub place: QueuePlace,
    /// The delivery to attempt.
    pub item: T,
    /// End of the delivery's lease.
    pub ends: LeaseDeadline,
    /// `true` if claims skipped the queue of the delivery until this attempt started, and do not skip it any more.
    pub makes_room: bool,
    /// Position of the delivery in the order in which this process took deliveries.
    order: u64,
}

/// Slot of a running attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePlace {
    /// Queue of the subscription.
    pub queue: QueueKey,
    /// Round of the queue's [`ConcurrencyWindow`] in which the attempt began.
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
    shares: Shares,
    /// Deliveries that waited too long, with the ends of their leases.
    late: Vec<(T, LeaseDeadline)>,
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
            queues: HashMap::default(),
            left_alone: SkippedQueues::default(),
            ring: RoundRobin::default(),
            shares: Shares::new(limits),
            late: vec![],
            taken: 0,
            begun: 0,
            unrecorded: 0,
            reserved: 0,
            open: true,
        }
    }

    /// Returns the number of held deliveries, from their claim until their result is recorded.
    pub(crate) const fn held(&self) -> usize {
        self.attempts() + self.shares.all().waiting + self.unrecorded
    }

    /// Returns the number of running attempts.
    pub(crate) const fn attempts(&self) -> usize {
        self.shares.all().attempts
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

    /// Returns `true` if a queue has capacity for another delivery of a claim. `coming` is the number of
    /// deliveries of the claim that are already chosen for the queue, `of_owner` the number for all queues of its
    /// organization.
    pub(crate) fn takes(&self, queue: QueueKey, coming: usize, of_owner: usize) -> bool {
        if self.left_alone.has(queue) {
            return false;
        }
        let owner = queue.0.organization;
        let (waiting, depth, quick) =
            self.queues.get(&queue).map_or((0, ConcurrencyWindow::new().depth(), false), State::<T>::measures);
        let is_crowded =
            waiting + coming > 0 && self.is_limited(queue) && self.shares.is_crowded_by_limited(owner, of_owner);
        self.room() > of_owner
            && waiting + coming < depth
            && !is_crowded
            && self.shares.may_wait(owner, quick, of_owner)
    }

    /// Returns `true` if there is capacity for the delivery of a test. The depth and rate of its queue do not
    /// matter: a test waits for no rate and no other delivery of the queue. `of_owner` is the number of deliveries
    /// of the claim that are already chosen for the queues of its organization.
    pub(crate) fn takes_test(&self, queue: QueueKey, of_owner: usize) -> bool {
        self.room() > of_owner && self.shares.may_wait(queue.0.organization, true, of_owner)
    }

    /// Adds a queue without deliveries if it is unknown, because claims can skip only known queues.
    pub(crate) fn know(&mut self, queue: QueueKey) {
        self.tidy();
        self.queues.entry(queue).or_insert_with(State::new);
    }

    /// Changes a queue and the totals that it counts in. Returns the result of `change`; `None` for an unknown queue.
    fn change<R>(&mut self, queue: QueueKey, change: impl FnOnce(&mut State<T>) -> R) -> Option<R> {
        let state = self.queues.get_mut(&queue)?;
        let totals_before = state.totals();
        let result = change(state);
        self.shares.replace(queue.0.organization, totals_before, state.totals());
        Some(result)
    }

    /// Adds a queue with deliveries to those that take turns.
    fn enter_ring(&mut self, queue: QueueKey) {
        let Some(state) = self.queues.get_mut(&queue).filter(|state| !state.in_ring) else { return };
        state.in_ring = true;
        self.ring.push(queue);
    }

    /// Adds a delivery, or returns it if there is no capacity.
    pub(crate) fn offer(
        &mut self,
        queue: QueueKey,
        item: T,
        ends: LeaseDeadline,
        is_unlimited: bool,
    ) -> Result<(), T> {
        let takes = if is_unlimited { self.takes_test(queue, 0) } else { self.takes(queue, 0, 0) };
        self.know(queue);
        if !takes {
            return Err(item);
        }
        self.taken += 1;
        let held_item = HeldItem { item, ends, is_unlimited, order: self.taken };
        self.change(queue, |state| {
            if is_unlimited {
                state.waiting.push_front(held_item);
            } else {
                state.waiting.push_back(held_item);
            }
        });
        self.enter_ring(queue);
        Ok(())
    }

    /// Returns the next delivery to attempt, if one may begin. Deliveries with too little lease left go to
    /// [`SubscriptionQueues::take_late`].
    pub(crate) fn start(&mut self, now: Now) -> Option<StartedAttempt<T>> {
        if !self.open || self.attempts() >= self.limits.attempts {
            return None;
        }
        for _ in 0..self.ring.len() {
            let queue = self.ring.pop()?;
            let attempt = self.start_in(queue, now);
            if let Some(state) = self.queues.get_mut(&queue) {
                state.in_ring = !state.waiting.is_empty();
                if state.in_ring {
                    self.ring.push(queue);
                }
            }
            if attempt.is_some() {
                return attempt;
            }
        }
        None
    }

    fn start_in(&mut self, queue: QueueKey, now: Now) -> Option<StartedAttempt<T>> {
        if !self.queues.get(&queue).is_some_and(|state| self.has_slot(queue, state)) {
            return None;
        }
        let (was_full, needs, number) = (self.is_skipped(queue), self.needs, self.begun + 1);
        let (mut late, mut round) = (vec![], 0);
        let next_item = self.change(queue, |state| {
            round = state.pace.round();
            while state.may_begin(now) {
                let waiting_item = state.waiting.pop_front()?;
                if waiting_item.ends.remaining(now) < needs {
                    late.push((waiting_item.item, waiting_item.ends));
                    continue;
                }
                if let Some(rate) = state.rate.as_mut().filter(|_| !waiting_item.is_unlimited) {
                    rate.begin(number);
                }
                state.attempts += 1;
                return Some(waiting_item);
            }
            None
        });
        self.late.append(&mut late);
        let HeldItem { item, ends, order, .. } = next_item.flatten()?;
        self.begun = number;
        let makes_room = was_full && !self.is_skipped(queue);
        let place = QueuePlace { queue, round, number };
        Some(StartedAttempt { place, item, ends, makes_room, order })
    }

    /// Returns `true` if the concurrency of a queue and the share of its organization permit another attempt.
    fn has_slot(&self, queue: QueueKey, state: &State<T>) -> bool {
        let owner = queue.0.organization;
        // While few attempts wait for slow receivers, a queue narrowed by timeouts may run as many as a new queue.
        let is_at_ease = self.shares.is_at_ease(owner);
        let width = if is_at_ease { state.pace.at_ease() } else { state.pace.width() };
        state.attempts < width && self.shares.may_begin(owner, state.pace.is_quick())
    }

    /// Ends an attempt whose result is to be recorded. `response` is `None` if no request was sent.
    pub(crate) fn release_slot(&mut self, place: QueuePlace, response: Option<ReceiverResponse>) {
        self.unrecorded += 1;
        self.release_without_effect(place, response);
    }

    /// Ends an attempt without a result.
    pub(crate) fn release_without_effect(
        &mut self,
        QueuePlace { queue, round, number }: QueuePlace,
        response: Option<ReceiverResponse>,
    ) {
        self.change(queue, |state| {
            state.attempts = state.attempts.saturating_sub(1);
            if let Some(rate) = &mut state.rate {
                rate.end(number);
            }
            if let Some(response) = response {
                state.pace.learn(round, response);
            }
        });
        self.tidy();
    }

    /// Counts `count` further unrecorded results, for deliveries that are given back without an attempt.
    pub(crate) const fn owe(&mut self, count: usize) {
        self.unrecorded += count;
    }

    /// Subtracts `count` unrecorded results that are now recorded.
    pub(crate) const fn remove_unrecorded(&mut self, count: usize) {
        self.unrecorded = self.unrecorded.saturating_sub(count);
    }

    /// Returns the queues that claims skip, sorted: those that are too full, those of organizations with too many
    /// waiting deliveries, and those in `left_alone`.
    pub(crate) fn full(&self) -> Vec<QueueKey> {
        let mut full: Vec<_> = self.queues.keys().copied().filter(|queue| self.is_skipped(*queue)).collect();
        full.extend(self.left_alone.queues());
        full.sort_unstable();
        full.dedup();
        full
    }

    fn is_skipped(&self, queue: QueueKey) -> bool {
        let Some(state) = self.queues.get(&queue) else { return false };
        let owner = queue.0.organization;
        state.is_full()
            || self.shares.is_full(owner, state.pace.is_quick())
            || state.rate.is_some() && !state.waiting.is_empty() && self.shares.is_crowded_by_limited(owner, 0)
    }

    /// Returns the number of deliveries that the fullest of these queues can still take; `None` without queues.
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
        let mut queues: Vec<_> = self.queues.keys().copied().collect();
        queues.sort_unstable();
        let take = |queue| self.change(queue, |state| std::mem::take(&mut state.waiting));
        queues.into_iter().filter_map(take).flatten().map(|held| held.item).collect()
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// Returns `true` if the queues are closed and nothing is held or reserved.
    pub(crate) const fn is_done(&self) -> bool {
        !self.open && self.held() == 0 && self.reserved == 0
    }

    /// Drops idle queues without a rate lease if there are more than [`REMEMBERED`] queues. They lose the
    /// concurrency that they had adapted.
    fn tidy(&mut self) {
        if self.queues.len() > REMEMBERED {
            self.queues.retain(|_, queue| !queue.is_idle() || queue.is_leased());
        }
    }
}
