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

use super::{Faulty, FaultyCall, faulty};

faulty! {
    Webhooks {
        Batch: subscribers(tenant: Tenant) -> Read<Subscribers>;
        Batch: every_webhook(
            after: Option<QueueKey>, most: u16
        ) -> Read<Vec<(Tenant, Versioned<Subscription>)>>;
        Get: delivery(tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>>;
        Batch: events_by_id(wanted: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>>;
        Get: log_figures(
            tenant: Tenant, webhook: WebhookId, range: (Timestamp, Timestamp), hidden: &[EventType]
        ) -> Read<LogFigures>;
        Get: queued_delivery(tenant: Tenant, webhook: WebhookId, event: EventId) -> Read<Option<Job>>;
        Batch: to_deliver_again(
            tenant: Tenant, webhook: WebhookId, which: &RedeliveryFilter, after: Option<EventId>, most: u16
        ) -> Read<Vec<EventToRedeliver>>;
    }
}

faulty! {
    Queue {
        Claim: claim(lease: Lease, now: Timestamp, claim: &Claim) -> Read<ClaimedJobs>;
        Record: record(
            worker: WorkerId, results: Vec<(Job, AttemptResult)>, health: Vec<(QueueKey, HealthDelta)>
        ) -> Read<RecordOutcome>;
        Claim: lease_rate(queue: QueueKey, lease: Lease, now: Timestamp) -> Read<RateLease>;
        Upkeep: correct_times(now: Timestamp, lease: Timestamp) -> Read<()>;
        Upkeep: queue_state(now: Timestamp) -> Read<QueueState>;
        Upkeep: keep_log(now: Timestamp, before: Timestamp, most: u32) -> Read<u64>;
    }

    fn record_batch_size(&self) -> usize {
        self.store.record_batch_size()
    }
}

faulty! {
    MailQueue {
        Claim: claim_mails(lease: Lease, now: Timestamp, most: u16, except: &[Tenant]) -> Read<Vec<MailKey>>;
        Record: record_mails(worker: WorkerId, results: Vec<(MailKey, MailResult)>) -> Read<Vec<MailKey>>;
        Upkeep: count_mail(counter: MailCounter, day: Date, most: u32) -> Read<bool>;
        Get: counted_mails(counter: MailCounter, day: Date) -> Read<u32>;
        Upkeep: mail_queue_state(now: Timestamp) -> Read<QueueState>;
    }
}
