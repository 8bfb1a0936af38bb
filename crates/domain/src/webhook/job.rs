//! Queued deliveries: what is due to be attempted, and what an attempt makes of it (§3.4, §6.4).

use strum::{IntoStaticStr, VariantArray};

use super::{AttemptOutcome, Delivery, Next, Resumed, Schedule, Status};
use crate::access::Tenant;
use crate::event::EventType;
use crate::fields::Word;
use crate::id::{DeliveryId, EventId, WebhookId};
use crate::time::Timestamp;

/// Why a delivery is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryOrigin {
    /// An event happened.
    Event,
    /// Somebody asked for it again; the event keeps its id, and a header says so (decision F9).
    Replay,
    /// Somebody tries the receiver out: one attempt, which counts for nothing else (decision F7).
    Test,
}

impl Word for DeliveryOrigin {}

/// A delivery that is not finished. There is one for an event and a subscription at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Whose it is.
    pub tenant: Tenant,
    /// To which subscription.
    pub webhook_id: WebhookId,
    /// What is delivered.
    pub event_id: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// The number of the attempt that comes next, the first one being 1.
    pub attempt: u16,
    /// When the first attempt was due.
    pub first_due_at: Timestamp,
    /// Why it is queued.
    pub origin: DeliveryOrigin,
    /// The id that the next attempt has to have, where somebody was told it.
    pub delivery_id: Option<DeliveryId>,
}

/// What was answered to one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The status; 0 if it never connected (§2.5).
    pub status: u16,
    /// Milliseconds until the answer, or until it was given up.
    pub duration_ms: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
}

/// What an attempt makes of its job: the entry in the log, and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The entry.
    pub entry: Delivery,
    /// When the next attempt is due; null if the job is done.
    pub retry_at: Option<Timestamp>,
}

impl Job {
    /// The first attempt of an event for a subscription.
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

    /// The same with the id that somebody is told.
    #[must_use]
    pub const fn promised(self, delivery: DeliveryId) -> Self {
        Self { delivery_id: Some(delivery), ..self }
    }

    /// What the attempt with this id, which went to this URL and was begun and ended at these times, makes of the job
    /// (decision F2).
    /// A test is never repeated (decision F7).
    #[must_use]
    pub fn settle(
        &self,
        id: DeliveryId,
        request_url: String,
        answered: Answered,
        schedule: &Schedule,
        (begun_at, at): (Timestamp, Timestamp),
    ) -> Settled {
        let entry = self.entry(id, request_url, answered, begun_at);
        if self.origin == DeliveryOrigin::Test {
            let status = answered.outcome.test_status();
            let delivered_at = (status == Status::Success).then_some(at);
            return Settled { entry: Delivery { status, delivered_at, ..entry }, retry_at: None };
        }
        let next = schedule.after(self.attempt, answered.outcome, at);
        Settled { entry: entry.ended(next, at), retry_at: next.next_attempt_at() }
    }

    /// What becomes of a job that waited for its subscription to be active again (decision F4): nothing special if it
    /// is still in time, else it is dropped without another attempt, which the log says.
    #[must_use]
    pub fn resume(&self, id: DeliveryId, request_url: &str, schedule: &Schedule, now: Timestamp) -> Option<Settled> {
        match schedule.resume(self.first_due_at, now, now) {
            Resumed::At(_) => None,
            Resumed::Dropped => {
                let nothing = Answered {
                    status: 0,
                    duration_ms: 0,
                    outcome: AttemptOutcome::Failed(super::FailureReason::TooLate),
                };
                let entry = self.entry(id, request_url.to_owned(), nothing, now).ended(Next::Dropped, now);
                Some(Settled { entry, retry_at: None })
            }
        }
    }

    fn entry(&self, id: DeliveryId, request_url: String, answered: Answered, attempted_at: Timestamp) -> Delivery {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FailureReason;
    use super::*;
    use crate::access::Environment;
    use crate::id::OrganizationId;
    use ulid::Ulid;

    const START: Timestamp = Timestamp::from_millis(1_772_352_930_123);
    const LATE: Answered =
        Answered { status: 0, duration_ms: 15_000, outcome: AttemptOutcome::Failed(FailureReason::Timeout) };
    const GOOD: Answered = Answered { status: 204, duration_ms: 3, outcome: AttemptOutcome::Acknowledged };

    fn job(origin: DeliveryOrigin) -> Job {
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        let event = (EventId::from_ulid(Ulid(7)), EventType::EmployeeCreated);
        Job::new(tenant, WebhookId::from_ulid(Ulid(5)), event, START, origin)
    }

    fn settled(job: &Job, answered: Answered) -> (Status, Option<Timestamp>, Option<Timestamp>, Option<Timestamp>) {
        let it =
            job.settle(DeliveryId::from_ulid(Ulid(9)), String::new(), answered, &Schedule::default(), (START, START));
        (it.entry.status, it.entry.next_attempt_at, it.entry.delivered_at, it.retry_at)
    }

    #[test]
    fn a_failure_is_tried_again_until_the_seventh_and_a_success_ends_it() {
        for origin in [DeliveryOrigin::Event, DeliveryOrigin::Replay] {
            let first = job(origin);
            let next = Some(START.plus_seconds(30));
            assert_eq!(settled(&first, LATE), (Status::Failed, next, None, next));
            let last = Job { attempt: 7, ..first };
            assert_eq!(settled(&last, LATE), (Status::Dropped, None, None, None));
            assert_eq!(settled(&last, GOOD), (Status::Success, None, Some(START), None));
        }
    }

    #[test]
    fn the_log_says_when_an_attempt_was_begun_and_why_it_failed() {
        let (begun, ended) = (START, START.plus_seconds(15));
        for (answered, failure) in [(LATE, Some(FailureReason::Timeout)), (GOOD, None)] {
            let id = DeliveryId::from_ulid(Ulid(9));
            let it =
                job(DeliveryOrigin::Event).settle(id, String::new(), answered, &Schedule::default(), (begun, ended));
            assert_eq!((it.entry.attempted_at, it.entry.failure), (begun, failure));
            assert_eq!(it.entry.delivered_at, failure.is_none().then_some(ended));
        }
    }

    #[test]
    fn a_test_is_attempted_once() {
        assert_eq!(settled(&job(DeliveryOrigin::Test), LATE), (Status::Failed, None, None, None));
        assert_eq!(settled(&job(DeliveryOrigin::Test), GOOD), (Status::Success, None, Some(START), None));
    }

    #[test]
    fn what_waited_beyond_the_window_is_dropped_and_logged() {
        let id = DeliveryId::from_ulid(Ulid(9));
        let resume = |after| job(DeliveryOrigin::Event).resume(id, "https://example.com/", &Schedule::default(), after);
        assert_eq!(resume(START.plus_seconds(112_350)), None);
        let dropped = resume(START.plus_seconds(112_351)).unwrap();
        assert_eq!((dropped.entry.status, dropped.entry.response_status), (Status::Dropped, 0));
        assert_eq!((dropped.entry.attempt, dropped.retry_at), (1, None));
        let (at, why) = (START.plus_seconds(112_351), Some(FailureReason::TooLate));
        assert_eq!((dropped.entry.attempted_at, dropped.entry.failure), (at, why));
    }
}
