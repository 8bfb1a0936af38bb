//! The mailer: a job loop that claims due mails, sends them, and records the results.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use candor_dispatch::{LeaseDeadline, Now};
use candor_domain::access::Tenant;
use candor_port_events::MailTransport;
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::queue::{Lease, WorkerId};
use tokio::sync::{Semaphore, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{sleep_until, timeout};

use super::metrics::Metrics;
use super::record::Batch;
use super::server_pause::ServerPause;
use crate::context::services::Services;

/// Interval of the measurements of the queue length.
const MEASURE: Duration = Duration::from_secs(10);
/// Number of mails sent at once, each over its own connection. An organization gets half of the places that other
/// organizations leave, and at least one: a mail server that delays the mails of one organization must not delay the
/// mails of all.
const MAILS_AT_ONCE: usize = 16;
/// Maximum number of mails per claim, small enough that the writes of a claim do not delay requests.
const CLAIMED_AT_ONCE: usize = 4;
/// Maximum number of results in one record.
const RECORDED_AT_ONCE: usize = 64;
/// Minimum interval between records while mails wait. A write for each mail would slow down requests.
const RECORDED_EVERY: Duration = Duration::from_millis(10);
/// Time reserved for recording a result after the deadline of its attempt.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);
/// Interval of claims, to find mails that other processes queued or that became due.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Pause after the store did not answer.
const STORE_FAILED: Duration = Duration::from_secs(5);

/// Parts of the mailer that its jobs share.
pub(super) struct MailerShared {
    pub(super) services: Arc<Services>,
    pub(super) transport: Arc<dyn MailTransport>,
    pub(super) worker: WorkerId,
    /// Deadline for sending one mail to the mail server.
    pub(super) deadline: Duration,
    pub(super) metrics: Metrics,
    /// Origin of the steady clock.
    begun: Instant,
    /// Permits to send; closed when the mailer stops.
    permits: Semaphore,
    server: Mutex<ServerPause>,
}

/// Background worker that sends the queued mails.
pub struct Mailer {
    parts: Arc<MailerShared>,
    /// Jobs that each send a claimed mail.
    jobs: JoinSet<JobEnd>,
    /// Tenant of the mail that each job sends.
    tenants: HashMap<Id, Tenant>,
    /// Number of jobs by tenant.
    shares: HashMap<Tenant, usize>,
    /// Tenants whose mails the last claim left out.
    left_out: Vec<Tenant>,
    results: Batch,
    /// Steady time of the next claim.
    look_at: Duration,
    /// Steady time of the next record, if there are results.
    record_at: Duration,
    /// `true` if the last record failed. Its results must be recorded before more mails are claimed.
    is_record_overdue: bool,
    /// `true` if idle connections may be open.
    may_rest: bool,
}

/// Result of a job.
struct JobEnd {
    /// Result to record. If `None`, the lease expires and the mail is claimed again.
    result: Option<(MailKey, MailResult)>,
    was_attempted: bool,
}

impl Mailer {
    /// Creates the mailer of this process. `deadline` limits the time of the mail server for one mail.
    #[must_use]
    pub fn new(services: &Arc<Services>, transport: Arc<dyn MailTransport>, deadline: Duration) -> Self {
        let parts = MailerShared {
            services: Arc::clone(services),
            transport,
            worker: WorkerId(services.ids.ulid(services.clock.now()).to_bytes()),
            deadline,
            metrics: Metrics::new(),
            begun: Instant::now(),
            permits: Semaphore::new(MAILS_AT_ONCE),
            server: Mutex::default(),
        };
        Self {
            parts: Arc::new(parts),
            jobs: JoinSet::new(),
            tenants: HashMap::new(),
            shares: HashMap::new(),
            left_out: vec![],
            results: Batch::new(),
            look_at: Duration::ZERO,
            record_at: Duration::ZERO,
            is_record_overdue: false,
            may_rest: false,
        }
    }

    /// Sends mails until `stop` resolves. Then starts no more attempts, releases the waiting mails and gives attempts
    /// in flight `grace` to finish. Cancels the remaining attempts, and returns when all results are recorded.
    pub async fn run(mut self, stop: impl Future<Output = ()>, grace: Duration) {
        let stop_sender = watch::Sender::new(false);
        let (parts, measured) = (Arc::clone(&self.parts), stop_sender.subscribe());
        let sending = async {
            self.send_until(stop, grace).await;
            stop_sender.send_replace(true);
        };
        tokio::join!(sending, measure_until_over(&parts, measured));
        parts.transport.rest().await;
    }

    /// Sends everything that is due now, records the results, and returns the number of attempts. For callers that
    /// control the time themselves.
    pub async fn run_once(&mut self) -> usize {
        (self.look_at, self.record_at) = (Duration::ZERO, Duration::ZERO);
        self.parts.server().end_early();
        let mut attempts = 0;
        loop {
            self.record_and_claim().await;
            let Some(finished_job) = self.jobs.join_next_with_id().await else { return attempts };
            attempts += usize::from(self.take_ended(finished_job));
        }
    }

    async fn send_until(&mut self, stop: impl Future<Output = ()>, grace: Duration) {
        let (parts, mut stop) = (Arc::clone(&self.parts), pin!(stop));
        let mut cut_at = None;
        loop {
            self.record_and_claim().await;
            let is_stopping = parts.permits.is_closed();
            if is_stopping && self.jobs.is_empty() && self.results.is_empty() {
                return;
            }
            let wake_at = self.wake_at().map(|at| parts.begun + at);
            tokio::select! {
                Some(ended) = self.jobs.join_next_with_id() => { self.take_ended(ended); }
                () = parts.services.mail_queued.notified() => self.look_at = Duration::ZERO,
                () = wait_until(wake_at) => {}
                () = &mut stop, if !is_stopping => {
                    parts.permits.close();
                    cut_at = Some(Instant::now() + grace);
                }
                () = wait_until(cut_at) => {
                    cut_at = None;
                    let mails = self.jobs.len();
                    tracing::warn!(mails, "some mails were not sent before the shutdown; they are attempted again");
                    self.jobs.abort_all();
                }
            }
        }
    }

    /// Makes the record and claim calls that are due. Jobs continue meanwhile, because each is a separate task.
    async fn record_and_claim(&mut self) {
        let now = self.parts.now().steady;
        while self.is_record_time(now) {
            self.record(now).await;
        }
        while let Some(most) = self.claim_size(now) {
            self.claim(most).await;
        }
        if self.may_rest && self.jobs.is_empty() {
            self.may_rest = false;
            let parts = Arc::clone(&self.parts);
            drop(tokio::spawn(async move { parts.transport.rest().await }));
        }
    }

    fn is_record_time(&self, now: Duration) -> bool {
        let is_gathering = self.jobs.len() >= CLAIMED_AT_ONCE && self.results.len() < RECORDED_AT_ONCE;
        let may_wait = self.is_record_overdue || is_gathering;
        !self.results.is_empty() && (!may_wait || now >= self.record_at)
    }

    async fn record(&mut self, now: Duration) {
        let rest = self.results.split_off(self.results.len().min(RECORDED_AT_ONCE));
        let batch = std::mem::replace(&mut self.results, rest);
        match self.parts.record(batch).await {
            Ok(()) => {
                self.is_record_overdue = false;
                self.record_at = now + RECORDED_EVERY;
            }
            Err(batch) => {
                self.is_record_overdue = true;
                self.record_at = now + STORE_FAILED;
                self.results.splice(..0, batch);
            }
        }
    }

    /// Returns the number of mails to claim, or `None` if no claim is due or there is no room.
    fn claim_size(&self, now: Duration) -> Option<u16> {
        let server = self.parts.server();
        if self.parts.permits.is_closed() || self.is_record_overdue || now < self.look_at || server.is_paused(now)
        {
            return None;
        }
        if server.is_unreachable() {
            return self.jobs.is_empty().then_some(1);
        }
        u16::try_from(CLAIMED_AT_ONCE.min(MAILS_AT_ONCE - self.jobs.len())).ok().filter(|most| *most > 0)
    }

    /// Returns the number of places that a tenant may have.
    fn share(&self, tenant: Tenant) -> usize {
        let own = self.shares.get(&tenant).copied().unwrap_or_default();
        ((MAILS_AT_ONCE + own).saturating_sub(self.jobs.len()) / 2).max(1)
    }

    /// Returns `true` if a tenant has room for a whole claim, or for its whole share if that is smaller.
    fn has_room(&self, tenant: Tenant) -> bool {
        let (share, own) = (self.share(tenant), self.shares.get(&tenant).copied().unwrap_or_default());
        own + CLAIMED_AT_ONCE.min(share) <= share
    }

    async fn claim(&mut self, most: u16) {
        let has_share = |(tenant, own): &(&Tenant, &usize)| **own >= self.share(**tenant);
        self.left_out = self.shares.iter().filter(has_share).map(|(tenant, _)| *tenant).collect();
        let (parts, now) = (&self.parts, self.parts.now());
        let ends = now.plus(parts.lease());
        let lease = Lease { worker: parts.worker, until: ends.deadline() };
        match parts.services.store.claim_mails(lease, now.wall, most, &self.left_out).await {
            Ok(mails) => {
                let is_full = mails.len() >= usize::from(most);
                self.look_at = if is_full { Duration::ZERO } else { now.steady + LOOK_EVERY };
                self.may_rest |= !mails.is_empty();
                for mail in mails {
                    self.begin(mail, ends);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot claim mails; retrying soon");
                self.look_at = now.steady + STORE_FAILED;
            }
        }
    }

    /// Begins to send a claimed mail, or releases the mail if its tenant has no place left.
    fn begin(&mut self, mail: MailKey, ends: LeaseDeadline) {
        let (tenant, _) = mail;
        let share = self.share(tenant);
        let own = self.shares.entry(tenant).or_default();
        if *own < share {
            *own += 1;
            let job = self.jobs.spawn(Arc::clone(&self.parts).send_one(mail, ends));
            self.tenants.insert(job.id(), tenant);
        } else {
            self.results.push((mail, MailResult::Released));
        }
    }

    /// Takes the result of a job. Returns `true` if the job attempted the mail, panicked or was cancelled.
    fn take_ended(&mut self, ended: Result<(Id, JobEnd), JoinError>) -> bool {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        // A job that panicked gives its place back, too. Its mail is claimed again when the lease ends.
        let tenant = self.tenants.remove(&id);
        if let Some(own) = tenant.and_then(|tenant| self.shares.get_mut(&tenant)) {
            *own = own.saturating_sub(1);
        }
        self.shares.retain(|_, own| *own > 0);
        // A claim as soon as one place is free would release most of the mails that it gets.
        if self.left_out.iter().any(|tenant| self.has_room(*tenant)) {
            self.look_at = Duration::ZERO;
        }
        self.parts.show_in_flight();
        let Ok((_, end)) = ended else { return true };
        self.results.extend(end.result);
        end.was_attempted
    }

    /// Returns the time of the next claim or record, if no other event triggers it first.
    fn wake_at(&self) -> Option<Duration> {
        let now = self.parts.now().steady;
        let look = self.look_at.max(self.parts.server().paused_until());
        let record = (!self.results.is_empty()).then_some(self.record_at);
        std::iter::once(look).chain(record).filter(|at| *at > now).min()
    }
}

impl MailerShared {
    pub(super) fn now(&self) -> Now {
        Now { wall: self.services.clock.now(), steady: self.begun.elapsed() }
    }

    fn server(&self) -> MutexGuard<'_, ServerPause> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the remaining lease that an attempt needs: its result must be recorded before another worker can
    /// claim the mail.
    fn min_remaining_lease(&self) -> Duration {
        self.deadline + RECORDED_WITHIN
    }

    /// Returns the lease duration of a mail. On a busy machine, the job of the mail may begin half the deadline late.
    fn lease(&self) -> Duration {
        self.min_remaining_lease() + self.deadline / 2
    }

    /// Sends a claimed mail once it has a permit. Releases the mail if the mailer stops or the server is paused by
    /// then. Does not send the mail if the rest of its lease is too short.
    async fn send_one(self: Arc<Self>, mail: MailKey, ends: LeaseDeadline) -> JobEnd {
        let permit = self.permits.acquire().await;
        if permit.is_err() || self.server().is_paused(self.now().steady) {
            return JobEnd { result: Some((mail, MailResult::Released)), was_attempted: false };
        }
        if ends.remaining(self.now()) < self.min_remaining_lease() {
            return JobEnd { result: None, was_attempted: false };
        }
        self.show_in_flight();
        let ending = self.attempt(mail).await;
        match ending.reached {
            Some(true) => self.server().record_success(),
            Some(false) => self.server().record_failure(self.now().steady),
            None => {}
        }
        JobEnd { result: ending.result.map(|result| (mail, result)), was_attempted: true }
    }

    fn show_in_flight(&self) {
        self.metrics.in_flight(MAILS_AT_ONCE.saturating_sub(self.permits.available_permits()));
    }
}

/// Waits until `at`, or forever if it is `None`.
async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

async fn measure_until_over(parts: &MailerShared, mut over: watch::Receiver<bool>) {
    loop {
        let now = parts.services.clock.now();
        match parts.services.store.replica().mail_queue_state(now).await {
            Ok(state) => parts.metrics.queue(state, now),
            Err(error) => tracing::debug!(%error, "cannot measure the mail queue"),
        }
        if timeout(MEASURE, over.wait_for(|is_over| *is_over)).await.is_ok() {
            return;
        }
    }
}
