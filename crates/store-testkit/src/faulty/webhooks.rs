//! Subscriptions, delivery log and queues of a store that fails on request.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::people::invitation::MailCounter;
use candor_domain::time::{Date, Timestamp};
use candor_port_storage::Storage;
use candor_port_storage::Versioned;
use candor_port_storage::error::Read;
use candor_port_storage::mail_queue::{MailKey, MailQueue, MailResult};
use candor_port_storage::queue::{
    AttemptResult, Claim, ClaimedJobs, EventToRedeliver, Lease, Queue, QueueKey, QueueState, RateLease,
    RecordOutcome, RedeliveryFilter, Webhooks, WorkerId,
};
use candor_subscriptions::{Delivery, HealthDelta, Job, LogFigures, Subscribers, Subscription};

use super::{Faulty, FaultyCall};

#[async_trait]
impl<S: Storage + ?Sized> Webhooks for Faulty<S> {
    async fn subscribers(&self, tenant: Tenant) -> Read<Subscribers> {
        self.run_call(FaultyCall::Batch, self.store.subscribers(tenant)).await
    }
    async fn every_webhook(
        &self,
        after: Option<QueueKey>,
        most: u16,
    ) -> Read<Vec<(Tenant, Versioned<Subscription>)>> {
        self.run_call(FaultyCall::Batch, self.store.every_webhook(after, most)).await
    }
    async fn delivery(&self, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>> {
        self.run_call(FaultyCall::Get, self.store.delivery(tenant, webhook, id)).await
    }
    async fn events_by_id(&self, wanted: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>> {
        self.run_call(FaultyCall::Batch, self.store.events_by_id(wanted)).await
    }
    async fn log_figures(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        range: (Timestamp, Timestamp),
        hidden: &[EventType],
    ) -> Read<LogFigures> {
        self.run_call(FaultyCall::Get, self.store.log_figures(tenant, webhook, range, hidden)).await
    }
    async fn queued_delivery(&self, tenant: Tenant, webhook: WebhookId, event: EventId) -> Read<Option<Job>> {
        self.run_call(FaultyCall::Get, self.store.queued_delivery(tenant, webhook, event)).await
    }
    async fn to_deliver_again(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        which: &RedeliveryFilter,
        after: Option<EventId>,
        most: u16,
    ) -> Read<Vec<EventToRedeliver>> {
        self.run_call(FaultyCall::Batch, self.store.to_deliver_again(tenant, webhook, which, after, most)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> Queue for Faulty<S> {
    fn record_batch_size(&self) -> usize {
        self.store.record_batch_size()
    }
    async fn claim(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<ClaimedJobs> {
        self.run_call(FaultyCall::Claim, self.store.claim(lease, now, claim)).await
    }
    async fn record(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<RecordOutcome> {
        self.run_call(FaultyCall::Record, self.store.record(worker, results, health)).await
    }
    async fn lease_rate(&self, queue: QueueKey, lease: Lease, now: Timestamp) -> Read<RateLease> {
        self.run_call(FaultyCall::Claim, self.store.lease_rate(queue, lease, now)).await
    }
    async fn correct_times(&self, now: Timestamp, lease: Timestamp) -> Read<()> {
        self.run_call(FaultyCall::Upkeep, self.store.correct_times(now, lease)).await
    }
    async fn queue_state(&self, now: Timestamp) -> Read<QueueState> {
        self.run_call(FaultyCall::Upkeep, self.store.queue_state(now)).await
    }
    async fn keep_log(&self, now: Timestamp, before: Timestamp, most: u32) -> Read<u64> {
        self.run_call(FaultyCall::Upkeep, self.store.keep_log(now, before, most)).await
    }
}

#[async_trait]
impl<S: Storage + ?Sized> MailQueue for Faulty<S> {
    async fn claim_mails(&self, lease: Lease, now: Timestamp, most: u16, except: &[Tenant]) -> Read<Vec<MailKey>> {
        self.run_call(FaultyCall::Claim, self.store.claim_mails(lease, now, most, except)).await
    }
    async fn record_mails(&self, worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>> {
        self.run_call(FaultyCall::Record, self.store.record_mails(worker, results)).await
    }
    async fn count_mail(&self, counter: MailCounter, day: Date, most: u32) -> Read<bool> {
        self.run_call(FaultyCall::Upkeep, self.store.count_mail(counter, day, most)).await
    }
    async fn counted_mails(&self, counter: MailCounter, day: Date) -> Read<u32> {
        self.run_call(FaultyCall::Get, self.store.counted_mails(counter, day)).await
    }
    async fn mail_queue_state(&self, now: Timestamp) -> Read<QueueState> {
        self.run_call(FaultyCall::Upkeep, self.store.mail_queue_state(now)).await
    }
}
