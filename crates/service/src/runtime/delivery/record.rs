//! Records the results of deliveries. Disables subscriptions that keep failing or whose receiver answered 410.

use candor_dispatch::RecordRefusal;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_subscriptions::Streak;

use super::disable::disable;
use super::engine::Engine;

impl Engine {
    /// Records a batch of results. Returns `false` if there is none.
    ///
    /// # Errors
    /// Errors of a store that does not answer; the batch is recorded again later.
    pub(super) async fn record(&self) -> Read<bool> {
        let Some(batch) = self.with_dispatcher(|dispatcher, _| dispatcher.next_batch()) else { return Ok(false) };
        let (results, health) = batch.call();
        let is_failing = health.iter().any(|(_, delta)| delta.fails_from(Streak::default()).is_some());
        let error = match self.services.store.record(self.worker, results, health).await {
            Ok(recorded) => {
                let completion =
                    self.with_dispatcher(|dispatcher, now| dispatcher.handle_recorded(batch, recorded, now));
                self.metrics.lost.increment(completion.lost);
                if is_failing {
                    self.failing.notify_one();
                }
                for (queue, why) in completion.to_disable {
                    disable(&self.services, queue, &why).await;
                }
                return Ok(true);
            }
            Err(error) => error,
        };
        let why = match error {
            StorageError::Unavailable(_) | StorageError::NoRoom(_) | StorageError::TooSlow(_) => {
                RecordRefusal::Unanswered
            }
            StorageError::Corrupt { .. } | StorageError::Failed(_) => RecordRefusal::Unrecordable,
        };
        let given_up = self.with_dispatcher(|dispatcher, now| dispatcher.not_recorded(batch, why, now));
        if let Some(job) = given_up {
            let (webhook, event) = (job.webhook_id, job.event_id);
            tracing::error!(
                %error, %webhook, %event,
                "cannot record a delivery result; the delivery is attempted again when its lease expires"
            );
        }
        match why {
            RecordRefusal::Unanswered => Err(error),
            RecordRefusal::Unrecordable => Ok(true),
        }
    }
}
