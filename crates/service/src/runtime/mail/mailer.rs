//! The mailer: its loop, and its end.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use candor_dispatch::{MailClaim, MailEnding, Now, Outbox};
use candor_port_events::MailTransport;
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::MailKey;
use candor_port_storage::queue::WorkerId;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

use super::metrics::Metrics;
use super::record::Batch;
use crate::context::services::Services;

/// How often the length of the queue is measured.
const MEASURE: Duration = Duration::from_secs(10);

/// What attempts and calls of the store need.
pub(super) struct Parts {
    pub(super) services: Arc<Services>,
    pub(super) transport: Arc<dyn MailTransport>,
    pub(super) worker: WorkerId,
    /// How long the mail server may take.
    pub(super) deadline: Duration,
    pub(super) metrics: Metrics,
    /// What the steady clock counts from.
    begun: Instant,
}

/// Sends what is queued.
pub struct Mailer {
    parts: Arc<Parts>,
    outbox: Outbox,
    attempts: FuturesUnordered<Pin<Box<dyn Future<Output = Attempted> + Send>>>,
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = Called> + Send>>>,
    /// Whether connections may be open over which nothing goes any more.
    may_rest: bool,
}

type Attempted = (MailKey, MailEnding);

/// The result of a call of the store.
enum Called {
    Claimed(MailClaim, Read<Vec<MailKey>>),
    Recorded(Result<(), Batch>),
    Rested,
}

impl Mailer {
    /// A mailer of this process. The mail server may take so long for a mail.
    #[must_use]
    pub fn new(services: &Arc<Services>, transport: Arc<dyn MailTransport>, deadline: Duration) -> Self {
        let worker = WorkerId(services.ids.ulid(services.clock.now()).to_bytes());
        let (services, metrics, begun) = (Arc::clone(services), Metrics::new(), Instant::now());
        Self {
            parts: Arc::new(Parts { services, transport, worker, deadline, metrics, begun }),
            outbox: Outbox::new(worker, deadline),
            attempts: FuturesUnordered::new(),
            calls: FuturesUnordered::new(),
            may_rest: false,
        }
    }

    /// Sends until `stop`. Then it begins nothing more, gives back what waits, lets what is under way end for as long as
    /// `grace`, cuts the rest off, and ends when all of that is recorded.
    pub async fn run(self, stop: impl Future<Output = ()>, grace: Duration) {
        let over = watch::Sender::new(false);
        let (parts, measured) = (Arc::clone(&self.parts), over.subscribe());
        let sending = async {
            self.send_until(stop, grace).await;
            over.send_replace(true);
        };
        tokio::join!(sending, measure_until_over(&parts, measured));
        parts.transport.rest().await;
    }

    /// Everything that can be done now, once: claims what is due, sends it, records what became of it, until there is
    /// nothing more. Says how many attempts ended. For whoever lets time pass by hand.
    pub async fn run_once(&mut self) -> usize {
        self.outbox.look_and_ask();
        let mut ended = 0;
        loop {
            self.start_ready_attempts();
            tokio::select! {
                Some(attempted) = self.attempts.next() => {
                    ended += 1;
                    self.take_attempted(attempted);
                }
                Some(called) = self.calls.next() => self.take_called(called),
                else => return ended,
            }
        }
    }

    async fn send_until(mut self, stop: impl Future<Output = ()>, grace: Duration) {
        let (parts, mut stop) = (Arc::clone(&self.parts), pin!(stop));
        let (mut is_stopping, mut cut_at) = (false, None);
        while !self.outbox.is_over() {
            self.start_ready_attempts();
            let wait = self.outbox.ask_again_at(parts.now()).map(|it| parts.begun + it);
            tokio::select! {
                Some(attempted) = self.attempts.next() => self.take_attempted(attempted),
                Some(called) = self.calls.next() => self.take_called(called),
                () = parts.services.mail_queued.notified() => self.outbox.look(),
                () = until(wait) => {}
                () = &mut stop, if !is_stopping => {
                    is_stopping = true;
                    cut_at = Some(Instant::now() + grace);
                    self.outbox.stop();
                }
                () = until(cut_at) => {
                    cut_at = None;
                    self.cut();
                }
            }
        }
    }

    fn start_ready_attempts(&mut self) {
        let now = self.parts.now();
        if let Some(batch) = self.outbox.next_batch(now) {
            let parts = Arc::clone(&self.parts);
            self.calls.push(Box::pin(async move { Called::Recorded(parts.record(batch).await) }));
        }
        if let Some(claim) = self.outbox.next_claim(now) {
            let parts = Arc::clone(&self.parts);
            self.calls.push(Box::pin(async move { Called::Claimed(claim, parts.claim(claim).await) }));
        }
        while let Some(mail) = self.outbox.next_attempt(now) {
            let parts = Arc::clone(&self.parts);
            self.attempts.push(Box::pin(async move { (mail, parts.attempt_safely(mail).await) }));
            self.may_rest = true;
        }
        if self.may_rest && self.outbox.is_idle() {
            self.may_rest = false;
            let parts = Arc::clone(&self.parts);
            self.calls.push(Box::pin(async move {
                parts.transport.rest().await;
                Called::Rested
            }));
        }
        self.parts.metrics.in_flight(self.outbox.sending());
    }

    fn take_attempted(&mut self, (mail, ending): Attempted) {
        self.outbox.ended(mail, ending, self.parts.now());
    }

    fn take_called(&mut self, called: Called) {
        let now = self.parts.now();
        match called {
            Called::Claimed(claim, Ok(mails)) => self.outbox.claimed(&claim, mails, now),
            Called::Claimed(_, Err(error)) => {
                tracing::warn!(%error, "could not look into the queue of mails; tried again soon");
                self.outbox.claim_failed(now);
            }
            Called::Recorded(Ok(())) => self.outbox.recorded(),
            Called::Recorded(Err(batch)) => self.outbox.not_recorded(batch, now),
            Called::Rested => {}
        }
    }

    fn cut(&mut self) {
        tracing::warn!(mails = self.attempts.len(), "some mails were not sent in time; they are attempted again");
        self.attempts.clear();
        self.outbox.abandon();
    }
}

impl Parts {
    fn now(&self) -> Now {
        Now { wall: self.services.clock.now(), steady: self.begun.elapsed() }
    }

    /// Makes an attempt. One that panics ends alone: nothing is known of it, and its lease runs out.
    async fn attempt_safely(&self, mail: MailKey) -> MailEnding {
        let attempt = AssertUnwindSafe(self.attempt(mail)).catch_unwind();
        attempt.await.unwrap_or_else(|_| MailEnding::nothing())
    }

    async fn claim(&self, claim: MailClaim) -> Read<Vec<MailKey>> {
        self.services.store.claim_mails(claim.lease, self.services.clock.now(), claim.most).await
    }
}

/// Waits until a moment, or forever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

async fn measure_until_over(parts: &Parts, mut over: watch::Receiver<bool>) {
    loop {
        let now = parts.services.clock.now();
        match parts.services.store.replica().mail_queue_state(now).await {
            Ok(state) => parts.metrics.queue(state, now),
            Err(error) => tracing::debug!(%error, "could not measure the queue of mails"),
        }
        if timeout(MEASURE, over.wait_for(|it| *it)).await.is_ok() {
            return;
        }
    }
}
