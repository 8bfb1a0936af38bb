//! Queued deliveries: the next attempt of each, and the effect of its result (§3.4, §6.4).

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::time::Timestamp;
use strum::{IntoStaticStr, VariantArray};

use super::{AttemptOutcome, Delivery, NextStep, RequestedPause, ResumedRetry, Schedule, Status};

/// The reason why a delivery is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryOrigin {
    /// An event that happened.
    Event,
    /// A redelivery or replay that a client requested. The event keeps its id, and a header marks the delivery
    /// (decision F9).
    Replay,
    /// A test of the receiver: one attempt, which does not affect health or retries (decision F7).
    Test,
}

impl StringEnum for DeliveryOrigin {}

/// A delivery that is not finished. There is at most one at a time for an event and a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say everything")]
pub struct Job {
    /// The data set that owns the subscription.
    pub tenant: Tenant,
    pub webhook_id: WebhookId,
    pub event_id: EventId,
    pub event_type: EventType,
    /// Number of the next attempt, starting at 1.
    pub attempt: u16,
    /// Time when the first attempt was due.
    pub first_due_at: Timestamp,
    pub origin: DeliveryOrigin,
    /// Id that the next attempt must have, because a client was told it in advance.
    pub delivery_id: Option<DeliveryId>,
}

/// The response of a receiver to one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptResponse {
    /// HTTP status; 0 if there was no response (§2.5).
    pub status: u16,
    /// Time until the response or the failure, in milliseconds.
    pub duration_ms: u32,
    /// The meaning of the response.
    pub outcome: AttemptOutcome,
    /// The delay that the response requests. It counts for the statuses 429 and 503 only.
    pub retry_after: Option<RequestedPause>,
}

impl AttemptResponse {
    /// Returns the delay of the next attempt that the receiver requests (decision F2); `None` if it requests none, or
    /// if the status is neither 429 nor 503.
    fn requested_delay(&self) -> Option<RequestedPause> {
        self.retry_after.filter(|_| matches!(self.status, 429 | 503))
    }
}

/// The effect of an attempt on its job: a log entry and perhaps a retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptEffect {
    /// The entry of the delivery log.
    pub entry: Delivery,
    /// Time when the next attempt is due; `None` if the job is finished.
    pub retry_at: Option<Timestamp>,
}

impl Job {
    /// Creates the job for the first attempt of an event for a subscription.
    #[must_use]
    pub const fn new(
        tenant: Tenant,
        webhook_id: WebhookId,
        (event_id, event_type): (EventId, EventType),
        due: Timestamp,
        origin: DeliveryOrigin,
    ) -> Self {
        Self { tenant, webhook_id, event_id, event_type, attempt: 1, first_due_at: due, origin, delivery_id: None }
    }

    /// Returns the job with the id of its next attempt, which a client is told in advance.
    #[must_use]
    pub const fn with_delivery_id(self, delivery: DeliveryId) -> Self {
        Self { delivery_id: Some(delivery), ..self }
    }

    /// Returns the effect of an attempt that went to `request_url`, began at `begun_at` and ended at `at`
    /// (decision F2). A test is never retried (decision F7).
    #[must_use]
    pub fn settle(
        &self,
        id: DeliveryId,
        request_url: String,
        answered: AttemptResponse,
        schedule: &Schedule,
        (begun_at, at): (Timestamp, Timestamp),
    ) -> AttemptEffect {
        let entry = self.entry(id, request_url, answered, begun_at);
        if self.origin == DeliveryOrigin::Test {
            let status = answered.outcome.test_status();
            let delivered_at = (status == Status::Success).then_some(at);
            return AttemptEffect { entry: Delivery { status, delivered_at, ..entry }, retry_at: None };
        }
        let next = schedule.next_step(self.attempt, answered.outcome, answered.requested_delay(), at);
        AttemptEffect { entry: entry.with_result(next, at), retry_at: next.next_attempt_at() }
    }

    /// Decides about a job that waited for its subscription to become active again (decision F4). Returns `None`
    /// to attempt it, or the log entry that drops it because it is too late.
    #[must_use]
    pub fn resume(
        &self,
        id: DeliveryId,
        request_url: &str,
        schedule: &Schedule,
        now: Timestamp,
    ) -> Option<AttemptEffect> {
        match schedule.resume(self.first_due_at, now, now) {
            ResumedRetry::At(_) => None,
            ResumedRetry::Dropped => {
                let nothing = AttemptResponse {
                    status: 0,
                    duration_ms: 0,
                    outcome: AttemptOutcome::Failed(candor_domain::attempt_failure::FailureReason::TooLate),
                    retry_after: None,
                };
                let entry =
                    self.entry(id, request_url.to_owned(), nothing, now).with_result(NextStep::Dropped, now);
                Some(AttemptEffect { entry, retry_at: None })
            }
        }
    }

    fn entry(
        &self,
        id: DeliveryId,
        request_url: String,
        answered: AttemptResponse,
        attempted_at: Timestamp,
    ) -> Delivery {
        Delivery {
            id,
            subscription_id: self.webhook_id,
            event_id: self.event_id,
            event_type: self.event_type,
            attempt: self.attempt,
            status: Status::Failed,
            request_url,
            response_status: answered.status,
            response_duration_ms: answered.duration_ms,
            next_attempt_at: None,
            delivered_at: None,
            attempted_at,
            failure: match answered.outcome {
                AttemptOutcome::Acknowledged => None,
                AttemptOutcome::Failed(reason) => Some(reason),
            },
            request_id: None,
            failure_detail: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::Environment;
    use candor_domain::attempt_failure::FailureReason;
    use candor_domain::id::OrganizationId;
    use ulid::Ulid;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const LATE: AttemptResponse = AttemptResponse {
        status: 0,
        duration_ms: 15_000,
        outcome: AttemptOutcome::Failed(FailureReason::Timeout),
        retry_after: None,
    };
    const GOOD: AttemptResponse =
        AttemptResponse { status: 204, duration_ms: 3, outcome: AttemptOutcome::Acknowledged, retry_after: None };

    fn job(origin: DeliveryOrigin) -> Job {
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        let event = (EventId::from_ulid(Ulid(7)), EventType::EmployeeCreated);
        Job::new(tenant, WebhookId::from_ulid(Ulid(5)), event, START, origin)
    }

    fn settle(
        job: &Job,
        answered: AttemptResponse,
    ) -> (Status, Option<Timestamp>, Option<Timestamp>, Option<Timestamp>) {
        let settlement = job.settle(
            DeliveryId::from_ulid(Ulid(9)),
            String::new(),
            answered,
            &Schedule::default(),
            (START, START),
        );
        (
            settlement.entry.status,
            settlement.entry.next_attempt_at,
            settlement.entry.delivered_at,
            settlement.retry_at,
        )
    }

    #[test]
    fn failure_is_retried_until_the_seventh_attempt_or_a_success() {
        for origin in [DeliveryOrigin::Event, DeliveryOrigin::Replay] {
            let first = job(origin);
            let next = Some(START.plus_seconds(30));
            assert_eq!(settle(&first, LATE), (Status::Failed, next, None, next));
            let last = Job { attempt: 7, ..first };
            assert_eq!(settle(&last, LATE), (Status::Dropped, None, None, None));
            assert_eq!(settle(&last, GOOD), (Status::Success, None, Some(START), None));
        }
    }

    #[test]
    fn retry_after_counts_for_429_and_503_only() {
        let first = job(DeliveryOrigin::Event);
        for (status, delay) in [(429, 90), (503, 90), (500, 30), (408, 30), (302, 30), (410, 30), (0, 30)] {
            let outcome = AttemptOutcome::from_status(status);
            let retry_after = Some(RequestedPause::Seconds(90));
            let response = AttemptResponse { status, duration_ms: 3, outcome, retry_after };
            assert_eq!(settle(&first, response).3, Some(START.plus_seconds(delay)), "{status}");
        }
        let busy = AttemptResponse { status: 503, retry_after: Some(RequestedPause::Seconds(90)), ..LATE };
        assert_eq!(settle(&job(DeliveryOrigin::Test), busy), (Status::Failed, None, None, None));
        assert_eq!(settle(&Job { attempt: 7, ..first }, busy), (Status::Dropped, None, None, None));
    }

    #[test]
    fn log_entry_has_start_and_failure_reason_of_the_attempt() {
        let (begun, ended) = (START, START.plus_seconds(15));
        for (answered, failure) in [(LATE, Some(FailureReason::Timeout)), (GOOD, None)] {
            let id = DeliveryId::from_ulid(Ulid(9));
            let settlement = job(DeliveryOrigin::Event).settle(
                id,
                String::new(),
                answered,
                &Schedule::default(),
                (begun, ended),
            );
            assert_eq!((settlement.entry.attempted_at, settlement.entry.failure), (begun, failure));
            assert_eq!(settlement.entry.delivered_at, failure.is_none().then_some(ended));
        }
    }

    #[test]
    fn test_delivery_is_attempted_once() {
        assert_eq!(settle(&job(DeliveryOrigin::Test), LATE), (Status::Failed, None, None, None));
        assert_eq!(settle(&job(DeliveryOrigin::Test), GOOD), (Status::Success, None, Some(START), None));
    }

    #[test]
    fn job_resumed_after_its_window_is_dropped_and_logged() {
        let id = DeliveryId::from_ulid(Ulid(9));
        let resume =
            |after| job(DeliveryOrigin::Event).resume(id, "https://example.com/", &Schedule::default(), after);
        assert_eq!(resume(START.plus_seconds(112_350)), None);
        let late_result = resume(START.plus_seconds(112_351)).unwrap();
        assert_eq!((late_result.entry.status, late_result.entry.response_status), (Status::Dropped, 0));
        assert_eq!((late_result.entry.attempt, late_result.retry_at), (1, None));
        let (at, why) = (START.plus_seconds(112_351), Some(FailureReason::TooLate));
        assert_eq!((late_result.entry.attempted_at, late_result.entry.failure), (at, why));
    }
}
