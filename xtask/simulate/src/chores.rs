//! What happens by itself: changes that fire events, changes of subscriptions, and what goes wrong.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{DeliveryOrigin, Job, Streak};
use candor_port_storage::queue::{Lease, QueueKey};

use crate::plan::Chore;
use crate::process::START;
use crate::queue::Key;
use crate::run::{Happening, Run};
use crate::store::{Call, Commit, LEASE};

/// A change that fires more than this is not handed over.
const MOST_HANDED_OVER: usize = 32;
/// A replay asks for so many events.
const REPLAYED: usize = 12;
/// The life of a process that delivers nothing.
const NOBODY: usize = usize::MAX;

impl Run {
    /// The time of day.
    pub(crate) const fn wall(&self) -> Timestamp {
        Timestamp::from_millis(START + self.now + self.step)
    }

    pub(crate) fn chore(&mut self, chore: Chore) {
        match chore {
            Chore::Events { tenant, count, import } => self.fires(tenant, count, import),
            Chore::Active(queue, active) => {
                if let Some(it) = self.queue.subscriptions.get_mut(&queue).filter(|it| it.active != active) {
                    it.active = active;
                    it.streak = if active { Streak::default() } else { it.streak };
                    self.promises.paused(|(it, _)| it == queue);
                }
                self.subscription_changed();
            }
            Chore::Remove(queue) => {
                self.queue.subscriptions.remove(&queue);
                self.promises.removed(|(it, _)| it == queue);
                self.subscription_changed();
            }
            Chore::Replay(queue) => self.replay(queue),
            Chore::Step(by) => self.sets_clocks(by),
            Chore::Outage(long) => {
                self.outage_until = self.outage_until.max(self.now + long);
                self.promises.disturbed(self.outage_until + LEASE);
            }
            Chore::Kill(place, pause) => self.kill(place, pause),
            Chore::Stop(place, grace, pause) => self.stop(place, grace, pause),
        }
    }

    /// One of the processes that deliver, if there is one.
    fn somebody(&mut self) -> Option<usize> {
        let place = self.random.index(self.processes.len());
        let alive = |it: &usize| self.processes[*it].as_ref().is_some_and(|it| !it.is_stopping);
        (place..self.processes.len()).chain(0..place).find(alive)
    }

    fn fires(&mut self, tenant: Tenant, count: usize, import: bool) {
        let place = self.somebody().filter(|_| !import);
        let Some((place, process)) = place.and_then(|it| Some((it, self.processes[it].as_mut()?))) else {
            let commit = Commit { tenant, count, lease: None };
            return self.ask(0, NOBODY, Call::Commit(commit, None));
        };
        let now = process.now(self.now, self.step);
        let fits = (1..=MOST_HANDED_OVER).contains(&count);
        let ends = fits.then(|| process.machine.reserve(count, now)).flatten();
        let lease = ends.map(|ends| (Lease { worker: process.worker, until: ends.deadline() }, ends));
        let life = process.life;
        self.ask(place, life, Call::Commit(Commit { tenant, count, lease }, None));
    }

    /// The process that has changed a subscription looks at once, the others when they look anyway.
    fn subscription_changed(&mut self) {
        if let Some(place) = self.somebody() {
            if let Some(process) = &mut self.processes[place] {
                process.machine.request_full_scan();
            }
            self.drive(place);
        }
        self.stir(self.wall());
    }

    /// Somebody asks for some of the events of a subscription again, delivered or not.
    fn replay(&mut self, queue: QueueKey) {
        if !self.queue.subscriptions.get(&queue).is_some_and(|it| it.active) {
            return;
        }
        let past: Vec<Key> = self.events.iter().filter(|it| it.0 == queue).copied().collect();
        if past.is_empty() {
            return;
        }
        for _ in 0..REPLAYED {
            let key = self.random.pick(&past);
            let id = self.random.chance(500).then(|| self.delivery_id());
            match self.queue.get(key) {
                Some(job) if job.attempt > 1 => {
                    if self.queue.bring_forward(key, self.wall(), id) {
                        self.promises.brought_forward(key, job.attempt, self.now);
                    }
                }
                Some(_) => {}
                None => {
                    let job = Job::new(
                        queue.0,
                        queue.1,
                        (key.1, EventType::EmployeeCreated),
                        self.wall(),
                        DeliveryOrigin::Replay,
                    );
                    self.queues(Job { delivery_id: id, ..job }, None);
                }
            }
        }
        if let Some(place) = self.somebody() {
            if let Some(process) = &mut self.processes[place] {
                process.machine.look_at_due();
            }
            self.drive(place);
        }
        self.stir(self.wall());
    }

    fn sets_clocks(&mut self, by: i64) {
        self.step += by;
        self.promises.counts.steps += 1;
        // Set back, what was due a moment ago is so again only when the clock is there again.
        self.promises.disturbed(self.now + LEASE + (-by).max(0));
        if by > 0 {
            self.promises.clock_set_on(self.now);
        }
        self.stir(self.wall());
    }

    fn stop(&mut self, place: usize, grace: i64, pause: i64) {
        let Some(process) = self.processes[place].as_mut().filter(|it| !it.is_stopping) else { return };
        let now = process.now(self.now, self.step);
        process.is_stopping = true;
        process.machine.stop(now);
        let life = process.life;
        self.pauses[place] = pause;
        self.promises.disturbed(self.now + grace + pause);
        self.after(grace, Happening::Cut { place, life });
        self.drive(place);
    }
}
