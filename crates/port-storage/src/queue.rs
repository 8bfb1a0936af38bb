//! Webhooks: subscriptions and their log as typed reads, and the queue of deliveries as narrow calls.
//!
//! A queued delivery is due at a time, or parked while its subscription is not active. Either way it may be leased:
//! until the end of its lease it is nobody else's, and then what a dead worker had comes round by itself. Each call is
//! one short transaction; nobody holds one while something is sent.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType};
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, HealthDelta, Job, Settled, Streak, Subscribers, Subscription};

use candor_tables::Versioned;

use crate::error::Read;

/// Who works on the queue: one per process, and another one after every start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkerId(pub [u8; 16]);

/// Until when deliveries are nobody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Who has it.
    pub worker: WorkerId,
    /// When it ends.
    pub until: Timestamp,
}

/// One subscription's part of the queue.
pub type QueueKey = (Tenant, WebhookId);

/// Which deliveries are claimed. What another worker is just claiming is passed over, never waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Those that have been due for the longest time, whoever they are for.
    Oldest {
        /// At most so many.
        most: u16,
    },
    /// For many subscriptions some each, so that the queue of one holds nobody up.
    SubscriptionQueues(Walk),
    /// The same among the parked ones whose subscription is active again, or gone: those are to be let go.
    Parked(Walk),
}

/// A walk along the subscriptions that have something queued, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Behind this one.
    pub after: Option<QueueKey>,
    /// Past at most so many subscriptions.
    pub queues: u16,
    /// At most so many deliveries of each, the longest due first; of the parked ones, the oldest events first.
    pub each: u16,
    /// Nothing of these; they are counted all the same.
    pub busy: Vec<QueueKey>,
}

/// What was claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claimed {
    /// The deliveries, leased now.
    pub jobs: Vec<Job>,
    /// Where a walk goes on; null at its end.
    pub next: Option<QueueKey>,
}

/// What has become of a leased delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptResult {
    /// It was attempted, or dropped: the entry goes into the log, and it is due again or done.
    Settled(Box<Settled>),
    /// It was not attempted and is due again at this time.
    Back(Timestamp),
    /// It was not attempted, and is as due as it was: somebody else may be able to. One that was parked is due when this
    /// lease would have ended.
    Released,
    /// It was not attempted: its subscription is not active.
    Parked,
    /// It was not attempted: its subscription, or its event, is gone.
    Gone,
}

/// What has been found out by recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The streak of every subscription that was given a delta and is still there.
    pub streaks: Vec<(QueueKey, Streak)>,
    /// How many results were not recorded, because their lease had passed to another worker or their delivery is done.
    pub lost: u64,
}

/// How the queue does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueState {
    /// How many deliveries are due, those included whose lease has ended; counted up to [`QueueState::COUNTED`].
    pub due: u64,
    /// Since when the oldest of them has been due. A lease that has ended makes no difference.
    pub oldest_due_at: Option<Timestamp>,
}

impl QueueState {
    /// More are not counted: a look at the queue must not cost more the longer it is.
    pub const COUNTED: u64 = 100_000;
}

/// Which events are to be delivered again (decision F9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// Of events that happened no earlier.
    pub since: Timestamp,
    /// Of events that happened before this.
    pub until: Timestamp,
    /// Of these types.
    pub types: Vec<EventType>,
    /// Only events that were attempted for this subscription, and never with success.
    pub only_failed: bool,
    /// Of what is queued, only deliveries that have failed, that nobody has, and that are due later than this.
    pub now: Timestamp,
}

/// An event that is to be delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resend {
    /// Which one.
    pub event_id: EventId,
    /// Its type.
    pub event_type: EventType,
    /// Whether it is queued, so that its delivery is to be brought forward.
    pub is_queued: bool,
}

/// Subscriptions, and the log of what was sent to them.
#[async_trait]
pub trait Webhooks {
    /// All subscriptions of a tenant, as far as counting goes.
    async fn subscribers(&self, tenant: Tenant) -> Read<Subscribers>;
    /// The subscriptions of all tenants behind this one, in the order of tenant and id.
    async fn every_webhook(&self, after: Option<QueueKey>, most: u16) -> Read<Vec<(Tenant, Versioned<Subscription>)>>;
    /// One attempt; the time inside its id says where to look.
    async fn delivery(&self, tenant: Tenant, webhook: WebhookId, id: DeliveryId) -> Read<Option<Delivery>>;
    /// Those of these events that are there, in any order.
    async fn events_by_id(&self, wanted: &[(Tenant, EventId)]) -> Read<Vec<(Tenant, Event)>>;
    /// The queued delivery of an event to a subscription.
    async fn queued(&self, tenant: Tenant, webhook: WebhookId, event: EventId) -> Read<Option<Job>>;
    /// Events that are to be delivered again to a subscription, in the order of their ids, behind this one.
    async fn to_deliver_again(
        &self,
        tenant: Tenant,
        webhook: WebhookId,
        which: &Again,
        after: Option<EventId>,
        most: u16,
    ) -> Read<Vec<Resend>>;
}

/// The queue of deliveries.
#[async_trait]
pub trait Queue {
    /// How many results are best recorded by one call: fewer where no other writer can write meanwhile.
    fn batch(&self) -> usize;
    /// Leases deliveries that are due now.
    async fn claim(&self, lease: Lease, now: Timestamp, claim: &Claim) -> Read<Claimed>;
    /// Records what has become of leased deliveries, all at once or not at all. Each result holds only while the
    /// worker's lease and the number of the attempt are what they were. The health deltas are added to their subscriptions.
    async fn record(
        &self,
        worker: WorkerId,
        results: Vec<(Job, AttemptResult)>,
        health: Vec<(QueueKey, HealthDelta)>,
    ) -> Read<Recorded>;
    /// How the queue does.
    async fn queue_state(&self, now: Timestamp) -> Read<QueueState>;
    /// Makes room in the log for the attempts of the days to come, and removes those from before `before`, at most
    /// `most` where they have to be removed one by one; says how many that were.
    async fn keep_log(&self, now: Timestamp, before: Timestamp, most: u32) -> Read<u64>;
}
