//! Events: the closed catalog (§6.2) and the body that feeds and deliveries share (§6.3).

use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

use crate::access::Tenant;
use crate::fields::StringEnum;
use crate::id::EventId;
use crate::page::{ListDigest, Position, Sort, SortBy};
use crate::params::{self, Param, Params, ValueForm};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::time::Timestamp;

/// The catalog of events (§6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
pub enum EventType {
    /// An observation was created via API or app.
    #[strum(to_string = "observation.created")]
    ObservationCreated,
    /// A field of an active observation changed.
    #[strum(to_string = "observation.updated")]
    ObservationUpdated,
    /// An observation was archived.
    #[strum(to_string = "observation.archived")]
    ObservationArchived,
    /// An observation was restored from the archive.
    #[strum(to_string = "observation.restored")]
    ObservationRestored,
    /// A draft of a summary was created.
    #[strum(to_string = "summary.created")]
    SummaryCreated,
    /// The body or includes of a summary changed before it was shared.
    #[strum(to_string = "summary.updated")]
    SummaryUpdated,
    /// A summary moved to `pending_review`.
    #[strum(to_string = "summary.submitted")]
    SummarySubmitted,
    /// A summary moved to `approved`.
    #[strum(to_string = "summary.approved")]
    SummaryApproved,
    /// A summary moved to `shared`.
    #[strum(to_string = "summary.shared")]
    SummaryShared,
    /// A summary was archived.
    #[strum(to_string = "summary.archived")]
    SummaryArchived,
    /// The employee gave feedback on a shared summary.
    #[strum(to_string = "summary.feedback_submitted")]
    SummaryFeedbackSubmitted,
    /// A message was added to a conversation.
    #[strum(to_string = "conversation.message.created")]
    ConversationMessageCreated,
    /// An objective was created.
    #[strum(to_string = "objective.created")]
    ObjectiveCreated,
    /// An action changed the status of an objective.
    #[strum(to_string = "objective.status_changed")]
    ObjectiveStatusChanged,
    /// Title, description or period of an objective changed.
    #[strum(to_string = "objective.updated")]
    ObjectiveUpdated,
    /// An objective was archived. Fires together with the status change.
    #[strum(to_string = "objective.archived")]
    ObjectiveArchived,
    /// A feedback assignment was created.
    #[strum(to_string = "assignment.created")]
    AssignmentCreated,
    /// All required submissions of an assignment were received.
    #[strum(to_string = "assignment.completed")]
    AssignmentCompleted,
    /// An employee was created via API or CSV.
    #[strum(to_string = "employee.created")]
    EmployeeCreated,
    /// A field of an employee changed, also through an HR system.
    #[strum(to_string = "employee.updated")]
    EmployeeUpdated,
    /// An employee moved to `deactivated`.
    #[strum(to_string = "employee.deactivated")]
    EmployeeDeactivated,
    /// An employee moved from `deactivated` to `active` by reactivation.
    #[strum(to_string = "employee.reactivated")]
    EmployeeReactivated,
    /// An employee was rehired.
    #[strum(to_string = "employee.rehired")]
    EmployeeRehired,
    /// The test endpoint was called.
    #[strum(to_string = "test.ping")]
    TestPing,
    /// A subscription was disabled, because its deliveries kept failing or its receiver is gone.
    #[strum(to_string = "webhook.disabled")]
    WebhookDisabled,
    /// A delivery to a subscription failed for the fifth time, the first such one since its newest success.
    #[strum(to_string = "webhook.failing")]
    WebhookFailing,
    /// An API key, or its secret from before a rotation, ends soon.
    #[strum(to_string = "api_key.expiring")]
    ApiKeyExpiring,
}

impl StringEnum for EventType {
    const NAME: &'static str = "EventType";
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl FeedFilter {
    /// Returns the given parameters that can make this piece slow to find: `filter[event]` and `since`.
    #[must_use]
    pub fn conditions(&self, start: &FeedStart) -> Vec<String> {
        let event = (!self.kinds.is_empty()).then_some("filter[event]");
        let since = matches!(start, FeedStart::Since(_)).then_some("since");
        event.into_iter().chain(since).map(str::to_owned).collect()
    }
}

impl EventType {
    /// Returns `true` if the service fires this event. Clients may subscribe to the others in advance.
    #[must_use]
    pub const fn is_live(self) -> bool {
        match self {
            Self::ObservationCreated
            | Self::ObservationUpdated
            | Self::ObservationArchived
            | Self::ObservationRestored
            | Self::ConversationMessageCreated
            | Self::SummaryCreated
            | Self::SummaryUpdated
            | Self::SummarySubmitted
            | Self::SummaryApproved
            | Self::SummaryShared
            | Self::SummaryArchived
            | Self::SummaryFeedbackSubmitted
            | Self::ObjectiveCreated
            | Self::ObjectiveStatusChanged
            | Self::ObjectiveUpdated
            | Self::ObjectiveArchived
            | Self::AssignmentCreated
            | Self::AssignmentCompleted
            | Self::EmployeeCreated
            | Self::EmployeeUpdated
            | Self::EmployeeDeactivated
            | Self::EmployeeReactivated
            | Self::EmployeeRehired
            | Self::TestPing
            | Self::WebhookDisabled
            | Self::WebhookFailing
            | Self::ApiKeyExpiring => true,
        }
    }

    /// Returns the bit of this type in stored sets of types. Bits never change: new types go to the end.
    #[must_use]
    pub const fn bit(self) -> i64 {
        1 << self as u32
    }
}

/// The version of the event payload (§9).
pub const API_VERSION: &str = "v1";

/// A fact about a resource, stored together with the change that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id of the event, equal for every delivery and redelivery.
    pub id: EventId,
    /// The type of the event.
    pub kind: EventType,
    /// Time of the change.
    pub created_at: Timestamp,
    /// The resource after the change, as JSON text: the response of GET without expansion (decision F8).
    pub data: String,
    /// Id of the request that caused the change; `None` for background work and old events. The commit sets it.
    pub request_id: Option<String>,
}

/// Returns the id that receivers see: that of a test event starts with `evt_test_` (§4.4).
#[must_use]
pub fn public_id(kind: EventType, id: EventId) -> String {
    if kind == EventType::TestPing { format!("evt_test_{}", id.ulid()) } else { id.to_string() }
}

impl Event {
    /// Returns the id that receivers see.
    #[must_use]
    pub fn public_id(&self) -> String {
        public_id(self.kind, self.id)
    }

    /// Returns the JSON body of a delivery, which is also an entry of the feed (§6.3).
    #[must_use]
    pub fn body(&self, tenant: Tenant) -> String {
        format!(
            r#"{{"id":"{}","event":"{}","created_at":"{}","api_version":"{API_VERSION}","organization_id":"{}","data":{}}}"#,
            self.public_id(),
            self.kind.word(),
            self.created_at,
            tenant.organization,
            self.data
        )
    }
}

/// The conditions of the event feed (decision F9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedFilter {
    /// Any of these types; empty for all.
    pub kinds: Vec<EventType>,
}

/// The start of a piece of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedStart {
    /// The oldest event that is kept.
    Oldest,
    /// The first event behind this position.
    After(Position),
    /// The first event, in the order of the feed, with this time or a later one.
    Since(Timestamp),
    /// The first event after those that exist now.
    Now,
}

impl From<Option<Position>> for FeedStart {
    /// Starts behind a position, or at the oldest event.
    fn from(after: Option<Position>) -> Self {
        after.map_or(Self::Oldest, Self::After)
    }
}

const SINCE: Param<String> = params::param(
    "since",
    "Start at the first event at or after this time, at most 30 days ago. `now` starts after all existing \
     events. The response has the cursor for the next request. Cannot be combined with `cursor`.",
    ValueForm::Beginning,
    |text| Ok(text.to_owned()),
);

/// A request for a piece of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRequest {
    /// The conditions of the list.
    pub filter: FeedFilter,
    /// The start of the piece.
    pub start: FeedStart,
    /// The largest number of events to return.
    pub limit: u16,
    /// Digest that binds the next cursor to this list and its filters.
    pub digest: ListDigest,
}

impl FeedRequest {
    /// The only order of the feed: the order of commits.
    const SORT: Sort = Sort::up(SortBy::Commit);

    /// Reads the parameters of `GET /events`.
    ///
    /// # Errors
    /// Returns every invalid parameter.
    pub fn parse(mut params: Params, now: Timestamp) -> Result<Self, ValidationErrors> {
        let request = Self::read(&mut params, now);
        params.finish(request)
    }

    /// Declares and reads the parameters of `GET /events`.
    pub fn read(params: &mut Params, now: Timestamp) -> Self {
        let filter =
            FeedFilter { kinds: params.many(&params::word("filter[event]", "Only events of this type.")) };
        let has_cursor = params.has("cursor");
        let start = params.one_and(&SINCE, |text| since(&text, has_cursor, now));
        let list =
            params.sorted::<_, ()>("events", Self::SORT, [("created_at", Self::SORT)].into_iter(), filter, vec![]);
        let start = start.unwrap_or_else(|| list.page.after.into());
        Self { filter: list.filter, start, limit: list.page.limit, digest: list.digest }
    }
}

/// Reads `since`, the time from which a new client follows the feed. A time before the start of the feed is
/// refused: a client that was away for longer has missed events and must read the lists again.
fn since(text: &str, has_cursor: bool, now: Timestamp) -> Result<FeedStart, ValueError> {
    if has_cursor {
        return Err(ValueError::format("omitted when `cursor` is given"));
    }
    if text == "now" {
        return Ok(FeedStart::Now);
    }
    let wanted = |_| ValueError::format("`now`, or an ISO 8601 datetime with an offset, such as Z or %2B02:00");
    let since = params::instant(text).map_err(wanted)?;
    if since < oldest_in_feed(now) {
        let message = format!("must be within the last {FEED_DAYS} days; read the lists again to catch up");
        return Err(ValueError::new(Code::OutOfRange, message));
    }
    if since > now.plus_seconds(MOST_COMMIT_DELAY_SECONDS) {
        return Err(ValueError::new(Code::OutOfRange, "must not be in the future"));
    }
    Ok(FeedStart::Since(since))
}

/// Age of the oldest event in the feed, in days (decision F9).
pub const FEED_DAYS: i64 = 30;

const DAY_SECONDS: i64 = 86_400;

/// Returns the time of the oldest event that the feed shows.
#[must_use]
pub fn oldest_in_feed(now: Timestamp) -> Timestamp {
    now.plus_seconds(-FEED_DAYS * DAY_SECONDS)
}

/// Longest delay between the time of a change and its commit, in seconds. A change gets its time first, then waits
/// for locks and retries, and the clocks of instances differ. Clients that poll by `updated_at` need the same
/// overlap.
pub const MOST_COMMIT_DELAY_SECONDS: i64 = 5 * 60;

/// Returns the lowest id that an event of this time can have. Event ids start with the time.
#[must_use]
pub fn first_id_at(at: Timestamp) -> EventId {
    const RANDOM_BITS: u32 = 80;
    const LAST_MILLIS: u128 = u128::MAX >> RANDOM_BITS;
    let millis = u128::try_from(at.millis()).unwrap_or_default().min(LAST_MILLIS);
    EventId::from_bytes((millis << RANDOM_BITS).to_be_bytes())
}

#[cfg(test)]
mod tests;
