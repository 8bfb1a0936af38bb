//! Objectives: goals at three scopes with a review and completion lifecycle (§2.2, §3.1, §4.2, decisions C).

mod authorization;
mod change;
mod lifecycle;
mod list;

pub(crate) use change::backwards;
pub use change::{Draft, FIRST_STATUSES, FIRST_STATUSES_NAME, OwnerFound, Patch};
pub use lifecycle::{Action, Verb};
pub use list::{Expand, Family, Filter};

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::access::Permission;
use crate::decision::{Resource, mark_of};
use crate::fields::{Word, as_word};
use crate::id::{EmployeeId, ObjectiveId, ObjectiveKind, SummaryId};
use crate::params::StatusWord;
use crate::time::{Date, Timestamp};
use crate::visibility::LinkedId;

/// The longest title (§8).
pub const TITLE_CHARS: usize = 200;
/// The longest description (§8).
pub const DESCRIPTION_CHARS: usize = 4000;
/// The longest comment, outcome or reason (decision C9).
pub const REMARK_CHARS: usize = 2000;

/// Whose goal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Scope {
    /// One person's.
    Employee,
    /// A manager's, for their team.
    Manager,
    /// The whole organization's.
    Org,
}

impl Word for Scope {
    const NAME: &'static str = "ObjectiveScope";
}

/// Where it stands (§3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Written down; in review once it was submitted.
    Proposed,
    /// Agreed upon.
    Approved,
    /// Being worked on.
    InProgress,
    /// Reached.
    Completed,
    /// Not reached.
    Missed,
    /// Put away.
    Archived,
}

impl Word for Status {
    const NAME: &'static str = "ObjectiveStatus";
}

impl StatusWord for Status {
    const FILTER_NAME: &'static str = "ObjectiveStatusFilter";
}

/// What an objective says, as it was last submitted or approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Content {
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: Option<String>,
    /// Its first day, as text.
    pub period_start: String,
    /// Its last day, as text.
    pub period_end: String,
}

/// A goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Objective {
    /// Its id.
    pub id: ObjectiveId,
    /// Whose goal it is.
    #[serde(serialize_with = "as_word")]
    pub scope: Scope,
    /// The person responsible.
    pub owner_id: EmployeeId,
    /// What is to be reached.
    pub title: String,
    /// What that means.
    pub description: Option<String>,
    /// Where it stands.
    #[serde(serialize_with = "as_word")]
    pub status: Status,
    /// The first day.
    pub period_start: Date,
    /// The last day.
    pub period_end: Date,
    /// The summaries that cite it.
    pub linked_summary_ids: Vec<SummaryId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was submitted for review; null unless it is, or was when it was approved.
    pub submitted_at: Option<Timestamp>,
    /// When it was first approved or started; never overwritten (decision C2).
    pub approved_at: Option<Timestamp>,
    /// When it was reached.
    pub completed_at: Option<Timestamp>,
    /// What it said when it was last submitted or approved.
    #[serde(skip)]
    pub reviewed: Option<Content>,
    /// Whether somebody moved it back to `approved`, so that it does not start by itself (decision C3).
    #[serde(skip)]
    pub held_back: bool,
}

impl Resource for Objective {
    type Kind = ObjectiveKind;
    const NAME: &'static str = "objective";

    fn id(&self) -> ObjectiveId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn mark(&self) -> u64 {
        mark_of(&self.linked_summary_ids)
    }

    const LINKS_PERMISSION: Option<Permission> = Some(Permission::SummariesRead);

    fn linked_ids(&self) -> Vec<LinkedId> {
        self.linked_summary_ids.iter().copied().map(LinkedId::Summary).collect()
    }

    fn retain_linked(&mut self, is_shown: &dyn Fn(LinkedId) -> bool) {
        self.linked_summary_ids.retain(|id| is_shown(LinkedId::Summary(*id)));
    }
}

impl Objective {
    /// Whether it waits for a review: submitted, and still reported as `proposed` (decision C1).
    #[must_use]
    pub fn is_in_review(&self) -> bool {
        self.status == Status::Proposed && self.submitted_at.is_some()
    }

    /// Whether it can be changed no more (§3.1 rule 3).
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.status, Status::Completed | Status::Missed | Status::Archived)
    }

    /// What it says now.
    #[must_use]
    pub fn content(&self) -> Content {
        Content {
            title: self.title.clone(),
            description: self.description.clone(),
            period_start: self.period_start.to_string(),
            period_end: self.period_end.to_string(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ulid::Ulid;

    pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    pub(crate) fn objective(status: Status, in_review: bool) -> Objective {
        let begun = matches!(status, Status::Approved | Status::InProgress | Status::Completed | Status::Missed);
        Objective {
            id: ObjectiveId::from_ulid(Ulid(1)),
            scope: Scope::Employee,
            owner_id: EmployeeId::from_ulid(Ulid(2)),
            title: "Answer every ticket within a day".to_owned(),
            description: None,
            status,
            period_start: NOON.date(),
            period_end: NOON.date().next(),
            linked_summary_ids: vec![],
            created_at: NOON,
            updated_at: NOON,
            submitted_at: in_review.then_some(NOON),
            approved_at: begun.then_some(NOON),
            completed_at: (status == Status::Completed).then_some(NOON),
            reviewed: None,
            held_back: false,
        }
    }

    #[test]
    fn the_json_form_is_that_of_the_contract() {
        let json = serde_json::to_value(objective(Status::Proposed, false)).unwrap();
        let members: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        let wanted = [
            "id",
            "scope",
            "owner_id",
            "title",
            "description",
            "status",
            "period_start",
            "period_end",
            "linked_summary_ids",
            "created_at",
            "updated_at",
            "submitted_at",
            "approved_at",
            "completed_at",
        ];
        let mut wanted = wanted.map(str::to_owned).to_vec();
        wanted.sort();
        let mut members = members;
        members.sort();
        assert_eq!(members, wanted);
    }
}
