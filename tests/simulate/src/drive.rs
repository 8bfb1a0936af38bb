//! The loops of a process. They start the attempts, claims and records that its dispatcher orders.

use crate::process::Process;
use crate::queue::Queue;
use crate::run::{Life, Run, Step};
use crate::store::{Call, Record};
use candor_dispatch::{NextRecordStep, Now};
use candor_port_storage::queue::RecordOutcome;

/// Milliseconds between two scans of a process that has found nothing for a while. The service scans fifty times a
/// second.
const RESCAN: i64 = 500;

impl Run {
    /// Lets a process start all work that it can.
    pub(crate) fn drive(&mut self, place: usize) {
        let Some(process) = &self.processes[place] else { return };
        let (life, now) = (Life { place, number: process.life }, process.now(self.now, self.clock_shift));
        self.start_attempts(life, now);
        self.start_claim(life, now);
        if self.start_recording(life, now) {
            self.set_alarm(place);
        }
    }

    fn start_attempts(&mut self, life: Life, now: Now) {
        let Some(process) = &mut self.processes[life.place] else { return };
        let attempts: Vec<_> = std::iter::from_fn(|| process.machine.next_attempt(now)).collect();
        for attempt in attempts {
            self.turns += 1;
            let turn = self.turns;
            if let Some(process) = &mut self.processes[life.place] {
                process.turns.insert(turn, attempt);
            }
            let way = self.way();
            self.after(way, Step::LookUp(life, turn));
        }
    }

    fn start_claim(&mut self, life: Life, now: Now) {
        let Some(process) = &mut self.processes[life.place] else { return };
        if process.machine.take_wakes().claims {
            process.claim_at = Some(self.now);
            process.fruitless_scans = 0;
        }
        let is_time = process.claim_at.is_some_and(|at| at <= self.now);
        if process.is_claiming || process.is_stopping || !is_time {
            return;
        }
        if let Some(order) = process.machine.next_claim(now) {
            process.is_claiming = true;
            return self.send(life, Call::Claim(order, None));
        }
        process.fruitless_scans += 1;
        let delay = self.random.between(0, 250);
        if let Some(process) = &mut self.processes[life.place] {
            process.claim_at = next_scan(process, &self.queue, now, (self.now, self.clock_shift, delay));
        }
    }

    /// Records finished attempts. Returns `false` if the process has ended.
    fn start_recording(&mut self, life: Life, now: Now) -> bool {
        let Some(process) = &mut self.processes[life.place] else { return false };
        process.record_at = None;
        if process.batch.is_some() {
            return true;
        }
        match process.machine.next_record_step(now) {
            NextRecordStep::Idle => {}
            NextRecordStep::At(steady) => process.record_at = Some(process.at(steady)),
            NextRecordStep::Over => {
                self.processes[life.place] = None;
                self.promises.check_graceful_stop(life.number, self.now);
                self.after(self.pauses[life.place], Step::Start(life.place));
                return false;
            }
            NextRecordStep::Now => {
                process.batch = process.machine.next_batch();
                let Some(batch) = &process.batch else { return true };
                let (results, health) = batch.call();
                let record = Record { worker: process.worker, results, health };
                self.send(life, Call::Record(record, Ok(RecordOutcome::default())));
            }
        }
        true
    }
}

/// Returns the time of the next scan for claimable deliveries, unless something happens before. Scans that cannot
/// find anything are left out: they would change nothing.
fn next_scan(process: &Process, queue: &Queue, now: Now, (at, shift, delay): (i64, i64, i64)) -> Option<i64> {
    let next = process.at(process.machine.look_again_at(now));
    if !process.is_at_rest() {
        return Some(next);
    }
    if queue.has_resumable() {
        return Some(next.max(at + RESCAN));
    }
    let free = process.when(queue.next_free_at(now.wall)?, shift);
    Some(if free <= at { next.max(at + RESCAN) } else { next.max(free + delay) })
}
