//! What became of deliveries, on its way into the store: in batches, all at once, and again if the store fails.

use std::collections::BTreeMap;
use std::time::Duration;

use candor_domain::webhook::{HealthDelta, Job};
use candor_port_storage::queue::{AttemptResult, QueueKey, Recorded};

use crate::attempt::Finished;
use crate::lease::Now;

/// After something was recorded, nothing more is for this long, unless a whole batch is there: a few larger batches cost
/// the store less than many small ones.
const GATHER: Duration = Duration::from_millis(5);
/// When the store does not take what is to be recorded, it is tried again after this time, and more slowly from then on …
const TRY_AGAIN: Duration = Duration::from_millis(50);
/// … up to this.
const TRY_AGAIN_AT_LAST: Duration = Duration::from_secs(2);

/// What is to be done about recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// A batch is to be recorded.
    Now,
    /// There will be one to record at this time, in the steady clock's terms.
    At(Duration),
    /// There is nothing to record until something happens.
    Idle,
    /// There will be nothing to record any more: the dispatcher has come to its end.
    Over,
}

/// Why a batch was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordRefusal {
    /// The store did not answer; it may have recorded the batch all the same.
    Unanswered,
    /// The store cannot record something in it.
    Unrecordable,
}

/// What has come of a batch that is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completed {
    /// So many were not recorded, because their lease had passed to another worker.
    pub lost: u64,
    /// Subscriptions that have failed for too long and are to be disabled (§3.4, decision F3).
    pub failing: Vec<QueueKey>,
}

/// What became of deliveries, as the store is told.
pub type AttemptResults = Vec<(Job, AttemptResult)>;
/// What attempts add to what is known of their subscriptions.
pub type HealthDeltas = Vec<(QueueKey, HealthDelta)>;

/// What is recorded by one call of the store.
#[derive(Debug)]
pub struct Batch {
    pub(crate) finished: Vec<Finished>,
    stage: Stage,
    lost: u64,
}

/// How far a batch has come. A store that fails may have recorded it all the same, and health deltas must not be added twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    /// It may have been recorded: then none of its results holds any more.
    Doubtful,
    /// Its results are recorded, its health deltas are not.
    HealthDeltas,
}

impl Batch {
    /// What the store is to record.
    #[must_use]
    pub fn call(&self) -> (AttemptResults, HealthDeltas) {
        match self.stage {
            Stage::New => (self.results(), self.health()),
            Stage::Doubtful => (self.results(), vec![]),
            Stage::HealthDeltas => (vec![], self.health()),
        }
    }

    /// Whether the store answered the first call.
    pub(crate) fn is_first_call(&self) -> bool {
        self.stage == Stage::New
    }

    fn results(&self) -> AttemptResults {
        self.finished.iter().map(|it| (it.job, it.result.clone())).collect()
    }

    /// One delta for each queue, in the order of the queues: workers that record at once do not wait for each other.
    fn health(&self) -> HealthDeltas {
        let mut queues: BTreeMap<QueueKey, HealthDelta> = BTreeMap::new();
        for it in &self.finished {
            let Some(delta) = it.delta else { continue };
            let queue = (it.job.tenant, it.job.webhook_id);
            queues.entry(queue).and_modify(|so_far| *so_far = so_far.and(delta)).or_insert(delta);
        }
        queues.into_iter().collect()
    }
}

/// What is to be recorded.
#[derive(Debug)]
pub(crate) struct Outcomes {
    /// The most that one call of the store records.
    most: usize,
    new: Vec<Finished>,
    /// What the store did not take before.
    again: Vec<Batch>,
    /// Nothing is recorded before this time.
    not_before: Duration,
    /// How long the store is left alone when it fails the next time.
    pause: Duration,
}

impl Outcomes {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, new: vec![], again: vec![], not_before: Duration::ZERO, pause: TRY_AGAIN }
    }

    pub(crate) fn add(&mut self, finished: Finished) {
        self.new.push(finished);
    }

    /// When something is to be recorded: none while there is nothing.
    pub(crate) fn due(&self, now: Now) -> Option<Recording> {
        let nothing = self.new.is_empty() && self.again.is_empty();
        if now.steady < self.not_before {
            return Some(Recording::At(self.not_before));
        }
        (!nothing).then_some(Recording::Now)
    }

    pub(crate) fn batch(&mut self) -> Option<Batch> {
        if let Some(batch) = self.again.pop() {
            return Some(batch);
        }
        let count = self.new.len().min(self.most);
        let finished: Vec<_> = self.new.drain(..count).collect();
        (count > 0).then_some(Batch { finished, stage: Stage::New, lost: 0 })
    }

    /// The store has answered. Gives the batch back with what came of it when that was all of it, and else keeps it for
    /// its next call.
    pub(crate) fn recorded(&mut self, mut batch: Batch, recorded: Recorded, now: Now) -> Option<(Batch, Recorded)> {
        self.pause = TRY_AGAIN;
        let recorded = match batch.stage {
            Stage::New => recorded,
            // It had been recorded, health and all.
            Stage::Doubtful if usize::try_from(recorded.lost) == Ok(batch.finished.len()) => Recorded::default(),
            Stage::Doubtful => {
                (batch.stage, batch.lost) = (Stage::HealthDeltas, recorded.lost);
                self.again.push(batch);
                return None;
            }
            Stage::HealthDeltas => Recorded { lost: batch.lost, ..recorded },
        };
        if self.new.len() < self.most {
            self.not_before = now.steady + GATHER;
        }
        Some((batch, recorded))
    }

    /// The store has not answered: the batch is recorded later.
    pub(crate) fn unanswered(&mut self, mut batch: Batch, now: Now) {
        batch.stage = doubted(batch.stage);
        self.again.push(batch);
        self.not_before = now.steady + self.pause;
        self.pause = (2 * self.pause).min(TRY_AGAIN_AT_LAST);
    }

    /// Something in a batch cannot be recorded: halves it to find out what. Answers what that is once it is alone.
    pub(crate) fn divide(&mut self, mut batch: Batch) -> Option<Job> {
        if let [only] = batch.finished.as_slice() {
            return Some(only.job);
        }
        batch.stage = doubted(batch.stage);
        let second = batch.finished.split_off(batch.finished.len() / 2);
        self.again.push(Batch { finished: second, stage: batch.stage, lost: 0 });
        self.again.push(batch);
        None
    }
}

const fn doubted(stage: Stage) -> Stage {
    match stage {
        Stage::New | Stage::Doubtful => Stage::Doubtful,
        Stage::HealthDeltas => Stage::HealthDeltas,
    }
}
