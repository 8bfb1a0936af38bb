//! The machine: what is told to it, and what it wants done.

use std::collections::HashMap;
use std::time::Duration;

use candor_domain::webhook::Job;
use candor_port_storage::queue::{AttemptResult, Claim, Claimed, Lease, QueueKey, Recorded, WorkerId};

use crate::attempt::{Ending, Finished};
use crate::claims::Claims;
use crate::lease::{Ends, Now, later};
use crate::queues::{Begun, QueueLimits, QueuePlace, SubscriptionQueues};
use crate::record::{Batch, Completed, Outcomes, RecordRefusal, Recording};
use crate::unsettled::Unsettled;
use crate::{Settings, Waiting};

/// Without room, or after news that came to nothing, the queue rests at least so long.
const REST: Duration = Duration::from_millis(20);
/// What this process cannot sign is left to others for so long, and stays as due as it is: it may be this process alone
/// that lacks a key.
const NO_SECRET: Duration = Duration::from_secs(60);

/// Decides what one process does about queued deliveries.
#[derive(Debug)]
pub struct Dispatcher<M> {
    worker: WorkerId,
    settings: Settings,
    queues: SubscriptionQueues<Waiting<M>>,
    claims: Claims,
    outcomes: Outcomes,
    unsettled: Unsettled,
    wakes: Wakes,
    forgotten: usize,
}

/// A claim that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimOrder {
    /// What to claim.
    pub claim: Claim,
    /// Under which lease.
    pub lease: Lease,
    /// When it was ordered, which is the time to claim with.
    pub at: Now,
    /// When the lease ends.
    pub ends: Ends,
}

/// Who has something to look at since this was asked the last time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wakes {
    /// There may be something to claim, or room for it.
    pub claims: bool,
    /// There may be something to record, or the end has come.
    pub records: bool,
    /// The last attempt has ended after the stop.
    pub quiet: bool,
}

impl<M> Dispatcher<M> {
    /// One that holds nothing.
    #[must_use]
    pub fn new(worker: WorkerId, settings: Settings, limits: QueueLimits, now: Now) -> Self {
        let queues = SubscriptionQueues::new(limits, settings.needs());
        let (claims, outcomes) = (Claims::new(now.steady), Outcomes::new(limits.batch));
        let (unsettled, wakes) = (Unsettled::default(), Wakes::default());
        Self { worker, settings, queues, claims, outcomes, unsettled, wakes, forgotten: 0 }
    }

    /// How many deliveries are held, from their claim until what became of them is recorded.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.queues.held()
    }

    /// How many attempts are under way.
    #[must_use]
    pub const fn attempts(&self) -> usize {
        self.queues.attempts()
    }

    /// Who has something to look at since this was asked the last time.
    pub fn take_wakes(&mut self) -> Wakes {
        std::mem::take(&mut self.wakes)
    }

    /// How many have waited for too long to be attempted within their lease, since this was asked the last time.
    pub fn take_forgotten(&mut self) -> usize {
        std::mem::take(&mut self.forgotten)
    }

    // What is claimed.

    /// Something may be due that was not there before.
    pub fn look_at_due(&mut self) {
        self.claims.look_at_due();
        self.wakes.claims = true;
    }

    /// A subscription has changed: what was parked for it may be due again.
    pub fn look_at_all(&mut self) {
        self.claims.look_at_parked();
        self.look_at_due();
    }

    /// The claim to make now, if there may be something and there is room for it. Each ends with
    /// [`Dispatcher::claim_ended`], whatever came of it.
    pub fn next_claim(&mut self, now: Now) -> Option<ClaimOrder> {
        // The end waits for what a claim answers.
        if !self.queues.reserve(1) {
            return None;
        }
        let Some(claim) = self.decide_claim(now) else {
            self.release(1);
            return None;
        };
        let ends = now.plus(self.settings.lease());
        let lease = Lease { worker: self.worker, until: ends.stored() };
        self.unsettled.claim_begins();
        Some(ClaimOrder { claim, lease, at: now, ends })
    }

    fn decide_claim(&mut self, now: Now) -> Option<Claim> {
        if !self.claims.may_want(now.steady) {
            return None;
        }
        self.forgotten += self.queues.forget(now);
        let (room, full) = (self.queues.room(), self.queues.full());
        let free = self.queues.least_free(self.claims.recent());
        self.claims.each_takes(free);
        self.claims.next(now.steady, room, full)
    }

    /// When to look for a claim again if nothing wakes before, in the steady clock's terms.
    #[must_use]
    pub fn look_again_at(&self, now: Now) -> Duration {
        self.claims.look_at().max(now.steady + REST)
    }

    /// A claim has found this. Answers what there is room for, to be handed to [`Dispatcher::take_in`]; the rest is given
    /// back.
    pub fn claimed(&mut self, order: &ClaimOrder, found: Claimed, now: Now) -> Vec<Job> {
        self.claims.took(&order.claim, &found, order.at.steady);
        let mut coming: HashMap<QueueKey, usize> = HashMap::new();
        let mut kept = 0;
        let (kept, surplus) = found.jobs.into_iter().partition(|job| {
            let count = coming.entry((job.tenant, job.webhook_id)).or_default();
            let is_doubtful = self.unsettled.is_doubtful(job, order.at.wall);
            let takes =
                !is_doubtful && kept < self.queues.room() && self.queues.takes((job.tenant, job.webhook_id), *count);
            *count += usize::from(takes);
            kept += usize::from(takes);
            takes
        });
        self.give_back(surplus, Some(order.ends), now);
        kept
    }

    /// The store has not answered a claim.
    pub fn claim_failed(&mut self, now: Now) {
        self.claims.failed(now.steady);
    }

    /// What came of a claim is dealt with.
    pub fn claim_ended(&mut self) {
        self.unsettled.claim_ends();
        self.release(1);
    }

    // What is taken in.

    /// Keeps room for what a commit is about to queue, if there is any: the end of the lease that this may be given.
    /// [`Dispatcher::take_in`] or [`Dispatcher::release`] ends that.
    pub fn reserve(&mut self, count: usize, now: Now) -> Option<Ends> {
        self.queues.reserve(count).then(|| now.plus(self.settings.lease()))
    }

    /// Keeps room no longer.
    pub fn release(&mut self, count: usize) {
        self.queues.release(count);
        // Whoever records waits for the room only at the end, and most commits have nothing to deliver.
        self.wakes.records |= !self.queues.is_open();
    }

    /// Takes in deliveries that are leased until then, for which so much room was kept, and gives back those that there
    /// is no room for.
    pub fn take_in(&mut self, deliveries: Vec<Waiting<M>>, ends: Ends, reserved: usize, now: Now) {
        self.release(reserved);
        let offer = |it: Waiting<M>| {
            if self.unsettled.leased_again(&it.job) {
                return None;
            }
            let queue = (it.job.tenant, it.job.webhook_id);
            self.queues.offer(queue, it, ends).err().map(|it| it.job)
        };
        let refused = deliveries.into_iter().filter_map(offer).collect();
        self.give_back(refused, Some(ends), now);
    }

    /// Lets others have deliveries that the queues do not hold any more, or never did.
    fn give_back(&mut self, jobs: Vec<Job>, ends: Option<Ends>, now: Now) {
        for job in jobs {
            if !self.unsettled.add(&job, ends) {
                continue;
            }
            self.queues.owe(1);
            self.wakes.records = true;
            self.outcomes.add(Finished { job, result: AttemptResult::Back(now.wall), delta: None });
        }
    }

    // What is attempted.

    /// The next attempt to make, if one may begin now. Each ends with [`Dispatcher::ended`].
    pub fn next_attempt(&mut self, now: Now) -> Option<Begun<Waiting<M>>> {
        loop {
            let begun = self.queues.start(now)?;
            self.wakes.claims |= begun.makes_room;
            if self.unsettled.add(&begun.item.job, Some(begun.ends)) {
                return Some(begun);
            }
            self.queues.left(begun.place, None);
        }
    }

    /// Whether enough is left of a lease for a request to go out now.
    #[must_use]
    pub fn may_send(&self, ends: Ends, now: Now) -> bool {
        ends.left(now) >= self.settings.needs_to_send()
    }

    /// This process cannot open any secret that signs for a queue: others may be able to.
    pub fn without_secret(&mut self, queue: QueueKey, now: Now) -> AttemptResult {
        let left = self.queues.leave_alone(queue, now, now.plus(NO_SECRET));
        if left { AttemptResult::Released } else { AttemptResult::Back(later(now.wall, NO_SECRET)) }
    }

    /// The turn of this delivery is over.
    pub fn ended(&mut self, place: QueuePlace, job: &Job, ending: Ending) {
        match ending {
            Ending::Finished(finished, answer) => {
                self.queues.ended(place, answer);
                self.outcomes.add(*finished);
                self.wakes.records = true;
            }
            Ending::Late | Ending::Abandoned => {
                self.forgotten += usize::from(matches!(ending, Ending::Late));
                self.unsettled.forget(job);
                self.queues.left(place, None);
            }
        }
        self.wakes.records |= !self.queues.is_open();
        self.wakes.quiet |= !self.queues.is_open() && self.queues.attempts() == 0;
    }

    // What is recorded.

    /// What is to be done about recording now.
    #[must_use]
    pub fn recording(&self, now: Now) -> Recording {
        let idle = || if self.queues.is_done() { Recording::Over } else { Recording::Idle };
        self.outcomes.due(now).unwrap_or_else(idle)
    }

    /// The batch to record now, if there is one, whatever the time is. It ends with [`Dispatcher::recorded`] or
    /// [`Dispatcher::not_recorded`].
    pub fn next_batch(&mut self) -> Option<Batch> {
        self.outcomes.batch()
    }

    /// The store has recorded what a batch called for.
    pub fn recorded(&mut self, batch: Batch, recorded: Recorded, now: Now) -> Completed {
        let Some((batch, recorded)) = self.outcomes.recorded(batch, recorded, now) else {
            return Completed::default();
        };
        self.queues.recorded(batch.finished.len());
        if batch.finished.iter().any(|it| matches!(it.result, AttemptResult::Back(_))) {
            // There was no room for it a moment ago.
            self.claims.look_at_due();
        }
        let jobs = batch.finished.iter().map(|it| it.job);
        let leased_again = jobs.filter(|it| self.unsettled.confirm(it, batch.is_first_call())).collect();
        self.give_back(leased_again, None, now);
        self.wakes.claims = true;
        let failing = recorded.streaks.into_iter().filter(|(_, streak)| streak.disables(now.wall));
        Completed { lost: recorded.lost, failing: failing.map(|(queue, _)| queue).collect() }
    }

    /// The store has not recorded a batch. Answers a delivery of which nothing can be recorded: its lease runs out.
    pub fn not_recorded(&mut self, batch: Batch, why: RecordRefusal, now: Now) -> Option<Job> {
        match why {
            RecordRefusal::Unanswered => {
                self.outcomes.unanswered(batch, now);
                None
            }
            RecordRefusal::Unrecordable => {
                let given_up = self.outcomes.divide(batch);
                self.queues.recorded(usize::from(given_up.is_some()));
                given_up.iter().for_each(|it| self.unsettled.forget(it));
                given_up
            }
        }
    }

    // The end.

    /// Begins nothing any more, and gives back what waits; says how many attempts are under way. The end has come when
    /// [`Dispatcher::recording`] says [`Recording::Over`].
    pub fn stop(&mut self, now: Now) -> usize {
        let waiting = self.queues.close().into_iter().map(|it| it.job).collect();
        self.give_back(waiting, None, now);
        self.wakes.records = true;
        self.queues.attempts()
    }
}
