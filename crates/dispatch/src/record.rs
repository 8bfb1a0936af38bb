//! Recording of results: in batches, concurrently, and with retries.

use std::collections::BTreeMap;
use std::time::Duration;

use candor_port_storage::queue::{AttemptResult, QueueKey, RecordOutcome};
use candor_subscriptions::{DisableReason, HealthDelta, Job};

use crate::attempt::DeliveryResult;
use crate::lease::Now;

/// Pause after a recorded batch unless another full batch is waiting. A few large batches cost the store less
/// than many small ones.
const GATHER: Duration = Duration::from_millis(5);
/// First delay before a failed batch is recorded again. Doubles with each failure.
const TRY_AGAIN: Duration = Duration::from_millis(50);
/// Maximum delay before a failed batch is recorded again.
const TRY_AGAIN_AT_LAST: Duration = Duration::from_secs(2);

/// Next action of the record loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRecordStep {
    /// Record a batch now.
    Now,
    /// Record a batch at this time of the steady clock.
    At(Duration),
    /// Wait for an event; there is nothing to record.
    Idle,
    /// End: the dispatcher is done.
    Over,
}

/// Reason why a batch was not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordRefusal {
    /// The store did not answer. It may have recorded the batch nevertheless.
    Unanswered,
    /// The store cannot record one of the results.
    Unrecordable,
}

/// Outcome of a recorded batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedBatch {
    /// Number of results that were not recorded, because another worker holds the lease or the delivery is
    /// removed.
    pub lost: u64,
    /// Subscriptions to disable, each with the reason (§3.4, decision F3).
    pub to_disable: Vec<(QueueKey, DisableReason)>,
}

/// Results of deliveries in the form of the storage port.
pub type AttemptResults = Vec<(Job, AttemptResult)>;
/// Health changes of subscriptions in the form of the storage port.
pub type HealthDeltas = Vec<(QueueKey, HealthDelta)>;

/// Results for one call of the store.
#[derive(Debug)]
pub struct Batch {
    pub(crate) finished: Vec<DeliveryResult>,
    stage: BatchStage,
    lost: u64,
}

/// Progress of a batch. A failed call may still have been recorded, and health deltas must not be added
/// twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchStage {
    New,
    /// The last call got no answer and may have recorded the batch. If it has, the next call reports every result
    /// as lost.
    Doubtful,
    /// The results are recorded; the health deltas are not.
    HealthDeltas,
}

impl Batch {
    /// Returns the arguments for the next call of the store.
    #[must_use]
    pub fn call(&self) -> (AttemptResults, HealthDeltas) {
        match self.stage {
            BatchStage::New => (self.results(), self.health()),
            BatchStage::Doubtful => (self.results(), vec![]),
            BatchStage::HealthDeltas => (vec![], self.health()),
        }
    }

    /// Returns `true` if no earlier call with these results failed.
    pub(crate) fn is_first_call(&self) -> bool {
        self.stage == BatchStage::New
    }

    fn results(&self) -> AttemptResults {
        self.finished.iter().map(|result| (result.job, result.result.clone())).collect()
    }

    /// Returns the subscriptions that their receivers ended by 410, each with the reason. A result counts even if
    /// another worker holds the lease of its delivery: the receiver has responded all the same.
    pub(crate) fn disabled_subscriptions(&self) -> Vec<(QueueKey, DisableReason)> {
        let mut all = vec![];
        for result in &self.finished {
            let Some(url) = result.gone_url() else { continue };
            let disabled_webhook =
                ((result.job.tenant, result.job.webhook_id), DisableReason::Gone { url: url.to_owned() });
            if !all.contains(&disabled_webhook) {
                all.push(disabled_webhook);
            }
        }
        all
    }

    /// Returns one delta per queue, ordered by queue, so that concurrent workers lock subscriptions in the
    /// same order.
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

/// Results that wait to be recorded.
#[derive(Debug)]
pub(crate) struct Outcomes {
    /// Maximum number of results per call.
    most: usize,
    new: Vec<DeliveryResult>,
    /// Batches that the store did not record.
    again: Vec<Batch>,
    /// Time before which nothing is recorded.
    not_before: Duration,
    /// Pause after the next failure of the store.
    pause: Duration,
}

impl Outcomes {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, new: vec![], again: vec![], not_before: Duration::ZERO, pause: TRY_AGAIN }
    }

    pub(crate) fn add(&mut self, finished: DeliveryResult) {
        self.new.push(finished);
    }

    /// Returns the next action; `None` if there is nothing to record and no pause is running.
    pub(crate) fn due(&self, now: Now) -> Option<NextRecordStep> {
        let nothing = self.new.is_empty() && self.again.is_empty();
        if now.steady < self.not_before {
            return Some(NextRecordStep::At(self.not_before));
        }
        (!nothing).then_some(NextRecordStep::Now)
    }

    pub(crate) fn batch(&mut self) -> Option<Batch> {
        if let Some(batch) = self.again.pop() {
            return Some(batch);
        }
        let count = self.new.len().min(self.most);
        let batch_results: Vec<_> = self.new.drain(..count).collect();
        (count > 0).then_some(Batch { finished: batch_results, stage: BatchStage::New, lost: 0 })
    }

    /// Handles the answer of the store. Returns the batch with its outcome if all its calls are made; otherwise
    /// queues the batch for its next call.
    pub(crate) fn handle_recorded(
        &mut self,
        mut batch: Batch,
        recorded: RecordOutcome,
        now: Now,
    ) -> Option<(Batch, RecordOutcome)> {
        self.pause = TRY_AGAIN;
        let recorded_results = match batch.stage {
            BatchStage::New => recorded,
            // All results are lost: the unanswered call recorded them, and the health deltas with them.
            BatchStage::Doubtful if usize::try_from(recorded.lost) == Ok(batch.finished.len()) => {
                RecordOutcome::default()
            }
            BatchStage::Doubtful => {
                (batch.stage, batch.lost) = (BatchStage::HealthDeltas, recorded.lost);
                self.again.push(batch);
                return None;
            }
            BatchStage::HealthDeltas => RecordOutcome { lost: batch.lost, ..recorded },
        };
        if self.new.len() < self.most {
            self.not_before = now.steady + GATHER;
        }
        Some((batch, recorded_results))
    }

    /// Queues a batch again after the store did not answer.
    pub(crate) fn requeue_batch(&mut self, mut batch: Batch, now: Now) {
        batch.stage = doubt_stage(batch.stage);
        self.again.push(batch);
        self.not_before = now.steady + self.pause;
        self.pause = (2 * self.pause).min(TRY_AGAIN_AT_LAST);
    }

    /// Halves a batch to find the result that cannot be recorded. Returns the delivery of that result once the
    /// batch has no other result.
    pub(crate) fn divide(&mut self, mut batch: Batch) -> Option<Job> {
        if let [only] = batch.finished.as_slice() {
            return Some(only.job);
        }
        batch.stage = doubt_stage(batch.stage);
        let second = batch.finished.split_off(batch.finished.len() / 2);
        self.again.push(Batch { finished: second, stage: batch.stage, lost: 0 });
        self.again.push(batch);
        None
    }
}

const fn doubt_stage(stage: BatchStage) -> BatchStage {
    match stage {
        BatchStage::New | BatchStage::Doubtful => BatchStage::Doubtful,
        BatchStage::HealthDeltas => BatchStage::HealthDeltas,
    }
}
