//! One attempt, from its turn to what became of it. Nothing is held meanwhile but the lease.

use std::sync::Arc;
use std::time::Duration;

use candor_domain::fields::Word;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{self, Answered, FailureReason, Job, Origin, Outcome, Pulse, Settled, Status};
use candor_port_events::{Attempt, Request};
use candor_port_storage::queue::Fate;

use super::RECORDED_WITHIN;
use super::engine::{Engine, Phase, Waiting};
use super::lanes::{Answer, Begun};
use super::lease::later;
use super::message::Message;
use super::receivers::Receiver;
use super::record::Finished;

/// What could not be looked up is tried again after this time.
const STORE_FAILED: Duration = Duration::from_secs(5);
/// What this process cannot sign is left to others for so long, and stays as due as it is: it may be this process alone
/// that lacks a key.
const NO_SECRET: Duration = Duration::from_secs(60);

/// Everything that an attempt needs.
struct Ready {
    receiver: Arc<Receiver>,
    message: Arc<Message>,
    secrets: Vec<Secret>,
}

impl Engine {
    /// Makes an attempt: what is to be recorded, and how the receiver took it. Nothing is recorded if there was not
    /// enough left of the lease.
    pub(super) async fn attempt(&self, begun: &Begun<Waiting>) -> (Option<Finished>, Option<Answer>) {
        let job = begun.item.job;
        let ready = match self.prepare(begun).await {
            Ok(ready) => ready,
            Err(fate) => return (Some(self.unsent(job, fate)), None),
        };
        let enough = self.settings.timeout + RECORDED_WITHIN / 2;
        if begun.ends.left(self.now()) < enough {
            self.forgot(1);
            return (None, None);
        }
        let id = job.delivery_id.unwrap_or_else(|| self.shell.id(self.shell.clock.now()));
        let begun_at = self.shell.clock.now();
        let Some(attempt) = self.send(&job, id, &ready).await else {
            let back = Fate::Back(self.shell.clock.now());
            return (Some(Finished { job, fate: back, pulse: None }), None);
        };
        let answer = Answer {
            answered: attempt.response_status > 0,
            acknowledged: attempt.outcome == Outcome::Acknowledged,
            took: attempt.duration,
        };
        (Some(self.settle(&job, id, &ready, (begun_at, attempt))), Some(answer))
    }

    /// Looks up what the attempt needs, or says why there is none.
    async fn prepare(&self, begun: &Begun<Waiting>) -> Result<Ready, Fate> {
        let Waiting { job, message, resumed } = &begun.item;
        let now = self.now();
        let found = self.receivers.get(&self.shell, begun.lane, now).await;
        let receiver = found.map_err(|error| self.not_found_out(&error))?;
        let Some(receiver) = receiver else {
            self.figures.subscription_gone.increment(1);
            return Err(Fate::Gone);
        };
        if !receiver.active && job.origin != Origin::Test {
            return Err(Fate::Parked);
        }
        if *resumed {
            let dropped = job.resume(self.shell.id(now.wall), &receiver.url, &self.settings.schedule, now.wall);
            dropped.map_or(Ok(()), |it| Err(Fate::Settled(Box::new(it))))?;
        }
        let message = match message {
            Some(message) => Arc::clone(message),
            None => self.message(job).await?,
        };
        let secrets = receiver.signing(now.wall);
        if secrets.is_empty() {
            self.figures.secret.increment(1);
            let left = self.lanes().leave_alone(begun.lane, now, now.plus(NO_SECRET));
            return Err(if left { Fate::Released } else { Fate::Back(later(now.wall, NO_SECRET)) });
        }
        Ok(Ready { receiver, message, secrets })
    }

    async fn message(&self, job: &Job) -> Result<Arc<Message>, Fate> {
        if let Some(message) = Message::of_test(job) {
            return Ok(Arc::new(message));
        }
        let events = self.shell.store.events_by_id(&[(job.tenant, job.event_id)]).await;
        let found = events.map_err(|error| self.not_found_out(&error))?.pop();
        found.map(|(tenant, event)| Arc::new(Message::of(tenant, event))).ok_or_else(|| {
            tracing::debug!(webhook = %job.webhook_id, event = %job.event_id, "the event is not there any more");
            self.figures.event_gone.increment(1);
            Fate::Gone
        })
    }

    fn not_found_out(&self, error: &dyn std::fmt::Display) -> Fate {
        tracing::warn!(%error, "could not look up what a delivery needs; tried again soon");
        Fate::Back(later(self.shell.clock.now(), STORE_FAILED))
    }

    /// Signs and sends; `None` if the engine had to stop meanwhile.
    async fn send(&self, job: &Job, id: candor_domain::id::DeliveryId, ready: &Ready) -> Option<Attempt> {
        let at = self.shell.clock.now();
        let Ready { receiver, message, secrets } = ready;
        if job.attempt == 1 && job.origin == Origin::Event {
            self.figures.begun_after(at.millis() - message.event.created_at.millis());
        }
        let replay = job.origin == Origin::Replay;
        let request = Request {
            url: receiver.url.clone(),
            headers: webhook::headers(&message.event, id, secrets, at, &message.body, replay),
            body: message.body.clone(),
            deadline: self.settings.timeout,
        };
        tracing::trace!(webhook = %job.webhook_id, event = %job.event_id, attempt = job.attempt, "a delivery begins");
        let mut phase = self.phase.subscribe();
        tokio::select! {
            biased;
            attempt = self.shell.receivers.send(request) => Some(attempt),
            _ = phase.wait_for(|it| *it == Phase::Cut) => None,
        }
    }

    fn settle(
        &self,
        job: &Job,
        id: candor_domain::id::DeliveryId,
        ready: &Ready,
        (begun_at, attempt): (Timestamp, Attempt),
    ) -> Finished {
        let at = self.shell.clock.now();
        let Attempt { response_status: status, duration, outcome } = attempt;
        let duration_ms = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
        let answered = Answered { status, duration_ms, outcome };
        let (url, times) = (ready.receiver.url.clone(), (begun_at, at));
        let settled = job.settle(id, url, answered, &self.settings.schedule, times);
        self.figures.attempted(outcome, duration);
        tell(job, &settled, outcome);
        let pulse = Pulse::of(outcome, settled.entry.status, job.origin != Origin::Test, at);
        Finished { job: *job, fate: Fate::Settled(Box::new(settled)), pulse: Some(pulse) }
    }

    /// What was not sent: if it was dropped for being too late, that shows, and counts for nothing.
    fn unsent(&self, job: Job, fate: Fate) -> Finished {
        let pulse = match &fate {
            Fate::Settled(settled) => {
                self.figures.too_late.increment(1);
                let outcome = Outcome::Failed(FailureReason::TooLate);
                tell(&job, settled, outcome);
                let at: Timestamp = settled.entry.attempted_at;
                Some(Pulse::of(outcome, settled.entry.status, false, at))
            }
            Fate::Back(_) | Fate::Released | Fate::Parked | Fate::Gone => None,
        };
        Finished { job, fate, pulse }
    }
}

/// Tells the log of a failure: ids and words, never what is in the body or the URL.
fn tell(job: &Job, settled: &Settled, outcome: Outcome) {
    let (organization, webhook, event) = (job.tenant.organization, job.webhook_id, job.event_id);
    let (status, attempt) = (settled.entry.response_status, job.attempt);
    let Outcome::Failed(reason) = outcome else {
        return tracing::debug!(%organization, %webhook, %event, attempt, status, "delivered");
    };
    let reason = reason.word();
    match settled.entry.status {
        Status::Dropped => {
            tracing::info!(%organization, %webhook, %event, attempt, reason, status, "a delivery was dropped");
        }
        Status::Failed | Status::Success => {
            tracing::debug!(%organization, %webhook, %event, attempt, reason, status, "a delivery failed");
        }
    }
}
