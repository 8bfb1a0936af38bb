//! What becomes of one attempt: the decisions from its turn to what is recorded of it, as functions.

use std::time::Duration;

use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Answered, AttemptOutcome, DeliveryOrigin, FailureReason, HealthDelta, Job, Status};
use candor_port_storage::queue::AttemptResult;

use crate::lease::later;
use crate::queues::Answer;
use crate::{Settings, Waiting};

/// What could not be looked up is tried again after this time.
const STORE_FAILED: Duration = Duration::from_secs(5);

/// Where a delivery goes, as far as deciding needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination<'a> {
    /// The subscription's URL.
    pub url: &'a str,
    /// Whether the subscription is active.
    pub active: bool,
}

/// What became of one delivery, and what that adds to what is known of its subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The delivery.
    pub job: Job,
    /// What became of it.
    pub result: AttemptResult,
    /// What it says of its subscription, if it says something.
    pub delta: Option<HealthDelta>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// This is to be recorded; with an answer, the receiver was asked.
    Finished(Box<Finished>, Option<Answer>),
    /// Too little was left of the lease: it runs out, and whoever claims the delivery then attempts it.
    Late,
    /// Nothing is known of it, because its task failed. Its lease runs out.
    Abandoned,
}

/// Whether a delivery whose turn it is may go to its subscription, or what becomes of it instead (decision F4). The id is
/// the entry's, if it is dropped.
///
/// # Errors
/// What becomes of it.
pub fn admit<M>(
    settings: &Settings,
    waiting: &Waiting<M>,
    to: Destination<'_>,
    id: impl FnOnce() -> DeliveryId,
    now: Timestamp,
) -> Result<(), AttemptResult> {
    if !to.active && waiting.job.origin != DeliveryOrigin::Test {
        return Err(AttemptResult::Parked);
    }
    if !waiting.resumed {
        return Ok(());
    }
    let dropped = waiting.job.resume(id(), to.url, &settings.schedule, now);
    dropped.map_or(Ok(()), |it| Err(AttemptResult::Settled(Box::new(it))))
}

/// What becomes of a delivery when something that its attempt needs could not be looked up: it is due again soon.
#[must_use]
pub fn store_failed(now: Timestamp) -> AttemptResult {
    AttemptResult::Back(later(now, STORE_FAILED))
}

/// What is recorded of a delivery that was not sent. If it was dropped for being too late, that shows, and counts for
/// nothing.
#[must_use]
pub fn unsent(job: Job, result: AttemptResult) -> Finished {
    let delta = match &result {
        AttemptResult::Settled(settled) => {
            let outcome = AttemptOutcome::Failed(FailureReason::TooLate);
            Some(HealthDelta::of(outcome, settled.entry.status, false, settled.entry.attempted_at))
        }
        AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => None,
    };
    Finished { job, result, delta }
}

/// What is recorded of an attempt with this id, which went to this URL and was begun and ended at these times; and what
/// its answer says of the receiver.
#[must_use]
pub fn finish_attempt(
    settings: &Settings,
    job: Job,
    (id, url): (DeliveryId, String),
    answered: Answered,
    times: (Timestamp, Timestamp),
) -> (Finished, Answer) {
    let Answered { status, duration_ms, outcome } = answered;
    let settled = job.settle(id, url, answered, &settings.schedule, times);
    let delta = HealthDelta::of(outcome, settled.entry.status, job.origin != DeliveryOrigin::Test, times.1);
    let answer = Answer {
        answered: status > 0,
        acknowledged: outcome == AttemptOutcome::Acknowledged,
        took: Duration::from_millis(duration_ms.into()),
    };
    (Finished { job, result: AttemptResult::Settled(Box::new(settled)), delta: Some(delta) }, answer)
}

impl Finished {
    /// The entry that this adds to the log, if it does.
    #[must_use]
    pub fn logged(&self) -> Option<Status> {
        match &self.result {
            AttemptResult::Settled(settled) => Some(settled.entry.status),
            AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => None,
        }
    }
}
