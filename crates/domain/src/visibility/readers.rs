//! The readers of each resource that not every caller sees.

use super::{Readers, RestrictedResource};
use crate::assignment::Assignment;
use crate::conversation::Conversation;
use crate::id::EmployeeId;
use crate::objective::{Objective, Scope};
use crate::observation::{Observation, Visibility};
use crate::summary::Summary;

impl Readers {
    /// Returns the readers of an observation: its author and the managers of the person it is about. With the
    /// visibility `person`, that person also reads the observation, and so does the requester of the assignment
    /// for which it was submitted. With `managers`, only its author and people above the person read it.
    #[must_use]
    pub fn for_observation(
        employee: EmployeeId,
        author: Option<EmployeeId>,
        requester: Option<EmployeeId>,
        visibility: Visibility,
    ) -> Self {
        let others = match visibility {
            Visibility::Person => [Some(employee), requester],
            Visibility::Managers => [None, None],
        };
        Self::with_managers(author.into_iter().chain(others.into_iter().flatten()).collect(), employee)
    }

    /// Returns the readers of an objective: every person for org scope, otherwise its owner and their managers.
    #[must_use]
    pub fn for_objective(scope: Scope, owner: EmployeeId) -> Self {
        Self { is_public: scope == Scope::Org, ..Self::with_managers(vec![owner], owner) }
    }

    /// Returns the readers of a summary: its author, the managers of the person it is about, and that person
    /// once it was shared, also after it was archived.
    #[must_use]
    pub fn for_summary(employee: EmployeeId, author: Option<EmployeeId>, was_shared: bool) -> Self {
        Self::with_managers(author.into_iter().chain(was_shared.then_some(employee)).collect(), employee)
    }

    /// Returns the readers of a conversation: its participants.
    #[must_use]
    pub fn for_conversation(participants: &[EmployeeId]) -> Self {
        Self::people(participants.to_vec())
    }

    /// Returns the readers of an assignment: its requester and its reviewers.
    #[must_use]
    pub fn for_assignment(requester: Option<EmployeeId>, reviewers: &[EmployeeId]) -> Self {
        Self::people(requester.into_iter().chain(reviewers.iter().copied()).collect())
    }
}

impl RestrictedResource for Observation {
    fn readers(&self) -> Readers {
        Readers::for_observation(self.employee_id, self.author_id, self.requester_id, self.visibility)
    }
}

impl RestrictedResource for Objective {
    fn readers(&self) -> Readers {
        Readers::for_objective(self.scope, self.owner_id)
    }
}

impl RestrictedResource for Summary {
    fn readers(&self) -> Readers {
        Readers::for_summary(self.employee_id, self.author_id, self.shared_at.is_some())
    }
}

impl RestrictedResource for Conversation {
    fn readers(&self) -> Readers {
        Readers::for_conversation(&self.participant_ids)
    }
}

impl RestrictedResource for Assignment {
    fn readers(&self) -> Readers {
        Readers::for_assignment(self.requester_id, &self.reviewer_ids)
    }
}
