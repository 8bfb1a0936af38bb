//! Changes that cause events, changes of subscriptions, and faults.

use crate::plan::Chore;
use crate::process::START;
use crate::queue::Key;
use crate::run::{Life, Run, Step};
use crate::store::{Call, Commit, LEASE};
use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{Lease, QueueKey};
use candor_subscriptions::{DeliveryOrigin, Job, Streak};

/// Maximum number of events of a change whose deliveries the committing process keeps for itself.
const MAX_HANDED_OVER: usize = 32;
/// Number of events of a replay.
const REPLAYED: usize = 12;
/// Maximum time until a process notices that its clock was set back.
const CLOCK_CHECK_MILLIS: i64 = 5_000;
/// Duration that the service assumes for its longest lease, when it corrects times.
const LONGEST_LEASE_MILLIS: i64 = 75_000;
/// Stands for a process that commits events and delivers none.
const IMPORTER: Life = Life { place: 0, number: usize::MAX };

impl Run {
    /// Returns the simulated time of day.
    pub(crate) const fn wall(&self) -> Timestamp {
        Timestamp::from_millis(START + self.now + self.clock_shift)
    }

    pub(crate) fn chore(&mut self, chore: Chore) {
        match chore {
            Chore::Events { tenant, count, import } => self.fire_events(tenant, count, import),
            Chore::Active(queue, active) => {
                let subscription = self.queue.subscriptions.get_mut(&queue);
                if let Some(changed_subscription) =
                    subscription.filter(|subscription| subscription.active != active)
                {
                    changed_subscription.active = active;
                    changed_subscription.streak =
                        if active { Streak::default() } else { changed_subscription.streak };
                    self.promises.pause(queue);
                    self.promises.forget_gone(queue);
                }
                self.subscription_changed();
            }
            Chore::Remove(queue) => {
                self.queue.subscriptions.remove(&queue);
                self.promises.remove(queue);
                self.subscription_changed();
            }
            Chore::Replay(queue) => self.replay(queue),
            Chore::SetClocks(by) => self.set_clocks(by),
            Chore::CorrectTimes => self.correct_times(),
            Chore::Outage(duration) => {
                self.outage_until = self.outage_until.max(self.now + duration);
                self.promises.disturb(self.outage_until + LEASE);
            }
            Chore::Kill(place, pause) => self.kill(place, pause),
            Chore::Stop(place, grace, pause) => self.stop(place, grace, pause),
        }
    }

    /// Returns any process that delivers. `None` if no process delivers.
    fn any_process(&mut self) -> Option<usize> {
        let first = self.random.index(self.processes.len());
        let delivers = |place: &usize| self.processes[*place].as_ref().is_some_and(|process| !process.is_stopping);
        (first..self.processes.len()).chain(0..first).find(delivers)
    }

    fn fire_events(&mut self, tenant: Tenant, count: usize, import: bool) {
        let place = self.any_process().filter(|_| !import);
        let Some((place, process)) = place.and_then(|place| Some((place, self.processes[place].as_mut()?))) else {
            return self.send(IMPORTER, Call::Commit(Commit { tenant, count, lease: None }, None));
        };
        let now = process.now(self.now, self.clock_shift);
        let fits = (1..=MAX_HANDED_OVER).contains(&count);
        let ends = fits.then(|| process.machine.reserve(tenant, count, now)).flatten();
        let lease = ends.map(|ends| (Lease { worker: process.worker, until: ends.deadline() }, ends));
        let life = Life { place, number: process.life };
        self.send(life, Call::Commit(Commit { tenant, count, lease }, None));
    }

    /// Wakes the process that changed a subscription. The other processes notice in their next scan.
    fn subscription_changed(&mut self) {
        if let Some(place) = self.any_process() {
            if let Some(process) = &mut self.processes[place] {
                process.machine.request_full_scan();
            }
            self.drive(place);
        }
        self.wake(self.wall());
    }

    /// Requests some events of a subscription again, whether they were delivered or not.
    fn replay(&mut self, queue: QueueKey) {
        if !self.queue.subscriptions.get(&queue).is_some_and(|subscription| subscription.active) {
            return;
        }
        let past: Vec<Key> = self.events.iter().filter(|(of, _)| *of == queue).copied().collect();
        if past.is_empty() {
            return;
        }
        for _ in 0..REPLAYED {
            let key = self.random.pick(&past);
            let id = self.random.chance(500).then(|| self.next_delivery_id());
            match self.queue.get(key) {
                Some(job) if job.attempt > 1 => {
                    if self.queue.bring_forward(key, self.wall(), id) {
                        self.promises.brought_forward(key, job.attempt, self.now);
                    }
                }
                Some(_) => {}
                None => {
                    let event = (key.1, EventType::EmployeeCreated);
                    let job = Job::new(queue.0, queue.1, event, self.wall(), DeliveryOrigin::Replay);
                    self.enqueue(Job { delivery_id: id, ..job }, None);
                }
            }
        }
        if let Some(place) = self.any_process() {
            if let Some(process) = &mut self.processes[place] {
                process.machine.look_at_due();
            }
            self.drive(place);
        }
        self.wake(self.wall());
    }

    fn set_clocks(&mut self, by: i64) {
        self.clock_shift += by;
        self.promises.counts.clock_changes += 1;
        if by > 0 {
            self.promises.disturb(self.now + LEASE);
            self.promises.clock_set_forward(self.now);
        } else {
            // A process notices the change within seconds. A call that began before may store its times after the
            // first correction.
            let noticed_after = self.random.between(0, CLOCK_CHECK_MILLIS);
            for delay in [noticed_after, noticed_after + LONGEST_LEASE_MILLIS] {
                self.after(delay, Step::Chore(Chore::CorrectTimes));
                self.promises.disturb(self.now + delay + LEASE);
            }
            self.promises.clock_set_back();
        }
        self.wake(self.wall());
    }

    /// Corrects times that were stored while the clocks were ahead, as each process does.
    pub(crate) fn correct_times(&mut self) {
        let now = self.wall();
        let lease_end = Timestamp::from_millis(now.millis() + LONGEST_LEASE_MILLIS);
        for (key, attempt) in self.queue.correct_times(now, lease_end) {
            self.promises.brought_forward(key, attempt, self.now);
        }
        self.wake(now);
    }

    fn stop(&mut self, place: usize, grace: i64, pause: i64) {
        let process = self.processes[place].as_mut().filter(|process| !process.is_stopping);
        let Some(process) = process else { return };
        let now = process.now(self.now, self.clock_shift);
        process.is_stopping = true;
        process.machine.stop(now);
        let life = Life { place, number: process.life };
        self.pauses[place] = pause;
        self.promises.disturb(self.now + grace + pause);
        self.after(grace, Step::Cut(life));
        self.drive(place);
    }
}
