//! Claims due deliveries from the queue in the store and reads their events.

use std::collections::HashMap;
use std::sync::Arc;

use candor_dispatch::{ClaimOrder, WaitingDelivery};
use candor_domain::access::Tenant;
use candor_domain::event::Event;
use candor_domain::id::EventId;
use candor_port_storage::error::Read;
use candor_port_storage::queue::Claim;
use candor_subscriptions::Job;

use super::engine::Engine;
use super::message::Message;

impl Engine {
    /// Makes one claim if the dispatcher orders one. Returns `true` if a claim was made.
    pub(super) async fn claim(self: &Arc<Self>) -> Read<bool> {
        let (order, forgotten) =
            self.with_dispatcher(|dispatcher, now| (dispatcher.next_claim(now), dispatcher.take_forgotten()));
        self.metrics.forgotten.increment(u64::try_from(forgotten).unwrap_or_default());
        let Some(order) = order else { return Ok(false) };
        let claim_result = self.claim_by(order).await;
        // Reported last: the engine must not end before the claimed deliveries are in the dispatcher.
        self.with_dispatcher(|machine, _| machine.claim_ended());
        claim_result.map(|()| true)
    }

    async fn claim_by(self: &Arc<Self>, order: ClaimOrder) -> Read<()> {
        let claimed_jobs = match self.services.store.claim(order.lease, order.at.wall, &order.claim).await {
            Ok(claimed) => claimed,
            Err(error) => {
                self.with_dispatcher(|dispatcher, now| dispatcher.claim_failed(now));
                return Err(error);
            }
        };
        match claimed_jobs.jobs.len() {
            0 => tracing::trace!("no delivery is due"),
            deliveries => tracing::debug!(deliveries, "took deliveries from the queue"),
        }
        let taken_jobs =
            self.with_dispatcher(|dispatcher, now| dispatcher.handle_claimed(&order, claimed_jobs, now));
        let messages = self.messages(&taken_jobs).await;
        let is_of_parked = matches!(order.claim, Claim::Parked(_));
        let waiting = |job: Job| {
            let message = messages.get(&(job.tenant, job.event_id)).cloned();
            WaitingDelivery { job, message, resumed: is_of_parked }
        };
        let deliveries = taken_jobs.into_iter().map(waiting).collect();
        self.with_dispatcher(|dispatcher, now| dispatcher.take_in_claimed(deliveries, &order, now));
        self.start_ready_attempts();
        Ok(())
    }

    /// Returns the messages of these deliveries. Events that cannot be read now are read again by the attempt.
    async fn messages(&self, jobs: &[Job]) -> HashMap<(Tenant, EventId), Arc<Message>> {
        let mut messages = HashMap::new();
        let mut event_ids = vec![];
        for job in jobs {
            let key = (job.tenant, job.event_id);
            match Message::for_test(job) {
                Some(message) => drop(messages.insert(key, Arc::new(message))),
                None => event_ids.push(key),
            }
        }
        event_ids.sort_unstable();
        event_ids.dedup();
        if event_ids.is_empty() {
            return messages;
        }
        match self.services.store.events_by_id(&event_ids).await {
            Ok(events) => {
                let message =
                    |(tenant, event): (Tenant, Event)| ((tenant, event.id), Arc::new(Message::new(tenant, event)));
                messages.extend(events.into_iter().map(message));
            }
            Err(error) => tracing::warn!(
                %error,
                "cannot read the events of claimed deliveries; each attempt reads its event"
            ),
        }
        messages
    }
}
