//! Summaries: the assessment of one person over a period, with the objectives and observations that support it
//! (decisions G).

mod authorization;
mod change;
mod lifecycle;
mod list;
mod sight;

pub use change::{Draft, Patch, References, StoredObservation};
pub use lifecycle::{Action, ActionKind};
pub use list::{Expand, Filter};

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::content::{content, optional, or_default, required};
use crate::decision::{Resource, identity, mark_of};
use crate::external_id;
use crate::fields::string_enum;
use crate::id::{EmployeeId, ObjectiveId, ObservationId, SummaryId, SummaryKind};
use crate::keyed::Metadata;
use crate::params::StatusWord;
use crate::rule;
use crate::time::{Date, Timestamp};
use crate::visibility::LinkedId;

/// Length of the longest title, in characters.
pub const TITLE_CHARS: usize = 200;
/// Length of the longest body, in characters.
pub const BODY_CHARS: usize = 20_000;
/// Length of the longest reason for a return or comment of the employee, in characters.
pub const REMARK_CHARS: usize = 2000;
/// Maximum number of objectives that one summary includes.
pub const MAX_OBJECTIVES: usize = 100;
/// Maximum number of observations that one summary includes.
pub const MAX_OBSERVATIONS: usize = 200;

/// The status of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// The summary is being written.
    Draft,
    /// The summary waits for a review.
    PendingReview,
    /// The summary is approved and cannot be edited any more.
    Approved,
    /// The summary was shared with the employee.
    Shared,
    /// The summary was archived. Final.
    Archived,
}

string_enum!(Status, "SummaryStatus");

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "SummaryStatusFilter";
}

/// The response of the employee to a shared summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EmployeeFeedback {
    /// Comment of the employee. Null if there is none.
    pub comment: Option<String>,
    /// `true` if the employee has acknowledged the summary.
    pub acknowledged: bool,
    /// Time of the feedback.
    pub submitted_at: Timestamp,
}

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// The assessment of one person over a period.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Summary {
        /// Id of the summary, with the prefix `sum_`.
        pub id: SummaryId,
        /// Id of the person the summary is about.
        pub employee_id: EmployeeId,
        /// Author of the summary. Null if unknown.
        pub author_id: Option<EmployeeId>,
        /// Person whose key made the last change of the content. Null if there was none, or if the key was bound to no
        /// person.
        pub edited_by: Option<EmployeeId>,
        /// Title. It must not be blank.
        pub title: String => set by required(rule::text(1..=TITLE_CHARS)),
        /// Text of the summary, in plain text.
        pub body: String => set by or_default(rule::text(0..=BODY_CHARS))
            .about("It must not be blank when the summary is submitted."),
        /// First day of the period. Null if `period_end` is null.
        pub period_start: Option<Date>,
        /// Last day of the period. Not before `period_start`. Null if `period_start` is null.
        pub period_end: Option<Date>,
        /// Status of the summary.
        pub status: Status,
        /// Ids of the included objectives.
        pub included_objective_ids: Vec<ObjectiveId>,
        /// Ids of the included observations. Until the approval, archived observations are omitted.
        pub included_observation_ids: Vec<ObservationId>,
        /// Ids of the observations that `included_observation_ids` omits until the approval, because they are
        /// archived.
        pub archived_observation_ids: Vec<ObservationId>,
        /// Feedback of the employee. Null if there is none.
        pub employee_feedback: Option<EmployeeFeedback>,
        /// Time of submission. Null if it was not submitted or was returned since.
        pub submitted_at: Option<Timestamp>,
        /// Time of approval. Null if it was not approved or was returned since.
        pub approved_at: Option<Timestamp>,
        /// Time at which the summary was shared with the employee. Null before that.
        pub shared_at: Option<Timestamp>,
        /// Archive time. Null if it is not archived.
        pub archived_at: Option<Timestamp>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
        /// Texts for other systems, by key. The service does not interpret them.
        pub metadata: Metadata,
        /// Id of the summary in another system. Unique among all summaries. Null if there is none.
        pub external_id: Option<String> => set by optional(external_id::rule()),
        /// People whose own changes no other person has submitted since. Where reviews are required, they do not approve.
        #[serde(skip)]
        pub editor_ids: Vec<EmployeeId>,
        /// People whose changes another person has submitted since. Their legal hold keeps the summary.
        #[serde(skip)]
        pub past_editor_ids: Vec<EmployeeId>,
        /// Included observations of a fixed summary that are archived now; a return omits them.
        #[serde(skip)]
        pub kept_archived_ids: Vec<ObservationId>,
    }
}

impl Resource for Summary {
    identity!(SummaryKind);

    fn mark(&self) -> u64 {
        mark_of(&self.archived_observation_ids)
    }

    fn linked_ids(&self) -> Vec<LinkedId> {
        let objectives = self.included_objective_ids.iter().copied().map(LinkedId::Objective);
        objectives.chain(self.given_observation_ids().into_iter().map(LinkedId::Observation)).collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.included_objective_ids.retain(|id| is_shown(LinkedId::Objective(*id)));
        self.included_observation_ids.retain(|id| is_shown(LinkedId::Observation(*id)));
        self.archived_observation_ids.retain(|id| is_shown(LinkedId::Observation(*id)));
        self.kept_archived_ids.retain(|id| is_shown(LinkedId::Observation(*id)));
    }
}

impl Summary {
    /// Returns `true` while the summary can be edited. The approval fixes it with its archived observations.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.status, Status::Draft | Status::PendingReview)
    }

    /// Returns every observation of the summary: the included ones, then archived ones that are not shown.
    #[must_use]
    pub fn given_observation_ids(&self) -> Vec<ObservationId> {
        self.included_observation_ids.iter().chain(&self.archived_observation_ids).copied().collect()
    }

    /// Returns the summary with `archived` as its archived observations, which an open summary does not include.
    #[must_use]
    pub fn with_archived_observations(mut self, archived: Vec<ObservationId>) -> Self {
        if self.is_open() {
            self.included_observation_ids.retain(|id| !archived.contains(id));
            (self.archived_observation_ids, self.kept_archived_ids) = (archived, vec![]);
        } else {
            (self.archived_observation_ids, self.kept_archived_ids) = (vec![], archived);
        }
        self
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::fields::StringEnum;
    use crate::id::Id;
    use ulid::Ulid;

    pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    pub(crate) fn summary(status: Status) -> Summary {
        let time_from = |least: Status| (status as u8 >= least as u8).then_some(NOON);
        Summary {
            id: Id::from_ulid(Ulid(1)),
            employee_id: Id::from_ulid(Ulid(2)),
            author_id: Some(Id::from_ulid(Ulid(3))),
            edited_by: None,
            editor_ids: vec![],
            past_editor_ids: vec![],
            title: "First half".to_owned(),
            body: "Calm under pressure.".to_owned(),
            period_start: None,
            period_end: None,
            status,
            included_objective_ids: vec![],
            included_observation_ids: vec![],
            employee_feedback: None,
            submitted_at: time_from(Status::PendingReview),
            approved_at: time_from(Status::Approved),
            shared_at: time_from(Status::Shared),
            archived_at: time_from(Status::Archived),
            created_at: NOON,
            updated_at: NOON,
            archived_observation_ids: vec![],
            kept_archived_ids: vec![],
            metadata: Metadata::default(),
            external_id: None,
        }
    }

    #[test]
    fn open_summary_does_not_show_archived_observations() {
        let [active_id, archived_id] = [7, 8].map(|number| Id::from_ulid(Ulid(number)));
        for status in Status::ALL.iter().copied() {
            let summary_with_archived =
                Summary { included_observation_ids: vec![archived_id, active_id], ..summary(status) };
            let shown_summary = summary_with_archived.with_archived_observations(vec![archived_id]);
            let expected_ids = if matches!(status, Status::Draft | Status::PendingReview) {
                vec![active_id]
            } else {
                vec![archived_id, active_id]
            };
            assert_eq!(shown_summary.included_observation_ids, expected_ids, "{status:?}");
            let mut observation_ids = shown_summary.given_observation_ids();
            observation_ids.sort();
            assert_eq!(observation_ids, [active_id, archived_id], "a restored observation is shown again");
        }
    }

    #[test]
    fn summary_json_has_the_members_of_the_contract() {
        let feedback = EmployeeFeedback { comment: None, acknowledged: true, submitted_at: NOON };
        let summary = Summary { employee_feedback: Some(feedback), ..summary(Status::Draft) };
        assert_eq!(
            serde_json::to_string(&summary).unwrap(),
            r#"{"id":"sum_00000000000000000000000001","employee_id":"emp_00000000000000000000000002","author_id":"emp_00000000000000000000000003","edited_by":null,"title":"First half","body":"Calm under pressure.","period_start":null,"period_end":null,"status":"draft","included_objective_ids":[],"included_observation_ids":[],"archived_observation_ids":[],"employee_feedback":{"comment":null,"acknowledged":true,"submitted_at":"2026-03-01T12:00:00.000Z"},"submitted_at":null,"approved_at":null,"shared_at":null,"archived_at":null,"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z","metadata":{},"external_id":null}"#
        );
    }
}
