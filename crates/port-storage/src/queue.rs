//! Webhooks: typed reads of subscriptions and the delivery log, and narrow calls for the delivery queue.
//!
//! A queued delivery has a due time, or is parked while its subscription is not active. In both cases a
//! worker may lease it: other workers skip it until the lease ends. The end of the lease also frees the
//! deliveries of a dead worker. Each call is one short transaction; none stays open during an attempt.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType, first_id_at};
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::time::Timestamp;
use candor_subscriptions::{
    AttemptEffect, Delivery, HealthDelta, Job, LogFigures, Streak, Subscribers, Subscription,
};

use candor_tables::Versioned;

use crate::error::Read;

/// Id of a worker. Each start of a process gets a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkerId(pub [u8; 16]);

/// Exclusive claim on deliveries by one worker, until a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Worker that holds the lease.
    pub worker: WorkerId,
    /// End of the lease.
    pub until: Timestamp,
}

/// Queue of one subscription.
pub type QueueKey = (Tenant, WebhookId);

/// Selection of deliveries to claim. Rows that another worker is claiming are skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The deliveries that have been due for the longest time, of all subscriptions.
    Oldest {
        /// Maximum number of deliveries.
        most: u16,
    },
    /// Some due deliveries of each subscription, so that one queue does not delay the others.
    SubscriptionQueues(QueueWalk),
    /// Some parked deliveries of each subscription that is active again or deleted. Deliveries of deleted
    /// subscriptions are to be dropped.
    Parked(QueueWalk),
}

/// A walk along the subscriptions with queued deliveries, ordered by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueWalk {
    /// Start after this subscription.
    pub after: Option<QueueKey>,
    /// Maximum number of subscriptions.
    pub queues: u16,
    /// Maximum number of deliveries per subscription, the longest due first; of parked ones, the oldest
    /// events first.
    pub each: u16,
    /// Subscriptions to skip. They still count towards `queues`.
    pub busy: Vec<QueueKey>,
    /// Subscriptions with their own maximum number of deliveries, if it is below `each`.
    pub limited: Vec<(QueueKey, u16)>,
}

impl QueueWalk {
    /// Returns the maximum number of deliveries of a subscription.
    #[must_use]
    pub fn most(&self, queue: QueueKey) -> u16 {
        let own = self.limited.iter().find(|(limited, _)| *limited == queue);
        own.map_or(self.each, |(_, most)| self.each.min(*most))
    }
}

/// Result of a call for the rate lease of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLease {
    /// The worker holds the lease.
    Held,
    /// Another worker holds the lease until this time.
    HeldElsewhere {
        /// End of the lease.
        until: Timestamp,
    },
}

/// Result of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaimedJobs {
    /// The deliveries, which are now leased.
    pub jobs: Vec<Job>,
    /// Start of the next step of a walk; `None` at its end.
    pub next: Option<QueueKey>,
}

/// Result of a leased delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptResult {
    /// Attempted or dropped: the entry is logged, and the delivery is due again or removed.
    Settled(Box<AttemptEffect>),
    /// Not attempted; due again at this time.
    Back(Timestamp),
    /// Not attempted; the due time does not change, so that another worker may try. A parked delivery becomes
    /// due at the end of its lease.
    Released,
    /// Not attempted, because the subscription is not active.
    Parked,
    /// Not attempted, because the subscription or the event no longer exists.
    Gone,
}

/// Outcome of recording results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordOutcome {
    /// New failure streaks of the subscriptions whose health the results changed. Deleted subscriptions are left
    /// out.
    pub streaks: Vec<(QueueKey, Streak)>,
    /// Number of results that were not recorded, because another worker holds the lease or the delivery is
    /// removed.
    pub lost: u64,
}

/// Length and age of the queue of deliveries or of emails, for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueState {
    /// Number of due entries, including those with an expired lease, up to [`QueueState::COUNTED`].
    pub due: u64,
    /// Due time of the entry that has been due for the longest time. An expired lease does not change the due
    /// time.
    pub oldest_due_at: Option<Timestamp>,
}

impl QueueState {
    /// Maximum of [`QueueState::due`], so that counting does not cost more for a longer queue.
    pub const COUNTED: u64 = 100_000;
}

/// Filter of events to redeliver (decision F9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedeliveryFilter {
    /// Earliest time of the events, inclusive.
    pub since: Timestamp,
    /// Latest time of the events, exclusive.
    pub until: Timestamp,
    /// Types of the events.
    pub types: Vec<EventType>,
    /// `true` for only those events that were attempted for the subscription and never delivered to it.
    pub only_failed: bool,
    /// Current time. A queued delivery only matches if it has failed, is not leased and is due later than
    /// this.
    pub now: Timestamp,
}

/// Margin of the range of event ids that a redelivery scans, in seconds. The service gives an event an id with its
/// own time, so the margin is a precaution.
const ID_MARGIN_SECONDS: i64 = 60;

impl RedeliveryFilter {
    /// Returns the exclusive bounds of the ids to scan after `after`.
    #[must_use]
    pub fn id_range(&self, after: Option<EventId>) -> (EventId, EventId) {
        let first = first_id_at(self.since.plus_seconds(-ID_MARGIN_SECONDS));
        let first_id = after.map_or(first, |after| first.max(after));
        (first_id, first_id_at(self.until.plus_seconds(ID_MARGIN_SECONDS)))
    }
}

/// An event to redeliver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventToRedeliver {
    /// Id of the event.
    pub event_id: EventId,
    /// Type of the event.
    pub event_type: EventType,
    /// `true` if a delivery of the event is already queued. The redelivery then expedites it.
    pub is_queued: bool,
}

/// Reads of subscriptions and the delivery log.
#[async_trait]
pub trait Webhooks {
    /// Returns the selected event types of all subscriptions of a tenant.
    async fn subscribers(&self, tenant: Tenant) -> Read<Subscribers>;
    /// Returns the subscriptions of all tenants after this one, ordered by tenant and id.
    async fn every_webhook(
        &self,
        after: Option<QueueKey>,
        most: u16,
    ) -> Read<Vec<(Tenant, Versioned<Subscription>)>>;
    /// Returns one attempt. The time in its id narrows the search.
    async fn delivery(&self, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>>;
    /// Returns those of the wanted events that exist, in any order.
    async fn events_by_id(&self, wanted: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>>;
    /// Returns the figures of a subscription: of its attempts that began in `range` (inclusive start, exclusive
    /// end), and of its queue, both without events of the types in `hidden`. Reads each of these attempts, so it is a slow
    /// read (decision A17).
    async fn log_figures(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        range: (Timestamp, Timestamp),
        hidden: &[EventType],
    ) -> Read<LogFigures>;
    /// Returns the queued delivery of an event to a subscription.
    async fn queued_delivery(&self, tenant: Tenant, webhook: WebhookId, event: EventId) -> Read<Option<Job>>;
    /// Returns the events to redeliver to a subscription, ordered by id, after `after`.
    async fn to_deliver_again(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        which: &RedeliveryFilter,
        after: Option<EventId>,
        most: u16,
    ) -> Read<Vec<EventToRedeliver>>;
}

/// The queue of webhook deliveries.
#[async_trait]
pub trait Queue {
    /// Returns the best number of results per call of [`Queue::record`]. It is lower in a store whose recording
    /// blocks other writers.
    fn record_batch_size(&self) -> usize;
    /// Leases the deliveries that the claim selects.
    async fn claim(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<ClaimedJobs>;
    /// Records results in one transaction. A result is dropped if the worker's lease or the attempt number
    /// has changed. Adds the health deltas to their subscriptions.
    async fn record(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<RecordOutcome>;
    /// Takes or renews the rate lease of a subscription, unless another worker holds it. The holder of the lease
    /// is the only worker that sends to a receiver with a rate. Returns [`RateLease::Held`] for a deleted
    /// subscription.
    async fn lease_rate(&self, queue: QueueKey, lease: Lease, now: Timestamp) -> Read<RateLease>;
    /// Corrects times that were stored while a clock was ahead. First attempts that are due after `now` and
    /// retries whose last attempt was after `now` become due at `now`; the same holds for mails. Running erasures
    /// become due at `now`, and erasures that wait for a hold check for it again at once. Leases that end after
    /// `lease` end at `lease`. Reads the whole queue, so call it rarely.
    async fn correct_times(&self, now: Timestamp, lease: Timestamp) -> Read<()>;
    /// Returns the length and age of the queue.
    async fn queue_state(&self, now: Timestamp) -> Read<QueueState>;
    /// Prepares the log for the attempts of the coming days and removes entries from before `before`. Deletes
    /// at most `most` entries if it has to delete them one by one, and returns their number.
    async fn keep_log(&self, now: Timestamp, before: Timestamp, most: u32) -> Read<u64>;
}
