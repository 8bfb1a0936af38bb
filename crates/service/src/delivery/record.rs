//! What became of deliveries, on its way into the store: in batches, all at once, and again if the store fails.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use candor_domain::webhook::{Job, Pulse};
use candor_port_storage::StorageError;
use candor_port_storage::queue::{Fate, Lane, Recorded};
use candor_port_storage::store::Read;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::disable::disable;
use super::engine::Engine;

/// The most that is recorded at once: no other writer waits for long.
const BATCH: usize = 256;
/// Whoever has just recorded something records no more for this long, unless a whole batch is there.
const GATHER: Duration = Duration::from_millis(5);

/// What became of one delivery, and what that adds to what is known of its subscription.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) job: Job,
    pub(super) fate: Fate,
    pub(super) pulse: Option<Pulse>,
}

/// What is to be recorded.
#[derive(Default)]
pub(super) struct Outcomes {
    list: Mutex<List>,
    news: Notify,
}

#[derive(Default)]
struct List {
    new: Vec<Finished>,
    /// What the store did not take before.
    again: Vec<Batch>,
}

struct Batch {
    finished: Vec<Finished>,
    stage: Stage,
}

/// How far a batch has come. A store that fails may have recorded it all the same, and pulses must not be added twice.
#[derive(Debug, Clone, Copy)]
enum Stage {
    New,
    /// It may have been recorded: then none of its fates holds any more.
    Doubtful,
    /// Its fates are recorded, its pulses are not.
    Pulses,
}

impl Outcomes {
    pub(super) fn add(&self, finished: impl IntoIterator<Item = Finished>) {
        let mut list = self.lock();
        let before = list.new.len();
        list.new.extend(finished);
        let added = list.new.len() > before;
        drop(list);
        if added {
            self.tell();
        }
    }

    /// Something has changed for whoever waits for news.
    pub(super) fn tell(&self) {
        self.news.notify_one();
    }

    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// Lets a batch fill up for a moment: a few larger ones cost the store less than many small ones.
    pub(super) async fn gather(&self) {
        if self.lock().new.len() < BATCH {
            sleep(GATHER).await;
        }
    }

    fn batch(&self) -> Option<Batch> {
        let mut list = self.lock();
        if let Some(batch) = list.again.pop() {
            return Some(batch);
        }
        let count = list.new.len().min(BATCH);
        let finished: Vec<_> = list.new.drain(..count).collect();
        (count > 0).then_some(Batch { finished, stage: Stage::New })
    }

    fn put_back(&self, batch: Batch) {
        self.lock().again.push(batch);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch {
    fn fates(&self) -> Vec<(Job, Fate)> {
        self.finished.iter().map(|it| (it.job, it.fate.clone())).collect()
    }

    /// One pulse for each lane, in the order of the lanes: workers that record at once do not wait for each other.
    fn pulses(&self) -> Vec<(Lane, Pulse)> {
        let mut lanes: BTreeMap<Lane, Pulse> = BTreeMap::new();
        for it in &self.finished {
            let Some(pulse) = it.pulse else { continue };
            let lane = (it.job.tenant, it.job.webhook_id);
            lanes.entry(lane).and_modify(|so_far| *so_far = so_far.and(pulse)).or_insert(pulse);
        }
        lanes.into_iter().collect()
    }
}

impl Engine {
    /// Records a batch, if there is something to record; says whether there was.
    ///
    /// # Errors
    /// Those of the store while it does not answer; the batch is recorded the next time.
    pub(super) async fn record(&self) -> Read<bool> {
        let Some(mut batch) = self.outcomes.batch() else { return Ok(false) };
        match self.save(&mut batch).await {
            Ok(recorded) => {
                self.figures.lost.increment(recorded.lost);
                self.lanes().recorded(batch.finished.len());
                if batch.finished.iter().any(|it| matches!(it.fate, Fate::Back(_))) {
                    // There was no room for it a moment ago.
                    self.nudge(false);
                }
                for (lane, streak) in recorded.streaks {
                    if streak.disables(self.shell.clock.now()) {
                        disable(&self.shell, lane).await;
                    }
                }
                Ok(true)
            }
            Err(error @ (StorageError::Unavailable(_) | StorageError::TooSlow(_))) => {
                self.outcomes.put_back(batch);
                Err(error)
            }
            Err(error @ (StorageError::Corrupt { .. } | StorageError::Failed(_))) => {
                self.divide(batch, &error);
                Ok(true)
            }
        }
    }

    async fn save(&self, batch: &mut Batch) -> Read<Recorded> {
        let store = &self.shell.store;
        let mut lost = 0;
        match batch.stage {
            Stage::New => {
                batch.stage = Stage::Doubtful;
                return store.record(self.worker, batch.fates(), batch.pulses()).await;
            }
            Stage::Doubtful => {
                lost = store.record(self.worker, batch.fates(), vec![]).await?.lost;
                if usize::try_from(lost).is_ok_and(|it| it == batch.finished.len()) {
                    return Ok(Recorded::default());
                }
                batch.stage = Stage::Pulses;
            }
            Stage::Pulses => {}
        }
        let recorded = store.record(self.worker, vec![], batch.pulses()).await?;
        Ok(Recorded { lost, ..recorded })
    }

    /// Something in a batch cannot be recorded: finds out what, and lets its lease run out.
    fn divide(&self, mut batch: Batch, error: &StorageError) {
        if let [only] = batch.finished.as_slice() {
            let (webhook, event) = (only.job.webhook_id, only.job.event_id);
            tracing::error!(%error, %webhook, %event, "what became of a delivery cannot be recorded");
            self.lanes().recorded(1);
            return;
        }
        let second = batch.finished.split_off(batch.finished.len() / 2);
        self.outcomes.put_back(Batch { finished: second, stage: batch.stage });
        self.outcomes.put_back(batch);
    }
}
