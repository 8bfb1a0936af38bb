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

/// The most mails that are sent at once, each over a connection of its own.
pub const MAILS_AT_ONCE: usize = 8;
/// How long an attempt to send a mail may take. Mail servers take their time to judge one, but rarely more than seconds.
pub const MAIL_DEADLINE: Duration = Duration::from_secs(60);

/// What must be left of a lease for an attempt: whoever claims the mail next must find the outcome recorded.
const NEEDED: Duration = MAIL_DEADLINE.saturating_add(Duration::from_secs(5));
/// How long a mail is leased: half as long as an attempt it may wait here.
const LEASE: Duration = NEEDED.saturating_add(Duration::from_secs(30));
/// Mails that are claimed at once.
const CLAIMED_AT_ONCE: u16 = 64;
/// Results that are recorded at once.
const RECORDED_AT_ONCE: usize = 64;
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
    /// When to record next, after the store did not answer.
    record_at: Duration,
    /// How often in a row the server could not be reached.
    unreached: u32,
    /// Until when it is left alone.
    paused_until: Duration,
    is_stopping: bool,
}

impl Outbox {
    /// The machine of a worker.
    #[must_use]
    pub const fn new(worker: WorkerId) -> Self {
        Self {
            worker,
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
        let ends = now.plus(LEASE);
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

    /// The next mail that is to be attempted, within [`MAIL_DEADLINE`]; [`Outbox::ended`] must follow. What has too
    /// little left of its lease is passed over.
    pub fn next_attempt(&mut self, now: Now) -> Option<MailKey> {
        let width = if self.unreached == 0 { MAILS_AT_ONCE } else { 1 };
        if self.is_paused(now) {
            return None;
        }
        while self.sending < width {
            let (mail, ends) = self.waiting.pop_front()?;
            if ends.left(now) >= NEEDED {
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
        if self.is_recording || self.results.is_empty() || now.steady < self.record_at {
            return None;
        }
        self.is_recording = true;
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

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::access::Tenant;
    use candor_domain::id::{Id, OrganizationId};
    use candor_domain::time::Timestamp;
    use ulid::Ulid;

    const SENT: MailEnding = MailEnding { result: Some(MailResult::Released), reached: Some(true) };
    const UNREACHED: MailEnding = MailEnding { result: Some(MailResult::Released), reached: Some(false) };

    fn at(millis: u64) -> Now {
        let wall = Timestamp::from_millis(1_000_000 + i64::try_from(millis).unwrap());
        Now { wall, steady: Duration::from_millis(millis) }
    }

    fn mails(count: u128) -> Vec<MailKey> {
        let tenant = Tenant::live(OrganizationId::from_ulid(Ulid(1)));
        (0..count).map(|it| (tenant, Id::from_ulid(Ulid(it)))).collect()
    }

    fn outbox() -> Outbox {
        Outbox::new(WorkerId([1; 16]))
    }

    /// Claims these.
    fn claim(it: &mut Outbox, count: u128, now: Now) {
        let claim = it.next_claim(now).expect("a claim");
        it.claimed(&claim, mails(count), now);
    }

    fn attempts(it: &mut Outbox, now: Now) -> Vec<MailKey> {
        std::iter::from_fn(|| it.next_attempt(now)).collect()
    }

    #[test]
    fn eight_are_sent_at_once_and_more_are_claimed_before_all_are_sent() {
        let (mut it, now) = (outbox(), at(0));
        claim(&mut it, 64, now);
        assert_eq!(attempts(&mut it, now), mails(8));
        assert_eq!(it.next_claim(now), None, "56 wait");
        for mail in mails(64).into_iter().take(50) {
            it.ended(mail, SENT, now);
            it.next_attempt(now);
        }
        assert_eq!(it.sending(), 8);
        assert!(it.next_claim(now).is_some(), "6 wait, and the last claim was full");
        assert_eq!(it.next_claim(now), None, "one claim at a time");
    }

    #[test]
    fn after_a_claim_that_found_less_it_waits_until_it_is_told_or_time_has_passed() {
        let mut it = outbox();
        claim(&mut it, 0, at(0));
        assert_eq!((it.next_claim(at(4_999)), it.ask_again_at(at(4_999))), (None, Some(LOOK_EVERY)));
        assert!(it.is_idle());
        it.look();
        claim(&mut it, 0, at(10));
        assert_eq!(it.next_claim(at(5_009)), None);
        assert!(it.next_claim(at(5_010)).is_some());
    }

    #[test]
    fn a_server_that_is_not_there_is_asked_less_and_less_often_with_one_mail() {
        let mut it = outbox();
        claim(&mut it, 20, at(0));
        let under_way = attempts(&mut it, at(0));
        for mail in &under_way {
            it.ended(*mail, UNREACHED, at(0));
        }
        assert_eq!(it.next_batch(at(0)).unwrap().len(), 20, "those that wait are given back");
        it.recorded();
        let mut now = 0;
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(it.next_claim(at(now + wait * 1000 - 1)), None, "{wait}");
            now += wait * 1000;
            it.look();
            let one = it.next_claim(at(now)).expect("a claim");
            assert_eq!(one.most, 1);
            it.claimed(&one, mails(1), at(now));
            assert_eq!(attempts(&mut it, at(now)).len(), 1);
            assert_eq!(it.next_claim(at(now)), None, "the one is still under way");
            it.ended(mails(1)[0], UNREACHED, at(now));
        }
        it.look_and_ask();
        claim(&mut it, 1, at(now));
        assert_eq!(attempts(&mut it, at(now)).len(), 1);
        it.ended(mails(1)[0], SENT, at(now));
        assert_eq!(it.next_claim(at(now)).unwrap().most, 64, "it is there again");
    }

    #[test]
    fn what_waited_too_long_is_left_to_its_lease() {
        let mut it = outbox();
        claim(&mut it, 1, at(0));
        assert_eq!(attempts(&mut it, at(30_001)), []);
        assert_eq!((it.next_batch(at(30_001)), it.sending()), (None, 0));
    }

    #[test]
    fn what_a_store_did_not_record_is_recorded_later_and_first() {
        let mut it = outbox();
        claim(&mut it, 2, at(0));
        for mail in attempts(&mut it, at(0)) {
            it.ended(mail, SENT, at(0));
        }
        let batch = it.next_batch(at(0)).unwrap();
        assert_eq!((batch.len(), it.next_batch(at(0))), (2, None));
        it.not_recorded(batch.clone(), at(0));
        it.look();
        assert_eq!(it.next_claim(at(1)), None, "what was sent is still claimable");
        it.look_at = LOOK_EVERY;
        assert_eq!((it.next_batch(at(4_999)), it.ask_again_at(at(4_999))), (None, Some(LOOK_EVERY)));
        assert_eq!(it.next_batch(at(5_000)), Some(batch));
    }

    #[test]
    fn an_end_gives_back_what_waits_and_waits_for_what_is_under_way() {
        let (mut it, now) = (outbox(), at(0));
        claim(&mut it, 10, now);
        let under_way = attempts(&mut it, now);
        it.stop();
        let given_back = it.next_batch(now).unwrap();
        assert_eq!((given_back.len(), it.next_claim(now)), (2, None));
        it.recorded();
        assert!(!it.is_over());
        for mail in under_way {
            it.ended(mail, SENT, now);
        }
        assert!(!it.is_over() && it.next_batch(now).is_some());
        it.recorded();
        assert!(it.is_over());
    }

    #[test]
    fn what_a_claim_brings_too_late_is_given_back() {
        let (mut it, now) = (outbox(), at(0));
        let claim = it.next_claim(now).unwrap();
        it.stop();
        it.claimed(&claim, mails(3), now);
        assert_eq!((it.next_attempt(now), it.next_batch(now).unwrap().len()), (None, 3));
    }
}
