//! Objectives: goals at three scopes with a review and completion lifecycle (§2.2, §3.1, §4.2, decisions C).

mod authorization;
mod change;
mod check_in;
mod counts;
pub mod key_result;
mod key_result_body;
mod lifecycle;
mod list;
mod parent;
mod progress;

pub(crate) use change::find_period_flaw;
pub use change::{Draft, FIRST_STATUSES, FIRST_STATUSES_NAME, Patch, References, StoredOwner};
pub use check_in::{
    CheckIn, CheckInDraft, CheckedInObjective, CheckedKeyResult, Confidence, checked_text, parse_checked,
    read_list as read_check_ins,
};
pub use counts::{ObjectiveCount, ObjectiveGroup};
pub use key_result::{KeyResult, MAX_KEY_RESULTS, Metric, ReviewedKeyResult};
pub use lifecycle::{Action, Verb};
pub use list::{ConfidenceFilter, Expand, Family, Filter};
pub use parent::StoredParent;

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::Permission;
use crate::content::{content, optional, required};
use crate::decision::{Resource, identity, mark_of};
use crate::external_id;
use crate::fields::string_enum;
use crate::id::{EmployeeId, ObjectiveId, ObjectiveKind, SummaryId};
use crate::keyed::Metadata;
use crate::params::StatusWord;
use crate::rule;
use crate::time::{Date, Timestamp};
use crate::visibility::LinkedId;

/// Maximum length of a title, in characters (§8).
pub const TITLE_CHARS: usize = 200;
/// Maximum length of a description, in characters (§8).
pub const DESCRIPTION_CHARS: usize = 4000;
/// Maximum length of a comment, outcome or reason, in characters (decision C9).
pub const REMARK_CHARS: usize = 2000;
/// Maximum number of summaries that an objective names, the newest ones (§8).
pub const MAX_LINKED_SUMMARIES: usize = 100;

/// Level of the organization that an objective belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Scope {
    /// A goal of one person.
    Employee,
    /// A goal of a manager for their team.
    Manager,
    /// A goal of the whole organization.
    Org,
}

string_enum!(Scope, "ObjectiveScope");

/// Lifecycle status of an objective (§3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Not yet approved. In review after it was submitted.
    Proposed,
    /// Approved, but not started.
    Approved,
    /// Started and not finished.
    InProgress,
    /// Finished with success. Read-only.
    Completed,
    /// Finished without success. Read-only.
    Missed,
    /// Removed from default lists. Final.
    Archived,
}

string_enum!(Status, "ObjectiveStatus");

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "ObjectiveStatusFilter";
}

/// Content of an objective for its reviewer, as of its last submission or approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "fields of the contract, §2.2")]
pub struct ReviewedContent {
    pub title: String,
    pub description: Option<String>,
    /// The first day, as text.
    pub period_start: String,
    /// The last day, as text.
    pub period_end: String,
    /// `None` if the content was stored before key results were part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_results: Option<Vec<ReviewedKeyResult>>,
}

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// A goal of a person, a team or the organization.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Objective {
        /// Id of the objective, with the prefix `obj_`.
        pub id: ObjectiveId,
        /// Scope of the goal. Writes to objectives of the scope `org` need an admin-level key, or one that acts
        /// for an org admin.
        pub scope: Scope,
        /// Owner of the objective. For the scope `org` an org admin.
        pub owner_id: EmployeeId,
        /// Title: the goal in a few words. It must not be blank.
        pub title: String => set by required(rule::text(1..=TITLE_CHARS)),
        /// Description in plain text. Null if there is none.
        pub description: Option<String> => set by optional(rule::text(0..=DESCRIPTION_CHARS)),
        /// Status of the objective.
        pub status: Status,
        /// First day of the period. An approved objective starts on this day, in UTC.
        pub period_start: Date,
        /// Last day of the period. Not before `period_start`.
        pub period_end: Date,
        /// Measures of the objective, in the order of the request.
        pub key_results: Vec<KeyResult>,
        /// Progress in percent, rounded down: the weighted mean of the key results. Without key results that of the last
        /// check-in that states one. Null if none is known.
        pub progress: Option<u8>,
        /// Confidence of the last check-in that states one. Null before.
        pub confidence: Option<Confidence>,
        /// Time of the last check-in. Null before.
        pub last_check_in_at: Option<Timestamp>,
        /// Objective of a wider scope that this one supports. Null if there is none or the key cannot see it.
        pub parent_id: Option<ObjectiveId>,
        /// Ids of the newest 100 summaries that include this objective and are not archived, oldest first. Summaries
        /// that the key cannot see are omitted. Empty without `summaries:read`.
        pub linked_summary_ids: Vec<SummaryId>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
        /// Time of submission for review. Null if it was not submitted or was rejected since.
        pub submitted_at: Option<Timestamp>,
        /// Time of the first approval or start. Null before that.
        pub approved_at: Option<Timestamp>,
        /// `true` if title, description, period or key results were changed after the approval by a caller who may not
        /// approve, and the objective was not approved again.
        pub changed_since_approval: bool,
        /// Time of completion. Null unless the status is `completed`.
        pub completed_at: Option<Timestamp>,
        /// The content at the last submission or approval, or `None` before.
        #[serde(skip)]
        pub reviewed: Option<ReviewedContent>,
        /// `true` if a client moved the objective back to `approved`. Such an objective does not start
        /// automatically (decision C3).
        #[serde(skip)]
        pub held_back: bool,
        /// Progress of the last check-in that states one.
        #[serde(skip)]
        pub stated_progress: Option<u8>,
        /// Texts for other systems, by key. The service does not interpret them.
        pub metadata: Metadata,
        /// Id of the objective in another system. Unique among all objectives. Null if there is none.
        pub external_id: Option<String> => set by optional(external_id::rule()),
    }
}

impl Resource for Objective {
    identity!(ObjectiveKind);

    fn mark(&self) -> u64 {
        mark_of(&self.linked_summary_ids)
    }

    const LINKS_PERMISSION: Option<Permission> = Some(Permission::SummariesRead);

    fn linked_ids(&self) -> Vec<LinkedId> {
        self.linked_summary_ids.iter().copied().map(LinkedId::Summary).collect()
    }

    fn named_ids(&self) -> Vec<LinkedId> {
        self.parent_id.map(LinkedId::Objective).into_iter().collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.linked_summary_ids.retain(|id| is_shown(LinkedId::Summary(*id)));
        self.parent_id = self.parent_id.filter(|id| is_shown(LinkedId::Objective(*id)));
    }
}

impl Objective {
    /// Returns `true` while the objective waits for a review: submitted, and still `proposed` (decision C1).
    #[must_use]
    pub fn is_in_review(&self) -> bool {
        self.status == Status::Proposed && self.submitted_at.is_some()
    }

    /// Returns `true` if the objective cannot change any more (§3.1 rule 3).
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.status, Status::Completed | Status::Missed | Status::Archived)
    }

    /// Returns the time of the last check-in, by which objectives are ordered and filtered. Without a check-in, it is
    /// the earliest time.
    #[must_use]
    pub fn checked_in_at(&self) -> Timestamp {
        self.last_check_in_at.unwrap_or(Timestamp::from_millis(0))
    }

    /// Returns what a reviewer reads now: title, description, period and key results.
    #[must_use]
    pub fn content(&self) -> ReviewedContent {
        ReviewedContent {
            title: self.title.clone(),
            description: self.description.clone(),
            period_start: self.period_start.to_string(),
            period_end: self.period_end.to_string(),
            key_results: Some(self.key_results.iter().map(ReviewedKeyResult::from).collect()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ulid::Ulid;

    pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    pub(crate) fn objective(status: Status, in_review: bool) -> Objective {
        let is_approved =
            matches!(status, Status::Approved | Status::InProgress | Status::Completed | Status::Missed);
        Objective {
            id: ObjectiveId::from_ulid(Ulid(1)),
            scope: Scope::Employee,
            owner_id: EmployeeId::from_ulid(Ulid(2)),
            title: "Answer every ticket within a day".to_owned(),
            description: None,
            status,
            period_start: NOON.date(),
            period_end: NOON.date().next(),
            key_results: vec![],
            progress: None,
            confidence: None,
            last_check_in_at: None,
            parent_id: None,
            linked_summary_ids: vec![],
            created_at: NOON,
            updated_at: NOON,
            submitted_at: in_review.then_some(NOON),
            approved_at: is_approved.then_some(NOON),
            changed_since_approval: false,
            completed_at: (status == Status::Completed).then_some(NOON),
            reviewed: None,
            held_back: false,
            stated_progress: None,
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    #[test]
    fn objective_without_linked_ids_keeps_its_parent() {
        let parent_id = Some(ObjectiveId::from_ulid(Ulid(7)));
        let plain_objective = Objective { parent_id, ..objective(Status::Approved, false) };
        let linked_summary_ids = vec![SummaryId::from_ulid(Ulid(8)), SummaryId::from_ulid(Ulid(9))];
        let linked_objective = Objective { linked_summary_ids, ..plain_objective.clone() };
        assert_eq!(linked_objective.without_linked_ids(), plain_objective);
    }

    #[test]
    fn json_has_the_members_of_the_contract() {
        let json = serde_json::to_value(objective(Status::Proposed, false)).unwrap();
        let members: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        let expected_members = [
            "id",
            "scope",
            "owner_id",
            "title",
            "description",
            "status",
            "period_start",
            "period_end",
            "key_results",
            "progress",
            "confidence",
            "last_check_in_at",
            "parent_id",
            "linked_summary_ids",
            "created_at",
            "updated_at",
            "submitted_at",
            "approved_at",
            "changed_since_approval",
            "completed_at",
            "metadata",
            "external_id",
        ];
        let mut expected_names = expected_members.map(str::to_owned).to_vec();
        expected_names.sort();
        let mut members = members;
        members.sort();
        assert_eq!(members, expected_names);
    }
}
