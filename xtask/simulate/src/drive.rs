//! The loops of a process: whatever its machine wants done now is begun.

use candor_dispatch::{NextRecordStep, Now};

use crate::process::Process;
use crate::run::{Happening, Run};
use crate::store::{Call, Record};

/// Whoever has found nothing for a while, though there is something, looks again after this time. The service would do
/// so fifty times a second.
const LOOKS_AGAIN: i64 = 500;

impl Run {
    /// Lets a process do what it can.
    pub(crate) fn drive(&mut self, place: usize) {
        let Some(now) = self.processes[place].as_ref().map(|it| it.now(self.now, self.step)) else { return };
        self.attempt(place, now);
        self.look_for_more(place, now);
        if self.record_some(place, now) {
            self.set_alarm(place);
        }
    }

    fn attempt(&mut self, place: usize, now: Now) {
        let Some(process) = &mut self.processes[place] else { return };
        let life = process.life;
        let begun: Vec<_> = std::iter::from_fn(|| process.machine.next_attempt(now)).collect();
        for it in begun {
            self.turns += 1;
            let turn = self.turns;
            if let Some(process) = &mut self.processes[place] {
                process.turns.insert(turn, it);
            }
            let way = self.way();
            self.after(way, Happening::LookUp { place, life, turn });
        }
    }

    fn look_for_more(&mut self, place: usize, now: Now) {
        let Some(process) = &mut self.processes[place] else { return };
        if process.machine.take_wakes().claims {
            process.claim_at = Some(self.now);
            process.fruitful();
        }
        let is_time = process.claim_at.is_some_and(|it| it <= self.now);
        if process.is_claiming || process.is_stopping || !is_time {
            return;
        }
        if let Some(order) = process.machine.next_claim(now) {
            process.is_claiming = true;
            let life = process.life;
            return self.ask(place, life, Call::Claim(order, None));
        }
        process.fruitless();
        let delay = self.random.between(0, 250);
        if let Some(process) = &mut self.processes[place] {
            process.claim_at = next_look(process, &self.queue, now, (self.now, self.step, delay));
        }
    }

    /// Records what there is; says whether the process goes on.
    fn record_some(&mut self, place: usize, now: Now) -> bool {
        let Some(process) = &mut self.processes[place] else { return false };
        let life = process.life;
        process.record_at = None;
        if process.batch.is_some() {
            return true;
        }
        match process.machine.recording(now) {
            NextRecordStep::Idle => {}
            NextRecordStep::At(steady) => process.record_at = Some(process.at(steady)),
            NextRecordStep::Over => {
                self.processes[place] = None;
                self.promises.ended_in_order(life, self.now);
                let pause = self.pauses[place];
                self.after(pause, Happening::Starts(place));
                return false;
            }
            NextRecordStep::Now => {
                process.batch = process.machine.next_batch();
                let Some(batch) = &process.batch else { return true };
                let (results, health) = batch.call();
                let record = Record { worker: process.worker, results, health };
                let nothing = Ok(candor_port_storage::queue::RecordOutcome::default());
                self.ask(place, life, Call::Record(record, nothing));
            }
        }
        true
    }
}

/// When a process looks for something to claim again, if nothing happens before. Looks that can find nothing, because
/// nothing is due or comes round before, are left out: each would change nothing.
fn next_look(
    process: &Process,
    queue: &crate::queue::Queue,
    now: Now,
    (at, step, delay): (i64, i64, i64),
) -> Option<i64> {
    let next = process.at(process.machine.look_again_at(now));
    if !process.is_at_rest() {
        return Some(next);
    }
    if queue.has_resumable() {
        return Some(next.max(at + LOOKS_AGAIN));
    }
    let free = process.when(queue.next_free_at(now.wall)?, step);
    Some(if free <= at { next.max(at + LOOKS_AGAIN) } else { next.max(free + delay) })
}
