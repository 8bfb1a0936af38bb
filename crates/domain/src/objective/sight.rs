//! Who sees which objectives, and who may change them (§2.2, decision B5).

use super::{Objective, Scope};
use crate::access::{Caller, Denied};
use crate::id::EmployeeId;

/// What part of an organization's objectives a caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// All of them: a key of the organization, or of an org admin.
    All,
    /// Their own, those of the people below them at any depth, and those of org scope.
    Of(EmployeeId),
}

impl Sight {
    /// The sight of a caller.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        caller.acts_for().map_or(Self::All, Self::Of)
    }

    /// Whether this objective is within sight; `owner_is_below` says whether its owner reports to the caller's person
    /// at any depth. What is out of sight does not exist for the caller.
    #[must_use]
    pub fn sees(self, objective: &Objective, owner_is_below: bool) -> bool {
        objective.scope == Scope::Org || self.reaches(objective.owner_id, owner_is_below)
    }

    /// Whether objectives of this person, other than org ones, are within reach.
    #[must_use]
    pub fn reaches(self, owner: EmployeeId, owner_is_below: bool) -> bool {
        match self {
            Self::All => true,
            Self::Of(person) => person == owner || owner_is_below,
        }
    }
}

impl Objective {
    /// Whether the caller may change this objective, which they see: an org objective needs admin context
    /// (decision C6).
    ///
    /// # Errors
    /// [`Denied::AdminRequired`].
    pub fn may_be_changed_by(&self, caller: &Caller) -> Result<(), Denied> {
        if self.scope == Scope::Org { require_org_writer(caller) } else { Ok(()) }
    }
}

/// Org objectives are written in admin context. A key that acts for a person does what that person may, whatever its
/// own level: their role decides (§2.2, decision B5).
///
/// # Errors
/// [`Denied::AdminRequired`].
pub(super) fn require_org_writer(caller: &Caller) -> Result<(), Denied> {
    if caller.acts_for().is_some() { Err(Denied::AdminRequired) } else { caller.require_admin() }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::tests::objective;
    use super::*;
    use ulid::Ulid;

    #[test]
    fn a_person_sees_their_own_those_below_and_the_organizations() {
        let own = objective(Status::Proposed, false);
        let (owner, other) = (own.owner_id, EmployeeId::from_ulid(Ulid(77)));
        let org = Objective { scope: Scope::Org, ..own.clone() };
        let table = [
            (Sight::All, false, true, true),
            (Sight::Of(owner), false, true, true),
            (Sight::Of(other), true, true, true),
            (Sight::Of(other), false, false, true),
        ];
        for (sight, below, sees_own, sees_org) in table {
            assert_eq!((sight.sees(&own, below), sight.sees(&org, below)), (sees_own, sees_org), "{sight:?} {below}");
        }
    }
}
