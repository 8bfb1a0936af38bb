//! The promises, checked from outside: every queued event, every request that a receiver got, every log entry. The
//! checks ask neither the machine nor the queue.

use crate::counts::Counts;
use crate::queue::{Change, Key};
use crate::rates::Rates;
use crate::waits::Wait;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::QueueKey;
use candor_subscriptions::{Delivery, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Seconds before the attempts 2 to 7 (§6.4).
const DELAYS: [i64; 6] = [30, 120, 600, 3_600, 21_600, 86_400];
/// Sum of the delays. After this time a paused delivery is too late (decision F4).
const WINDOW_SECONDS: i64 = 112_350;
/// Maximum difference between the clocks of two processes.
pub(crate) const SKEW_MILLIS: i64 = 500;
/// Time after a logged 410 in which requests may still arrive, since calls of the store may be slow.
const ENDED_WITHIN_MILLIS: i64 = 10_000;
/// Maximum duration of a lease.
const LEASE_MILLIS: i64 = 30_000;

/// Final state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Dropped,
    Gone,
}

/// End of an attempt by the wall clock of its process and by the simulated time, and the number of clock changes
/// before. `requested` is the pause that the receiver requested, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
struct EndedAttempt {
    wall: i64,
    at: i64,
    clock_changes: u64,
    requested: i64,
}

#[derive(Debug, Default)]
struct Track {
    /// Wait for the first attempt, if the receiver is prompt.
    wait: Option<Wait>,
    first_due_at: i64,
    /// Number of attempts in the log.
    logged: u16,
    /// End of the last attempt in the log.
    ended: EndedAttempt,
    /// Number of the attempt that a client has brought forward. If this attempt is in progress at the time, the next
    /// attempt may be early, too.
    sooner: Option<u16>,
    /// Attempts in progress: process and start.
    in_progress: Vec<(usize, i64)>,
    end: Option<End>,
    /// `true` if the subscription was removed.
    removed: bool,
}

/// The state of all deliveries, and the first broken promise.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    deliveries: BTreeMap<Key, Track>,
    /// Attempts with a response that are not in the log yet, by process.
    unlogged: BTreeMap<usize, BTreeSet<DeliveryId>>,
    /// Ends of attempts that are not in the log yet.
    ended: BTreeMap<DeliveryId, EndedAttempt>,
    /// Subscriptions with a 410 in the log: the time and the process that recorded it.
    gone: BTreeMap<QueueKey, (i64, usize)>,
    /// Simulated time at which the last disturbance ended.
    calm_since: i64,
    /// Simulated time of the last clock change forward.
    pub(crate) set_forward_at: Option<i64>,
    pub(crate) rates: Rates,
    pub(crate) broken: Option<String>,
    /// History of each delivery, if the options ask for it.
    pub(crate) history: Option<BTreeMap<Key, Vec<String>>>,
    pub(crate) counts: Counts,
    pub(crate) digest: u64,
}

impl Promises {
    /// Records that a delivery was queued. `wait` is set if its receiver is prompt.
    pub(crate) fn queued(&mut self, key: Key, due: Timestamp, wait: Option<Wait>, now: i64) {
        self.note(1, now, u64::from(wait.is_some()));
        self.counts.deliveries += 1;
        self.tell(key, now, || format!("queued, due at {due}"));
        let in_progress = self.deliveries.remove(&key).map(|track| track.in_progress).unwrap_or_default();
        let track = Track { wait, first_due_at: due.millis(), in_progress, ..Track::default() };
        self.deliveries.insert(key, track);
    }

    pub(crate) fn brought_forward(&mut self, key: Key, attempt: u16, now: i64) {
        self.tell(key, now, || "brought forward".to_owned());
        if let Some(track) = self.deliveries.get_mut(&key) {
            track.sooner = Some(attempt);
        }
    }

    /// Notes a disturbance that lasts until this time. The promised waits count from its end.
    pub(crate) fn disturb(&mut self, until: i64) {
        self.calm_since = self.calm_since.max(until);
    }

    pub(crate) const fn clock_set_forward(&mut self, now: i64) {
        self.set_forward_at = Some(now);
    }

    /// Records and checks a request to a receiver. `wall` is the clock of the process.
    pub(crate) fn sent(&mut self, process: usize, key: Key, attempt: u16, wall: Timestamp, now: i64) {
        self.note(2, now, u64::from(attempt));
        self.counts.attempts += 1;
        self.tell(key, now, || format!("process {process} sends attempt {attempt} at {wall}"));
        let (calm_since, set_forward_at, clock_changes) =
            (self.calm_since, self.set_forward_at, self.counts.clock_changes);
        let removal_time = self.gone.get(&key.0).copied();
        let Some(track) = self.deliveries.get_mut(&key) else {
            return self.break_promise(now, key, "a request was sent for a delivery that was never queued");
        };
        let mut broken_promise = None;
        if let Some((_, since)) = track.in_progress.first()
            && set_forward_at.is_none_or(|at| at < since - LEASE_MILLIS)
        {
            broken_promise = Some(format!("attempt {attempt} starts during another one: a lease is held twice"));
        }
        let delay = usize::from(attempt).checked_sub(2).and_then(|index| DELAYS.get(index));
        // A due delivery stays due if the clock is set back. After two clock changes the due time is unknown.
        let elapsed_millis = (wall.millis() - track.ended.wall).max(now - track.ended.at);
        let remaining_millis = |millis: i64| millis - 2 * SKEW_MILLIS - elapsed_millis;
        let (own, requested) = delay
            .map_or((0, 0), |delay| (remaining_millis(delay * 1000), remaining_millis(track.ended.requested)));
        let early = if clock_changes > track.ended.clock_changes + 1 { 0 } else { own.max(requested) };
        let is_requested = track.sooner.is_some_and(|sooner| (sooner..=sooner + 1).contains(&attempt));
        if early > 0 && !is_requested {
            let time = if own >= requested { "its time in the schedule" } else { "the requested time" };
            broken_promise = Some(format!("attempt {attempt} starts {early} ms before {time}"));
        }
        if let Some(wait) = track.wait.take() {
            if !wait.is_rate_limited() {
                self.counts.longest_wait = self.counts.longest_wait.max(wait.waited(calm_since, now));
            }
            broken_promise = wait.broken(calm_since, now).or(broken_promise);
        }
        if removal_time.is_some_and(|(at, _)| now > at.max(calm_since) + ENDED_WITHIN_MILLIS) {
            broken_promise = Some(format!("attempt {attempt} starts after a 410: the receiver is gone"));
        }
        track.in_progress.push((process, now));
        if let Some(what) = broken_promise {
            self.break_promise(now, key, &what);
        }
    }

    /// Checks for a delivery that waits too long for its first attempt.
    pub(crate) fn check_starvation(&mut self, now: i64) {
        let starved_delivery = self.deliveries.iter().find_map(|(key, track)| {
            let wait = track.wait.filter(|_| track.end.is_none())?;
            Some((*key, wait.broken(self.calm_since, now)?))
        });
        if let Some((key, what)) = starved_delivery {
            self.break_promise(now, key, &what);
        }
    }

    /// Records that a process has the response of a receiver.
    pub(crate) fn answered(
        &mut self,
        process: usize,
        key: Key,
        id: DeliveryId,
        (wall, now): (Timestamp, i64),
        requested: i64,
    ) {
        self.tell(key, now, || format!("process {process} has the response"));
        self.unlogged.entry(process).or_default().insert(id);
        let clock_changes = self.counts.clock_changes;
        self.ended.insert(id, EndedAttempt { wall: wall.millis(), at: now, clock_changes, requested });
        self.landed(process, key);
    }

    /// Records that an attempt is no longer in progress.
    pub(crate) fn landed(&mut self, process: usize, key: Key) {
        if let Some(track) = self.deliveries.get_mut(&key)
            && let Some(index) = track.in_progress.iter().position(|(by, _)| *by == process)
        {
            track.in_progress.remove(index);
        }
    }

    /// Removes the attempts in progress of a killed process.
    pub(crate) fn forget_process(&mut self, process: usize) {
        self.unlogged.remove(&process);
        // A process may die before it disables the subscription. The next 410 does so.
        self.gone.retain(|_, (_, by)| *by != process);
        self.deliveries.values_mut().for_each(|track| track.in_progress.retain(|(by, _)| *by != process));
    }

    /// Forgets the 410 of a subscription that is active again, or whose process could not record the 410.
    pub(crate) fn forget_gone(&mut self, queue: QueueKey) {
        self.gone.remove(&queue);
    }

    /// Checks that a process which stopped gracefully has logged its attempts.
    pub(crate) fn check_graceful_stop(&mut self, process: usize, now: i64) {
        if let Some(id) = self.unlogged.remove(&process).and_then(|ids| ids.first().copied()) {
            self.fail(now, &format!("process {process} has ended, and its attempt {id} is not in the log"));
        }
    }

    /// Ignores an attempt that is missing from the log, because its process could not record the result.
    pub(crate) fn excuse(&mut self, process: usize, id: Option<DeliveryId>) {
        if let (Some(ids), Some(id)) = (self.unlogged.get_mut(&process), id) {
            ids.remove(&id);
        }
    }

    /// Records and checks a result. `id` is the id of its attempt, if there was one.
    pub(crate) fn recorded(
        &mut self,
        process: usize,
        key: Key,
        id: Option<DeliveryId>,
        change: &Change,
        now: i64,
    ) {
        self.tell(key, now, || format!("process {process} records: {}", describe(change)));
        match change {
            Change::Logged(entry, retry_at) => self.logged(process, key, entry, *retry_at, now),
            Change::Gone => {
                self.note(4, now, 0);
                let Some(track) = self.deliveries.get_mut(&key) else { return };
                track.end = Some(End::Gone);
                if !track.removed {
                    self.break_promise(now, key, "it was deleted, though its subscription exists");
                }
            }
            Change::Lost => {
                self.counts.leases_lost += 1;
                self.excuse(process, id);
            }
            Change::Kept(_) => {}
        }
    }

    fn logged(&mut self, process: usize, key: Key, entry: &Delivery, retry_at: Option<Timestamp>, now: i64) {
        self.note(3, now, u64::from(entry.attempt));
        self.excuse(process, Some(entry.id));
        let attempt_end = self.ended.remove(&entry.id);
        if entry.failure == Some(FailureReason::Gone) {
            self.gone.entry(key.0).or_insert((now, process));
        }
        let Some(track) = self.deliveries.get_mut(&key) else {
            return self.break_promise(now, key, "the log has an attempt of a delivery that was never queued");
        };
        let too_late = entry.failure == Some(FailureReason::TooLate);
        let last = usize::from(entry.attempt) > DELAYS.len();
        let is_late = entry.attempted_at.millis() + 2 * SKEW_MILLIS > track.first_due_at + WINDOW_SECONDS * 1000;
        let conditions = [
            (track.end.is_some(), "the log has an attempt after the last one"),
            (entry.attempt != track.logged + 1, "the log skips an attempt, or has one twice"),
            (attempt_end.is_none() && !too_late, "the log has an attempt without a response"),
            (
                entry.status == Status::Dropped && !(last || too_late && is_late),
                "it was dropped before the end of its schedule",
            ),
            (retry_at.is_none() != (entry.status != Status::Failed), "only a failed attempt has a next one"),
        ];
        track.logged = entry.attempt;
        track.ended = attempt_end.unwrap_or(track.ended);
        match entry.status {
            Status::Success => {
                track.end = Some(End::Delivered);
                self.counts.delivered += 1;
            }
            Status::Dropped => {
                track.end = Some(End::Dropped);
                self.counts.dropped += 1;
            }
            Status::Failed => {}
        }
        if let Some((_, what)) = conditions.into_iter().find(|(is_broken, _)| *is_broken) {
            self.break_promise(now, key, what);
        }
    }

    fn deliveries_in(&mut self, queue: QueueKey) -> impl Iterator<Item = &mut Track> {
        self.deliveries.iter_mut().filter(move |((of, _), _)| *of == queue).map(|(_, track)| track)
    }

    /// Records that a subscription becomes inactive: its deliveries wait, and the delay breaks no promise.
    pub(crate) fn pause(&mut self, queue: QueueKey) {
        self.deliveries_in(queue).for_each(|track| track.wait = None);
    }

    /// Records that a failed call has postponed a delivery, perhaps behind a backlog.
    pub(crate) fn postpone(&mut self, key: Key) {
        let track = self.deliveries.get_mut(&key);
        track.into_iter().for_each(|track| track.wait = track.wait.filter(|wait| !wait.is_rate_limited()));
    }

    /// Records that the clocks were set back: later deliveries may be due before those that wait for a rate.
    pub(crate) fn clock_set_back(&mut self) {
        self.deliveries
            .values_mut()
            .for_each(|track| track.wait = track.wait.filter(|wait| !wait.is_rate_limited()));
    }

    /// Records that a subscription is removed. Its deliveries may be deleted.
    pub(crate) fn remove(&mut self, queue: QueueKey) {
        self.deliveries_in(queue).for_each(|track| track.removed = true);
    }

    /// Checks the promises at the end of the month. `parked` are the deliveries of inactive subscriptions.
    pub(crate) fn check_end(&mut self, parked: &BTreeSet<Key>, now: i64) {
        let is_lost = |key: &Key, track: &Track| track.end.is_none() && !track.removed && !parked.contains(key);
        let lost_delivery = self.deliveries.iter().find(|(key, track)| is_lost(key, track));
        if let Some(key) = lost_delivery.map(|(key, _)| *key) {
            self.break_promise(now, key, "it is lost: neither delivered nor dropped");
        }
        let missing_entry = self.unlogged.iter().find_map(|(process, ids)| Some((*process, *ids.first()?)));
        if let Some((process, id)) = missing_entry {
            self.fail(now, &format!("attempt {id} of process {process} is not in the log"));
        }
    }

    pub(crate) fn break_promise(&mut self, now: i64, key: Key, what: &str) {
        if let Some(history) = &mut self.history {
            history.retain(|of, _| *of == key);
        }
        let ((tenant, webhook), event) = key;
        self.fail(now, &format!("{event} for {webhook} of {}: {what}", tenant.organization));
    }

    pub(crate) fn fail(&mut self, now: i64, what: &str) {
        if self.broken.is_none() {
            self.broken = Some(format!("after {} days and {} ms: {what}", now / 86_400_000, now % 86_400_000));
        }
    }

    /// Adds a line to the history of a delivery.
    pub(crate) fn tell(&mut self, key: Key, now: i64, what: impl FnOnce() -> String) {
        if let Some(history) = &mut self.history {
            history.entry(key).or_default().push(format!("{now:>12} ms: {}", what()));
        }
    }

    /// Adds values to the digest (FNV).
    fn note(&mut self, kind: u64, now: i64, what: u64) {
        for value in [kind, now.cast_unsigned(), what] {
            self.digest = (self.digest ^ value).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn describe(change: &Change) -> String {
    match change {
        Change::Logged(entry, Some(at)) => {
            format!("attempt {} in the log, the next one is due at {at}", entry.attempt)
        }
        Change::Logged(entry, None) => format!("attempt {} in the log, the last one", entry.attempt),
        Change::Gone => "deleted".to_owned(),
        Change::Lost => "nothing, another worker has the lease".to_owned(),
        Change::Kept(Some(at)) => format!("no attempt, due at {at}"),
        Change::Kept(None) => "parked".to_owned(),
    }
}
