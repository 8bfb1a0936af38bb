//! The month of a seed: its subscriptions, changes and faults.

use crate::random::Random;
use crate::receiver::Receiver;
use candor_dispatch::QueueLimits;
use candor_domain::access::Tenant;
use candor_domain::id::{OrganizationId, WebhookId};
use candor_port_storage::queue::QueueKey;
use ulid::Ulid;

pub(crate) const SECOND: i64 = 1_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Latest time of a planned change. The remaining days of the month are for outstanding deliveries.
const PLANNED: i64 = 27 * DAY;
/// Duration of a busy time.
const BUSY: i64 = 10 * MINUTE;

/// Number of deliveries that wait for a receiver with a rate when a stream of events begins.
const STREAM_BACKLOG: usize = 40;
/// Number of events of a stream, which lasts four minutes.
const STREAM_EVENTS: i64 = 4 * MINUTE / STREAM_INTERVAL;
/// Milliseconds between two events of a stream: short, so that each process commits at least one event in the
/// second that a delivery takes.
const STREAM_INTERVAL: i64 = 180;

/// Small limits, often reached. The half that is reserved for quick receivers has room for one batch.
const SMALL: QueueLimits = QueueLimits { attempts: 16, waiting: 160, batch: 8 };

/// A change or a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Events of a tenant in one change. Unless it is an import, a process delivers them itself.
    Events { tenant: Tenant, count: usize, import: bool },
    /// A subscription becomes active or inactive.
    Active(QueueKey, bool),
    /// A subscription is removed.
    Remove(QueueKey),
    /// A client requests some past events again.
    Replay(QueueKey),
    /// All clocks are set forward or back.
    SetClocks(i64),
    /// The processes correct times that they stored while their clocks were ahead.
    CorrectTimes,
    /// The store fails for this time.
    Outage(i64),
    /// A process is killed. Another one takes its place after this time.
    Kill(usize, i64),
    /// A process stops gracefully, with this time for attempts in progress. Another one takes its place after a
    /// pause.
    Stop(usize, i64, i64),
}

/// A subscription with its receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subscriber {
    pub(crate) queue: QueueKey,
    pub(crate) receiver: Receiver,
    pub(crate) max_per_second: Option<u16>,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) processes: usize,
    pub(crate) limits: QueueLimits,
    /// Number of store calls, of 1,000, that fail outside of outages.
    pub(crate) failing: i64,
    /// A process that lacks a master key, and the subscription whose secrets it therefore cannot open.
    pub(crate) without_key: Option<(usize, QueueKey)>,
    pub(crate) chores: Vec<(i64, Chore)>,
}

struct Planner<'a> {
    random: &'a mut Random,
    /// Times at which most changes happen.
    busy: Vec<i64>,
    chores: Vec<(i64, Chore)>,
}

impl Plan {
    pub(crate) fn generate(random: &mut Random) -> Self {
        let subscribers = subscribers(random);
        let processes = usize::try_from(random.between(2, 5)).unwrap_or(2);
        let limits = random.pick(&[
            SMALL,
            QueueLimits { attempts: 32, waiting: 320, batch: 128 },
            QueueLimits::OF_A_PROCESS,
        ]);
        let busy = (0..random.between(2, 6)).map(|_| random.between(0, PLANNED)).collect();
        let without_key = random.chance(150).then(|| subscribers[random.index(subscribers.len())].queue);
        let mut planner = Planner { random, busy, chores: vec![] };
        planner.events(&subscribers);
        planner.stream(&subscribers);
        planner.changes(&subscribers);
        planner.faults(processes);
        let chores = planner.chores;
        let failing = random.pick(&[0, 0, 2, 20]);
        Self {
            subscribers,
            processes,
            limits,
            failing,
            without_key: without_key.map(|queue| (processes - 1, queue)),
            chores,
        }
    }
}

/// One to five tenants with one to four subscriptions each. The first receiver is prompt, never paused and has no
/// rate.
fn subscribers(random: &mut Random) -> Vec<Subscriber> {
    let mut all = vec![];
    for tenant in 0..random.between(1, 6) {
        let tenant = Tenant::live(OrganizationId::from_ulid(Ulid(tenant.unsigned_abs().into())));
        for _ in 0..random.between(1, 5) {
            let queue = (tenant, WebhookId::from_ulid(Ulid(all.len() as u128)));
            let receiver = if all.is_empty() { Receiver::Prompt } else { Receiver::any(random) };
            let is_limited = !all.is_empty() && random.chance(300);
            let max_per_second = is_limited.then(|| random.pick(&[1, 2, 7, 50]));
            all.push(Subscriber { queue, receiver, max_per_second });
        }
    }
    all
}

impl Planner<'_> {
    fn time(&mut self) -> i64 {
        if self.random.chance(300) {
            return self.random.between(0, PLANNED);
        }
        self.random.pick(&self.busy) + self.random.between(0, BUSY)
    }

    fn plan(&mut self, chore: Chore) {
        let start = self.time();
        self.chores.push((start, chore));
    }

    fn events(&mut self, subscribers: &[Subscriber]) {
        for _ in 0..self.random.between(20, 80) {
            let tenant = self.random.pick(subscribers).queue.0;
            let count = match self.random.between(0, 100) {
                0..75 => 1,
                75..96 => self.random.between(2, 40),
                _ => self.random.between(40, 400),
            };
            let import = self.random.chance(200);
            self.plan(Chore::Events { tenant, count: usize::try_from(count).unwrap_or(1), import });
        }
    }

    /// Plans a backlog for a prompt receiver with a low rate, and more events than its rate for some minutes: the
    /// backlog must not starve.
    fn stream(&mut self, subscribers: &[Subscriber]) {
        let is_slowest = |one: &&Subscriber| one.receiver == Receiver::Prompt && one.max_per_second == Some(1);
        let Some(slow_subscriber) = subscribers.iter().find(is_slowest).filter(|_| self.random.chance(300)) else {
            return;
        };
        let (at, tenant) = (self.time(), slow_subscriber.queue.0);
        self.chores.push((at, Chore::Events { tenant, count: STREAM_BACKLOG, import: true }));
        for number in 1..=STREAM_EVENTS {
            let event_time = at + number * STREAM_INTERVAL;
            self.chores.push((event_time, Chore::Events { tenant, count: 1, import: false }));
        }
    }

    fn changes(&mut self, subscribers: &[Subscriber]) {
        let Some((_, others)) = subscribers.split_first().filter(|(_, others)| !others.is_empty()) else { return };
        for _ in 0..self.random.between(0, 4) {
            let queue = self.random.pick(others).queue;
            let start = self.time();
            let longest = self.random.pick(&[10 * SECOND, HOUR, 50 * HOUR]);
            let end = start + self.random.between(SECOND, longest);
            self.chores.push((start, Chore::Active(queue, false)));
            self.chores.push((end, Chore::Active(queue, true)));
        }
        if self.random.chance(150) {
            let queue = self.random.pick(others).queue;
            self.plan(Chore::Remove(queue));
        }
        for _ in 0..self.random.between(0, 4) {
            let queue = self.random.pick(subscribers).queue;
            self.plan(Chore::Replay(queue));
        }
    }

    fn faults(&mut self, processes: usize) {
        for _ in 0..self.random.between(0, 6) {
            let (process, pause) = (self.random.index(processes), self.random.between(SECOND, 10 * MINUTE));
            self.plan(Chore::Kill(process, pause));
        }
        for _ in 0..self.random.between(0, 3) {
            let (process, pause) = (self.random.index(processes), self.random.between(SECOND, MINUTE));
            let grace = self.random.pick(&[0, 5 * SECOND, 20 * SECOND]);
            self.plan(Chore::Stop(process, grace, pause));
        }
        for _ in 0..self.random.between(0, 4) {
            let longest = self.random.pick(&[SECOND, MINUTE, 20 * MINUTE]);
            let duration = self.random.between(1, longest);
            self.plan(Chore::Outage(duration));
        }
        for _ in 0..self.random.between(0, 3) {
            let longest = self.random.pick(&[5 * SECOND, 5 * MINUTE, 3 * HOUR]);
            let clock_shift = self.random.between(-longest, longest);
            self.plan(Chore::SetClocks(clock_shift));
        }
    }
}
