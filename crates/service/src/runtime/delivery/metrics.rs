//! Metrics of the delivery engine.

use std::time::Duration;

use candor_domain::attempt_failure::FailureReason;
use candor_domain::fields::StringEnum;
use candor_port_storage::queue::QueueState;
use candor_subscriptions::AttemptOutcome;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

/// Handles of the metrics, looked up once.
pub(super) struct Metrics {
    acknowledged: Counter,
    failed: Vec<(FailureReason, Counter)>,
    /// Deliveries not attempted, because no key of this process opens a secret that signs.
    pub(super) secret: Counter,
    attempt_seconds: Histogram,
    latency_seconds: Histogram,
    in_flight: Gauge,
    queue_due: Gauge,
    queue_oldest: Gauge,
    /// Results that could not be recorded, because another worker had claimed the delivery.
    pub(super) lost: Counter,
    /// Deliveries that waited in the engine too long to be attempted within their lease.
    pub(super) forgotten: Counter,
    /// Deliveries given up without an attempt, because the subscription was removed.
    pub(super) subscription_gone: Counter,
    pub(super) event_gone: Counter,
    pub(super) too_late: Counter,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let attempts = |outcome: &'static str| counter!("candor_webhook_attempts_total", "outcome" => outcome);
        let unsent = |reason: &'static str| counter!("candor_webhook_unsent_total", "reason" => reason);
        let reasons_with_request =
            FailureReason::ALL.iter().filter(|failure_reason| **failure_reason != FailureReason::TooLate);
        Self {
            acknowledged: attempts("success"),
            failed: reasons_with_request.map(|reason| (*reason, attempts(reason.word()))).collect(),
            secret: attempts("secret"),
            attempt_seconds: histogram!("candor_webhook_attempt_seconds"),
            latency_seconds: histogram!("candor_webhook_latency_seconds"),
            in_flight: gauge!("candor_webhook_attempts_in_flight"),
            queue_due: gauge!("candor_webhook_queue_due"),
            queue_oldest: gauge!("candor_webhook_queue_oldest_seconds"),
            lost: counter!("candor_webhook_leases_lost_total"),
            forgotten: counter!("candor_webhook_leases_forgotten_total"),
            subscription_gone: unsent("subscription_gone"),
            event_gone: unsent("event_gone"),
            too_late: unsent("too_late"),
        }
    }

    /// Counts an attempt that ended.
    pub(super) fn count_attempt(&self, outcome: AttemptOutcome, took: Duration) {
        self.attempt_seconds.record(took.as_secs_f64());
        match outcome {
            AttemptOutcome::Acknowledged => self.acknowledged.increment(1),
            AttemptOutcome::Failed(reason) => {
                if let Some((_, counter)) = self.failed.iter().find(|(known, _)| *known == reason) {
                    counter.increment(1);
                }
            }
        }
    }

    /// Records the time between an event and the start of its first attempt.
    pub(super) fn begun_after(&self, millis: i64) {
        self.latency_seconds
            .record(Duration::from_millis(u64::try_from(millis).unwrap_or_default()).as_secs_f64());
    }

    pub(super) fn in_flight(&self, count: usize) {
        self.in_flight.set(u32::try_from(count).map_or(f64::MAX, f64::from));
    }

    pub(super) fn queue(&self, state: QueueState, now: candor_domain::time::Timestamp) {
        let oldest = state.oldest_due_at.map_or(0, |time| now.millis() - time.millis());
        self.queue_due.set(u32::try_from(state.due).map_or(f64::MAX, f64::from));
        self.queue_oldest.set(Duration::from_millis(u64::try_from(oldest).unwrap_or_default()).as_secs_f64());
    }
}
