//! Which delivery is attempted next: a plain state machine over what this process holds.
//!
//! A queue is one subscription's part. Tenants take turns, and within each its queues. How many attempts a queue may have
//! under way at once adapts to how it answers, and queues that were not seen to answer quickly never have more than half
//! of the room together: receivers that hang delay nobody else.

mod left;
mod pace;
mod ring;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use candor_port_storage::queue::QueueKey;

use crate::lease::{Ends, Now};
use left::LeftAlone;
pub use pace::Answer;
use pace::Pace;
use ring::Ring;

/// Queues that are remembered while nothing of theirs is held.
const REMEMBERED: usize = 4096;

/// How much there may be at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Attempts under way.
    pub attempts: usize,
    /// Deliveries that wait here to be attempted.
    pub waiting: usize,
    /// Results that are recorded by one call of the store.
    pub batch: usize,
}

/// A delivery that is to be attempted now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun<T> {
    /// What its end gives back.
    pub place: QueuePlace,
    /// The delivery.
    pub item: T,
    /// The end of its lease.
    pub ends: Ends,
    /// Whether its queue was full before, and is not any more.
    pub makes_room: bool,
}

/// The place of an attempt among those under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePlace {
    /// The subscription.
    pub queue: QueueKey,
    /// Which attempts of the subscription it was begun together with.
    round: u32,
}

impl QueueLimits {
    /// What one process has at most: each attempt has a socket.
    pub const OF_A_PROCESS: Self = Self { attempts: 256, waiting: 1280, batch: 256 };

    /// The most deliveries in memory, but for what one claim finds no room for.
    #[must_use]
    pub const fn room(self) -> usize {
        self.attempts + self.waiting
    }
}

/// What is held, queue by queue.
#[derive(Debug)]
pub(crate) struct SubscriptionQueues<T> {
    limits: QueueLimits,
    /// An attempt begins only while so much is left of its lease.
    needs: Duration,
    queues: HashMap<QueueKey, State<T>>,
    /// Queues that nothing is taken for.
    left_alone: LeftAlone,
    /// The queues in which something waits.
    ring: Ring,
    /// What is held in all queues, and in those that are not known to answer quickly.
    all: Count,
    slow: Count,
    /// What became of so many is not recorded yet.
    unrecorded: usize,
    reserved: usize,
    open: bool,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<(T, Ends)>,
    attempts: usize,
    pace: Pace,
    in_ring: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    attempts: usize,
    waiting: usize,
}

impl<T> State<T> {
    fn new() -> Self {
        Self { waiting: VecDeque::new(), attempts: 0, pace: Pace::new(), in_ring: false }
    }

    fn is_idle(&self) -> bool {
        self.attempts == 0 && self.waiting.is_empty()
    }
}

impl<T> SubscriptionQueues<T> {
    pub(crate) fn new(limits: QueueLimits, needs: Duration) -> Self {
        Self {
            limits,
            needs,
            queues: HashMap::new(),
            left_alone: LeftAlone::default(),
            ring: Ring::default(),
            all: Count::default(),
            slow: Count::default(),
            unrecorded: 0,
            reserved: 0,
            open: true,
        }
    }

    /// How many deliveries are held, from their claim until what became of them is recorded.
    pub(crate) const fn held(&self) -> usize {
        self.all.attempts + self.all.waiting + self.unrecorded
    }

    /// How many attempts are under way.
    pub(crate) const fn attempts(&self) -> usize {
        self.all.attempts
    }

    /// How many more may be taken in.
    pub(crate) const fn room(&self) -> usize {
        if !self.open {
            return 0;
        }
        self.limits.room().saturating_sub(self.held() + self.reserved)
    }

    /// Keeps room for so many, if there is any; [`SubscriptionQueues::release`] ends that.
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

    /// Whether a queue would take another one while so many are on their way to it.
    pub(crate) fn takes(&self, queue: QueueKey, coming: usize) -> bool {
        if self.left_alone.has(queue) {
            return false;
        }
        let (waiting, depth, quick) =
            self.queues.get(&queue).map_or((0, Pace::new().depth(), false), State::<T>::measures);
        let crowded = !quick && self.slow.waiting + coming >= self.limits.waiting / 2;
        self.room() > coming && self.all.waiting + coming < self.limits.waiting && waiting + coming < depth && !crowded
    }

    /// Takes a delivery in, or gives it back where there is no room for it.
    pub(crate) fn offer(&mut self, queue: QueueKey, item: T, ends: Ends) -> Result<(), T> {
        let takes = self.takes(queue, 0);
        // A queue that is refused something is remembered as well: it is full, and nothing should be claimed for it.
        self.tidy();
        let state = self.queues.entry(queue).or_insert_with(State::new);
        if !takes {
            return Err(item);
        }
        state.waiting.push_back((item, ends));
        self.all.waiting += 1;
        self.slow.waiting += usize::from(!state.pace.is_quick());
        if !state.in_ring {
            state.in_ring = true;
            self.ring.push(queue);
        }
        Ok(())
    }

    /// The next delivery to attempt, if one may begin. What has waited for too long is forgotten: its lease runs out,
    /// and whoever claims it then attempts it.
    pub(crate) fn start(&mut self, now: Now) -> Option<Begun<T>> {
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

    fn start_in(&mut self, queue: QueueKey, now: Now) -> Option<Begun<T>> {
        let Self { limits, needs, all, slow, .. } = self;
        let state = self.queues.get_mut(&queue)?;
        let quick = state.pace.is_quick();
        let crowded = !quick && slow.attempts >= limits.attempts / 2;
        // While hardly anything hangs, a queue that does may go on as if it were new.
        let ease = slow.attempts < limits.attempts / 4;
        let width = if ease { state.pace.at_ease() } else { state.pace.width() };
        if crowded || state.attempts >= width {
            return None;
        }
        let was_full = state.is_full();
        while let Some((item, ends)) = state.waiting.pop_front() {
            all.waiting -= 1;
            slow.waiting -= usize::from(!quick);
            if ends.left(now) >= *needs {
                state.attempts += 1;
                all.attempts += 1;
                slow.attempts += usize::from(!quick);
                let makes_room = was_full && !state.is_full();
                let place = QueuePlace { queue, round: state.pace.round() };
                return Some(Begun { place, item, ends, makes_room });
            }
        }
        None
    }

    /// An attempt is over; what became of it is to be recorded. Without an answer the receiver was not asked.
    pub(crate) fn ended(&mut self, place: QueuePlace, answer: Option<Answer>) {
        self.unrecorded += 1;
        self.left(place, answer);
    }

    /// An attempt is over, and nothing is to be recorded.
    pub(crate) fn left(&mut self, QueuePlace { queue, round }: QueuePlace, answer: Option<Answer>) {
        self.all.attempts = self.all.attempts.saturating_sub(1);
        let Some(state) = self.queues.get_mut(&queue) else { return };
        state.attempts = state.attempts.saturating_sub(1);
        let before = state.pace.is_quick();
        self.slow.attempts = self.slow.attempts.saturating_sub(usize::from(!before));
        if let Some(answer) = answer {
            state.pace.learn(round, answer);
        }
        let held = Count { attempts: state.attempts, waiting: state.waiting.len() };
        match (before, state.pace.is_quick()) {
            (true, false) => self.slow.add(held),
            (false, true) => self.slow.subtract(held),
            (true, true) | (false, false) => {}
        }
        self.tidy();
    }

    /// What became of so many more is to be recorded, though they were not attempted.
    pub(crate) const fn owe(&mut self, count: usize) {
        self.unrecorded += count;
    }

    /// What became of so many is recorded.
    pub(crate) const fn recorded(&mut self, count: usize) {
        self.unrecorded = self.unrecorded.saturating_sub(count);
    }

    /// Forgets what has waited for too long; says how many that were.
    pub(crate) fn forget(&mut self, now: Now) -> usize {
        self.left_alone.forget(now);
        let before = self.all.waiting;
        for state in self.queues.values_mut() {
            let waited = state.waiting.len();
            state.waiting.retain(|(_, ends)| ends.left(now) >= self.needs);
            let gone = waited - state.waiting.len();
            self.all.waiting -= gone;
            if !state.pace.is_quick() {
                self.slow.waiting -= gone;
            }
        }
        before - self.all.waiting
    }

    /// The queues that hold so much that nothing should be claimed for them.
    pub(crate) fn full(&self) -> Vec<QueueKey> {
        let crowded = self.slow.waiting >= self.limits.waiting / 2;
        let is_full = |state: &State<T>| state.is_full() || (crowded && !state.pace.is_quick());
        let mut full: Vec<_> = self.queues.iter().filter(|(_, it)| is_full(it)).map(|(queue, _)| *queue).collect();
        full.extend(self.left_alone.queues());
        full.sort_unstable();
        full.dedup();
        full
    }

    /// How many more may wait in each of these queues.
    pub(crate) fn least_free(&self, queues: &[QueueKey]) -> Option<usize> {
        let free = |queue| {
            let (waiting, depth, _) =
                self.queues.get(queue).map_or((0, Pace::new().depth(), false), State::<T>::measures);
            depth.saturating_sub(waiting)
        };
        queues.iter().map(free).min()
    }

    /// Takes nothing for a queue for some time, so that others may have it; says whether there is room to remember it.
    pub(crate) fn leave_alone(&mut self, queue: QueueKey, now: Now, until: Ends) -> bool {
        self.left_alone.add(queue, now, until)
    }

    /// Begins nothing any more, and hands out what waits, queue by queue in their order.
    pub(crate) fn close(&mut self) -> Vec<T> {
        self.open = false;
        self.ring = Ring::default();
        self.all.waiting = 0;
        self.slow.waiting = 0;
        let mut queues: Vec<_> = self.queues.iter_mut().collect();
        queues.sort_unstable_by_key(|(queue, _)| **queue);
        queues.into_iter().flat_map(|(_, it)| it.waiting.drain(..)).map(|(item, _)| item).collect()
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// Whether nothing is left to do after the end.
    pub(crate) const fn is_done(&self) -> bool {
        !self.open && self.held() == 0 && self.reserved == 0
    }

    /// Forgets how idle queues did when there are too many of them.
    fn tidy(&mut self) {
        if self.queues.len() > REMEMBERED {
            self.queues.retain(|_, it| !it.is_idle());
        }
    }
}

impl<T> State<T> {
    /// How much waits, how much may, and whether it answers quickly.
    fn measures(&self) -> (usize, usize, bool) {
        (self.waiting.len(), self.pace.depth(), self.pace.is_quick())
    }

    /// Whether nothing should be claimed for it.
    fn is_full(&self) -> bool {
        !self.waiting.is_empty() && self.waiting.len() >= self.pace.depth() / 2
    }
}

impl Count {
    const fn add(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.attempts += other.attempts;
    }

    const fn subtract(&mut self, other: Self) {
        self.waiting -= other.waiting;
        self.attempts -= other.attempts;
    }
}
