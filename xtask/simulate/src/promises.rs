//! What is promised, watched from outside: every event that was queued, every request that a receiver saw, every entry of
//! the log. Nothing here asks the machine or the queue what it thinks.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, FailureReason, Status};

use crate::queue::{Change, Key};

/// Seconds before the attempts 2 to 7, as §6.4 has them.
const DELAYS: [i64; 6] = [30, 120, 600, 3_600, 21_600, 86_400];
/// After all of these a delivery that was paused is too late (decision F4).
const WINDOW_SECONDS: i64 = 112_350;
/// Clocks of two processes differ by no more.
pub(crate) const SKEW_MILLIS: i64 = 500;
/// A prompt receiver's delivery is attempted for the first time within this time, whatever other receivers do: a receiver
/// that is not known yet may have to wait until others have hung, and what has waited for too long comes round with the
/// end of its lease. When that was disturbed, it counts from the end of the disturbance.
const SERVED_WITHIN_MILLIS: i64 = 120_000;
/// How long a lease lasts at most, from its claim.
const LEASE_MILLIS: i64 = 30_000;

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Dropped,
    Gone,
}

/// When an attempt ended: by its process's time of day, by the time that has passed, and how often clocks had been set.
#[derive(Debug, Clone, Copy, Default)]
struct Ended {
    wall: i64,
    at: i64,
    steps: u64,
}

#[derive(Debug, Default)]
struct Track {
    /// Since when it waits for its first attempt, if its receiver is a prompt one.
    waits_since: Option<i64>,
    first_due_at: i64,
    /// The attempts that are in the log, and when the newest of them ended by its process's clock.
    logged: u16,
    ended: Ended,
    /// The attempt that somebody asked for sooner. If it was under way already, that means the one after it.
    sooner: Option<u16>,
    in_air: Vec<(usize, i64)>,
    end: Option<End>,
    /// It was not attempted, because its subscription was not active.
    removed: bool,
}

/// How much there was of everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) deliveries: u64,
    pub(crate) attempts: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) kills: u64,
    pub(crate) steps: u64,
    pub(crate) failed_calls: u64,
    pub(crate) leases_lost: u64,
    pub(crate) happenings: u64,
    /// The longest that a prompt receiver's delivery has waited undisturbed, in milliseconds.
    pub(crate) longest_wait: i64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        self.deliveries += other.deliveries;
        self.attempts += other.attempts;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.kills += other.kills;
        self.steps += other.steps;
        self.failed_calls += other.failed_calls;
        self.leases_lost += other.leases_lost;
        self.happenings += other.happenings;
        self.longest_wait = self.longest_wait.max(other.longest_wait);
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { deliveries, attempts, delivered, dropped, kills, steps, failed_calls, leases_lost, .. } = self;
        write!(f, "{deliveries} deliveries, {attempts} attempts, {delivered} delivered, {dropped} dropped, ")?;
        write!(f, "{kills} kills, {steps} clocks set, {failed_calls} failed calls, {leases_lost} leases lost, ")?;
        write!(f, "{} happenings, longest wait {} ms", self.happenings, self.longest_wait)
    }
}

/// The promises, and the first one that was broken.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    deliveries: BTreeMap<Key, Track>,
    /// What processes have been answered and not yet entered into the log, by process.
    unlogged: BTreeMap<usize, BTreeSet<DeliveryId>>,
    /// When attempts ended, by the clock of their process.
    ended: BTreeMap<DeliveryId, Ended>,
    /// Since when nothing was disturbed, and when a clock was set on for the last time.
    calm_since: i64,
    set_on_at: Option<i64>,
    pub(crate) broken: Option<String>,
    /// What happened to each delivery, if somebody wants to read it.
    pub(crate) story: Option<BTreeMap<Key, Vec<String>>>,
    pub(crate) counts: Counts,
    pub(crate) digest: u64,
}

impl Promises {
    /// A delivery was queued; `waits` if its receiver is a prompt one.
    pub(crate) fn queued(&mut self, key: Key, due: Timestamp, waits: bool, now: i64) {
        self.note(1, now, u64::from(waits));
        self.counts.deliveries += 1;
        self.tells(key, now, || format!("queued, due at {due}"));
        let in_air = self.deliveries.remove(&key).map(|it| it.in_air).unwrap_or_default();
        let waits_since = waits.then_some(now);
        let track = Track { waits_since, first_due_at: due.millis(), in_air, ..Track::default() };
        self.deliveries.insert(key, track);
    }

    pub(crate) fn brought_forward(&mut self, key: Key, attempt: u16, now: i64) {
        self.tells(key, now, || "brought forward".to_owned());
        if let Some(it) = self.deliveries.get_mut(&key) {
            it.sooner = Some(attempt);
        }
    }

    /// Until this time nobody is served as promised.
    pub(crate) fn disturbed(&mut self, until: i64) {
        self.calm_since = self.calm_since.max(until);
    }

    pub(crate) const fn clock_set_on(&mut self, now: i64) {
        self.set_on_at = Some(now);
    }

    /// A receiver sees an attempt begin. The wall clock is that of the process.
    pub(crate) fn sent(&mut self, process: usize, key: Key, attempt: u16, wall: Timestamp, now: i64) {
        self.note(2, now, u64::from(attempt));
        self.counts.attempts += 1;
        self.tells(key, now, || format!("process {process} sends attempt {attempt} at {wall}"));
        let (calm_since, set_on_at, steps) = (self.calm_since, self.set_on_at, self.counts.steps);
        let Some(it) = self.deliveries.get_mut(&key) else {
            return self.breaks(now, key, "something was sent that was never queued");
        };
        let mut broken = None;
        if let Some((_, since)) = it.in_air.first()
            && set_on_at.is_none_or(|at| at < since - LEASE_MILLIS)
        {
            broken = Some(format!("attempt {attempt} begins while another one is under way: a lease is held twice"));
        }
        let delay = usize::from(attempt).checked_sub(2).and_then(|it| DELAYS.get(it));
        // What is due by the time of day stays so when that is set back, and when it is set on and back nobody can tell.
        let passed = (wall.millis() - it.ended.wall).max(now - it.ended.at);
        let early = delay.map_or(0, |delay| delay * 1000 - 2 * SKEW_MILLIS - passed);
        let early = if steps > it.ended.steps + 1 { 0 } else { early };
        let is_wanted = it.sooner.is_some_and(|it| (it..=it + 1).contains(&attempt));
        if early > 0 && !is_wanted {
            broken = Some(format!("attempt {attempt} begins {early} ms before the schedule has it"));
        }
        if let Some(since) = it.waits_since.take() {
            let waited = now - since.max(calm_since);
            self.counts.longest_wait = self.counts.longest_wait.max(waited);
            if waited > SERVED_WITHIN_MILLIS {
                broken = Some(format!("it has waited for {waited} ms, though its receiver is prompt: it is starved"));
            }
        }
        it.in_air.push((process, now));
        if let Some(what) = broken {
            self.breaks(now, key, &what);
        }
    }

    /// Whether somebody waits for too long who has not been served yet.
    pub(crate) fn look_around(&mut self, now: i64) {
        let served_by = |since: i64| since.max(self.calm_since) + SERVED_WITHIN_MILLIS;
        let starved = |it: &Track| it.end.is_none() && it.waits_since.is_some_and(|since| served_by(since) < now);
        if let Some(key) = self.deliveries.iter().find(|(_, it)| starved(it)).map(|(key, _)| *key) {
            self.breaks(now, key, "it still waits, though its receiver is prompt: it is starved");
        }
    }

    /// A process has its receiver's answer.
    pub(crate) fn answered(&mut self, process: usize, key: Key, id: DeliveryId, (wall, now): (Timestamp, i64)) {
        self.tells(key, now, || format!("process {process} is answered"));
        self.unlogged.entry(process).or_default().insert(id);
        self.ended.insert(id, Ended { wall: wall.millis(), at: now, steps: self.counts.steps });
        self.landed(process, key);
    }

    /// An attempt is not under way any more.
    pub(crate) fn landed(&mut self, process: usize, key: Key) {
        if let Some(it) = self.deliveries.get_mut(&key)
            && let Some(at) = it.in_air.iter().position(|(it, _)| *it == process)
        {
            it.in_air.remove(at);
        }
    }

    /// A process is dead, with what it knew.
    pub(crate) fn died(&mut self, process: usize) {
        self.unlogged.remove(&process);
        self.deliveries.values_mut().for_each(|it| it.in_air.retain(|(it, _)| *it != process));
    }

    /// A process has come to its end in good order.
    pub(crate) fn ended_in_order(&mut self, process: usize, now: i64) {
        if let Some(id) = self.unlogged.remove(&process).and_then(|it| it.first().copied()) {
            self.fails(now, &format!("process {process} has ended, and its attempt {id} is not in the log"));
        }
    }

    /// What a process cannot record at all is excused.
    pub(crate) fn given_up(&mut self, process: usize, id: Option<DeliveryId>) {
        if let (Some(ids), Some(id)) = (self.unlogged.get_mut(&process), id) {
            ids.remove(&id);
        }
    }

    /// What recording the result of an attempt with this id, if it was one, did to a delivery.
    pub(crate) fn recorded(&mut self, process: usize, key: Key, id: Option<DeliveryId>, change: &Change, now: i64) {
        self.tells(key, now, || format!("process {process} records: {}", described(change)));
        match change {
            Change::Logged(entry, retry_at) => self.logged(process, key, entry, *retry_at, now),
            Change::Gone => {
                self.note(4, now, 0);
                let Some(it) = self.deliveries.get_mut(&key) else { return };
                it.end = Some(End::Gone);
                if !it.removed {
                    self.breaks(now, key, "it was let go, though its subscription is there");
                }
            }
            Change::Lost => {
                self.counts.leases_lost += 1;
                self.given_up(process, id);
            }
            Change::Kept(_) => {}
        }
    }

    fn logged(&mut self, process: usize, key: Key, entry: &Delivery, retry_at: Option<Timestamp>, now: i64) {
        self.note(3, now, u64::from(entry.attempt));
        self.given_up(process, Some(entry.id));
        let ended = self.ended.remove(&entry.id);
        let Some(it) = self.deliveries.get_mut(&key) else {
            return self.breaks(now, key, "the log has an attempt of what was never queued");
        };
        let too_late = entry.failure == Some(FailureReason::TooLate);
        let last = usize::from(entry.attempt) > DELAYS.len();
        let over = entry.attempted_at.millis() + 2 * SKEW_MILLIS > it.first_due_at + WINDOW_SECONDS * 1000;
        let broken = if it.end.is_some() {
            Some("the log has an attempt after the last one")
        } else if entry.attempt != it.logged + 1 {
            Some("the log skips an attempt, or has one twice")
        } else if ended.is_none() && !too_late {
            Some("the log has an attempt that nobody was answered")
        } else if entry.status == Status::Dropped && !(last || too_late && over) {
            Some("it was dropped before its schedule was over")
        } else if retry_at.is_none() != (entry.status != Status::Failed) {
            Some("what failed is to be tried again, and nothing else")
        } else {
            None
        };
        it.logged = entry.attempt;
        it.ended = ended.unwrap_or(it.ended);
        match entry.status {
            Status::Success => {
                it.end = Some(End::Delivered);
                self.counts.delivered += 1;
            }
            Status::Dropped => {
                it.end = Some(End::Dropped);
                self.counts.dropped += 1;
            }
            Status::Failed => {}
        }
        if let Some(what) = broken {
            self.breaks(now, key, what);
        }
    }

    /// A subscription is not active for a while: nobody is kept waiting by anything else.
    pub(crate) fn paused(&mut self, is_its: impl Fn(Key) -> bool) {
        self.deliveries.iter_mut().filter(|(key, _)| is_its(**key)).for_each(|(_, it)| it.waits_since = None);
    }

    /// A subscription is removed: what is queued for it may be let go.
    pub(crate) fn removed(&mut self, is_its: impl Fn(Key) -> bool) {
        self.deliveries.iter_mut().filter(|(key, _)| is_its(**key)).for_each(|(_, it)| it.removed = true);
    }

    /// Everything has come to rest, and this is what is parked for subscriptions that are not active.
    pub(crate) fn at_the_end(&mut self, parked: &BTreeSet<Key>, now: i64) {
        let lost = self.deliveries.iter().find(|(key, it)| it.end.is_none() && !it.removed && !parked.contains(key));
        if let Some(key) = lost.map(|(key, _)| *key) {
            self.breaks(now, key, "it is lost: neither delivered nor dropped");
        }
        let unlogged = self.unlogged.iter().find_map(|(process, ids)| Some((*process, *ids.first()?)));
        if let Some((process, id)) = unlogged {
            self.fails(now, &format!("attempt {id} of process {process} is not in the log"));
        }
    }

    fn breaks(&mut self, now: i64, ((tenant, webhook), event): Key, what: &str) {
        if let Some(story) = &mut self.story {
            story.retain(|it, _| *it == ((tenant, webhook), event));
        }
        self.fails(now, &format!("{event} for {webhook} of {}: {what}", tenant.organization));
    }

    pub(crate) fn fails(&mut self, now: i64, what: &str) {
        if self.broken.is_none() {
            self.broken = Some(format!("after {} days and {} ms: {what}", now / 86_400_000, now % 86_400_000));
        }
    }

    /// Writes down what happens to a delivery.
    pub(crate) fn tells(&mut self, key: Key, now: i64, what: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.entry(key).or_default().push(format!("{now:>12} ms: {}", what()));
        }
    }

    /// Adds something to the digest (FNV).
    fn note(&mut self, kind: u64, now: i64, what: u64) {
        for it in [kind, now.cast_unsigned(), what] {
            self.digest = (self.digest ^ it).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn described(change: &Change) -> String {
    match change {
        Change::Logged(entry, Some(at)) => format!("attempt {} in the log, the next one is due at {at}", entry.attempt),
        Change::Logged(entry, None) => format!("attempt {} in the log, the last one", entry.attempt),
        Change::Gone => "gone".to_owned(),
        Change::Lost => "nothing, the lease has passed to another".to_owned(),
        Change::Kept(Some(at)) => format!("not attempted, it is due at {at}"),
        Change::Kept(None) => "parked".to_owned(),
    }
}
