//! What one process does about queued mails: what is claimed, attempted and recorded when, and when a mail server that
//! cannot be reached is asked again.
//!
//! An [`Outbox`] is to mails what the [`Dispatcher`](crate::Dispatcher) is to deliveries, and simpler: all of them go to
//! one server, so nobody has to be given a turn.

use std::collections::VecDeque;
use std::time::Duration;

use candor_domain::people::invitation::MailFailure;
use candor_port_storage::mail_queue::{MailKey, MailResult};
use candor_port_storage::queue::{Lease, WorkerId};

use crate::lease::{Ends, Now};

#[cfg(test)]
mod tests;

/// The most mails that are sent at once, each over a connection of its own.
pub const MAILS_AT_ONCE: usize = 8;
/// How long an attempt may take until what became of it is recorded, beyond its deadline.
const RECORDED_WITHIN: Duration = Duration::from_secs(5);
/// Mails that are claimed at once: enough for the time that a claim takes, few enough that no request waits for its writes.
const CLAIMED_AT_ONCE: u16 = 16;
/// Results that are recorded at once.
const RECORDED_AT_ONCE: usize = 64;
/// How long a result waits for others while more mails wait to be sent: a write for each mail would take from requests what
/// they need themselves.
const RECORDED_EVERY: Duration = Duration::from_millis(10);
/// With more results that are not recorded nothing is claimed: a store that records nothing has enough to do.
const UNRECORDED: usize = 256;
/// How often it is looked for mails that another process has queued, or that have become due.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// When a store that did not answer is asked again.
const STORE_FAILED: Duration = Duration::from_secs(5);
/// How long a server that could not be reached is left alone, at first; each time in a row it is twice as long …
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// … and this long at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A claim that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailClaim {
    /// Who gets what is claimed, and until when.
    pub lease: Lease,
    /// At most so many.
    pub most: u16,
    ends: Ends,
}

/// How the turn of a mail ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailEnding {
    /// What is to be recorded; without anything, the lease runs out and the mail comes round again.
    pub result: Option<MailResult>,
    /// Whether the server was there for it; not known where it was not asked.
    pub reached: Option<bool>,
}

impl MailEnding {
    /// Nothing could be found out about it.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { result: None, reached: None }
    }

    /// The server was not asked.
    #[must_use]
    pub const fn not_attempted(result: MailResult) -> Self {
        Self { result: Some(result), reached: None }
    }

    /// The server was asked.
    #[must_use]
    pub const fn attempted(result: MailResult, outcome: Result<(), MailFailure>) -> Self {
        let reached = match outcome {
            Ok(()) | Err(MailFailure::Deferred | MailFailure::Refused) => Some(true),
            Err(failure) if failure.is_of_the_server() => Some(false),
            Err(_) => None,
        };
        Self { result: Some(result), reached }
    }
}

/// The machine.
#[derive(Debug)]
pub struct Outbox {
    worker: WorkerId,
    /// How long an attempt may take.
    deadline: Duration,
    /// Claimed, in the order in which they are sent.
    waiting: VecDeque<(MailKey, Ends)>,
    sending: usize,
    results: Vec<(MailKey, MailResult)>,
    is_claiming: bool,
    is_recording: bool,
    /// Whether the store did not answer when something was recorded last. What was sent must not be claimed before that
    /// is known there.
    is_record_due: bool,
    /// When to look into the queue next.
    look_at: Duration,
    /// When to record next, after the store did not answer or while more mails wait.
    record_at: Duration,
    /// How often in a row the server could not be reached.
    unreached: u32,
    /// Until when it is left alone.
    paused_until: Duration,
    is_stopping: bool,
}

impl Outbox {
    /// The machine of a worker whose attempts end by this deadline.
    #[must_use]
    pub const fn new(worker: WorkerId, deadline: Duration) -> Self {
        Self {
            worker,
            deadline,
            waiting: VecDeque::new(),
            sending: 0,
            results: Vec::new(),
            is_claiming: false,
            is_recording: false,
            is_record_due: false,
            look_at: Duration::ZERO,
            record_at: Duration::ZERO,
            unreached: 0,
            paused_until: Duration::ZERO,
            is_stopping: false,
        }
    }

    /// There may be something to claim.
    pub const fn look(&mut self) {
        self.look_at = Duration::ZERO;
    }

    /// The same, and a server that could not be reached is asked again at once.
    pub const fn look_and_ask(&mut self) {
        self.look();
        self.paused_until = Duration::ZERO;
    }

    /// The next claim, if there may be something and there is room. [`Outbox::claimed`] or [`Outbox::claim_failed`] must
    /// follow.
    pub fn next_claim(&mut self, now: Now) -> Option<MailClaim> {
        let has_room = self.waiting.len() < MAILS_AT_ONCE && self.results.len() < UNRECORDED;
        let is_time = now.steady >= self.look_at && now.steady >= self.paused_until;
        if self.is_claiming || self.is_stopping || self.is_record_due || !has_room || !is_time {
            return None;
        }
        // One mail finds out whether a server is there again.
        let most = if self.unreached == 0 { CLAIMED_AT_ONCE } else { 1 };
        if self.unreached > 0 && self.sending + self.waiting.len() > 0 {
            return None;
        }
        self.is_claiming = true;
        let ends = now.plus(self.lease());
        Some(MailClaim { lease: Lease { worker: self.worker, until: ends.stored() }, most, ends })
    }

    /// These were claimed.
    pub fn claimed(&mut self, claim: &MailClaim, mails: Vec<MailKey>, now: Now) {
        self.is_claiming = false;
        let is_full = mails.len() >= usize::from(claim.most);
        self.look_at = if is_full { Duration::ZERO } else { now.steady + LOOK_EVERY };
        self.waiting.extend(mails.into_iter().map(|it| (it, claim.ends)));
        if self.is_stopping || self.is_paused(now) {
            self.release();
        }
    }

    /// The store did not answer a claim.
    pub fn claim_failed(&mut self, now: Now) {
        self.is_claiming = false;
        self.look_at = now.steady + STORE_FAILED;
    }

    /// The next mail that is to be attempted, within the deadline; [`Outbox::ended`] must follow. What has too
    /// little left of its lease is passed over.
    pub fn next_attempt(&mut self, now: Now) -> Option<MailKey> {
        let width = if self.unreached == 0 { MAILS_AT_ONCE } else { 1 };
        if self.is_paused(now) {
            return None;
        }
        while self.sending < width {
            let (mail, ends) = self.waiting.pop_front()?;
            if ends.left(now) >= self.needed() {
                self.sending += 1;
                return Some(mail);
            }
        }
        None
    }

    /// The turn of a mail is over.
    pub fn ended(&mut self, mail: MailKey, ending: MailEnding, now: Now) {
        self.sending = self.sending.saturating_sub(1);
        self.results.extend(ending.result.map(|it| (mail, it)));
        match ending.reached {
            Some(true) => (self.unreached, self.paused_until) = (0, Duration::ZERO),
            // Those that were under way together fail together, and count once.
            Some(false) if !self.is_paused(now) => {
                self.paused_until = now.steady + pause(self.unreached);
                self.unreached = self.unreached.saturating_add(1);
                self.release();
            }
            Some(false) | None => {}
        }
    }

    /// The next results that are to be recorded; [`Outbox::recorded`] or [`Outbox::not_recorded`] must follow.
    pub fn next_batch(&mut self, now: Now) -> Option<Vec<(MailKey, MailResult)>> {
        let may_wait = !self.waiting.is_empty() && self.results.len() < RECORDED_AT_ONCE;
        let is_early = (self.is_record_due || may_wait) && now.steady < self.record_at;
        if self.is_recording || self.results.is_empty() || is_early {
            return None;
        }
        self.is_recording = true;
        self.record_at = now.steady + RECORDED_EVERY;
        let count = self.results.len().min(RECORDED_AT_ONCE);
        Some(self.results.drain(..count).collect())
    }

    /// A batch was recorded, or can never be.
    pub const fn recorded(&mut self) {
        self.is_recording = false;
        self.is_record_due = false;
    }

    /// The store did not answer: the batch is recorded later.
    pub fn not_recorded(&mut self, batch: Vec<(MailKey, MailResult)>, now: Now) {
        self.is_recording = false;
        self.is_record_due = true;
        self.record_at = now.steady + STORE_FAILED;
        self.results.splice(..0, batch);
    }

    /// Nothing is begun any more, and what waits is given back.
    pub fn stop(&mut self) {
        self.is_stopping = true;
        self.release();
    }

    /// What is being sent is cut off: nothing will be told of it, and its lease runs out.
    pub const fn abandon(&mut self) {
        self.sending = 0;
    }

    /// Whether all is done after [`Outbox::stop`].
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_stopping
            && self.sending == 0
            && self.waiting.is_empty()
            && self.results.is_empty()
            && !self.is_claiming
            && !self.is_recording
    }

    /// Whether nothing is to be sent for now, so that connections can be closed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sending == 0 && self.waiting.is_empty() && !self.is_claiming && self.look_at > Duration::ZERO
    }

    /// How many mails are being sent.
    #[must_use]
    pub const fn sending(&self) -> usize {
        self.sending
    }

    /// When something is to be done that nobody tells of before.
    #[must_use]
    pub fn ask_again_at(&self, now: Now) -> Option<Duration> {
        let look = self.look_at.max(self.paused_until);
        let record = (!self.results.is_empty()).then_some(self.record_at);
        std::iter::once(look).chain(record).filter(|it| *it > now.steady).min()
    }

    /// What must be left of a lease for an attempt: whoever claims the mail next must find the outcome recorded.
    fn needed(&self) -> Duration {
        self.deadline + RECORDED_WITHIN
    }

    /// How long a mail is leased: half as long as an attempt it may wait here.
    fn lease(&self) -> Duration {
        self.needed() + self.deadline / 2
    }

    fn is_paused(&self, now: Now) -> bool {
        now.steady < self.paused_until
    }

    fn release(&mut self) {
        self.results.extend(self.waiting.drain(..).map(|(mail, _)| (mail, MailResult::Released)));
    }
}

/// How long a server is left alone that could not be reached so often in a row before.
fn pause(before: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(before)).min(LONGEST_PAUSE)
}
