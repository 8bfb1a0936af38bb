//! Fake webhook receivers: no name is resolved and no request is sent.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::id::OrganizationId;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_port_events::{Attempt, AttemptOutcome, WebhookRequest, WebhookTransport};
use candor_port_storage::StorageExt;
use candor_port_storage::queue::{AttemptResult, Claim, Lease, WorkerId};
use candor_service::Services;
use candor_subscriptions::{AttemptResponse, Delivery, HealthDelta, Schedule, Subscription};

/// A transport that judges URLs by scheme and host name. It answers deliveries to `gone.example` with 410, and all
/// other deliveries with 200.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    judged: Mutex<Vec<String>>,
    sent: Mutex<Vec<SentRequest>>,
}

/// A request to a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentRequest {
    pub(crate) url: String,
    pub(crate) event: String,
}

impl Receivers {
    /// Returns the URLs checked since the last call.
    pub(crate) fn judged_urls(&self) -> Vec<String> {
        std::mem::take(&mut *self.judged.lock().unwrap())
    }

    /// Returns the requests since the last call.
    pub(crate) fn sent_requests(&self) -> Vec<SentRequest> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

#[async_trait]
impl WebhookTransport for Receivers {
    async fn judge(&self, _: OrganizationId, target: &ReceiverUrl) -> Verdict {
        self.judged.lock().unwrap().push(target.as_str().to_owned());
        match target.url().host_str() {
            _ if target.url().scheme() != "https" => Verdict::NotHttps,
            Some("private.example") => Verdict::Private,
            Some("unknown.example") => Verdict::Unresolvable,
            _ => Verdict::Allowed,
        }
    }

    async fn send(&self, request: WebhookRequest) -> Attempt {
        let event = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("x-service-event-id"));
        let event = event.map(|(_, id)| id.clone()).unwrap_or_default();
        self.sent.lock().unwrap().push(SentRequest { url: request.url.clone(), event });
        let response_status = if request.url.starts_with("https://gone.example/") { 410 } else { 200 };
        let outcome = AttemptOutcome::from_status(response_status);
        Attempt { response_status, duration: Duration::ZERO, outcome, retry_after: None, failure_detail: None }
    }
}

/// Attempts all due deliveries. The receivers answer with `status`; 0 simulates a timeout.
pub(crate) async fn attempt_all(services: &Services, status: u16) -> Vec<Delivery> {
    let (store, at) = (&services.store, services.clock.now());
    let worker = WorkerId([7; 16]);
    let lease = Lease { worker, until: at.plus_seconds(30) };
    let jobs = store.claim(lease, at, &Claim::Oldest { most: 1000 }).await.unwrap().jobs;
    let (mut attempts, mut results, mut health) = (vec![], vec![], vec![]);
    for job in jobs {
        let subscription = store.row::<Subscription>(job.tenant, job.webhook_id).await.unwrap();
        let Some(url) = subscription.map(|row| row.value.url) else {
            results.push((job, AttemptResult::Gone));
            continue;
        };
        let outcome = AttemptOutcome::from_status(status);
        let response = AttemptResponse { status, duration_ms: 7, outcome, retry_after: None };
        let id = job.delivery_id.unwrap_or_else(|| services.id(at));
        let settlement = job.settle(id, url, response, &Schedule::default(), (at, at));
        let delta = job.health(outcome, settlement.entry.status, at);
        attempts.push(settlement.entry.clone());
        health.push(((job.tenant, job.webhook_id), delta));
        results.push((job, AttemptResult::Settled(Box::new(settlement))));
    }
    let health = health.into_iter().fold(vec![], |mut all: Vec<(_, HealthDelta)>, (queue, delta)| {
        match all.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, known)) => *known = known.and(delta),
            None => all.push((queue, delta)),
        }
        all
    });
    let record_result = store.record(worker, results, health).await.unwrap();
    assert_eq!(record_result.lost, 0);
    attempts
}
