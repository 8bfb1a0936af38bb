//! State machine that decides the next claim from the results of earlier ones.
//!
//! Normally a claim takes the deliveries that have been due for the longest time. If a claim is full, or a queue
//! is full or has a rate, a walk along the queues takes some deliveries of each. So one long queue does not delay
//! the rest. Parked deliveries are claimed from time to time, because their subscription may be active again.

#[cfg(test)]
mod tests;

use crate::HashSet;
use std::time::Duration;

use candor_port_storage::queue::{Claim, ClaimedJobs, QueueKey, QueueWalk};

/// Interval between claims while no delivery is due.
const LOOK: Duration = Duration::from_millis(250);
/// Interval between claims of parked deliveries.
const LOOK_FOR_PARKED: Duration = Duration::from_secs(3);
/// Pause before the next claim after the store failed to answer a claim.
const LEAVE_ALONE: Duration = Duration::from_secs(1);
/// Minimum free capacity for a claim: many small claims would cost more than a few larger ones.
pub(crate) const LEAST_ROOM: usize = 64;
/// Maximum number of deliveries that a claim of the oldest deliveries takes.
const MOST: usize = 128;
/// Maximum number of queues that one claim walks past. Most of them may have nothing due.
const QUEUES: u16 = 512;
/// Smallest value of [`Claims::each`], and maximum number of parked deliveries that a walk takes per queue: half
/// of the deliveries that may wait in a new queue. A walk along many queues takes fewer of each.
const EACH: usize = 32;
/// Assumed number of queues with due deliveries before a walk has counted them.
const QUEUES_EXPECTED: usize = 32;

/// State machine that decides the next claim.
#[derive(Debug)]
pub(crate) struct Claims {
    /// `true` for walks along the queues, `false` for claims of the oldest deliveries.
    walking: bool,
    due: WalkState,
    parked: WalkState,
    parked_had_its_turn: bool,
    /// Queues from which the latest claim of due deliveries took some.
    recent: Vec<QueueKey>,
    /// Maximum number of due deliveries that a walk takes per queue. Walks for parked deliveries use [`EACH`].
    each: usize,
}

/// State of the repeated walk along the queues.
#[derive(Debug)]
struct WalkState {
    after: Option<QueueKey>,
    /// Number of queues that had deliveries in this walk so far.
    queues: usize,
    /// Number of queues that had deliveries in the previous walk or were full, at least 1.
    queues_before: usize,
    /// `true` if the next step is due at once, even if the queues in `passed_over` are still full.
    has_more: bool,
    /// Queues from which this walk has taken deliveries.
    served: HashSet<QueueKey>,
    /// Queues that may have more: they were full, or a completed walk took deliveries from them.
    passed_over: HashSet<QueueKey>,
    look_at: Duration,
}

impl WalkState {
    fn new(now: Duration) -> Self {
        Self {
            after: None,
            queues: 0,
            queues_before: QUEUES_EXPECTED,
            has_more: true,
            served: HashSet::default(),
            passed_over: HashSet::default(),
            look_at: now,
        }
    }

    fn is_due(&self, now: Duration, full: &[QueueKey]) -> bool {
        let is_free = |queue: &QueueKey| full.binary_search(queue).is_err();
        self.has_more || now >= self.look_at || self.passed_over.iter().any(is_free)
    }

    fn may_be_due(&self, now: Duration) -> bool {
        self.has_more || now >= self.look_at || !self.passed_over.is_empty()
    }

    fn walk(&self, room: usize, most: usize, full: Vec<QueueKey>, limited: Vec<(QueueKey, u16)>) -> QueueWalk {
        // If as many queues as before have deliveries, half of the capacity remains for further queues.
        let each = (room / (2 * self.queues.max(self.queues_before))).clamp(1, most);
        QueueWalk { after: self.after, queues: QUEUES, each: to_u16(each), busy: full, limited }
    }

    /// Records a step of the walk. While a walk finds deliveries, its next step is due at once. After its end, the
    /// next walk starts after `pause`, or as soon as a queue in `passed_over` has room. A walk that started while
    /// these queues are full would skip them and find too little to be worth its cost.
    fn took(&mut self, walk: &QueueWalk, claimed: &ClaimedJobs, now: Duration, pause: Duration) {
        let queues = queues_of(claimed);
        self.queues += queues.len();
        self.after = claimed.next;
        let is_end = claimed.next.is_none();
        self.has_more = !is_end && !queues.is_empty();
        self.look_at = now + if is_end { pause } else { LOOK };
        self.served.extend(queues);
        self.passed_over = walk.busy.iter().copied().collect();
        if is_end {
            self.queues += walk.busy.len();
            self.passed_over.extend(self.served.drain());
            self.begin_again();
        }
    }

    /// Lets the walk along the queues begin again at its first step.
    fn begin_again(&mut self) {
        self.after = None;
        self.served.clear();
        self.queues_before = self.queues.max(1);
        self.queues = 0;
    }
}

impl Claims {
    pub(crate) fn new(now: Duration) -> Self {
        Self {
            walking: false,
            due: WalkState::new(now),
            parked: WalkState::new(now),
            parked_had_its_turn: false,
            recent: vec![],
            each: EACH,
        }
    }

    /// Returns `true` if there may be something to claim, regardless of capacity.
    pub(crate) fn may_want(&self, now: Duration) -> bool {
        self.due.may_be_due(now) || self.parked.may_be_due(now)
    }

    /// Returns `true` if the store may have more due deliveries of a queue: the latest claims skipped the queue or
    /// took some of its deliveries.
    pub(crate) fn may_have_more(&self, queue: QueueKey) -> bool {
        self.due.passed_over.contains(&queue) || self.due.served.contains(&queue)
    }

    /// Returns the queues from which the latest claim of due deliveries took some; these queues are likely to have
    /// more.
    pub(crate) fn recent(&self) -> &[QueueKey] {
        &self.recent
    }

    /// Sets the maximum per queue for the next walk. `count` is the number of further deliveries that each queue
    /// of [`Claims::recent`] can take, `None` if there is no such queue. Taking fewer from a long queue would only
    /// cause more claims.
    pub(crate) fn each_takes(&mut self, count: Option<usize>) {
        self.each = count.map_or(EACH, |count| count.max(EACH));
    }

    /// Returns the next claim, if any. `room` is the number of deliveries that fit into memory, `full` lists the
    /// queues to skip, sorted, and `limited` the queues from which a walk takes fewer deliveries.
    pub(crate) fn next(
        &mut self,
        now: Duration,
        room: usize,
        full: Vec<QueueKey>,
        limited: Vec<(QueueKey, u16)>,
    ) -> Option<Claim> {
        if room < LEAST_ROOM {
            return None;
        }
        let due = self.due.is_due(now, &full);
        let takes_parked = self.parked.is_due(now, &full) && !(due && self.parked_had_its_turn);
        self.parked_had_its_turn = takes_parked;
        if takes_parked {
            return Some(Claim::Parked(self.parked.walk(room, EACH, full, limited)));
        }
        if !due {
            return None;
        }
        if self.walking || !full.is_empty() || !limited.is_empty() {
            return Some(Claim::SubscriptionQueues(self.due.walk(room, self.each, full, limited)));
        }
        Some(Claim::Oldest { most: to_u16(room.min(MOST)) })
    }

    /// Records the result of a claim.
    pub(crate) fn took(&mut self, claim: &Claim, claimed: &ClaimedJobs, now: Duration) {
        if !claimed.jobs.is_empty() && !matches!(claim, Claim::Parked(_)) {
            self.recent = queues_of(claimed).into_iter().collect();
        }
        match claim {
            Claim::Oldest { most } => {
                self.due.begin_again();
                self.due.queues_before = queues_of(claimed).len().max(QUEUES_EXPECTED);
                self.walking = claimed.jobs.len() >= usize::from(*most);
                self.due.has_more = self.walking;
                self.due.passed_over.clear();
                self.due.look_at = now + LOOK;
            }
            Claim::SubscriptionQueues(walk) => {
                self.due.took(walk, claimed, now, LOOK);
                self.walking = self.due.has_more || self.due.after.is_some() || !self.due.passed_over.is_empty();
            }
            Claim::Parked(walk) => self.parked.took(walk, claimed, now, LOOK_FOR_PARKED),
        }
    }

    /// Records that the store failed to answer a claim.
    pub(crate) fn failed(&mut self, now: Duration) {
        for search in [&mut self.due, &mut self.parked] {
            search.has_more = false;
            search.passed_over.clear();
            search.look_at = now + LEAVE_ALONE;
        }
    }

    /// Notes that new deliveries may be due.
    pub(crate) const fn look_at_due(&mut self) {
        self.due.has_more = true;
    }

    /// Notes that a subscription may be active again.
    pub(crate) fn look_at_parked(&mut self) {
        self.parked.begin_again();
        self.parked.has_more = true;
    }

    /// Returns the steady time of the next claim, unless an event makes an earlier claim due.
    pub(crate) fn look_at(&self) -> Duration {
        self.due.look_at.min(self.parked.look_at)
    }
}

fn queues_of(claimed: &ClaimedJobs) -> HashSet<QueueKey> {
    claimed.jobs.iter().map(|job| (job.tenant, job.webhook_id)).collect()
}

fn to_u16(it: usize) -> u16 {
    u16::try_from(it).unwrap_or(u16::MAX)
}
