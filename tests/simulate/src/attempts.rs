//! Attempts: lookups, requests to receivers, and responses.

use crate::plan::HOUR;
use crate::receiver::Receiver;
use crate::run::{Defect, Life, Run, Step};
use crate::store::Call;
use candor_dispatch::{
    AttemptEnd, Destination, RateLeaseOrder, ReceiverResponse, SendPermit, admit, finish_attempt, store_failed,
    unsent,
};
use candor_domain::id::DeliveryId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, RateLease};
use candor_subscriptions::{AttemptResponse, RequestedPause};
use std::time::Duration;
use ulid::Ulid;

/// A request in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    id: DeliveryId,
    started_at: Timestamp,
    response: AttemptResponse,
}

impl Run {
    /// Looks up the subscription of a delivery. Sends the request if the lookup succeeds and the subscription allows
    /// the attempt.
    pub(crate) fn look_up(&mut self, place: usize, turn: u64) {
        let fails = self.now < self.outage_until || self.random.chance(self.plan.failing);
        let id = self.next_delivery_id();
        let Some(process) = &mut self.processes[place] else { return };
        let Some(attempt) = process.turns.get(&turn).cloned() else { return };
        let (queue, job, now) = (attempt.place.queue, attempt.item.job, process.now(self.now, self.clock_shift));
        let subscription = self.queue.subscriptions.get(&queue).copied();
        let unable = match subscription {
            _ if fails => Some(store_failed(now.wall)),
            None => Some(AttemptResult::Gone),
            Some(subscription) => {
                let to = Destination { url: "", active: subscription.active };
                let refusal = admit(&process.settings, &attempt.item, to, || id, now.wall).err();
                let lacks_key = self.plan.without_key == Some((place, queue));
                refusal.or_else(|| lacks_key.then(|| process.machine.without_secret(queue, now)))
            }
        };
        match unable {
            Some(result) => {
                if fails {
                    self.promises.disturb(self.now + 10_000);
                    self.promises.postpone((queue, job.event_id));
                }
                self.end(place, turn, AttemptEnd::Finished(Box::new(unsent(job, result)), None));
            }
            None => self.permit(place, turn, false),
        }
    }

    /// Ends an attempt that has sent nothing.
    fn end(&mut self, place: usize, turn: u64, end: AttemptEnd) {
        let Some(process) = &mut self.processes[place] else { return };
        let Some(attempt) = process.turns.remove(&turn) else { return };
        process.machine.handle_attempt_ended(attempt.place, &attempt.item.job, end);
        self.drive(place);
    }

    /// Sends the request of an attempt if the rate of its receiver permits. `leased` is `true` after a call for
    /// the rate lease.
    fn permit(&mut self, place: usize, turn: u64, leased: bool) {
        let Some(process) = &mut self.processes[place] else { return };
        let Some(attempt) = process.turns.get(&turn).cloned() else { return };
        let (now, life) = (process.now(self.now, self.clock_shift), Life { place, number: process.life });
        let rate = self.queue.subscriptions.get(&attempt.place.queue).and_then(|known| known.max_per_second);
        let rate = rate.filter(|_| self.defect != Some(Defect::IgnoredRates));
        match process.machine.permit(&attempt, rate, now) {
            SendPermit::Send => self.request(place, turn),
            SendPermit::Late => self.end(place, turn, AttemptEnd::Late),
            SendPermit::Lease(order) if !leased => self.send(life, Call::RateLease(turn, order, None)),
            SendPermit::Wait | SendPermit::Lease(_) if self.defect == Some(Defect::DroppedWaits) => {
                let result = unsent(attempt.item.job, AttemptResult::Gone);
                self.end(place, turn, AttemptEnd::Finished(Box::new(result), None));
            }
            SendPermit::Wait | SendPermit::Lease(_) => {
                process.turns.remove(&turn);
                process.machine.put_back(attempt, now);
                self.drive(place);
            }
        }
    }

    /// Processes the answer to a call for a rate lease.
    pub(crate) fn rate_leased(
        &mut self,
        place: usize,
        turn: u64,
        order: &RateLeaseOrder,
        response: Option<RateLease>,
    ) {
        let Some(process) = &mut self.processes[place] else { return };
        let Some(job) = process.turns.get(&turn).map(|started| started.item.job) else { return };
        let now = process.now(self.now, self.clock_shift);
        let result = match response {
            Some(response) => process.machine.handle_rate_lease(order, response, now),
            None => {
                process.machine.rate_lease_failed(order);
                self.promises.postpone((order.queue, job.event_id));
                Some(store_failed(now.wall))
            }
        };
        match result {
            Some(result) => self.end(place, turn, AttemptEnd::Finished(Box::new(unsent(job, result)), None)),
            None => self.permit(place, turn, true),
        }
        self.drive(place);
    }

    /// Sends the request of an attempt.
    fn request(&mut self, place: usize, turn: u64) {
        let id = self.next_delivery_id();
        let Some(process) = &mut self.processes[place] else { return };
        let Some(attempt) = process.turns.get(&turn).cloned() else { return };
        let (queue, job, now) = (attempt.place.queue, attempt.item.job, process.now(self.now, self.clock_shift));
        let rate = self.queue.subscriptions.get(&queue).and_then(|known| known.max_per_second);
        self.promises.check_rate((queue, job.event_id), rate, self.now);
        let life = Life { place, number: process.life };
        self.promises.sent(life.number, (queue, job.event_id), job.attempt, now.wall, self.now);
        let receiver = self.receivers.get(&queue).copied().unwrap_or(Receiver::Hanging);
        let response = receiver.respond(self.now, self.wall(), &mut self.random);
        let sent_request = Sent { id: job.delivery_id.unwrap_or(id), started_at: now.wall, response };
        self.after(response.duration_ms.into(), Step::Respond(life, turn, sent_request));
    }

    /// Processes the response of a receiver, or its timeout.
    pub(crate) fn handle_response(&mut self, place: usize, turn: u64, sent: Sent) {
        let Some(process) = &mut self.processes[place] else { return };
        let Some(attempt) = process.turns.remove(&turn) else { return };
        let (queue, job, now) = (attempt.place.queue, attempt.item.job, process.now(self.now, self.clock_shift));
        let Sent { id, started_at, mut response } = sent;
        let requested_pause = requested_millis(response, now.wall);
        if self.defect == Some(Defect::IgnoredRetryAfter) {
            response.retry_after = None;
        }
        let times = (started_at, now.wall);
        let (finished, mut observed) =
            finish_attempt(&process.settings, job, (id, String::new()), response, times);
        if self.defect == Some(Defect::AllReceiversQuick) {
            observed = ReceiverResponse { answered: true, acknowledged: true, took: Duration::ZERO };
        }
        self.promises.answered(process.life, (queue, job.event_id), id, (now.wall, self.now), requested_pause);
        let end = AttemptEnd::Finished(Box::new(finished), Some(observed));
        process.machine.handle_attempt_ended(attempt.place, &attempt.item.job, end);
        self.drive(place);
    }

    /// Cuts off the attempts of a process that stops. Their deliveries return to the queue.
    pub(crate) fn cut(&mut self, place: usize) {
        let Some(process) = &mut self.processes[place] else { return };
        let wall = process.now(self.now, self.clock_shift).wall;
        for started in std::mem::take(&mut process.turns).into_values() {
            let job = started.item.job;
            self.promises.landed(process.life, (started.place.queue, job.event_id));
            let end = AttemptEnd::Finished(Box::new(unsent(job, AttemptResult::Back(wall))), None);
            process.machine.handle_attempt_ended(started.place, &started.item.job, end);
        }
        self.drive(place);
    }

    pub(crate) fn next_delivery_id(&mut self) -> DeliveryId {
        self.ids += 1;
        DeliveryId::from_ulid(Ulid(self.ids))
    }
}

/// Milliseconds until the time that a response requests for the next attempt. A request for more than 24 hours
/// counts as one for 24 hours.
fn requested_millis(response: AttemptResponse, wall: Timestamp) -> i64 {
    let millis = match response.retry_after {
        None => 0,
        Some(RequestedPause::Seconds(seconds)) => i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000),
        Some(RequestedPause::At(at)) => at.millis() - wall.millis(),
    };
    millis.clamp(0, 24 * HOUR)
}
