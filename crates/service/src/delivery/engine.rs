//! The engine: what it holds, its loops, and its end.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use candor_domain::webhook::Job;
use candor_port_storage::queue::{Lane, WorkerId};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, sleep_until, timeout};

use super::Settings;
use super::claims::Claims;
use super::figures::Figures;
use super::lanes::{Answer, Begun, Lanes, Limits};
use super::lease::Now;
use super::message::Message;
use super::receivers::Receivers;
use super::record::Outcomes;
use crate::{Error, Shell};

/// Attempts under way at once: each has a socket.
const ATTEMPTS: usize = 256;
/// Deliveries that wait in memory at once.
const WAITING: usize = 1280;
/// How often the length of the queue is measured.
const MEASURE: Duration = Duration::from_secs(10);
/// Without room, or after news that came to nothing, the queue rests at least so long.
const REST: Duration = Duration::from_millis(20);
/// When the store does not take what is to be recorded, it is tried again after this time, and more slowly from then on …
const TRY_AGAIN: Duration = Duration::from_millis(50);
/// … up to this.
const TRY_AGAIN_AT_LAST: Duration = Duration::from_secs(2);

/// Delivers what is queued.
pub struct Engine {
    pub(super) shell: Arc<Shell>,
    pub(super) settings: Settings,
    pub(super) worker: WorkerId,
    pub(super) receivers: Receivers,
    pub(super) outcomes: Outcomes,
    pub(super) figures: Figures,
    pub(super) phase: watch::Sender<Phase>,
    lanes: Mutex<Lanes<Waiting>>,
    claims: Mutex<Claims>,
    /// There may be something to claim, or room for it.
    wake: Notify,
    /// The last attempt has ended after the engine was told to stop.
    quiet: Notify,
    /// Where attempts are made; none while somebody drives the engine turn by turn.
    runtime: OnceLock<Handle>,
}

/// A delivery that waits for its turn.
pub(super) struct Waiting {
    pub(super) job: Job,
    /// What is sent, unless it is still to be read.
    pub(super) message: Option<Arc<Message>>,
    /// It was parked, so it may be too late for it (decision F4).
    pub(super) resumed: bool,
}

/// What the engine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Phase {
    /// It works.
    Open,
    /// It begins nothing any more.
    Closing,
    /// What is still under way is cut off.
    Cut,
}

impl Engine {
    /// The most deliveries that an engine has in memory, but for what one claim finds no room for.
    pub const ROOM: usize = ATTEMPTS + WAITING;

    /// An engine of this process, which the shell hands deliveries over to as long as it is there.
    #[must_use]
    pub fn new(shell: &Arc<Shell>, settings: Settings) -> Arc<Self> {
        let limits = Limits { attempts: ATTEMPTS, waiting: WAITING, needs: settings.needs() };
        let worker = WorkerId(shell.ids.ulid(shell.clock.now()).to_bytes());
        let engine = Arc::new(Self {
            shell: Arc::clone(shell),
            settings,
            worker,
            receivers: Receivers::default(),
            outcomes: Outcomes::default(),
            figures: Figures::new(),
            phase: watch::Sender::new(Phase::Open),
            lanes: Mutex::new(Lanes::new(limits)),
            claims: Mutex::new(Claims::new(Instant::now())),
            wake: Notify::new(),
            quiet: Notify::new(),
            runtime: OnceLock::new(),
        });
        shell.deliveries.belong_to(&engine);
        engine
    }

    /// How many deliveries the engine has in memory.
    #[must_use]
    pub fn held(&self) -> usize {
        self.lanes().held()
    }

    /// Delivers until `stop`. Then it begins nothing more, gives back what waits, lets what is under way end for as long
    /// as `grace`, cuts the rest off, and ends when all of that is recorded.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()>, grace: Duration) {
        let _ = self.runtime.set(Handle::current());
        self.start_what_may();
        let stopped = async {
            stop.await;
            self.stop(grace).await;
        };
        tokio::join!(stopped, self.claim_until_stopped(), self.record_until_stopped(), self.measure_until_stopped());
    }

    /// Everything that can be done now, once: claims what is due, attempts it, records what became of it, until there is
    /// nothing more. Says how many deliveries that were. For whoever lets time pass by hand.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Bug`]; what is left is done the next time.
    pub async fn turn(self: &Arc<Self>) -> Result<usize, Error> {
        self.nudge(true);
        let mut done = 0;
        loop {
            let claimed = self.claim().await?;
            let ended = self.work_off().await;
            let recorded = self.record().await?;
            done += ended;
            if !claimed && !recorded && ended == 0 {
                return Ok(done);
            }
        }
    }

    async fn work_off(&self) -> usize {
        let (mut running, mut ended) = (FuturesUnordered::new(), 0);
        loop {
            while let Some(begun) = self.start() {
                running.push(self.attempt_one(begun));
            }
            if running.next().await.is_none() {
                return ended;
            }
            ended += 1;
        }
    }

    pub(super) fn lanes(&self) -> MutexGuard<'_, Lanes<Waiting>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Now {
        Now::of(&*self.shell.clock)
    }

    /// The queue is looked at now; on request, so is what is parked.
    pub(super) fn nudge(&self, parked: bool) {
        let mut claims = self.claims();
        claims.look_at_due();
        if parked {
            claims.look_at_parked();
        }
        drop(claims);
        self.wake.notify_one();
    }

    fn start(&self) -> Option<Begun<Waiting>> {
        let now = self.now();
        let begun = self.lanes().start(now);
        if begun.as_ref().is_some_and(|it| it.makes_room) {
            self.wake.notify_one();
        }
        begun
    }

    pub(super) fn start_what_may(self: &Arc<Self>) {
        let Some(runtime) = self.runtime.get() else { return };
        while let Some(begun) = self.start() {
            runtime.spawn(Arc::clone(self).work(begun));
        }
    }

    /// Makes one attempt, and then whichever is next.
    async fn work(self: Arc<Self>, begun: Begun<Waiting>) {
        let mut next = Some(begun);
        while let Some(begun) = next {
            self.attempt_one(begun).await;
            next = self.start();
            // The answer may have made room for more than the one that follows here.
            self.start_what_may();
        }
    }

    /// Makes one attempt, and hands on what became of it.
    async fn attempt_one(&self, begun: Begun<Waiting>) {
        let mut place = Place { engine: self, lane: begun.lane, round: begun.round, answer: None, records: false };
        let (finished, answer) = self.attempt(&begun).await;
        place.records = finished.is_some();
        place.answer = answer;
        drop(place);
        self.outcomes.add(finished);
    }

    async fn claim_until_stopped(self: &Arc<Self>) {
        let mut phase = self.phase.subscribe();
        loop {
            match self.claim().await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "could not look into the queue of deliveries; tried again soon"),
            }
            // Attempts begin where others end; this is for what none of them has begun.
            self.start_what_may();
            let look_at = self.claims().look_at().max(Instant::now() + REST);
            tokio::select! {
                _ = phase.wait_for(|it| *it > Phase::Open) => return,
                () = self.wake.notified() => {}
                () = sleep_until(look_at.into()) => {}
            }
        }
    }

    async fn record_until_stopped(&self) {
        let mut pause = TRY_AGAIN;
        loop {
            match self.record().await {
                Ok(true) => {
                    pause = TRY_AGAIN;
                    self.wake.notify_one();
                    self.outcomes.gather().await;
                }
                Ok(false) if self.lanes().is_done() => return,
                Ok(false) => self.outcomes.news().await,
                Err(error) => {
                    tracing::warn!(%error, "could not record what became of deliveries; tried again soon");
                    sleep(pause).await;
                    pause = (2 * pause).min(TRY_AGAIN_AT_LAST);
                }
            }
        }
    }

    async fn measure_until_stopped(&self) {
        let mut phase = self.phase.subscribe();
        loop {
            let now = self.shell.clock.now();
            match self.shell.store.queue_state(now).await {
                Ok(state) => self.figures.queue(state, now),
                Err(error) => tracing::debug!(%error, "could not measure the queue of deliveries"),
            }
            if timeout(MEASURE, phase.wait_for(|it| *it > Phase::Open)).await.is_ok() {
                return;
            }
        }
    }

    async fn stop(&self, grace: Duration) {
        let under_way = self.close();
        if under_way > 0 && timeout(grace, self.quiet.notified()).await.is_err() {
            tracing::warn!("some deliveries did not end in time; they are attempted again");
            self.phase.send_replace(Phase::Cut);
        }
    }

    /// Begins nothing any more, and gives back what waits; says how many attempts are under way.
    fn close(&self) -> usize {
        let mut lanes = self.lanes();
        let waiting = lanes.close();
        lanes.owe(waiting.len());
        let under_way = lanes.attempts();
        drop(lanes);
        self.phase.send_replace(Phase::Closing);
        self.give_back(waiting.into_iter().map(|it| it.job).collect());
        self.outcomes.tell();
        under_way
    }
}

/// An attempt's place among those under way. If the attempt panics, nothing is recorded and its lease runs out.
struct Place<'a> {
    engine: &'a Engine,
    lane: Lane,
    round: u32,
    answer: Option<Answer>,
    records: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut lanes = self.engine.lanes();
        if self.records {
            lanes.ended(self.lane, self.round, self.answer);
        } else {
            lanes.left(self.lane, self.round, self.answer);
        }
        let (attempts, open) = (lanes.attempts(), lanes.is_open());
        drop(lanes);
        self.engine.figures.in_flight(attempts);
        if !open {
            self.engine.outcomes.tell();
        }
        if !open && attempts == 0 {
            self.engine.quiet.notify_one();
        }
    }
}
