//! Metrics of the mailer.

use std::time::Duration;

use candor_domain::fields::StringEnum;
use candor_domain::people::invitation::MailFailure;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::QueueState;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

/// Handles of the metrics, looked up once.
pub(super) struct Metrics {
    sent: Counter,
    failed: Vec<(MailFailure, Counter)>,
    attempt_seconds: Histogram,
    in_flight: Gauge,
    queue_due: Gauge,
    queue_oldest: Gauge,
    /// Results that could not be recorded, because another worker had claimed the mail.
    pub(super) lost: Counter,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let attempts = |outcome: &'static str| counter!("candor_mail_attempts_total", "outcome" => outcome);
        // These two failures end a mail before it is attempted.
        let without_attempt = [MailFailure::Expired, MailFailure::RecipientLimit];
        let failures_with_attempt = MailFailure::ALL.iter().filter(|failure| !without_attempt.contains(failure));
        Self {
            sent: attempts("sent"),
            failed: failures_with_attempt.map(|failure| (*failure, attempts(failure.word()))).collect(),
            attempt_seconds: histogram!("candor_mail_attempt_seconds"),
            in_flight: gauge!("candor_mail_attempts_in_flight"),
            queue_due: gauge!("candor_mail_queue_due"),
            queue_oldest: gauge!("candor_mail_queue_oldest_seconds"),
            lost: counter!("candor_mail_leases_lost_total"),
        }
    }

    /// Counts an attempt that ended.
    pub(super) fn count_attempt(&self, outcome: Result<(), MailFailure>, took: Duration) {
        self.attempt_seconds.record(took.as_secs_f64());
        let counter_of =
            |failure| self.failed.iter().find(|(known, _)| *known == failure).map(|(_, counter)| counter);
        let counter = match outcome {
            Ok(()) => Some(&self.sent),
            Err(failure) => counter_of(failure),
        };
        if let Some(counter) = counter {
            counter.increment(1);
        }
    }

    pub(super) fn in_flight(&self, count: usize) {
        self.in_flight.set(u32::try_from(count).map_or(f64::MAX, f64::from));
    }

    pub(super) fn queue(&self, state: QueueState, now: Timestamp) {
        let oldest = state.oldest_due_at.map_or(0, |time| now.millis() - time.millis());
        self.queue_due.set(u32::try_from(state.due).map_or(f64::MAX, f64::from));
        self.queue_oldest.set(Duration::from_millis(u64::try_from(oldest).unwrap_or_default()).as_secs_f64());
    }
}
