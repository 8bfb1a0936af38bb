//! The queue of deliveries with the rules of the storage port, in memory: claims lease deliveries, and records are
//! fenced by worker and attempt. The conformance suite checks the stores against the same rules.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;

use candor_domain::id::{DeliveryId, EventId};
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, Lease, QueueKey, QueueWalk, RateLease, RecordOutcome, WorkerId,
};
use candor_subscriptions::{Delivery, HealthDelta, Job, Streak};

/// The event and the subscription of a delivery.
pub(crate) type Key = (QueueKey, EventId);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) active: bool,
    pub(crate) streak: Streak,
    pub(crate) max_per_second: Option<u16>,
}

#[derive(Debug, Clone, Copy)]
struct QueuedDelivery {
    job: Job,
    /// `None` while the delivery is parked.
    due_at: Option<Timestamp>,
    lease: Option<Lease>,
    /// Time of the last failed attempt.
    failed_at: Option<Timestamp>,
}

/// Effect of a result on a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The log has a new attempt. The delivery is due again at this time, or done.
    Logged(Box<Delivery>, Option<Timestamp>),
    /// The delivery was deleted without an attempt.
    Gone,
    /// Another worker had the lease, or the delivery was done.
    Lost,
    /// There was no attempt. The delivery is due at this time, or parked.
    Kept(Option<Timestamp>),
}

/// The subscriptions and their deliveries.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) subscriptions: BTreeMap<QueueKey, Subscription>,
    queued: BTreeMap<Key, QueuedDelivery>,
    /// Deliveries that are not parked, by due time, leased or not.
    due: BTreeSet<(Timestamp, QueueKey, EventId)>,
    /// Deliveries that are not parked, by subscription.
    due_by_queue: BTreeSet<(QueueKey, Timestamp, EventId)>,
    parked: BTreeSet<Key>,
    /// Rate lease of each subscription.
    rate_leases: BTreeMap<QueueKey, Lease>,
    /// `true` simulates a defect: returned deliveries are lost.
    pub(crate) forgets_returns: bool,
    /// `true` simulates a defect: a rate lease never ends.
    pub(crate) keeps_rate_leases: bool,
}

impl Queue {
    /// Queues a delivery. Returns `false` if it is queued already.
    pub(crate) fn add(&mut self, job: Job, lease: Option<Lease>) -> bool {
        let key = key_of(&job);
        if self.queued.contains_key(&key) {
            return false;
        }
        self.put(key, QueuedDelivery { job, due_at: Some(job.first_due_at), lease, failed_at: None });
        true
    }

    /// Makes a failed delivery due at this time, unless it is leased, and reserves the id of its next attempt.
    /// Returns `false` if this changes nothing.
    pub(crate) fn bring_forward(&mut self, key: Key, at: Timestamp, id: Option<DeliveryId>) -> bool {
        let Some(queued_delivery) = self.take(key) else { return false };
        let mut expedited_delivery = queued_delivery;
        let free = queued_delivery.lease.is_none_or(|lease| lease.until <= at);
        if free && queued_delivery.due_at.is_some_and(|due_at| due_at > at) {
            expedited_delivery.due_at = Some(at);
        }
        if queued_delivery.job.delivery_id.is_none() {
            expedited_delivery.job.delivery_id = id;
        }
        self.put(key, expedited_delivery);
        (expedited_delivery.due_at, expedited_delivery.job) != (queued_delivery.due_at, queued_delivery.job)
    }

    /// Returns the queued delivery of an event. `None` if the delivery is not queued.
    pub(crate) fn get(&self, key: Key) -> Option<Job> {
        self.queued.get(&key).map(|queued| queued.job)
    }

    /// Returns all deliveries, with `true` for parked ones.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, bool)> {
        self.queued.iter().map(|(key, queued)| (*key, queued.due_at.is_none()))
    }

    /// Leases the deliveries of a claim.
    pub(crate) fn claim(&mut self, lease: Lease, now: Timestamp, claim: &Claim) -> ClaimedJobs {
        let (keys, next) = match claim {
            Claim::Oldest { most } => {
                let due =
                    self.due.iter().take_while(|(at, ..)| *at <= now).map(|(_, queue, event)| (*queue, *event));
                (due.filter(|key| self.is_free(*key, now)).take(usize::from(*most)).collect(), None)
            }
            Claim::SubscriptionQueues(walk) => {
                self.walk(walk, |all, queue| all.due_in(queue, now, walk.most(queue)), Self::next_due)
            }
            Claim::Parked(walk) => {
                self.walk(walk, |all, queue| all.parked_in(queue, walk.most(queue)), Self::next_parked)
            }
        };
        let is_parked = matches!(claim, Claim::Parked(_));
        let jobs = keys.into_iter().filter_map(|key: Key| {
            let queued_delivery = self.take(key)?;
            // A parked delivery without a result is due at the end of the lease.
            let due_at = if is_parked { Some(lease.until) } else { queued_delivery.due_at };
            self.put(key, QueuedDelivery { due_at, lease: Some(lease), ..queued_delivery });
            Some(queued_delivery.job)
        });
        ClaimedJobs { jobs: jobs.collect(), next }
    }

    fn walk(
        &self,
        walk: &QueueWalk,
        claimable: impl Fn(&Self, QueueKey) -> Vec<Key>,
        next: impl Fn(&Self, Option<QueueKey>) -> Option<QueueKey>,
    ) -> (Vec<Key>, Option<QueueKey>) {
        let busy: HashSet<QueueKey> = walk.busy.iter().copied().collect();
        let (mut found, mut at) = (vec![], walk.after);
        for _ in 0..walk.queues {
            at = next(self, at);
            let Some(queue) = at else { break };
            if !busy.contains(&queue) {
                found.extend(claimable(self, queue));
            }
        }
        (found, at)
    }

    fn next_due(&self, after: Option<QueueKey>) -> Option<QueueKey> {
        let end = after.map_or(Bound::Unbounded, |queue| Bound::Excluded((queue, LAST_TIME, LAST_EVENT)));
        self.due_by_queue.range((end, Bound::Unbounded)).next().map(|(queue, ..)| *queue)
    }

    fn next_parked(&self, after: Option<QueueKey>) -> Option<QueueKey> {
        let end = after.map_or(Bound::Unbounded, |queue| Bound::Excluded((queue, LAST_EVENT)));
        self.parked.range((end, Bound::Unbounded)).next().map(|(queue, _)| *queue)
    }

    fn due_in(&self, queue: QueueKey, now: Timestamp, each: u16) -> Vec<Key> {
        let from = (queue, Timestamp::from_millis(i64::MIN), FIRST_EVENT);
        let due =
            self.due_by_queue.range(from..=(queue, now, LAST_EVENT)).map(|(queue, _, event)| (*queue, *event));
        due.filter(|key| self.is_free(*key, now)).take(each.into()).collect()
    }

    /// Returns the parked deliveries of an active subscription, or of a deleted one whose deliveries must be
    /// removed.
    fn parked_in(&self, queue: QueueKey, each: u16) -> Vec<Key> {
        if self.subscriptions.get(&queue).is_some_and(|subscription| !subscription.active) {
            return vec![];
        }
        self.parked.range((queue, FIRST_EVENT)..=(queue, LAST_EVENT)).take(each.into()).copied().collect()
    }

    fn is_free(&self, key: Key, now: Timestamp) -> bool {
        self.queued.get(&key).is_some_and(|queued| queued.lease.is_none_or(|lease| lease.until <= now))
    }

    /// Returns the number of deliveries of a subscription.
    pub(crate) fn count(&self, queue: QueueKey) -> usize {
        self.queued.range((queue, FIRST_EVENT)..=(queue, LAST_EVENT)).count()
    }

    /// Takes or renews the rate lease of a subscription, unless another worker holds it.
    pub(crate) fn lease_rate(&mut self, queue: QueueKey, lease: Lease, now: Timestamp) -> RateLease {
        let is_held = |held: &&Lease| held.worker != lease.worker && (held.until > now || self.keeps_rate_leases);
        match self.rate_leases.get(&queue).filter(is_held) {
            Some(held) if self.keeps_rate_leases => {
                RateLease::HeldElsewhere { until: held.until.max(lease.until) }
            }
            Some(held) => RateLease::HeldElsewhere { until: held.until },
            None => {
                self.rate_leases.insert(queue, lease);
                RateLease::Held
            }
        }
    }

    /// Moves due times that a clock set while it was ahead back to `now`, and later ends of leases to `lease_end`.
    /// Returns the deliveries that are due earlier, each with the number of its attempt.
    pub(crate) fn correct_times(&mut self, now: Timestamp, lease_end: Timestamp) -> Vec<(Key, u16)> {
        let shorten = |lease: Lease| Lease { until: lease.until.min(lease_end), ..lease };
        self.rate_leases.values_mut().for_each(|lease| *lease = shorten(*lease));
        let keys: Vec<Key> = self.queued.keys().copied().collect();
        let mut earlier_deliveries = vec![];
        for key in keys {
            let Some(queued_delivery) = self.take(key) else { continue };
            let was_ahead =
                queued_delivery.job.attempt == 1 || queued_delivery.failed_at.is_some_and(|at| at > now);
            let is_late = was_ahead && queued_delivery.due_at.is_some_and(|due_at| due_at > now);
            if is_late {
                earlier_deliveries.push((key, queued_delivery.job.attempt));
            }
            let due_at = if is_late { Some(now) } else { queued_delivery.due_at };
            let lease = queued_delivery.lease.map(shorten);
            self.put(key, QueuedDelivery { due_at, lease, ..queued_delivery });
        }
        earlier_deliveries
    }

    /// Records results of deliveries, and adds health deltas to their subscriptions.
    pub(crate) fn record(
        &mut self,
        worker: WorkerId,
        results: &[(Job, AttemptResult)],
        health: &[(QueueKey, HealthDelta)],
        mut watch: impl FnMut(&Job, Change),
    ) -> RecordOutcome {
        let mut outcome = RecordOutcome::default();
        for (job, result) in results {
            let change = self.apply(worker, job, result);
            outcome.lost += u64::from(change == Change::Lost);
            watch(job, change);
        }
        for (queue, delta) in health {
            let Some(subscription) = self.subscriptions.get_mut(queue) else { continue };
            subscription.streak = delta.apply_to(subscription.streak);
            outcome.streaks.push((*queue, subscription.streak));
        }
        outcome
    }

    fn apply(&mut self, worker: WorkerId, job: &Job, result: &AttemptResult) -> Change {
        let key = key_of(job);
        let is_leased = |queued: &QueuedDelivery| {
            queued.lease.is_some_and(|lease| lease.worker == worker) && queued.job.attempt == job.attempt
        };
        if !self.queued.get(&key).is_some_and(is_leased) {
            return Change::Lost;
        }
        let Some(queued_delivery) = self.take(key) else { return Change::Lost };
        let free = QueuedDelivery { lease: None, ..queued_delivery };
        let (after, change) = match result {
            AttemptResult::Settled(settled) => {
                let next = settled.retry_at.map(|at| QueuedDelivery {
                    failed_at: Some(settled.entry.attempted_at),
                    ..next_attempt(&free, job, at)
                });
                (next, Change::Logged(Box::new(settled.entry.clone()), settled.retry_at))
            }
            AttemptResult::Back(_) if self.forgets_returns => (None, Change::Kept(None)),
            AttemptResult::Back(at) => {
                (Some(QueuedDelivery { due_at: Some(*at), ..free }), Change::Kept(Some(*at)))
            }
            AttemptResult::Released => (Some(free), Change::Kept(free.due_at)),
            AttemptResult::Parked => (Some(QueuedDelivery { due_at: None, ..free }), Change::Kept(None)),
            AttemptResult::Gone => (None, Change::Gone),
        };
        if let Some(changed_delivery) = after {
            self.put(key, changed_delivery);
        }
        change
    }

    /// Returns the time at which the next delivery is due and not leased. `None` if there is no such delivery.
    pub(crate) fn next_free_at(&self, now: Timestamp) -> Option<Timestamp> {
        let mut first: Option<Timestamp> = None;
        for (at, queue, event) in &self.due {
            if first.is_some_and(|time| time <= *at) {
                break;
            }
            let lease_end = self
                .queued
                .get(&(*queue, *event))
                .and_then(|queued| queued.lease)
                .map_or(*at, |lease| lease.until);
            let free = lease_end.max(*at);
            first = Some(first.map_or(free, |time| time.min(free)));
            if *at > now {
                break;
            }
        }
        first
    }

    /// Returns `true` if a parked delivery can be claimed.
    pub(crate) fn has_resumable(&self) -> bool {
        let mut queue = None;
        while let Some(next) = self.next_parked(queue) {
            if self.subscriptions.get(&next).is_none_or(|subscription| subscription.active) {
                return true;
            }
            queue = Some(next);
        }
        false
    }

    fn put(&mut self, key: Key, queued: QueuedDelivery) {
        match queued.due_at {
            Some(at) => {
                self.due.insert((at, key.0, key.1));
                self.due_by_queue.insert((key.0, at, key.1));
            }
            None => drop(self.parked.insert(key)),
        }
        self.queued.insert(key, queued);
    }

    fn take(&mut self, key: Key) -> Option<QueuedDelivery> {
        let queued_delivery = self.queued.remove(&key)?;
        match queued_delivery.due_at {
            Some(at) => {
                self.due.remove(&(at, key.0, key.1));
                self.due_by_queue.remove(&(key.0, at, key.1));
            }
            None => drop(self.parked.remove(&key)),
        }
        Some(queued_delivery)
    }
}

const LAST_TIME: Timestamp = Timestamp::from_millis(i64::MAX);
const FIRST_EVENT: EventId = EventId::from_ulid(ulid::Ulid(0));
const LAST_EVENT: EventId = EventId::from_ulid(ulid::Ulid(u128::MAX));

const fn key_of(job: &Job) -> Key {
    ((job.tenant, job.webhook_id), job.event_id)
}

/// Returns the next attempt of a delivery. If a client requested a redelivery during this attempt, the next
/// attempt has an id that the worker does not know, and is due since the request.
fn next_attempt(free: &QueuedDelivery, job: &Job, retry_at: Timestamp) -> QueuedDelivery {
    let has_id = free.job.delivery_id == job.delivery_id;
    let due_at = if has_id { Some(retry_at) } else { free.due_at.map(|due_at| due_at.min(retry_at)) };
    let delivery_id = if has_id { None } else { free.job.delivery_id };
    let job = Job { attempt: job.attempt + 1, delivery_id, ..free.job };
    QueuedDelivery { job, due_at, lease: None, ..*free }
}
