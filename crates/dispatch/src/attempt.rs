//! Decisions about one attempt, from its start to the recorded result, as pure functions.

use std::time::Duration;

use candor_domain::attempt_failure::FailureReason;
use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::AttemptResult;
use candor_subscriptions::{AttemptOutcome, AttemptResponse, DeliveryOrigin, HealthDelta, Job};

use crate::lease::add;
use crate::queues::ReceiverResponse;
use crate::{Settings, WaitingDelivery};

/// Delay before a delivery is retried after the store failed to look up what its attempt needs.
const STORE_FAILED: Duration = Duration::from_secs(5);

/// Destination of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination<'a> {
    /// URL of the subscription.
    pub url: &'a str,
    /// `true` if the subscription is active.
    pub active: bool,
}

/// Result of one delivery and its effect on the health of the subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryResult {
    /// The delivery that was attempted or given up.
    pub job: Job,
    /// Result to record in the store.
    pub result: AttemptResult,
    /// Change of the subscription's health; `None` if the result does not affect the health.
    pub delta: Option<HealthDelta>,
}

/// End of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The attempt has a result to record. The response is `Some` if a request was sent to the receiver.
    Finished(Box<DeliveryResult>, Option<ReceiverResponse>),
    /// Too little of the lease was left for an attempt. The lease expires, and the delivery is claimed again.
    Late,
    /// The task failed and the result is unknown. The lease expires.
    Abandoned,
}

/// Decides whether a delivery may be sent to its subscription (decision F4). `id` makes the id of the log
/// entry if the delivery is dropped.
///
/// # Errors
/// The result to record instead of an attempt.
pub fn admit<M>(
    settings: &Settings,
    waiting: &WaitingDelivery<M>,
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
    let late_result = waiting.job.resume(id(), to.url, &settings.schedule, now);
    late_result.map_or(Ok(()), |result| Err(AttemptResult::Settled(Box::new(result))))
}

/// Returns the result of a delivery whose attempt needs data that the store failed to look up: the delivery is due
/// again after five seconds.
#[must_use]
pub fn store_failed(now: Timestamp) -> AttemptResult {
    AttemptResult::Back(add(now, STORE_FAILED))
}

/// Returns what to record for a delivery that was not sent. A delivery that was dropped for being too late is
/// logged, but does not count as a failure of the receiver.
#[must_use]
pub fn unsent(job: Job, result: AttemptResult) -> DeliveryResult {
    let delta = match &result {
        AttemptResult::Settled(settled) => {
            let outcome = AttemptOutcome::Failed(FailureReason::TooLate);
            Some(HealthDelta::from_attempt(outcome, settled.entry.status, false, settled.entry.attempted_at))
        }
        AttemptResult::Back(_) | AttemptResult::Released | AttemptResult::Parked | AttemptResult::Gone => None,
    };
    DeliveryResult { job, result, delta }
}

/// Returns what to record for an attempt with this id and URL, which began and ended at `times`. Also returns
/// the receiver's response, by which the queue adapts its concurrency.
#[must_use]
pub fn finish_attempt(
    settings: &Settings,
    job: Job,
    (id, url): (DeliveryId, String),
    answered: AttemptResponse,
    times: (Timestamp, Timestamp),
) -> (DeliveryResult, ReceiverResponse) {
    let AttemptResponse { status, duration_ms, outcome, .. } = answered;
    let settlement = job.settle(id, url, answered, &settings.schedule, times);
    let delta = job.health(outcome, settlement.entry.status, times.1);
    let response = ReceiverResponse {
        answered: status > 0,
        acknowledged: outcome == AttemptOutcome::Acknowledged,
        took: Duration::from_millis(duration_ms.into()),
    };
    (DeliveryResult { job, result: AttemptResult::Settled(Box::new(settlement)), delta: Some(delta) }, response)
}

impl DeliveryResult {
    /// Returns the URL of a receiver that ended its subscription by responding with 410. Returns `None` for any other
    /// result, and for a test (decision F7).
    pub(crate) fn gone_url(&self) -> Option<&str> {
        let AttemptResult::Settled(settled) = &self.result else { return None };
        let is_url_gone =
            settled.entry.failure == Some(FailureReason::Gone) && self.job.origin != DeliveryOrigin::Test;
        is_url_gone.then_some(settled.entry.request_url.as_str())
    }
}
