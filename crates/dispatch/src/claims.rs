//! What is claimed next: a plain state machine over what earlier claims found.
//!
//! Normally that is whatever has been due for the longest time. Once there is more of it than one claim takes, or one
//! queue is full of it, a walk along the queues takes some of each instead, so that a long queue of one subscription holds
//! nobody up. Now and then the parked deliveries are looked at, whose subscription may be active again.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::time::Duration;

use candor_port_storage::queue::{Claim, Claimed, QueueKey, Walk};

/// How often the queue is looked at while nothing is found in it.
const LOOK: Duration = Duration::from_millis(250);
/// How often parked deliveries are looked for.
const LOOK_FOR_PARKED: Duration = Duration::from_secs(3);
/// When the store has failed, it is left alone for so long.
const LEAVE_ALONE: Duration = Duration::from_secs(1);
/// With less room nothing is claimed: many small claims would cost more than a few larger ones.
pub(crate) const LEAST_ROOM: usize = 64;
/// The most that one claim takes of the oldest.
const MOST: usize = 128;
/// A claim walks past so many queues, most of which may have nothing due.
const QUEUES: u16 = 512;
/// The most of one queue that may be a new one: half of what it may have waiting.
const EACH: usize = 32;
/// So many queues are expected to have something due while it is not known.
const QUEUES_EXPECTED: usize = 32;

/// Decides what is claimed next.
#[derive(Debug)]
pub(crate) struct Claims {
    /// Whether queues are walked along, rather than the oldest taken.
    walking: bool,
    due: Search,
    parked: Search,
    parked_had_its_turn: bool,
    /// The queues that the newest claim of what is due took something of.
    recent: Vec<QueueKey>,
    /// The most of one queue, unless it is parked.
    each: usize,
}

/// A walk along the queues, again and again.
#[derive(Debug)]
struct Search {
    after: Option<QueueKey>,
    /// How many queues had something to take in this walk so far, and in the whole one before, full ones included.
    queues: usize,
    queues_before: usize,
    /// Whether more is to be expected, whichever queues have room.
    has_more: bool,
    /// The queues of which something was taken in this walk so far.
    served: HashSet<QueueKey>,
    /// Queues that may have more: they got nothing because they were full, or something was taken of them in a walk
    /// that is over.
    passed_over: HashSet<QueueKey>,
    look_at: Duration,
}

impl Search {
    fn new(now: Duration) -> Self {
        Self {
            after: None,
            queues: 0,
            queues_before: QUEUES_EXPECTED,
            has_more: true,
            served: HashSet::new(),
            passed_over: HashSet::new(),
            look_at: now,
        }
    }

    fn is_due(&self, now: Duration, full: &[QueueKey]) -> bool {
        let is_free = |it: &QueueKey| full.binary_search(it).is_err();
        self.has_more || now >= self.look_at || self.passed_over.iter().any(is_free)
    }

    fn may_be_due(&self, now: Duration) -> bool {
        self.has_more || now >= self.look_at || !self.passed_over.is_empty()
    }

    fn walk(&self, room: usize, most: usize, full: Vec<QueueKey>) -> Walk {
        // If as many queues have something as before, half of the room remains for what comes meanwhile.
        let each = (room / (2 * self.queues.max(self.queues_before))).clamp(1, most);
        Walk { after: self.after, queues: QUEUES, each: to_u16(each), busy: full }
    }

    /// A part of the walk took something. It goes on at once while it finds something. After its end the next one
    /// begins when a queue that may have more has room: looking at the others alone, again and again, would cost more
    /// than it finds.
    fn took(&mut self, walk: &Walk, claimed: &Claimed, now: Duration, pause: Duration) {
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

    /// The next part of the walk is its first one.
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
            due: Search::new(now),
            parked: Search::new(now),
            parked_had_its_turn: false,
            recent: vec![],
            each: EACH,
        }
    }

    /// Whether there may be something to claim now, whatever room there is.
    pub(crate) fn may_want(&self, now: Duration) -> bool {
        self.due.may_be_due(now) || self.parked.may_be_due(now)
    }

    /// The queues that something was claimed of just now, and which are likely to have more.
    pub(crate) fn recent(&self) -> &[QueueKey] {
        &self.recent
    }

    /// Each of these queues takes so many more. Taking less of a long queue would only mean more claims.
    pub(crate) fn each_takes(&mut self, count: Option<usize>) {
        self.each = count.map_or(EACH, |it| it.max(EACH));
    }

    /// What to claim now, if anything. `full` are the queues that nothing should be claimed for, in their order.
    pub(crate) fn next(&mut self, now: Duration, room: usize, full: Vec<QueueKey>) -> Option<Claim> {
        if room < LEAST_ROOM {
            return None;
        }
        let due = self.due.is_due(now, &full);
        let parked = self.parked.is_due(now, &full) && !(due && self.parked_had_its_turn);
        self.parked_had_its_turn = parked;
        if parked {
            return Some(Claim::Parked(self.parked.walk(room, EACH, full)));
        }
        if !due {
            return None;
        }
        if self.walking || !full.is_empty() {
            return Some(Claim::SubscriptionQueues(self.due.walk(room, self.each, full)));
        }
        Some(Claim::Oldest { most: to_u16(room.min(MOST)) })
    }

    /// What a claim found.
    pub(crate) fn took(&mut self, claim: &Claim, claimed: &Claimed, now: Duration) {
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

    /// The store has failed.
    pub(crate) fn failed(&mut self, now: Duration) {
        for search in [&mut self.due, &mut self.parked] {
            search.has_more = false;
            search.passed_over.clear();
            search.look_at = now + LEAVE_ALONE;
        }
    }

    /// Something may be due that was not there before.
    pub(crate) const fn look_at_due(&mut self) {
        self.due.has_more = true;
    }

    /// A subscription may be active again.
    pub(crate) fn look_at_parked(&mut self) {
        self.parked.begin_again();
        self.parked.has_more = true;
    }

    /// When to look again if nothing happens before.
    pub(crate) fn look_at(&self) -> Duration {
        self.due.look_at.min(self.parked.look_at)
    }
}

fn queues_of(claimed: &Claimed) -> HashSet<QueueKey> {
    claimed.jobs.iter().map(|it| (it.tenant, it.webhook_id)).collect()
}

fn to_u16(it: usize) -> u16 {
    u16::try_from(it).unwrap_or(u16::MAX)
}
