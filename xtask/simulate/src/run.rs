//! One seed: a month of simulated time, one happening after the other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use candor_dispatch::Settings;
use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::Schedule;
use candor_port_storage::queue::QueueKey;
use ulid::Ulid;

use crate::plan::{Chore, Plan};
use crate::process::Process;
use crate::promises::{Counts, Promises, SKEW_MILLIS};
use crate::queue::{Key, Queue, Subscription};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::store::Call;

/// No month has more happenings, unless something goes round in circles.
const MOST_HAPPENINGS: u64 = 2_000_000;
/// After so many happenings those are looked for who still wait.
const LOOKED_AROUND_EVERY: u64 = 4_096;

/// Something that is broken on purpose, to see that it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Processes take their leases for a minute longer than they are.
    LeasesAreOverrated,
    /// The first retry comes after ten seconds.
    RetriesAreHasty,
    /// What a process gives back is forgotten.
    BacksAreForgotten,
    /// Every receiver is taken for one that answers at once.
    EverybodyIsQuick,
    /// Walks along the subscriptions never get past the first one.
    WalksStandStill,
    /// Some attempts are recorded without an entry in the log.
    LogHasHoles,
}

/// What happens next.
pub(crate) enum Happening {
    Chore(Chore),
    /// A process's alarm rings.
    Alarm(usize, u64),
    /// A process takes the place of another one.
    Starts(usize),
    /// The time for what is under way is over.
    Cut {
        place: usize,
        life: usize,
    },
    /// A call arrives at the store.
    Asks {
        place: usize,
        life: usize,
        call: Box<Call>,
    },
    /// The store's answer arrives.
    Answer {
        place: usize,
        life: usize,
        call: Box<Call>,
    },
    /// What an attempt needs is looked up.
    LookUp {
        place: usize,
        life: usize,
        turn: u64,
    },
    /// A receiver's answer arrives.
    Answered {
        place: usize,
        life: usize,
        turn: u64,
        attempt: crate::attempts::Sent,
    },
}

/// What one seed has come to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) broken: Option<String>,
    pub(crate) digest: u64,
    pub(crate) counts: Counts,
    /// What happened to the delivery that was promised something else, when that was asked for.
    pub(crate) story: Vec<String>,
}

/// The world of one seed.
pub(crate) struct Run {
    pub(crate) random: Random,
    pub(crate) defect: Option<Defect>,
    pub(crate) plan: Plan,
    pub(crate) receivers: BTreeMap<QueueKey, Receiver>,
    /// Milliseconds since the start, and how far the clocks were set on since.
    pub(crate) now: i64,
    pub(crate) step: i64,
    happenings: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
    pub(crate) queue: Queue,
    /// By their place; a place is empty between two lives.
    pub(crate) processes: Vec<Option<Process>>,
    lives: usize,
    /// How long a place stays empty after a stop.
    pub(crate) pauses: Vec<i64>,
    /// Attempts whose turn has come.
    pub(crate) turns: u64,
    pub(crate) outage_until: i64,
    pub(crate) promises: Promises,
    /// What happened so far to whom, for replays.
    pub(crate) events: Vec<Key>,
    pub(crate) ids: u128,
}

struct Entry {
    at: i64,
    sequence: u64,
    it: Happening,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.sequence).cmp(&(other.at, other.sequence))
    }
}

/// Lives through the month of a seed, until the first promise is broken.
pub(crate) fn run(seed: u64, defect: Option<Defect>, with_story: bool) -> Report {
    let mut random = Random::seeded(seed);
    let plan = Plan::of(&mut random);
    let mut run = Run {
        random,
        defect,
        receivers: plan.subscribers.iter().map(|it| (it.queue, it.receiver)).collect(),
        now: 0,
        step: 0,
        happenings: BinaryHeap::new(),
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
    run.queue.forgets_backs = defect == Some(Defect::BacksAreForgotten);
    run.promises.story = with_story.then(BTreeMap::new);
    run.begin();
    run.live();
    let Promises { broken, digest, counts, story, .. } = run.promises;
    let story = story.filter(|_| broken.is_some()).and_then(|mut it| it.pop_first());
    Report { broken, digest, counts, story: story.map(|(_, it)| it).unwrap_or_default() }
}

impl Run {
    fn begin(&mut self) {
        for it in &self.plan.subscribers {
            self.queue.subscriptions.insert(it.queue, Subscription { active: true, ..Subscription::default() });
        }
        for (at, chore) in std::mem::take(&mut self.plan.chores) {
            self.after(at, Happening::Chore(chore));
        }
        for place in 0..self.plan.processes {
            self.processes.push(None);
            self.pauses.push(0);
            self.starts(place);
        }
    }

    fn live(&mut self) {
        while let Some(Reverse(Entry { at, it, .. })) = self.happenings.pop() {
            self.now = at;
            self.promises.counts.happenings += 1;
            self.happens(it);
            if self.promises.counts.happenings.is_multiple_of(LOOKED_AROUND_EVERY) {
                self.promises.look_around(self.now);
            }
            if self.promises.counts.happenings > MOST_HAPPENINGS {
                self.promises.fails(self.now, "it does not come to rest");
            }
            if self.promises.broken.is_some() {
                return;
            }
        }
        let inactive = |queue: &QueueKey| self.queue.subscriptions.get(queue).is_some_and(|it| !it.active);
        let parked = self.queue.all().filter(|((queue, _), parked)| *parked && inactive(queue));
        let parked: BTreeSet<Key> = parked.map(|(key, _)| key).collect();
        self.promises.at_the_end(&parked, self.now);
    }

    /// Something is to happen after so many milliseconds.
    pub(crate) fn after(&mut self, millis: i64, it: Happening) {
        self.sequence += 1;
        self.happenings.push(Reverse(Entry { at: self.now + millis, sequence: self.sequence, it }));
    }

    fn happens(&mut self, it: Happening) {
        match it {
            Happening::Chore(chore) => self.chore(chore),
            Happening::Starts(place) => self.starts(place),
            Happening::Alarm(place, alarm) => {
                if let Some(process) = self.processes[place].as_mut().filter(|it| it.alarm == alarm) {
                    process.alarm_at = None;
                    self.drive(place);
                }
            }
            Happening::Asks { place, life, call } => self.asked(place, life, *call),
            Happening::Answer { place, life, call } if self.lives_on(place, life) => self.answer(place, *call),
            Happening::LookUp { place, life, turn } if self.lives_on(place, life) => self.look_up(place, turn),
            Happening::Answered { place, life, turn, attempt } if self.lives_on(place, life) => {
                self.answered(place, turn, attempt);
            }
            Happening::Cut { place, life } if self.lives_on(place, life) => self.cut(place),
            Happening::Answer { .. }
            | Happening::LookUp { .. }
            | Happening::Answered { .. }
            | Happening::Cut { .. } => {}
        }
    }

    fn lives_on(&self, place: usize, life: usize) -> bool {
        self.processes[place].as_ref().is_some_and(|it| it.life == life)
    }

    fn starts(&mut self, place: usize) {
        let is_hasty = self.defect == Some(Defect::RetriesAreHasty);
        let hasty = is_hasty.then(|| Schedule::parse("10s,2m,10m,1h,6h,24h").unwrap_or_default());
        let schedule = hasty.unwrap_or_default();
        let skew = self.random.between(-SKEW_MILLIS, SKEW_MILLIS) / 2;
        let settings = Settings { schedule, ..Settings::default() };
        let process = Process::new(self.lives, settings, self.plan.limits, (self.now, self.step, skew));
        self.lives += 1;
        self.processes[place] = Some(process);
        // What is new knows no receiver yet, and leases of its predecessor may have to run out.
        self.promises.disturbed(self.now);
        self.drive(place);
    }

    /// The death of a process, whose leases run out by themselves.
    pub(crate) fn kill(&mut self, place: usize, pause: i64) {
        let Some(process) = self.processes[place].take() else { return };
        self.promises.counts.kills += 1;
        self.promises.died(process.life);
        self.promises.disturbed(self.now + pause + 30_000);
        self.after(pause, Happening::Starts(place));
    }

    /// The next event's id.
    pub(crate) fn event_id(&mut self) -> EventId {
        self.ids += 1;
        EventId::from_ulid(Ulid(self.ids))
    }

    /// Something may be claimed at this time of day that could not be before: whoever is at rest looks then.
    pub(crate) fn stir(&mut self, wall: Timestamp) {
        for place in 0..self.processes.len() {
            let delay = self.random.between(0, 250);
            let Some(process) = &mut self.processes[place] else { continue };
            if !process.is_at_rest() {
                continue;
            }
            let at = process.when(wall, self.step).max(self.now) + delay;
            if process.claim_at.is_none_or(|it| it > at) {
                process.claim_at = Some(at);
                self.set_alarm(place);
            }
        }
    }

    /// Has a process rung for when it has something to do by itself.
    pub(crate) fn set_alarm(&mut self, place: usize) {
        let Some(process) = &mut self.processes[place] else { return };
        let claim_at = process.claim_at.filter(|_| !process.is_claiming && !process.is_stopping);
        let Some(at) = claim_at.into_iter().chain(process.record_at).min() else { return };
        if process.alarm_at == Some(at) {
            return;
        }
        process.alarm_at = Some(at);
        process.alarm += 1;
        let alarm = process.alarm;
        self.after((at - self.now).max(0), Happening::Alarm(place, alarm));
    }
}
