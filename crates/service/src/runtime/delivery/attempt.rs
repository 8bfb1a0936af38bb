//! One delivery attempt, from preparation to result. It holds no transaction or lock, only the lease.

use std::sync::Arc;

use candor_dispatch::{
    AttemptEnd, DeliveryResult, Destination, RateLeaseOrder, SendPermit, StartedAttempt, admit, finish_attempt,
    store_failed, unsent,
};
use candor_domain::attempt_failure::FailureReason;
use candor_domain::fields::StringEnum;
use candor_domain::id::DeliveryId;
use candor_domain::secret::Secret;
use candor_port_events::{Attempt, WebhookRequest};
use candor_port_storage::queue::AttemptResult;
use candor_subscriptions::{AttemptOutcome, AttemptResponse, DeliveryOrigin, Job, Status};
use tracing::Instrument;

use super::engine::{Engine, Phase, Waiting};
use super::message::Message;
use super::subscription_cache::Receiver;

/// Data that an attempt needs.
struct PreparedAttempt {
    receiver: Arc<Receiver>,
    message: Arc<Message>,
    secrets: Vec<Secret>,
}

impl Engine {
    /// Makes an attempt, unless the delivery must not be sent. Returns `None` if the delivery has to wait for the
    /// rate of its receiver.
    pub(super) async fn attempt(&self, begun: &StartedAttempt<Waiting>) -> Option<AttemptEnd> {
        let job = begun.item.job;
        let ready = match self.prepare(begun).await {
            Ok(ready) => ready,
            Err(result) => return Some(self.finish_unsent(job, result).await),
        };
        match self.permit(begun, ready.receiver.max_per_second).await {
            Ok(SendPermit::Send) => Some(self.request(job, &ready).await),
            Ok(SendPermit::Late) => Some(AttemptEnd::Late),
            // `Lease`: the rate lease ended before the call that takes it returned. The next attempt takes it again.
            Ok(SendPermit::Wait | SendPermit::Lease(_)) => None,
            Err(result) => Some(self.finish_unsent(job, result).await),
        }
    }

    async fn finish_unsent(&self, job: Job, result: AttemptResult) -> AttemptEnd {
        AttemptEnd::Finished(Box::new(self.not_sent(job, result).await), None)
    }

    /// Returns the permit to send, after taking the rate lease of the subscription if necessary. If the rate lease
    /// cannot be taken, returns the result to record.
    async fn permit(
        &self,
        begun: &StartedAttempt<Waiting>,
        rate: Option<u16>,
    ) -> Result<SendPermit, AttemptResult> {
        match self.with_dispatcher(|dispatcher, now| dispatcher.permit(begun, rate, now)) {
            SendPermit::Lease(order) => {
                self.lease_rate(&order).await?;
                Ok(self.with_dispatcher(|dispatcher, now| dispatcher.permit(begun, rate, now)))
            }
            permit @ (SendPermit::Send | SendPermit::Late | SendPermit::Wait) => Ok(permit),
        }
    }

    async fn lease_rate(&self, order: &RateLeaseOrder) -> Result<(), AttemptResult> {
        match self.services.store.lease_rate(order.queue, order.lease, order.at.wall).await {
            Ok(lease) => {
                let result =
                    self.with_dispatcher(|dispatcher, now| dispatcher.handle_rate_lease(order, lease, now));
                result.map_or(Ok(()), Err)
            }
            Err(error) => {
                self.with_dispatcher(|dispatcher, _| dispatcher.rate_lease_failed(order));
                Err(self.preparation_failed(&error))
            }
        }
    }

    /// Sends the request of an attempt.
    async fn request(&self, job: Job, ready: &PreparedAttempt) -> AttemptEnd {
        let id = job.delivery_id.unwrap_or_else(|| self.services.id(self.services.clock.now()));
        let begun_at = self.services.clock.now();
        let Some(attempt) = self.send(&job, id, ready).await else {
            return AttemptEnd::Finished(
                Box::new(unsent(job, AttemptResult::Back(self.services.clock.now()))),
                None,
            );
        };
        let Attempt { response_status: status, duration, outcome, retry_after, failure_detail } = attempt;
        let duration_ms = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
        let response = AttemptResponse { status, duration_ms, outcome, retry_after };
        let url = ready.receiver.url.clone();
        let (mut finished, receiver_response) =
            finish_attempt(&self.settings, job, (id, url), response, (begun_at, self.services.clock.now()));
        add_cause(&mut finished, &ready.message);
        add_detail(&mut finished, failure_detail);
        self.metrics.count_attempt(outcome, duration);
        log(&finished, outcome);
        AttemptEnd::Finished(Box::new(finished), Some(receiver_response))
    }

    /// Reads the data of the attempt. Returns the result to record if the delivery must not be sent.
    async fn prepare(&self, begun: &StartedAttempt<Waiting>) -> Result<PreparedAttempt, AttemptResult> {
        let (queue, now) = (begun.place.queue, self.now());
        let subscription = self.subscription_cache.get(&self.services, queue, now).await;
        let receiver = subscription.map_err(|error| self.preparation_failed(&error))?;
        let Some(receiver) = receiver else {
            self.metrics.subscription_gone.increment(1);
            return Err(AttemptResult::Gone);
        };
        let job = &begun.item.job;
        if !receiver.may_get(job.event_type) {
            tracing::info!(
                webhook = %job.webhook_id, event = %job.event_id,
                "dropped a delivery: the subscription no longer receives this event type"
            );
            self.metrics.event_gone.increment(1);
            return Err(AttemptResult::Gone);
        }
        let to = Destination { url: &receiver.url, active: receiver.active };
        admit(&self.settings, &begun.item, to, || self.services.id(now.wall), now.wall)?;
        let message = match &begun.item.message {
            Some(message) => Arc::clone(message),
            None => self.message(&begun.item.job).await?,
        };
        let secrets = receiver.signing_secrets(now.wall);
        if secrets.is_empty() {
            self.metrics.secret.increment(1);
            return Err(self.with_dispatcher(|dispatcher, now| dispatcher.without_secret(queue, now)));
        }
        Ok(PreparedAttempt { receiver, message, secrets })
    }

    async fn message(&self, job: &Job) -> Result<Arc<Message>, AttemptResult> {
        if let Some(message) = Message::for_test(job) {
            return Ok(Arc::new(message));
        }
        let events = self.services.store.events_by_id(&[(job.tenant, job.event_id)]).await;
        let due_event = events.map_err(|error| self.preparation_failed(&error))?.pop();
        due_event.map(|(tenant, event)| Arc::new(Message::new(tenant, event))).ok_or_else(|| {
            tracing::debug!(webhook = %job.webhook_id, event = %job.event_id, "the event of a delivery was removed");
            self.metrics.event_gone.increment(1);
            AttemptResult::Gone
        })
    }

    /// Logs an error of the store before the request was sent, and returns the result that repeats the attempt soon.
    fn preparation_failed(&self, error: &dyn std::fmt::Display) -> AttemptResult {
        tracing::warn!(%error, "cannot prepare a delivery; retrying soon");
        store_failed(self.services.clock.now())
    }

    /// Signs and sends the delivery. Returns `None` if the engine was stopped meanwhile.
    async fn send(&self, job: &Job, id: DeliveryId, ready: &PreparedAttempt) -> Option<Attempt> {
        let now = self.services.clock.now();
        let PreparedAttempt { receiver, message, secrets } = ready;
        if job.attempt == 1 && job.origin == DeliveryOrigin::Event {
            self.metrics.begun_after(now.millis() - message.event.created_at.millis());
        }
        let replay = job.origin == DeliveryOrigin::Replay;
        let body = message.body(receiver.payload, &self.services.settings.public_url);
        let request = WebhookRequest {
            organization: message.tenant.organization,
            url: receiver.url.clone(),
            headers: candor_subscriptions::headers(&message.event, id, secrets, now, &body, replay),
            custom_headers: receiver.headers.clone(),
            body,
            deadline: self.settings.timeout,
        };
        tracing::trace!(webhook = %job.webhook_id, event = %job.event_id, attempt = job.attempt, "a delivery begins");
        let span = tracing::info_span!(
            target: "candor_spans",
            "attempt",
            otel.kind = "client",
            webhook_id = %job.webhook_id,
            event_id = %job.event_id,
            delivery_id = %id,
            number = job.attempt,
        );
        let mut phase = self.phase.subscribe();
        tokio::select! {
            biased;
            attempt = self.services.webhook_transport.send(request).instrument(span) => Some(attempt),
            _ = phase.wait_for(|phase| *phase == Phase::Cut) => None,
        }
    }

    /// Creates the result of a delivery that was not sent. Logs the result if the delivery was dropped because it was
    /// too late.
    async fn not_sent(&self, job: Job, result: AttemptResult) -> DeliveryResult {
        let mut result_without_request = unsent(job, result);
        if matches!(result_without_request.result, AttemptResult::Settled(_)) {
            if let Ok(message) = self.message(&job).await {
                add_cause(&mut result_without_request, &message);
            }
            self.metrics.too_late.increment(1);
            log(&result_without_request, AttemptOutcome::Failed(FailureReason::TooLate));
        }
        result_without_request
    }
}

/// Adds the request that caused the event to the log entry.
fn add_cause(finished: &mut DeliveryResult, message: &Message) {
    if let AttemptResult::Settled(settled) = &mut finished.result {
        settled.entry.request_id.clone_from(&message.event.request_id);
    }
}

/// Adds the detail of a failure, as the transport reports it, to the log entry.
fn add_detail(finished: &mut DeliveryResult, detail: Option<String>) {
    if let AttemptResult::Settled(settled) = &mut finished.result {
        settled.entry.failure_detail = detail;
    }
}

/// Logs the result of an attempt: ids and reason words, never parts of the body or the URL.
fn log(DeliveryResult { job, result, .. }: &DeliveryResult, outcome: AttemptOutcome) {
    let AttemptResult::Settled(settled) = result else { return };
    let (organization, webhook, event) = (job.tenant.organization, job.webhook_id, job.event_id);
    let (status, attempt) = (settled.entry.response_status, job.attempt);
    let AttemptOutcome::Failed(reason) = outcome else {
        return tracing::debug!(%organization, %webhook, %event, attempt, status, "delivered");
    };
    let reason = reason.word();
    match settled.entry.status {
        Status::Dropped => {
            tracing::info!(
                %organization, %webhook, %event, attempt, reason, status,
                "dropped a delivery: no attempt follows; to send the event again, call \
                 `POST /v1/webhooks/{{id}}/replay`"
            );
        }
        Status::Failed | Status::Success => {
            tracing::debug!(%organization, %webhook, %event, attempt, reason, status, "a delivery failed");
        }
    }
}
