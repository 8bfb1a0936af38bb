//! Attempts: what they need is looked up, they go to their receivers, and answers come back.

use candor_dispatch::{AttemptEnd, Destination, admit, finish_attempt, store_failed, unsent};
use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::AttemptResponse;
use candor_port_storage::queue::AttemptResult;
use ulid::Ulid;

use crate::receiver::Receiver;
use crate::run::{Defect, Happening, Run};

/// A request that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    id: DeliveryId,
    begun_at: Timestamp,
    answered: AttemptResponse,
}

impl Run {
    /// The turn of a delivery has come: what is stored of its subscription is looked at, and it is sent.
    pub(crate) fn look_up(&mut self, place: usize, turn: u64) {
        let fails = self.now < self.outage_until || self.random.chance(self.plan.failing);
        let id = self.delivery_id();
        let Some(process) = &mut self.processes[place] else { return };
        let Some(begun) = process.turns.get(&turn).cloned() else { return };
        let (queue, job, now) = (begun.place.queue, begun.item.job, process.now(self.now, self.step));
        let subscription = self.queue.subscriptions.get(&queue).copied();
        let unable = match subscription {
            _ if fails => Some(store_failed(now.wall)),
            None => Some(AttemptResult::Gone),
            Some(it) => {
                let to = Destination { url: "", active: it.active };
                let refused = admit(&process.settings, &begun.item, to, || id, now.wall).err();
                let blind = self.plan.without_key == Some((place, queue));
                refused.or_else(|| blind.then(|| process.machine.without_secret(queue, now)))
            }
        };
        let ending = match unable {
            Some(result) => Some(AttemptEnd::Finished(Box::new(unsent(job, result)), None)),
            None if !process.machine.may_send(begun.ends, now) => Some(AttemptEnd::Late),
            None => None,
        };
        if let Some(ending) = ending {
            process.turns.remove(&turn);
            process.machine.handle_attempt_ended(begun.place, &begun.item.job, ending);
            if fails {
                self.promises.disturbed(self.now + 10_000);
            }
            return self.drive(place);
        }
        let life = process.life;
        let key = (queue, job.event_id);
        self.promises.sent(life, key, job.attempt, now.wall, self.now);
        let receiver = self.receivers.get(&queue).copied().unwrap_or(Receiver::Hanging);
        let answered = receiver.answer(self.now, &mut self.random);
        let attempt = Sent { id: job.delivery_id.unwrap_or(id), begun_at: now.wall, answered };
        self.after(answered.duration_ms.into(), Happening::Answered { place, life, turn, attempt });
    }

    /// The answer of a receiver, or its silence, has come to an end.
    pub(crate) fn answered(&mut self, place: usize, turn: u64, attempt: Sent) {
        let Some(process) = &mut self.processes[place] else { return };
        let Some(begun) = process.turns.remove(&turn) else { return };
        let (queue, job, now) = (begun.place.queue, begun.item.job, process.now(self.now, self.step));
        let Sent { id, begun_at, answered } = attempt;
        let times = (begun_at, now.wall);
        let (finished, mut answer) = finish_attempt(&process.settings, job, (id, String::new()), answered, times);
        if self.defect == Some(Defect::EverybodyIsQuick) {
            answer = candor_dispatch::ReceiverResponse {
                answered: true,
                acknowledged: true,
                took: std::time::Duration::ZERO,
            };
        }
        self.promises.answered(process.life, (queue, job.event_id), id, (now.wall, self.now));
        process.machine.handle_attempt_ended(
            begun.place,
            &begun.item.job,
            AttemptEnd::Finished(Box::new(finished), Some(answer)),
        );
        self.drive(place);
    }

    /// A process that stops has no more time: what is under way is cut off, and given back.
    pub(crate) fn cut(&mut self, place: usize) {
        let Some(process) = &mut self.processes[place] else { return };
        let wall = process.now(self.now, self.step).wall;
        for begun in std::mem::take(&mut process.turns).into_values() {
            let job = begun.item.job;
            self.promises.landed(process.life, (begun.place.queue, job.event_id));
            let finished = unsent(job, AttemptResult::Back(wall));
            process.machine.handle_attempt_ended(
                begun.place,
                &begun.item.job,
                AttemptEnd::Finished(Box::new(finished), None),
            );
        }
        self.drive(place);
    }

    /// The next attempt's id.
    pub(crate) fn delivery_id(&mut self) -> DeliveryId {
        self.ids += 1;
        DeliveryId::from_ulid(Ulid(self.ids))
    }
}
