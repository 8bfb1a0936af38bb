//! Webhook subscriptions: the events that a receiver gets, and the state of deliveries to it (§2.4, §2.5, §3.4,
//! §6).

mod all_deliveries;
mod change;
mod custom_headers;
mod delivery;
mod disabling;
mod failing;
mod failure_detail;
mod filter;
mod headers;
mod job;
mod outcome;
mod payload;
mod ping;
mod redelivery;
mod retry_after;
mod schedule;
mod stats;
mod streak;
mod subscribers;
mod topic;

use candor_domain::decision::{Resource, identity};
use candor_domain::event::EventType;
use candor_domain::fields::string_enum;
use candor_domain::id::{WebhookId, WebhookKind};
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::params::{self, Bounds, ListRequest, Params, StatusWord};
use candor_domain::rule;
use candor_domain::secret::Secret;
use candor_domain::signature::PREFIX;
use candor_domain::time::Timestamp;
use candor_forms::content::{content, optional, or, required};
use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

pub use all_deliveries::AllDeliveriesFilter;
use change::TOPICS;
pub use change::{
    DESCRIPTION_CHARS, Draft, MAX_RATE, MAX_ROTATION_OVERLAP_SECONDS, MAX_TOPICS, Patch, ROTATION_OVERLAP_SECONDS,
};
pub use custom_headers::{
    CustomHeaders, HEADER_NAME_CHARS, HEADER_VALUE_CHARS, HeaderChange, HeaderPatch, MAX_HEADERS, SealedHeader,
    SealedHeaderPatch, mask_value,
};
pub use delivery::{Delivery, DeliveryFilter, LOG_DAYS};
pub use disabling::DisableReason;
pub use failing::FAILING_AFTER_ATTEMPTS;
pub use failure_detail::{DETAIL_CHARS, redirect_target};
pub use filter::{DepartmentFact, EventFacts, EventFilter, MAX_FILTER_IDS};
pub use headers::{USER_AGENT, headers};
pub use job::{AttemptEffect, AttemptResponse, DeliveryOrigin, Job};
pub use outcome::{AttemptOutcome, NextStep};
pub use payload::{PayloadForm, thin_body};
pub use ping::{PING_MESSAGE, Ping, ping};
pub use redelivery::{AttemptState, MAX_REPLAYED, ReplayOrder, ReplaySelection};
pub use retry_after::RequestedPause;
pub use schedule::{MAX_RETRIES, ResumedRetry, Schedule, ScheduleError};
pub use stats::{AttemptCount, DeliveryStats, HourStats, LogFigures, MAX_QUEUED_COUNT, ReasonCount};
pub use streak::{DISABLE_AFTER_FAILURES, DISABLE_AFTER_SECONDS, HealthDelta, Streak};
pub use subscribers::{MAX_SUBSCRIPTIONS, Subscribers};
pub use topic::{Topic, Topics};

/// The result of an attempt, and of the newest attempt of a subscription (§2.4, §2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// The receiver acknowledged with a 2xx in time.
    Success,
    /// The attempt failed; another one may follow.
    Failed,
    /// The attempt failed, and no other one follows.
    Dropped,
}

string_enum!(Status, "DeliveryStatus");

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "DeliveryStatusFilter";
}

/// A secret in its stored, sealed form. The domain never sees the plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// The secret, sealed by the key ring of the service.
    pub sealed: Vec<u8>,
    /// Time from which the secret does not sign any more; `None` for the newest secret.
    pub ends_at: Option<Timestamp>,
}

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// A webhook subscription.
    ///
    /// The JSON form has no secret: [`Subscription::with_secret`] is for the two responses that carry one.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Subscription {
        /// Id of the subscription, with the prefix `whk_`.
        pub id: WebhookId,
        /// URL of the receiver, with https.
        pub url: String,
        /// Subscribed event types. `*` means all types, including future ones.
        pub event_types: Topics => set by required(TOPICS).about("Duplicates are removed."),
        /// Event types that are sent: those of `event_types` that could be read by the API key that last changed
        /// `event_types`, `payload`, `filter` or `url`.
        pub effective_event_types: Topics,
        /// `true` if events are delivered. `false` pauses delivery.
        pub active: bool,
        /// Description. Null if there is none.
        pub description: Option<String> => set by optional(rule::text(0..=DESCRIPTION_CHARS)),
        /// Form of delivered events: `full` has the whole resource in `data`, `thin` only its id, type and URL.
        pub payload: PayloadForm => set by or(rule::word(), PayloadForm::Full),
        /// Headers that every delivery carries, by lower-case name. A value is shown as `…` and its last four
        /// characters, or as `…` alone if the value has fewer than 9 characters.
        pub headers: CustomHeaders,
        /// Conditions on the content of events: events that do not meet them are not delivered. Null if every
        /// event of the subscribed types is delivered.
        pub filter: Option<EventFilter>,
        /// Maximum number of requests per second. Further deliveries wait. Null for no limit. Tests are not
        /// limited.
        #[schemars(range(min = 1, max = MAX_RATE))]
        pub max_per_second: Option<i64> => set by optional(rule::whole(1..=MAX_RATE)),
        /// End time of the newest attempt. Null if there was none.
        pub last_delivery_at: Option<Timestamp>,
        /// Result of the newest attempt. Null if there was none.
        pub last_delivery_status: Option<Status>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. Deliveries do not count as changes.
        pub updated_at: Timestamp,
        /// Secrets that may still sign, oldest first.
        #[serde(skip)]
        pub secrets: Vec<SealedSecret>,
        /// Failures since the newest success.
        #[serde(skip)]
        pub streak: Streak,
        /// Time of the failure for which `webhook.failing` is still to be fired.
        #[serde(skip)]
        pub failing_due: Option<Timestamp>,
        /// `true` for a subscription from before `effective_event_types`, which gets all of its types until a change
        /// sets them.
        #[serde(skip)]
        pub keeps_all_types: bool,
    }
}

impl Resource for Subscription {
    identity!(WebhookKind);

    fn mark(&self) -> u64 {
        let status = self.last_delivery_status.map_or(0, |status| match status {
            Status::Success => 1,
            Status::Failed => 2,
            Status::Dropped => 3,
        });
        self.last_delivery_at.map_or(0, |at| at.millis().cast_unsigned() << 2 | status)
    }
}

/// A webhook subscription with its secret.
///
/// Only the responses to a creation and a rotation carry the secret (§2.4).
#[derive(Serialize, JsonSchema)]
pub struct SubscriptionWithSecret<'a> {
    #[serde(flatten)]
    subscription: &'a Subscription,
    /// Secret that signs deliveries. It cannot be retrieved later.
    #[schemars(extend("pattern" = format!("^{PREFIX}")))]
    secret: &'a str,
}

impl Subscription {
    /// Returns the JSON form with the secret, for the responses to creation and rotation.
    pub fn with_secret<'a>(&'a self, secret: &'a Secret) -> SubscriptionWithSecret<'a> {
        SubscriptionWithSecret { subscription: self, secret: secret.reveal() }
    }

    /// Returns `true` if events of this type are queued for the subscription, as far as its filter permits them (§6.1,
    /// decision F4).
    #[must_use]
    pub fn wants(&self, kind: EventType) -> bool {
        self.active && self.effective_event_types.cover(kind)
    }

    /// Returns `true` if the content of an event meets the filter, or there is none.
    #[must_use]
    pub fn permits(&self, facts: &EventFacts) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(facts))
    }

    /// Returns the sealed secrets that sign at this time, oldest first (§6.3, decision F5).
    pub fn signing_secrets(&self, at: Timestamp) -> impl Iterator<Item = &SealedSecret> {
        self.secrets.iter().filter(move |secret| secret.ends_at.is_none_or(|end| at < end))
    }

    /// Returns the subscription with the result of an attempt (§3.4). `updated_at` stays unchanged.
    #[must_use]
    pub fn after_delivery(&self, status: Status, at: Timestamp) -> Self {
        if self.last_delivery_at.is_some_and(|newest| newest > at) {
            return self.clone();
        }
        Self { last_delivery_at: Some(at), last_delivery_status: Some(status), ..self.clone() }
    }
}

/// The conditions of a list of subscriptions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Inclusive bounds of the last change (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

/// Values that a response can inline in a subscription (decision F9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// Statistics of the attempts of the last 24 hours.
    Stats,
}

string_enum!(Expand, "WebhookExpand");

impl Filter {
    /// Declares and reads the parameters of `GET /webhooks`.
    pub fn read(params: &mut Params) -> ListRequest<Self, Expand> {
        let filter = Self { updated_at: params.bounds(&params::UPDATED_AT) };
        let expand = params.expand();
        params.list::<Subscription, _, _>("webhooks", filter, expand)
    }
}

impl Sortable for Subscription {
    const ORDERS_NAME: &'static str = "WebhookSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |subscription| Key::Time(subscription.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |subscription| Key::Time(subscription.updated_at)),
    ];
}

#[cfg(test)]
mod tests;
