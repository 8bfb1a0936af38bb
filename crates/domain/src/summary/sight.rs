//! Who sees which summaries, and what they may do with them (decision B5).

use super::{ActionKind, Summary};
use crate::access::{Caller, Denied};
use crate::id::EmployeeId;
use crate::problem::{Code, Flaw};
use crate::refusal::Refusal;

impl Summary {
    /// Whether a caller sees it who acts for this person, or for nobody in particular: its author, the person it is
    /// about once it was shared, and the managers of that person; `is_below` says whether that person reports to the
    /// caller's at any depth. What is out of sight does not exist for the caller.
    #[must_use]
    pub fn is_seen_by(&self, acts_for: Option<EmployeeId>, is_below: bool) -> bool {
        acts_for.is_none_or(|person| {
            is_below || self.author_id == Some(person) || (self.employee_id == person && self.shared_at.is_some())
        })
    }

    /// Requires of a new one that the caller will see it: a key that acts for a person writes as that person, or about
    /// people who report to that person.
    ///
    /// # Errors
    /// [`Refusal::Unprocessable`].
    pub fn must_be_seen(&self, is_seen: bool) -> Result<(), Refusal> {
        let flaw = || Flaw::new(Code::InvalidState, "is not the key's person, to whom the employee does not report");
        if is_seen { Ok(()) } else { Err(Refusal::unprocessable("author_id", flaw())) }
    }

    /// Whether the person it is about sees it for no other reason than that it was shared.
    #[must_use]
    pub fn is_shared_with_reader(&self) -> bool {
        self.shared_at.is_some() && self.author_id != Some(self.employee_id)
    }

    /// Requires that a caller who sees it may do this with it. Feedback is given by the person it is about and by
    /// nobody in their place; whoever is only shown a summary gives feedback and leaves it as it is.
    ///
    /// # Errors
    /// [`Denied::ActsForPerson`].
    pub fn may_be_acted_on(&self, caller: &Caller, what: Option<ActionKind>) -> Result<(), Denied> {
        let Some(person) = caller.acts_for() else { return Ok(()) };
        let is_about_them = person == self.employee_id;
        let may = if what == Some(ActionKind::Feedback) {
            is_about_them
        } else {
            !is_about_them || self.author_id == Some(person)
        };
        if may { Ok(()) } else { Err(Denied::ActsForPerson) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::tests::summary;
    use super::*;
    use crate::fields::Word;
    use crate::id::Id;
    use ulid::Ulid;

    #[test]
    fn its_author_sees_it_its_person_once_it_is_shared_and_managers_always() {
        let other = Id::from_ulid(Ulid(77));
        for status in Status::ALL.iter().copied() {
            let it = summary(status);
            let was_shared = matches!(status, Status::Shared | Status::Archived);
            let table = [
                (None, false, true),
                (it.author_id, false, true),
                (Some(it.employee_id), false, was_shared),
                (Some(other), false, false),
                (Some(other), true, true),
            ];
            for (acts_for, is_below, sees) in table {
                assert_eq!(it.is_seen_by(acts_for, is_below), sees, "{status:?} {acts_for:?} {is_below}");
            }
        }
        let never_shared = Summary { shared_at: None, ..summary(Status::Archived) };
        assert!(!never_shared.is_seen_by(Some(never_shared.employee_id), false));
        let of_oneself = Summary { author_id: Some(never_shared.employee_id), ..never_shared };
        assert!(of_oneself.is_seen_by(Some(of_oneself.employee_id), false));
    }
}
