//! The queue of deliveries as the storage port promises it (the conformance suite is what stores are held to), in memory
//! and in no time: what is claimed is leased, what is recorded is fenced by worker and attempt.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;

use candor_domain::id::{DeliveryId, EventId};
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, HealthDelta, Job, Streak};
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, Lease, QueueKey, QueueWalk, RecordOutcome, WorkerId,
};

/// A queued delivery is the one of an event for a subscription.
pub(crate) type Key = (QueueKey, EventId);

/// What a subscription is to the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) active: bool,
    pub(crate) streak: Streak,
}

#[derive(Debug, Clone, Copy)]
struct Queued {
    job: Job,
    /// None while it is parked.
    due_at: Option<Timestamp>,
    lease: Option<Lease>,
}

/// What one result did to a delivery, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// An attempt was entered into the log; the delivery is due again or, without a time, done.
    Logged(Box<Delivery>, Option<Timestamp>),
    /// It was let go without an attempt.
    Gone,
    /// The lease had passed to another worker, or the delivery was done.
    Lost,
    /// It was not attempted, and is due at this time, or parked.
    Kept(Option<Timestamp>),
}

/// The subscriptions and what is queued for them.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) subscriptions: BTreeMap<QueueKey, Subscription>,
    queued: BTreeMap<Key, Queued>,
    /// What is not parked, by when it is due, leased or not.
    due: BTreeSet<(Timestamp, QueueKey, EventId)>,
    /// The same by subscription.
    due_by_lane: BTreeSet<(QueueKey, Timestamp, EventId)>,
    parked: BTreeSet<Key>,
    /// A defect: what is given back is forgotten.
    pub(crate) forgets_backs: bool,
}

impl Queue {
    /// Queues a delivery, unless it is queued already; says whether it did.
    pub(crate) fn add(&mut self, job: Job, lease: Option<Lease>) -> bool {
        let key = key_of(&job);
        if self.queued.contains_key(&key) {
            return false;
        }
        self.put(key, Queued { job, due_at: Some(job.first_due_at), lease });
        true
    }

    /// Makes a delivery that has failed due at this time, unless somebody has it, and promises its next attempt an id.
    /// Says whether that changed anything.
    pub(crate) fn bring_forward(&mut self, key: Key, at: Timestamp, id: Option<DeliveryId>) -> bool {
        let Some(before) = self.take(key) else { return false };
        let mut after = before;
        let free = before.lease.is_none_or(|it| it.until <= at);
        if free && before.due_at.is_some_and(|it| it > at) {
            after.due_at = Some(at);
        }
        if before.job.delivery_id.is_none() {
            after.job.delivery_id = id;
        }
        self.put(key, after);
        (after.due_at, after.job) != (before.due_at, before.job)
    }

    /// The queued delivery of an event.
    pub(crate) fn get(&self, key: Key) -> Option<Job> {
        self.queued.get(&key).map(|it| it.job)
    }

    /// What is queued, with whether it is parked.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, bool)> {
        self.queued.iter().map(|(key, it)| (*key, it.due_at.is_none()))
    }

    /// Leases what a claim may have.
    pub(crate) fn claim(&mut self, lease: Lease, now: Timestamp, claim: &Claim) -> ClaimedJobs {
        let (keys, next) = match claim {
            Claim::Oldest { most } => {
                let due = self.due.iter().take_while(|(at, ..)| *at <= now).map(|(_, queue, event)| (*queue, *event));
                (due.filter(|key| self.is_free(*key, now)).take(usize::from(*most)).collect(), None)
            }
            Claim::SubscriptionQueues(walk) => {
                self.along(walk, |it, queue| it.due_of(queue, now, walk.each), Self::next_due)
            }
            Claim::Parked(walk) => self.along(walk, |it, queue| it.parked_of(queue, walk.each), Self::next_parked),
        };
        let parked = matches!(claim, Claim::Parked(_));
        let jobs = keys.into_iter().filter_map(|key: Key| {
            let before = self.take(key)?;
            // If nothing else becomes of one that was parked, it is due when the lease ends.
            let due_at = if parked { Some(lease.until) } else { before.due_at };
            self.put(key, Queued { due_at, lease: Some(lease), ..before });
            Some(before.job)
        });
        ClaimedJobs { jobs: jobs.collect(), next }
    }

    fn along(
        &self,
        walk: &QueueWalk,
        some_of: impl Fn(&Self, QueueKey) -> Vec<Key>,
        next: impl Fn(&Self, Option<QueueKey>) -> Option<QueueKey>,
    ) -> (Vec<Key>, Option<QueueKey>) {
        let busy: HashSet<QueueKey> = walk.busy.iter().copied().collect();
        let (mut found, mut at) = (vec![], walk.after);
        for _ in 0..walk.queues {
            at = next(self, at);
            let Some(queue) = at else { break };
            if !busy.contains(&queue) {
                found.extend(some_of(self, queue));
            }
        }
        (found, at)
    }

    fn next_due(&self, after: Option<QueueKey>) -> Option<QueueKey> {
        let end = after.map_or(Bound::Unbounded, |it| Bound::Excluded((it, LAST_TIME, LAST_EVENT)));
        self.due_by_lane.range((end, Bound::Unbounded)).next().map(|(queue, ..)| *queue)
    }

    fn next_parked(&self, after: Option<QueueKey>) -> Option<QueueKey> {
        let end = after.map_or(Bound::Unbounded, |it| Bound::Excluded((it, LAST_EVENT)));
        self.parked.range((end, Bound::Unbounded)).next().map(|(queue, _)| *queue)
    }

    fn due_of(&self, queue: QueueKey, now: Timestamp, each: u16) -> Vec<Key> {
        let from = (queue, Timestamp::from_millis(i64::MIN), FIRST_EVENT);
        let due = self.due_by_lane.range(from..=(queue, now, LAST_EVENT)).map(|(queue, _, event)| (*queue, *event));
        due.filter(|key| self.is_free(*key, now)).take(each.into()).collect()
    }

    /// What is parked for a subscription that is active, or gone: that is to be let go.
    fn parked_of(&self, queue: QueueKey, each: u16) -> Vec<Key> {
        if self.subscriptions.get(&queue).is_some_and(|it| !it.active) {
            return vec![];
        }
        self.parked.range((queue, FIRST_EVENT)..=(queue, LAST_EVENT)).take(each.into()).copied().collect()
    }

    fn is_free(&self, key: Key, now: Timestamp) -> bool {
        self.queued.get(&key).is_some_and(|it| it.lease.is_none_or(|it| it.until <= now))
    }

    /// Records what became of deliveries, and adds health deltas to their subscriptions.
    pub(crate) fn record(
        &mut self,
        worker: WorkerId,
        results: &[(Job, AttemptResult)],
        health: &[(QueueKey, HealthDelta)],
        mut watch: impl FnMut(&Job, Change),
    ) -> RecordOutcome {
        let mut recorded = RecordOutcome::default();
        for (job, result) in results {
            let change = self.hold(worker, job, result);
            recorded.lost += u64::from(change == Change::Lost);
            watch(job, change);
        }
        for (queue, delta) in health {
            let Some(it) = self.subscriptions.get_mut(queue) else { continue };
            it.streak = delta.after(it.streak);
            recorded.streaks.push((*queue, it.streak));
        }
        recorded
    }

    fn hold(&mut self, worker: WorkerId, job: &Job, result: &AttemptResult) -> Change {
        let key = key_of(job);
        let held = |it: &Queued| it.lease.is_some_and(|it| it.worker == worker) && it.job.attempt == job.attempt;
        if !self.queued.get(&key).is_some_and(held) {
            return Change::Lost;
        }
        let Some(before) = self.take(key) else { return Change::Lost };
        let free = Queued { lease: None, ..before };
        let (after, change) = match result {
            AttemptResult::Settled(settled) => {
                let next = settled.retry_at.map(|at| again(&free, job, at));
                (next, Change::Logged(Box::new(settled.entry.clone()), settled.retry_at))
            }
            AttemptResult::Back(_) if self.forgets_backs => (None, Change::Kept(None)),
            AttemptResult::Back(at) => (Some(Queued { due_at: Some(*at), ..free }), Change::Kept(Some(*at))),
            AttemptResult::Released => (Some(free), Change::Kept(free.due_at)),
            AttemptResult::Parked => (Some(Queued { due_at: None, ..free }), Change::Kept(None)),
            AttemptResult::Gone => (None, Change::Gone),
        };
        if let Some(after) = after {
            self.put(key, after);
        }
        change
    }

    /// When the next delivery can be claimed that is due by itself, as far as what is queued now tells.
    pub(crate) fn next_free_at(&self, now: Timestamp) -> Option<Timestamp> {
        let mut first: Option<Timestamp> = None;
        for (at, queue, event) in &self.due {
            if first.is_some_and(|it| it <= *at) {
                break;
            }
            let until = self.queued.get(&(*queue, *event)).and_then(|it| it.lease).map_or(*at, |it| it.until);
            let free = until.max(*at);
            first = Some(first.map_or(free, |it| it.min(free)));
            if *at > now {
                break;
            }
        }
        first
    }

    /// Whether something is parked that may be claimed.
    pub(crate) fn has_resumable(&self) -> bool {
        let mut queue = None;
        while let Some(next) = self.next_parked(queue) {
            if self.subscriptions.get(&next).is_none_or(|it| it.active) {
                return true;
            }
            queue = Some(next);
        }
        false
    }

    fn put(&mut self, key: Key, it: Queued) {
        match it.due_at {
            Some(at) => {
                self.due.insert((at, key.0, key.1));
                self.due_by_lane.insert((key.0, at, key.1));
            }
            None => drop(self.parked.insert(key)),
        }
        self.queued.insert(key, it);
    }

    fn take(&mut self, key: Key) -> Option<Queued> {
        let it = self.queued.remove(&key)?;
        match it.due_at {
            Some(at) => {
                self.due.remove(&(at, key.0, key.1));
                self.due_by_lane.remove(&(key.0, at, key.1));
            }
            None => drop(self.parked.remove(&key)),
        }
        Some(it)
    }
}

const LAST_TIME: Timestamp = Timestamp::from_millis(i64::MAX);
const FIRST_EVENT: EventId = EventId::from_ulid(ulid::Ulid(0));
const LAST_EVENT: EventId = EventId::from_ulid(ulid::Ulid(u128::MAX));

const fn key_of(job: &Job) -> Key {
    ((job.tenant, job.webhook_id), job.event_id)
}

/// The next attempt. What is promised another id than the one that its worker knows of was asked for while the attempt
/// was made: it has been due since then.
fn again(free: &Queued, job: &Job, retry_at: Timestamp) -> Queued {
    let known = free.job.delivery_id == job.delivery_id;
    let due_at = if known { Some(retry_at) } else { free.due_at.map(|it| it.min(retry_at)) };
    let delivery_id = if known { None } else { free.job.delivery_id };
    Queued { job: Job { attempt: job.attempt + 1, delivery_id, ..free.job }, due_at, lease: None }
}
