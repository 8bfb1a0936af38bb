//! Webhook subscriptions: who is told of which events, and how deliveries to them go (§2.4, §2.5, §3.4, §6).

mod change;
mod delivery;
mod headers;
mod job;
mod ping;
mod redelivery;
mod schedule;
mod streak;
mod subscribers;
mod target;
mod topic;

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::Resource;
use crate::event::EventType;
use crate::fields::{Word, as_word};
use crate::id::{WebhookId, WebhookKind};
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Bounds, ListRequest, Params, StatusWord};
use crate::problem::Problems;
use crate::secret::Secret;
use crate::time::Timestamp;

pub use change::{DESCRIPTION_CHARS, Draft, MAX_ROTATION_OVERLAP_SECONDS, MAX_TOPICS, Patch, ROTATION_OVERLAP_SECONDS};
pub use delivery::{AttemptOutcome, Delivery, DeliveryFilter, FailureReason, LOG_DAYS};
pub use headers::{USER_AGENT, headers};
pub use job::{Answered, DeliveryOrigin, Job, Settled};
pub use ping::{PING_MESSAGE, ping};
pub use redelivery::{MAX_REPLAYED, Only, ReplayOrder, Whereabouts};
pub use schedule::{MAX_RETRIES, Next, NotASchedule, Resumed, Schedule};
pub use streak::{DISABLE_AFTER_FAILURES, DISABLE_AFTER_SECONDS, HealthDelta, Streak};
pub use subscribers::{MAX_SUBSCRIPTIONS, Subscribers};
pub use target::{ReceiverUrl, URL_CHARS, Verdict};
pub use topic::{Topic, Topics};

/// How an attempt ended, and how the newest one of a subscription did (§2.4, §2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Acknowledged with a 2xx in time.
    Success,
    /// Not acknowledged; another attempt may follow.
    Failed,
    /// Not acknowledged, and nothing follows.
    Dropped,
}

impl Word for Status {
    const NAME: &'static str = "DeliveryStatus";
}

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "DeliveryStatusFilter";
}

impl Serialize for Status {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_word(self, serializer)
    }
}

/// A secret as it is stored: sealed, so that the rules never see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// What the service's key ring sealed.
    pub sealed: Vec<u8>,
    /// When it stops to sign; null for the newest one.
    pub ends_at: Option<Timestamp>,
}

/// A webhook subscription.
///
/// Its JSON form has no secret: [`Subscription::with_secret`] is for the two answers that carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subscription {
    /// Its id.
    pub id: WebhookId,
    /// Where deliveries go, as it was given.
    pub url: String,
    /// What it wants to be told.
    pub event_types: Topics,
    /// False pauses delivery.
    pub active: bool,
    /// A remark of whoever made it.
    pub description: Option<String>,
    /// When the newest attempt ended.
    pub last_delivery_at: Option<Timestamp>,
    /// How it ended.
    pub last_delivery_status: Option<Status>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed; deliveries do not count.
    pub updated_at: Timestamp,
    /// The secrets that may still sign, the oldest first.
    #[serde(skip)]
    pub secrets: Vec<SealedSecret>,
    /// The failures since the newest success.
    #[serde(skip)]
    pub streak: Streak,
}

impl Resource for Subscription {
    type Kind = WebhookKind;
    const NAME: &'static str = "webhook";

    fn id(&self) -> WebhookId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn mark(&self) -> u64 {
        let status = self.last_delivery_status.map_or(0, |status| match status {
            Status::Success => 1,
            Status::Failed => 2,
            Status::Dropped => 3,
        });
        self.last_delivery_at.map_or(0, |at| at.millis().cast_unsigned() << 2 | status)
    }
}

/// The answer of creation and rotation, the only ones that carry the secret (§2.4).
#[derive(Serialize)]
struct WithSecret<'a> {
    #[serde(flatten)]
    subscription: &'a Subscription,
    secret: &'a str,
}

impl Subscription {
    /// The JSON form together with the secret, for the answers of creation and rotation.
    pub fn with_secret<'a>(&'a self, secret: &'a Secret) -> impl Serialize + 'a {
        WithSecret { subscription: self, secret: secret.reveal() }
    }

    /// Whether an event of this kind is to be queued for it (§6.1, decision F4).
    #[must_use]
    pub fn wants(&self, kind: EventType) -> bool {
        self.active && self.event_types.cover(kind)
    }

    /// The sealed secrets that sign at this time, the oldest first (§6.3, decision F5).
    pub fn signing(&self, at: Timestamp) -> impl Iterator<Item = &SealedSecret> {
        self.secrets.iter().filter(move |it| it.ends_at.is_none_or(|end| at < end))
    }

    /// The subscription after an attempt that ended so, as far as it is shown (§3.4); `updated_at` stays.
    #[must_use]
    pub fn after_delivery(&self, status: Status, at: Timestamp) -> Self {
        if self.last_delivery_at.is_some_and(|it| it > at) {
            return self.clone();
        }
        Self { last_delivery_at: Some(at), last_delivery_status: Some(status), ..self.clone() }
    }
}

/// Which subscriptions are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Changed within these bounds (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

impl Filter {
    /// The parameters of `GET /webhooks`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self { updated_at: params.bounds(&params::UPDATED_AT) };
        params.list::<Subscription, _, _>("webhooks", filter, vec![])
    }

    /// Reads the parameters of `GET /webhooks`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

impl Listed for Subscription {
    const ORDERS_NAME: &'static str = "WebhookSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["-updated_at", "updated_at"] },
    ];
}

#[cfg(test)]
mod tests;
