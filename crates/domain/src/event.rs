//! Events: the closed catalog (§6.2) and the body that feeds and deliveries share (§6.3).

use serde::{Serialize, Serializer};

use crate::access::Tenant;
use crate::fields::Word;
use crate::id::EventId;
use crate::page::{Sort, SortBy, Sorts};
use crate::params::{self, ListRequest, Params};
use crate::problem::Problems;
use crate::time::Timestamp;

/// Everything that can be announced (§6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventType {
    /// Created via API or app.
    ObservationCreated,
    /// A field of an active observation changed.
    ObservationUpdated,
    /// Archived.
    ObservationArchived,
    /// Restored from the archive.
    ObservationRestored,
    /// A draft was created.
    SummaryCreated,
    /// Body or includes changed before it was shared.
    SummaryUpdated,
    /// Moved to `pending_review`.
    SummarySubmitted,
    /// Moved to `approved`.
    SummaryApproved,
    /// Moved to `shared`.
    SummaryShared,
    /// Archived.
    SummaryArchived,
    /// The employee posted feedback on a shared summary.
    SummaryFeedbackSubmitted,
    /// A new message in a conversation.
    ConversationMessageCreated,
    /// Any objective was created.
    ObjectiveCreated,
    /// A state action moved an objective.
    ObjectiveStatusChanged,
    /// Title, description or period changed.
    ObjectiveUpdated,
    /// Archived; mirrors the status change.
    ObjectiveArchived,
    /// A feedback assignment was created.
    AssignmentCreated,
    /// All required submissions were received.
    AssignmentCompleted,
    /// Created via API or CSV.
    EmployeeCreated,
    /// A field changed, also through an HR system.
    EmployeeUpdated,
    /// Moved to `deactivated`.
    EmployeeDeactivated,
    /// Moved from `deactivated` to `active` by reactivation.
    EmployeeReactivated,
    /// Rehired.
    EmployeeRehired,
    /// Sent by the test endpoint.
    TestPing,
}

impl Word for EventType {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("observation.created", Self::ObservationCreated),
        ("observation.updated", Self::ObservationUpdated),
        ("observation.archived", Self::ObservationArchived),
        ("observation.restored", Self::ObservationRestored),
        ("summary.created", Self::SummaryCreated),
        ("summary.updated", Self::SummaryUpdated),
        ("summary.submitted", Self::SummarySubmitted),
        ("summary.approved", Self::SummaryApproved),
        ("summary.shared", Self::SummaryShared),
        ("summary.archived", Self::SummaryArchived),
        ("summary.feedback_submitted", Self::SummaryFeedbackSubmitted),
        ("conversation.message.created", Self::ConversationMessageCreated),
        ("objective.created", Self::ObjectiveCreated),
        ("objective.status_changed", Self::ObjectiveStatusChanged),
        ("objective.updated", Self::ObjectiveUpdated),
        ("objective.archived", Self::ObjectiveArchived),
        ("assignment.created", Self::AssignmentCreated),
        ("assignment.completed", Self::AssignmentCompleted),
        ("employee.created", Self::EmployeeCreated),
        ("employee.updated", Self::EmployeeUpdated),
        ("employee.deactivated", Self::EmployeeDeactivated),
        ("employee.reactivated", Self::EmployeeReactivated),
        ("employee.rehired", Self::EmployeeRehired),
        ("test.ping", Self::TestPing),
    ];
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl EventType {
    /// The bit that stands for it where sets of types are stored. It never changes: new types go to the end of
    /// [`Word::WORDS`].
    #[must_use]
    pub fn bit(self) -> i64 {
        1 << Self::WORDS.iter().position(|(_, it)| *it == self).unwrap_or_default()
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
    match kind {
        EventType::TestPing => format!("evt_test_{}", id.ulid()),
        _ => id.to_string(),
    }
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

impl FeedFilter {
    /// The one order of the feed: that of the commits.
    const SORTS: Sorts = &[("created_at", Sort::up(SortBy::Commit))];

    /// Reads the parameters of `GET /events`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let filter = Self { kinds: params.many("filter[event]", params::word) };
        params.list("events", Self::SORTS, filter, vec![])
    }
}

/// How long the feed goes back (decision F9).
pub const FEED_DAYS: i64 = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Environment;
    use crate::id::OrganizationId;
    use ulid::Ulid;

    #[test]
    fn the_catalog_is_closed_and_every_word_leads_back() {
        assert_eq!(EventType::WORDS.len(), 24);
        for (word, kind) in EventType::WORDS {
            assert_eq!(EventType::from_word(word), Ok(*kind));
            assert_eq!(kind.word(), *word);
        }
    }

    #[test]
    fn every_type_keeps_the_bit_it_was_stored_with() {
        let bits: Vec<_> = EventType::WORDS.iter().map(|(_, it)| it.bit()).collect();
        assert_eq!(bits, (0..24).map(|it| 1 << it).collect::<Vec<i64>>());
        assert_eq!((EventType::ObservationCreated.bit(), EventType::TestPing.bit()), (1, 1 << 23));
        assert_eq!((EventType::ObjectiveCreated.bit(), EventType::EmployeeRehired.bit()), (1 << 12, 1 << 22));
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
