//! One seed: a month of simulated time, one step after the other.

use crate::attempts::Sent;
use crate::counts::Counts;
use crate::plan::{Chore, Plan};
use crate::process::Process;
use crate::promises::{Promises, SKEW_MILLIS};
use crate::queue::{Key, Queue, Subscription};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::store::Call;
use candor_dispatch::{ClaimOrder, Settings};
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::QueueKey;
use candor_subscriptions::{Job, Schedule};
use std::collections::{BTreeMap, BTreeSet};
use ulid::Ulid;

/// Upper bound for the steps of a month. More of them mean an endless loop.
const MAX_STEPS: u64 = 2_000_000;
/// Number of steps between two searches for deliveries that wait too long.
const STARVATION_CHECK_STEPS: u64 = 4_096;

/// A deliberate defect, which the simulation must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Processes believe that their leases last a minute longer.
    OverratedLeases,
    /// The first retry comes after ten seconds.
    HastyRetries,
    /// The queue forgets deliveries that a process returns.
    ForgottenReturns,
    /// Processes believe that every receiver answers at once.
    AllReceiversQuick,
    /// Claims that should visit all subscriptions in turn visit only the first one.
    StuckWalks,
    /// Some attempts are recorded without a log entry.
    LogHoles,
    /// Processes ignore the delays that receivers request.
    IgnoredRetryAfter,
    /// Processes ignore that receivers end their subscriptions.
    IgnoredGone,
    /// Processes ignore the rates of receivers.
    IgnoredRates,
    /// Every process gets the rate lease, even while another one holds it.
    UnsharedRates,
    /// Deliveries that wait for the rate of their receiver are dropped.
    DroppedWaits,
    /// A rate lease never ends: no process gets it after the death of its holder.
    EndlessRateLeases,
}

/// Place of a process, and the number that distinguishes it from its predecessors there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Life {
    pub(crate) place: usize,
    pub(crate) number: usize,
}

/// A scheduled step. Steps for a process that has ended are ignored, except calls on their way to the store.
pub(crate) enum Step {
    Chore(Chore),
    /// The time for which a process has set its alarm.
    Alarm(usize, u64),
    /// A process starts at a free place.
    Start(usize),
    /// The time that a stopping process gives its attempts in progress is over.
    Cut(Life),
    /// A call arrives at the store.
    Ask(Life, Box<Call>),
    /// The reply of the store arrives.
    Reply(Life, Box<Call>),
    /// A process has read the events of claimed deliveries.
    TakeIn(Life, Box<(ClaimOrder, Vec<Job>)>),
    /// A process looks up what an attempt needs.
    LookUp(Life, u64),
    /// The response of a receiver arrives.
    Respond(Life, u64, Sent),
}

/// Result of a seed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) broken: Option<String>,
    pub(crate) digest: u64,
    pub(crate) counts: Counts,
    /// History of the delivery that broke a promise, if it was requested.
    pub(crate) history: Vec<String>,
}

/// The state of one seed.
pub(crate) struct Run {
    pub(crate) random: Random,
    pub(crate) defect: Option<Defect>,
    pub(crate) plan: Plan,
    pub(crate) receivers: BTreeMap<QueueKey, Receiver>,
    /// Milliseconds since the start.
    pub(crate) now: i64,
    /// Milliseconds by which the clocks were set forward.
    pub(crate) clock_shift: i64,
    /// Future steps by their time and the order in which they were scheduled.
    steps: BTreeMap<(i64, u64), Step>,
    sequence: u64,
    pub(crate) queue: Queue,
    /// Processes by place. A place is empty between two lives.
    pub(crate) processes: Vec<Option<Process>>,
    lives: usize,
    /// Milliseconds for which each place stays empty after a stop.
    pub(crate) pauses: Vec<i64>,
    /// Number of attempts so far.
    pub(crate) turns: u64,
    pub(crate) outage_until: i64,
    pub(crate) promises: Promises,
    /// Past events, each with its subscription, for replays.
    pub(crate) events: Vec<Key>,
    pub(crate) ids: u128,
}

/// Simulates the month of a seed until its end or the first broken promise.
pub(crate) fn run(seed: u64, defect: Option<Defect>, with_history: bool) -> Report {
    let mut random = Random::seeded(seed);
    let plan = Plan::generate(&mut random);
    let mut run = Run {
        random,
        defect,
        receivers: plan.subscribers.iter().map(|one| (one.queue, one.receiver)).collect(),
        now: 0,
        clock_shift: 0,
        steps: BTreeMap::new(),
        sequence: 0,
        queue: Queue::default(),
        processes: vec![],
        lives: 0,
        pauses: vec![],
        turns: 0,
        outage_until: 0,
        promises: Promises::default(),
        events: vec![],
        ids: 0,
        plan,
    };
    run.queue.forgets_returns = defect == Some(Defect::ForgottenReturns);
    run.queue.keeps_rate_leases = defect == Some(Defect::EndlessRateLeases);
    run.promises.history = with_history.then(BTreeMap::new);
    run.begin();
    run.advance();
    let Promises { broken, digest, counts, history, .. } = run.promises;
    let history = history.filter(|_| broken.is_some()).and_then(|mut all| all.pop_first());
    Report { broken, digest, counts, history: history.map(|(_, lines)| lines).unwrap_or_default() }
}

impl Run {
    fn begin(&mut self) {
        for subscriber in &self.plan.subscribers {
            let max_per_second = subscriber.max_per_second;
            let subscription = Subscription { active: true, max_per_second, ..Subscription::default() };
            self.queue.subscriptions.insert(subscriber.queue, subscription);
        }
        for (at, chore) in std::mem::take(&mut self.plan.chores) {
            self.after(at, Step::Chore(chore));
        }
        for place in 0..self.plan.processes {
            self.processes.push(None);
            self.pauses.push(0);
            self.start(place);
        }
    }

    fn advance(&mut self) {
        while let Some(((at, _), step)) = self.steps.pop_first() {
            self.now = at;
            self.promises.counts.steps += 1;
            self.execute(step);
            if self.promises.counts.steps.is_multiple_of(STARVATION_CHECK_STEPS) {
                self.promises.check_starvation(self.now);
            }
            if self.promises.counts.steps > MAX_STEPS {
                self.promises.fail(self.now, "the month does not end");
            }
            if self.promises.broken.is_some() {
                return;
            }
        }
        let is_inactive =
            |queue: &QueueKey| self.queue.subscriptions.get(queue).is_some_and(|known| !known.active);
        let parked_deliveries = self.queue.all().filter(|((queue, _), parked)| *parked && is_inactive(queue));
        let parked_keys: BTreeSet<Key> = parked_deliveries.map(|(key, _)| key).collect();
        self.promises.check_end(&parked_keys, self.now);
    }

    /// Schedules a step after this many milliseconds.
    pub(crate) fn after(&mut self, millis: i64, step: Step) {
        self.sequence += 1;
        self.steps.insert((self.now + millis, self.sequence), step);
    }

    fn execute(&mut self, step: Step) {
        match step {
            Step::Chore(chore) => self.chore(chore),
            Step::Start(place) => self.start(place),
            Step::Alarm(place, alarm) => {
                if let Some(process) = self.processes[place].as_mut().filter(|process| process.alarm == alarm) {
                    process.alarm_at = None;
                    self.drive(place);
                }
            }
            Step::Ask(life, call) => self.ask(life, *call),
            Step::Reply(life, call) if self.is_alive(life) => self.answer(life.place, *call),
            Step::TakeIn(life, claimed) if self.is_alive(life) => self.take_in(life.place, claimed.0, claimed.1),
            Step::LookUp(life, turn) if self.is_alive(life) => self.look_up(life.place, turn),
            Step::Respond(life, turn, attempt) if self.is_alive(life) => {
                self.handle_response(life.place, turn, attempt);
            }
            Step::Cut(life) if self.is_alive(life) => self.cut(life.place),
            Step::Reply(..) | Step::TakeIn(..) | Step::LookUp(..) | Step::Respond(..) | Step::Cut(_) => {}
        }
    }

    fn is_alive(&self, life: Life) -> bool {
        self.processes[life.place].as_ref().is_some_and(|process| process.life == life.number)
    }

    fn start(&mut self, place: usize) {
        let is_hasty = self.defect == Some(Defect::HastyRetries);
        let hasty = is_hasty.then(|| Schedule::parse("10s,2m,10m,1h,6h,24h").unwrap_or_default());
        let skew = self.random.between(-SKEW_MILLIS, SKEW_MILLIS) / 2;
        let settings = Settings { schedule: hasty.unwrap_or_default(), ..Settings::default() };
        let process = Process::new(self.lives, settings, self.plan.limits, (self.now, self.clock_shift, skew));
        self.lives += 1;
        self.processes[place] = Some(process);
        // A new process knows no receiver, and leases of its predecessor may have to expire.
        self.promises.disturb(self.now);
        self.correct_times();
        self.drive(place);
    }

    /// Kills a process. Its leases expire by themselves.
    pub(crate) fn kill(&mut self, place: usize, pause: i64) {
        let Some(process) = self.processes[place].take() else { return };
        self.promises.counts.kills += 1;
        self.promises.forget_process(process.life);
        self.promises.disturb(self.now + pause + 30_000);
        self.after(pause, Step::Start(place));
    }

    pub(crate) fn next_event_id(&mut self) -> EventId {
        self.ids += 1;
        EventId::from_ulid(Ulid(self.ids))
    }

    /// Wakes processes at rest at this time of day, because a delivery becomes claimable.
    pub(crate) fn wake(&mut self, wall: Timestamp) {
        for place in 0..self.processes.len() {
            let delay = self.random.between(0, 250);
            let Some(process) = &mut self.processes[place] else { continue };
            if !process.is_at_rest() {
                continue;
            }
            let wake_time = process.when(wall, self.clock_shift).max(self.now) + delay;
            if process.claim_at.is_none_or(|earlier| earlier > wake_time) {
                process.claim_at = Some(wake_time);
                self.set_alarm(place);
            }
        }
    }

    /// Sets the alarm of a process to the next time at which it has work.
    pub(crate) fn set_alarm(&mut self, place: usize) {
        let Some(process) = &mut self.processes[place] else { return };
        let claim_at = process.claim_at.filter(|_| !process.is_claiming && !process.is_stopping);
        let waits_until = process.machine.waits_until(process.now(self.now, self.clock_shift));
        let attempt_at = waits_until.map(|steady| process.at(steady));
        let Some(alarm_time) = claim_at.into_iter().chain(process.record_at).chain(attempt_at).min() else {
            return;
        };
        if process.alarm_at == Some(alarm_time) {
            return;
        }
        process.alarm_at = Some(alarm_time);
        process.alarm += 1;
        let alarm = process.alarm;
        self.after((alarm_time - self.now).max(0), Step::Alarm(place, alarm));
    }
}
