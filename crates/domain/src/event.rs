//! Events: the closed catalog (§6.2) and the body that feeds and deliveries share (§6.3).

use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

use crate::access::Tenant;
use crate::fields::Word;
use crate::id::EventId;
use crate::page::{ListDigest, Position, Sort, SortBy};
use crate::params::{self, Param, Params, Takes};
use crate::problem::{Code, Flaw, Problems};
use crate::time::Timestamp;

/// Everything that can be announced (§6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, VariantArray)]
pub enum EventType {
    /// Created via API or app.
    #[strum(to_string = "observation.created")]
    ObservationCreated,
    /// A field of an active observation changed.
    #[strum(to_string = "observation.updated")]
    ObservationUpdated,
    /// Archived.
    #[strum(to_string = "observation.archived")]
    ObservationArchived,
    /// Restored from the archive.
    #[strum(to_string = "observation.restored")]
    ObservationRestored,
    /// A draft was created.
    #[strum(to_string = "summary.created")]
    SummaryCreated,
    /// Body or includes changed before it was shared.
    #[strum(to_string = "summary.updated")]
    SummaryUpdated,
    /// Moved to `pending_review`.
    #[strum(to_string = "summary.submitted")]
    SummarySubmitted,
    /// Moved to `approved`.
    #[strum(to_string = "summary.approved")]
    SummaryApproved,
    /// Moved to `shared`.
    #[strum(to_string = "summary.shared")]
    SummaryShared,
    /// Archived.
    #[strum(to_string = "summary.archived")]
    SummaryArchived,
    /// The employee posted feedback on a shared summary.
    #[strum(to_string = "summary.feedback_submitted")]
    SummaryFeedbackSubmitted,
    /// A new message in a conversation.
    #[strum(to_string = "conversation.message.created")]
    ConversationMessageCreated,
    /// Any objective was created.
    #[strum(to_string = "objective.created")]
    ObjectiveCreated,
    /// A state action moved an objective.
    #[strum(to_string = "objective.status_changed")]
    ObjectiveStatusChanged,
    /// Title, description or period changed.
    #[strum(to_string = "objective.updated")]
    ObjectiveUpdated,
    /// Archived; mirrors the status change.
    #[strum(to_string = "objective.archived")]
    ObjectiveArchived,
    /// A feedback assignment was created.
    #[strum(to_string = "assignment.created")]
    AssignmentCreated,
    /// All required submissions were received.
    #[strum(to_string = "assignment.completed")]
    AssignmentCompleted,
    /// Created via API or CSV.
    #[strum(to_string = "employee.created")]
    EmployeeCreated,
    /// A field changed, also through an HR system.
    #[strum(to_string = "employee.updated")]
    EmployeeUpdated,
    /// Moved to `deactivated`.
    #[strum(to_string = "employee.deactivated")]
    EmployeeDeactivated,
    /// Moved from `deactivated` to `active` by reactivation.
    #[strum(to_string = "employee.reactivated")]
    EmployeeReactivated,
    /// Rehired.
    #[strum(to_string = "employee.rehired")]
    EmployeeRehired,
    /// Sent by the test endpoint.
    #[strum(to_string = "test.ping")]
    TestPing,
}

impl Word for EventType {
    const NAME: &'static str = "EventType";
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl FeedFilter {
    /// The parameters by which a piece of the feed is found; none where it is simply the next one.
    #[must_use]
    pub fn conditions(&self, start: &FeedStart) -> Vec<String> {
        let event = (!self.kinds.is_empty()).then_some("filter[event]");
        let since = matches!(start, FeedStart::Since(_)).then_some("since");
        event.into_iter().chain(since).map(str::to_owned).collect()
    }
}

impl EventType {
    /// Whether something fires it already. Subscribing to the others is possible beforehand.
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
            | Self::TestPing => true,
        }
    }

    /// The bit that stands for it where sets of types are stored. It never changes: new types go to the end.
    #[must_use]
    pub const fn bit(self) -> i64 {
        1 << self as u32
    }
}

/// The version of the payload (§9).
pub const API_VERSION: &str = "v1";

/// Something that happened, as it is stored with its change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id; the same however often it is delivered.
    pub id: EventId,
    /// What happened.
    pub kind: EventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// The resource after the change, as JSON text: what GET shows, nothing expanded (decision F8).
    pub data: String,
}

/// An event's id as receivers see it: that of a test event starts with `evt_test_` (§4.4).
#[must_use]
pub fn public_id(kind: EventType, id: EventId) -> String {
    if kind == EventType::TestPing { format!("evt_test_{}", id.ulid()) } else { id.to_string() }
}

impl Event {
    /// Its id as receivers see it.
    #[must_use]
    pub fn public_id(&self) -> String {
        public_id(self.kind, self.id)
    }

    /// The body of a delivery, and an entry of the feed (§6.3).
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

/// Which events the feed shows (decision F9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedFilter {
    /// Any of these; empty = all.
    pub kinds: Vec<EventType>,
}

/// Where a piece of the feed begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedStart {
    /// At the oldest event that is kept.
    Oldest,
    /// Behind this place.
    After(Position),
    /// At the first event, in the order of the feed, that happened at this time or later.
    Since(Timestamp),
    /// Behind everything that is there now.
    Now,
}

impl From<Option<Position>> for FeedStart {
    /// Behind a place, or at the beginning.
    fn from(after: Option<Position>) -> Self {
        after.map_or(Self::Oldest, Self::After)
    }
}

const SINCE: Param<String> = params::param(
    "since",
    "Start at the first event at or after this time, at most 30 days ago. `now` starts after all existing \
     events. The response has the cursor for the next request. Cannot be combined with `cursor`.",
    Takes::Beginning,
    |text| Ok(text.to_owned()),
);

/// A piece of the feed as a request asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRequest {
    /// Which events.
    pub filter: FeedFilter,
    /// From where.
    pub start: FeedStart,
    /// At most so many of them.
    pub limit: u16,
    /// Binds the next cursor to this very feed.
    pub digest: ListDigest,
}

impl FeedRequest {
    /// The one order of the feed: that of the commits.
    const SORT: Sort = Sort::up(SortBy::Commit);

    /// Reads the parameters of `GET /events`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params, now: Timestamp) -> Result<Self, Problems> {
        let request = Self::read(&mut params, now);
        params.finish(request)
    }

    /// The parameters of `GET /events`.
    pub fn read(params: &mut Params, now: Timestamp) -> Self {
        let filter = FeedFilter { kinds: params.many(&params::word("filter[event]", "Only events of this type.")) };
        let has_cursor = params.has("cursor");
        let start = params.one_and(&SINCE, |text| since(&text, has_cursor, now));
        let list =
            params.sorted::<_, ()>("events", Self::SORT, [("created_at", Self::SORT)].into_iter(), filter, vec![]);
        let start = start.unwrap_or_else(|| list.page.after.into());
        Self { filter: list.filter, start, limit: list.page.limit, digest: list.digest }
    }
}

/// The moment from which a newcomer follows the feed. One from before the feed begins is refused: whoever was away for so
/// long has missed events, and must not go on as if nothing had happened.
fn since(text: &str, has_cursor: bool, now: Timestamp) -> Result<FeedStart, Flaw> {
    if has_cursor {
        return Err(Flaw::format("left out where there is a cursor, which says where to go on"));
    }
    if text == "now" {
        return Ok(FeedStart::Now);
    }
    let wanted = |_| Flaw::format("`now`, or an ISO 8601 datetime with an offset, such as Z or %2B02:00");
    let since = params::instant(text).map_err(wanted)?;
    if since < oldest_in_feed(now) {
        let message = format!("must be within the {FEED_DAYS} days that the feed goes back; read the lists anew");
        return Err(Flaw::new(Code::OutOfRange, message));
    }
    if since > now.plus_seconds(MOST_COMMIT_DELAY_SECONDS) {
        return Err(Flaw::new(Code::OutOfRange, "must not be in the future"));
    }
    Ok(FeedStart::Since(since))
}

/// How long the feed goes back (decision F9).
pub const FEED_DAYS: i64 = 30;

const DAY_SECONDS: i64 = 86_400;

/// The feed shows what happened since then.
#[must_use]
pub fn oldest_in_feed(now: Timestamp) -> Timestamp {
    now.plus_seconds(-FEED_DAYS * DAY_SECONDS)
}

/// A change has its time before it is saved: it waits for others, is tried again, and instances' clocks differ. What is
/// saved now happened at most so long ago by another clock, and the same overlap is what a poller of `updated_at` needs.
pub const MOST_COMMIT_DELAY_SECONDS: i64 = 5 * 60;

/// The first id that an event of this time can have; an event's id has its time in front.
#[must_use]
pub fn first_id_at(at: Timestamp) -> EventId {
    const RANDOM_BITS: u32 = 80;
    const LAST_MILLIS: u128 = u128::MAX >> RANDOM_BITS;
    let millis = u128::try_from(at.millis()).unwrap_or_default().min(LAST_MILLIS);
    EventId::from_bytes((millis << RANDOM_BITS).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Environment;
    use crate::id::OrganizationId;
    use ulid::Ulid;

    #[test]
    fn the_catalog_is_closed_and_every_word_leads_back() {
        assert_eq!(EventType::ALL.len(), 24);
        for kind in EventType::ALL {
            assert_eq!(EventType::from_word(kind.word()), Ok(*kind));
        }
    }

    #[test]
    fn every_type_keeps_the_bit_it_was_stored_with() {
        let bits: Vec<_> = EventType::ALL.iter().map(|it| it.bit()).collect();
        assert_eq!(bits, (0..24).map(|it| 1 << it).collect::<Vec<i64>>());
        assert_eq!((EventType::ObservationCreated.bit(), EventType::TestPing.bit()), (1, 1 << 23));
        assert_eq!((EventType::ObjectiveCreated.bit(), EventType::EmployeeRehired.bit()), (1 << 12, 1 << 22));
    }

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn start(pairs: &[(&str, &str)]) -> Result<FeedStart, Vec<(String, Code)>> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let problems = |it: Problems| it.as_slice().iter().map(|it| (it.field.clone(), it.code)).collect();
        FeedRequest::parse(Params::new(pairs), NOW).map(|it| it.start).map_err(problems)
    }

    #[test]
    fn the_feed_begins_where_it_is_asked_to() {
        let early = NOW.plus_seconds(-60);
        assert_eq!(start(&[]), Ok(FeedStart::Oldest));
        assert_eq!(start(&[("since", "now")]), Ok(FeedStart::Now));
        assert_eq!(start(&[("since", &early.to_string())]), Ok(FeedStart::Since(early)));
        let slightly_ahead = NOW.plus_seconds(MOST_COMMIT_DELAY_SECONDS);
        assert_eq!(start(&[("since", &slightly_ahead.to_string())]), Ok(FeedStart::Since(slightly_ahead)));
        let digest = FeedRequest::parse(Params::new(vec![]), NOW).unwrap().digest;
        let place = Position { key: crate::page::Key::Rank(7), id: [1; 16] };
        let cursor = crate::page::cursor(digest, &place);
        assert_eq!(start(&[("cursor", &cursor)]), Ok(FeedStart::After(place)));
        let since = |text: &str, code| (start(&[("since", text)]), Err(vec![("since".to_owned(), code)]));
        for (found, wanted) in [
            since("yesterday", Code::InvalidFormat),
            since("2026-01-01", Code::InvalidFormat),
            since(&NOW.plus_seconds(-FEED_DAYS * DAY_SECONDS - 1).to_string(), Code::OutOfRange),
            since(&NOW.plus_seconds(MOST_COMMIT_DELAY_SECONDS + 1).to_string(), Code::OutOfRange),
        ] {
            assert_eq!(found, wanted);
        }
        let both = start(&[("since", "now"), ("cursor", &cursor)]);
        assert_eq!(both, Err(vec![("since".to_owned(), Code::InvalidFormat)]));
    }

    #[test]
    fn no_event_of_a_time_has_a_lower_id_than_its_first() {
        let at = Timestamp::from_millis(1_234_567);
        assert_eq!(first_id_at(at).ulid().timestamp_ms(), 1_234_567);
        assert!(first_id_at(at) <= EventId::from_ulid(Ulid::from_parts(1_234_567, 0)));
        assert!(first_id_at(at) > EventId::from_ulid(Ulid::from_parts(1_234_566, u128::MAX)));
    }

    #[test]
    fn a_body_has_the_members_of_the_contract_in_its_order() {
        let event = Event {
            id: EventId::from_ulid(Ulid(1)),
            kind: EventType::ObservationCreated,
            created_at: Timestamp::from_millis(0),
            data: r#"{"id":"obs_1"}"#.to_owned(),
        };
        let tenant = Tenant { organization: OrganizationId::from_ulid(Ulid(2)), environment: Environment::Live };
        assert_eq!(
            event.body(tenant),
            r#"{"id":"evt_00000000000000000000000001","event":"observation.created","created_at":"1970-01-01T00:00:00.000Z","api_version":"v1","organization_id":"org_00000000000000000000000002","data":{"id":"obs_1"}}"#
        );
    }
}
