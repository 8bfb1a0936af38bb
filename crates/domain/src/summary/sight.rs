//! Permission to change summaries (decision B5).

use super::{ActionKind, Summary};
use crate::access::{Caller, Denied};
use crate::problem::{Code, Flaw};
use crate::refusal::Refusal;

impl Summary {
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
