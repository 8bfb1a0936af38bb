//! Alignment: the objective of a wider scope that an objective supports (decision C13).

use super::{Objective, Scope, Status};
use crate::decision::Decision;
use crate::event::EventType;
use crate::fields::Reference;
use crate::id::{ObjectiveId, ObjectiveKind};
use crate::problem::{Code, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Field, ReferenceRule};
use crate::time::Timestamp;

/// The member of request bodies that names the parent.
pub(super) const PARENT: Field<ReferenceRule<ObjectiveKind>> = Field::with_about(
    "parent_id",
    rule::reference(),
    "A manager or org objective for the scope `employee`, an org objective for `manager`; `org` has none. 422 if it is \
     archived, of another scope, or not visible to the key.",
);

/// Stored facts about the parent that a body names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct StoredParent {
    pub id: ObjectiveId,
    pub scope: Scope,
    pub status: Status,
}

impl Scope {
    /// Returns `true` if an objective of this scope can support an objective of the scope `parent`. Each step
    /// leads to a wider scope, so there are no cycles.
    const fn supports(self, parent: Self) -> bool {
        match self {
            Self::Employee => matches!(parent, Self::Manager | Self::Org),
            Self::Manager => matches!(parent, Self::Org),
            Self::Org => false,
        }
    }
}

/// Returns `true` if a client that sees the parent `shown` has sent the same parent.
pub(super) fn is_shown_as(shown: Option<ObjectiveId>, sent: Option<&Reference<ObjectiveKind>>) -> bool {
    match (shown, sent) {
        (None, None) => true,
        (Some(shown), Some(sent)) => sent.id == Some(shown),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Returns the id of the parent that an objective of this scope names. `found` is that parent if it exists.
///
/// # Errors
/// [`DomainError::Unprocessable`] on `parent_id`: `not_found_in_organization`, `invalid_state` for an archived one,
/// `scope_mismatch` unless its scope is wider.
pub(super) fn require(
    scope: Scope,
    named: Option<&Reference<ObjectiveKind>>,
    found: Option<StoredParent>,
) -> Result<Option<ObjectiveId>, DomainError> {
    let Some(parent_reference) = named else { return Ok(None) };
    let unprocessable = |flaw| Err(DomainError::unprocessable(PARENT.name, flaw));
    let Some(parent) = found.filter(|found| parent_reference.id == Some(found.id)) else {
        return unprocessable(parent_reference.not_found());
    };
    if parent.status == Status::Archived {
        return unprocessable(ValueError::new(Code::InvalidState, "must be an objective that is not archived"));
    }
    if !scope.supports(parent.scope) {
        return unprocessable(ValueError::new(Code::ScopeMismatch, "must have a wider scope than the objective"));
    }
    Ok(Some(parent.id))
}

impl Objective {
    /// Removes the parent, because it is erased or removed by the retention. `updated_at` of an archived objective moves
    /// by a millisecond only: the retention counts from it (decision H5).
    pub fn without_parent(&self, at: Timestamp) -> Decision<Self> {
        let changed_at = if self.status == Status::Archived { self.updated_at } else { at };
        let state =
            Self { parent_id: None, updated_at: changed_at.strictly_after(self.updated_at), ..self.clone() };
        Decision::for_change(self, state, "objective.update", vec![EventType::ObjectiveUpdated])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOON, objective};
    use super::*;
    use crate::fields::StringEnum;
    use ulid::Ulid;

    #[test]
    fn parent_has_a_wider_scope_and_is_not_archived() {
        let id = ObjectiveId::from_ulid(Ulid(9));
        let reference_to = Reference::from(id);
        let wider =
            [(Scope::Employee, Scope::Manager), (Scope::Employee, Scope::Org), (Scope::Manager, Scope::Org)];
        for scope in Scope::ALL.iter().copied() {
            for parent in Scope::ALL.iter().copied() {
                for status in Status::ALL.iter().copied() {
                    let result =
                        require(scope, Some(&reference_to), Some(StoredParent { id, scope: parent, status }));
                    let code = match result {
                        Ok(found) => {
                            assert_eq!(found, Some(id));
                            None
                        }
                        Err(DomainError::Unprocessable(problems)) => Some(problems.as_slice()[0].code),
                        Err(other) => panic!("{other}"),
                    };
                    let expected_code = match (status, wider.contains(&(scope, parent))) {
                        (Status::Archived, _) => Some(Code::InvalidState),
                        (_, true) => None,
                        (_, false) => Some(Code::ScopeMismatch),
                    };
                    assert_eq!(code, expected_code, "{scope:?} below {parent:?}, {status:?}");
                }
            }
        }
        let absent = require(Scope::Employee, Some(&reference_to), None);
        assert_eq!(absent, Err(DomainError::unprocessable("parent_id", reference_to.not_found())));
        assert_eq!(require(Scope::Org, None, None), Ok(None));
    }

    #[test]
    fn lost_parent_is_an_update() {
        let child =
            Objective { parent_id: Some(ObjectiveId::from_ulid(Ulid(9))), ..objective(Status::Approved, false) };
        let decision = child.without_parent(NOON);
        assert_eq!(decision.events, [EventType::ObjectiveUpdated]);
        assert_eq!(decision.state.parent_id, None);
        assert_eq!(decision.state.updated_at, NOON.strictly_after(child.updated_at));
    }

    #[test]
    fn archived_objective_stays_as_old_without_its_parent() {
        let parent_id = Some(ObjectiveId::from_ulid(Ulid(9)));
        let child = Objective { parent_id, ..objective(Status::Archived, false) };
        let year_later = Timestamp::from_millis(child.updated_at.millis() + 365 * 86_400_000);
        let state = child.without_parent(year_later).state;
        assert_eq!((state.parent_id, state.updated_at), (None, child.updated_at.strictly_after(child.updated_at)));
    }
}
