//! The people whose legal hold keeps a resource from the retention and from the erasure of another person.

use crate::assignment::Assignment;
use crate::conversation::Conversation;
use crate::id::EmployeeId;
use crate::objective::Objective;
use crate::observation::Observation;
use crate::summary::Summary;

/// A resource that is removed by a retention rule, or by the erasure of a person. It stays while a person
/// in it, or a former participant, has a legal hold.
pub trait Retained {
    /// Returns the people concerned: the resource stays while one of them is under a legal hold.
    fn people(&self) -> Vec<EmployeeId>;
}

impl Retained for Observation {
    fn people(&self) -> Vec<EmployeeId> {
        [Some(self.employee_id), self.author_id, self.requester_id].into_iter().flatten().collect()
    }
}

impl Retained for Summary {
    fn people(&self) -> Vec<EmployeeId> {
        let editors = self.editor_ids.iter().chain(&self.past_editor_ids).copied();
        let authors = self.author_id.into_iter().chain(self.edited_by).chain(editors);
        [self.employee_id].into_iter().chain(authors).collect()
    }
}

impl Retained for Assignment {
    fn people(&self) -> Vec<EmployeeId> {
        [Some(self.employee_id), self.requester_id]
            .into_iter()
            .flatten()
            .chain(self.reviewer_ids.clone())
            .collect()
    }
}

impl Retained for Objective {
    fn people(&self) -> Vec<EmployeeId> {
        vec![self.owner_id]
    }
}

impl Retained for Conversation {
    fn people(&self) -> Vec<EmployeeId> {
        self.everyone().into_iter().collect()
    }
}
