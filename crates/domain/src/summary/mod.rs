//! Summaries: what is said about one person over a time, with the objectives and observations that it rests on
//! (decisions G).

mod authorization;
mod change;
mod lifecycle;
mod list;
mod sight;

pub use change::{Draft, ObservationFound, Patch, References};
pub use lifecycle::{Action, ActionKind};
pub use list::{Expand, Filter};

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::{Resource, mark_of};
use crate::fields::{Word, as_word};
use crate::id::{EmployeeId, ObjectiveId, ObservationId, SummaryId, SummaryKind};
use crate::params::StatusWord;
use crate::time::{Date, Timestamp};
use crate::visibility::LinkedId;

/// The longest title.
pub const TITLE_CHARS: usize = 200;
/// The longest body.
pub const BODY_CHARS: usize = 20_000;
/// The longest reason for a return, or comment of the employee.
pub const REMARK_CHARS: usize = 2000;
/// The most objectives that one summary includes.
pub const MAX_OBJECTIVES: usize = 100;
/// The most observations that one summary includes.
pub const MAX_OBSERVATIONS: usize = 200;

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Being written.
    Draft,
    /// Waits for a review.
    PendingReview,
    /// Agreed upon, and fixed.
    Approved,
    /// Shown to the employee.
    Shared,
    /// Put away.
    Archived,
}

impl Word for Status {
    const NAME: &'static str = "SummaryStatus";
}

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "SummaryStatusFilter";
}

/// What the employee answered to a summary that was shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmployeeFeedback {
    /// What they say.
    pub comment: Option<String>,
    /// Whether they have taken note of it.
    pub acknowledged: bool,
    /// When they said so.
    pub submitted_at: Timestamp,
}

/// What is said about one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its id.
    pub id: SummaryId,
    /// Whom it is about.
    pub employee_id: EmployeeId,
    /// Who wrote it, if that was said.
    pub author_id: Option<EmployeeId>,
    /// What it is called.
    pub title: String,
    /// What it says.
    pub body: String,
    /// The first day that it is about; null together with the last.
    pub period_start: Option<Date>,
    /// The last day that it is about.
    pub period_end: Option<Date>,
    /// Where it stands.
    #[serde(serialize_with = "as_word")]
    pub status: Status,
    /// The objectives that it rests on.
    pub included_objective_ids: Vec<ObjectiveId>,
    /// The observations that it rests on; until it is approved without those that are archived.
    pub included_observation_ids: Vec<ObservationId>,
    /// What the employee answered; null until then.
    pub employee_feedback: Option<EmployeeFeedback>,
    /// When it was submitted for review; null unless it is in review, or was when it was approved.
    pub submitted_at: Option<Timestamp>,
    /// When it was approved; null where it was not, or was returned since.
    pub approved_at: Option<Timestamp>,
    /// When it was shared.
    pub shared_at: Option<Timestamp>,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Those of the observations it was given that are archived now, whether it shows them or not.
    #[serde(skip)]
    pub archived_observation_ids: Vec<ObservationId>,
}

impl Resource for Summary {
    type Kind = SummaryKind;
    const NAME: &'static str = "summary";

    fn id(&self) -> SummaryId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn mark(&self) -> u64 {
        if self.is_open() { mark_of(&self.archived_observation_ids) } else { 0 }
    }

    fn linked_ids(&self) -> Vec<LinkedId> {
        let objectives = self.included_objective_ids.iter().copied().map(LinkedId::Objective);
        objectives.chain(self.given_observation_ids().into_iter().map(LinkedId::Observation)).collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.included_objective_ids.retain(|id| is_shown(LinkedId::Objective(*id)));
        self.included_observation_ids.retain(|id| is_shown(LinkedId::Observation(*id)));
        self.archived_observation_ids.retain(|id| is_shown(LinkedId::Observation(*id)));
    }
}

impl Summary {
    /// Whether it can still be written; later it is fixed, and keeps observations that are archived.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.status, Status::Draft | Status::PendingReview)
    }

    /// Every observation that it was given: those it shows, then those that are archived and not shown.
    #[must_use]
    pub fn given_observation_ids(&self) -> Vec<ObservationId> {
        let hidden = self.archived_observation_ids.iter().filter(|it| !self.included_observation_ids.contains(it));
        self.included_observation_ids.iter().chain(hidden).copied().collect()
    }

    /// The same, which shows of the observations it was given those that its status lets it show, where these are the
    /// archived ones.
    #[must_use]
    pub fn showing(mut self, archived: Vec<ObservationId>) -> Self {
        if self.is_open() {
            self.included_observation_ids.retain(|it| !archived.contains(it));
        }
        self.archived_observation_ids = archived;
        self
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::id::Id;
    use ulid::Ulid;

    pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    pub(crate) fn summary(status: Status) -> Summary {
        let reached = |least: Status| (status as u8 >= least as u8).then_some(NOON);
        Summary {
            id: Id::from_ulid(Ulid(1)),
            employee_id: Id::from_ulid(Ulid(2)),
            author_id: Some(Id::from_ulid(Ulid(3))),
            title: "First half".to_owned(),
            body: "Calm under pressure.".to_owned(),
            period_start: None,
            period_end: None,
            status,
            included_objective_ids: vec![],
            included_observation_ids: vec![],
            employee_feedback: None,
            submitted_at: reached(Status::PendingReview),
            approved_at: reached(Status::Approved),
            shared_at: reached(Status::Shared),
            archived_at: reached(Status::Archived),
            created_at: NOON,
            updated_at: NOON,
            archived_observation_ids: vec![],
        }
    }

    #[test]
    fn an_archived_observation_disappears_until_the_summary_is_fixed() {
        let [kept, gone] = [7, 8].map(|it| Id::from_ulid(Ulid(it)));
        for status in Status::ALL.iter().copied() {
            let stored = Summary { included_observation_ids: vec![gone, kept], ..summary(status) };
            let it = stored.showing(vec![gone]);
            let shown =
                if matches!(status, Status::Draft | Status::PendingReview) { vec![kept] } else { vec![gone, kept] };
            assert_eq!(it.included_observation_ids, shown, "{status:?}");
            let mut given = it.given_observation_ids();
            given.sort();
            assert_eq!(given, [kept, gone], "it comes back when the observation is restored");
        }
    }

    #[test]
    fn the_json_form_is_that_of_the_contract() {
        let feedback = EmployeeFeedback { comment: None, acknowledged: true, submitted_at: NOON };
        let it = Summary { employee_feedback: Some(feedback), ..summary(Status::Draft) };
        assert_eq!(
            serde_json::to_string(&it).unwrap(),
            r#"{"id":"sum_00000000000000000000000001","employee_id":"emp_00000000000000000000000002","author_id":"emp_00000000000000000000000003","title":"First half","body":"Calm under pressure.","period_start":null,"period_end":null,"status":"draft","included_objective_ids":[],"included_observation_ids":[],"employee_feedback":{"comment":null,"acknowledged":true,"submitted_at":"2026-03-01T12:00:00.000Z"},"submitted_at":null,"approved_at":null,"shared_at":null,"archived_at":null,"created_at":"2026-03-01T12:00:00.000Z","updated_at":"2026-03-01T12:00:00.000Z"}"#
        );
    }
}
