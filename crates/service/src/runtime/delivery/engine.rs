//! The delivery engine: its state, its loops and its shutdown.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use candor_dispatch::{AttemptEnd, Dispatcher, NextRecordStep, Now, QueueLimits, Settings, StartedAttempt};
use candor_port_storage::queue::WorkerId;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::message::Message;
use super::metrics::Metrics;
use super::subscription_cache::SubscriptionCache;
use crate::context::error::Error;
use crate::context::handover::LocalEngine;
use crate::context::services::Services;
use crate::runtime::operational_events;

/// Interval of the measurements of the queue length.
const MEASURE: Duration = Duration::from_secs(10);

/// A delivery waiting for its attempt. The message is `None` until it is read.
pub(super) type Waiting = candor_dispatch::WaitingDelivery<Option<Arc<Message>>>;

type Machine = Dispatcher<Option<Arc<Message>>>;

/// Delivers queued webhooks of this process.
pub struct Engine {
    pub(super) services: Arc<Services>,
    pub(super) settings: Settings,
    pub(super) worker: WorkerId,
    pub(super) subscription_cache: SubscriptionCache,
    pub(super) metrics: Metrics,
    pub(super) phase: watch::Sender<Phase>,
    /// Dispatcher that makes all scheduling decisions; see [`Engine::with_dispatcher`].
    machine: Mutex<Machine>,
    /// Steady time at which the engine was created.
    begun: Duration,
    /// Notified when there may be deliveries to claim, or room for them.
    wake: Notify,
    /// Notified when there may be results to record, or at shutdown.
    news: Notify,
    /// Notified when events about failing subscriptions are due.
    pub(super) failing: Notify,
    /// Notified when the last attempt ends after `stop`.
    quiet: Notify,
    /// Runtime that attempts are spawned on; unset while `run_once` drives the engine.
    runtime: OnceLock<Handle>,
}

/// Phase of the engine's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Phase {
    /// New attempts are started.
    Open,
    /// No new attempts are started.
    Closing,
    /// Attempts in flight are cancelled.
    Cut,
}

impl Engine {
    /// Maximum number of deliveries in memory. Only the deliveries of one claim may exceed it.
    pub const ROOM: usize = QueueLimits::OF_A_PROCESS.room();

    /// Creates the engine of this process and registers it, so that commits hand their deliveries over to it.
    #[must_use]
    pub fn new(services: &Arc<Services>, settings: Settings) -> Arc<Self> {
        let (wall, begun) = (services.clock.now(), services.clock.steady());
        let worker = WorkerId(services.ids.ulid(wall).to_bytes());
        let now = Now { wall, steady: Duration::ZERO };
        let limits = QueueLimits { batch: services.store.record_batch_size(), ..QueueLimits::OF_A_PROCESS };
        let engine = Arc::new(Self {
            services: Arc::clone(services),
            settings: settings.clone(),
            worker,
            subscription_cache: SubscriptionCache::default(),
            metrics: Metrics::new(),
            phase: watch::Sender::new(Phase::Open),
            machine: Mutex::new(Dispatcher::new(worker, settings, limits, now)),
            begun,
            wake: Notify::new(),
            news: Notify::new(),
            failing: Notify::new(),
            quiet: Notify::new(),
            runtime: OnceLock::new(),
        });
        let weak_engine: Weak<dyn LocalEngine> = Arc::<Self>::downgrade(&engine);
        services.deliveries.register(weak_engine);
        engine
    }

    /// Returns the number of deliveries in memory.
    #[must_use]
    pub fn held_count(&self) -> usize {
        self.with_dispatcher(|dispatcher, _| dispatcher.held_count())
    }

    /// Delivers until `stop` resolves. Then starts no more attempts, releases the waiting deliveries and gives attempts
    /// in flight `grace` to finish. Cancels the remaining attempts, and returns when all results are recorded.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()>, grace: Duration) {
        let _ = self.runtime.set(Handle::current());
        self.start_ready_attempts();
        let engine_end = async {
            stop.await;
            self.stop(grace).await;
        };
        tokio::join!(
            engine_end,
            self.claim_until_stopped(),
            self.record_until_stopped(),
            self.report_failing_until_stopped(),
            self.measure_until_stopped()
        );
    }

    /// Claims and attempts everything that is due now, records the results, and returns the number of attempts.
    /// For callers that control the time themselves.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Bug`]; the next call continues with the rest.
    pub async fn run_once(self: &Arc<Self>) -> Result<usize, Error> {
        self.with_dispatcher(|dispatcher, _| dispatcher.request_full_scan());
        let mut attempt_count = 0;
        loop {
            let has_claimed = self.claim().await?;
            let round_attempts = self.work_off().await;
            let has_recorded = self.record().await?;
            attempt_count += round_attempts;
            if !has_claimed && !has_recorded && round_attempts == 0 {
                if self.failing.notified().now_or_never().is_some() {
                    operational_events::failing_webhooks(&self.services, || true).await?;
                }
                return Ok(attempt_count);
            }
        }
    }

    /// Makes all attempts that are ready, and returns their number.
    async fn work_off(&self) -> usize {
        let (mut running, mut ended) = (FuturesUnordered::new(), 0);
        loop {
            while let Some(attempt) = self.next_attempt() {
                running.push(self.attempt_one(attempt));
            }
            if running.next().await.is_none() {
                return ended;
            }
            ended += 1;
        }
    }

    /// Calls `input` with the locked dispatcher, then wakes the loops that have work.
    pub(super) fn with_dispatcher<R>(&self, input: impl FnOnce(&mut Machine, Now) -> R) -> R {
        let now = self.now();
        let mut machine = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        let output = input(&mut machine, now);
        let wakes = machine.take_wakes();
        drop(machine);
        if wakes.claims {
            self.wake.notify_one();
        }
        if wakes.records {
            self.news.notify_one();
        }
        if wakes.quiet {
            self.quiet.notify_one();
        }
        output
    }

    pub(super) fn now(&self) -> Now {
        let clock = &self.services.clock;
        Now { wall: clock.now(), steady: clock.steady().saturating_sub(self.begun) }
    }

    fn next_attempt(&self) -> Option<StartedAttempt<Waiting>> {
        self.with_dispatcher(|dispatcher, now| dispatcher.next_attempt(now))
    }

    pub(super) fn start_ready_attempts(self: &Arc<Self>) {
        let Some(runtime) = self.runtime.get() else { return };
        while let Some(attempt) = self.next_attempt() {
            runtime.spawn(Arc::clone(self).work(attempt));
        }
    }

    /// Makes one attempt, then further attempts while any are ready.
    async fn work(self: Arc<Self>, begun: StartedAttempt<Waiting>) {
        let mut next = Some(begun);
        while let Some(attempt) = next {
            self.attempt_one(attempt).await;
            next = self.next_attempt();
            // The result may have made room for more attempts than the one that this task makes next.
            self.start_ready_attempts();
        }
    }

    /// Makes one attempt and reports its end to the dispatcher. If the attempt panics, no result is recorded, and the
    /// lease of the delivery expires.
    async fn attempt_one(&self, begun: StartedAttempt<Waiting>) {
        let attempt = AssertUnwindSafe(self.attempt(&begun)).catch_unwind();
        let ending = attempt.await.unwrap_or(Some(AttemptEnd::Abandoned));
        let attempts = self.with_dispatcher(|machine, now| {
            match ending {
                Some(ending) => machine.handle_attempt_ended(begun.place, &begun.item.job, ending),
                None => machine.put_back(begun, now),
            }
            machine.attempts()
        });
        self.metrics.in_flight(attempts);
    }

    async fn claim_until_stopped(self: &Arc<Self>) {
        let mut phase = self.phase.subscribe();
        loop {
            match self.claim().await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot claim deliveries; retrying soon")
                }
            }
            // Starts the ready attempts that no task starts after its own attempt, such as those of the first claim.
            self.start_ready_attempts();
            let pause = |dispatcher: &mut Machine, now: Now| dispatcher.look_again_at(now) - now.steady;
            let pause = self.with_dispatcher(pause);
            tokio::select! {
                _ = phase.wait_for(|phase| *phase > Phase::Open) => return,
                () = self.wake.notified() => {}
                () = sleep(pause) => {}
            }
        }
    }

    async fn record_until_stopped(&self) {
        loop {
            match self.with_dispatcher(|dispatcher, now| dispatcher.next_record_step(now)) {
                NextRecordStep::Now => {
                    if let Err(error) = self.record().await {
                        tracing::warn!(%error, "cannot record delivery results; retrying soon");
                    }
                }
                NextRecordStep::At(steady) => sleep(steady.saturating_sub(self.now().steady)).await,
                NextRecordStep::Idle => self.news.notified().await,
                NextRecordStep::Over => return,
            }
        }
    }

    /// Fires events about failing subscriptions as soon as they are due. The sweep fires those that this loop
    /// misses.
    async fn report_failing_until_stopped(&self) {
        let mut phase = self.phase.subscribe();
        loop {
            tokio::select! {
                _ = phase.wait_for(|phase| *phase > Phase::Open) => return,
                () = self.failing.notified() => {}
            }
            if let Err(error) = operational_events::failing_webhooks(&self.services, || true).await {
                tracing::warn!(%error, "cannot fire events about failing subscriptions; the next sweep retries");
            }
        }
    }

    async fn measure_until_stopped(&self) {
        let mut phase = self.phase.subscribe();
        loop {
            let now = self.services.clock.now();
            match self.services.store.replica().queue_state(now).await {
                Ok(state) => self.metrics.queue(state, now),
                Err(error) => tracing::debug!(%error, "cannot measure the delivery queue"),
            }
            if timeout(MEASURE, phase.wait_for(|phase| *phase > Phase::Open)).await.is_ok() {
                return;
            }
        }
    }

    async fn stop(&self, grace: Duration) {
        let under_way = self.with_dispatcher(|dispatcher, now| dispatcher.stop(now));
        self.phase.send_replace(Phase::Closing);
        if under_way > 0 && timeout(grace, self.quiet.notified()).await.is_err() {
            tracing::warn!("some deliveries did not finish before the shutdown; they are attempted again");
            self.phase.send_replace(Phase::Cut);
        }
    }
}
