//! Permission to create, change and review objectives (§2.2, decisions B5, C6, C10).

use super::{Draft, Objective, Scope, Status, Verb};
use crate::access::{AdminContext, Caller, PermissionError};
use crate::organization::Review;

/// Requires that the caller may write org objectives (decision C6).
fn require_org_writer(scope: Scope, caller: &Caller) -> Result<(), PermissionError> {
    if scope == Scope::Org { caller.require_admin(AdminContext::Data) } else { Ok(()) }
}

impl Verb {
    /// Returns `true` for the actions that decide about the owner's work.
    const fn is_decision(self) -> bool {
        match self {
            Self::Approve | Self::Reject | Self::Complete | Self::Miss => true,
            Self::Submit | Self::Archive => false,
        }
    }
}

impl Objective {
    /// Requires that a caller who sees this objective may change it.
    ///
    /// # Errors
    /// [`PermissionError::AdminRequired`] for an org objective.
    pub fn may_be_changed_by(&self, caller: &Caller) -> Result<(), PermissionError> {
        require_org_writer(self.scope, caller)
    }

    /// Requires that a caller who sees this objective may take this action. Where reviews are required, owners take
    /// no decision about their own objectives, even if they are org admins (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::AdminRequired`] for an org objective; [`PermissionError::OwnReview`].
    pub fn may_be_acted_on_by(&self, caller: &Caller, what: Verb, review: Review) -> Result<(), PermissionError> {
        self.may_be_changed_by(caller)?;
        let is_own = caller.bound_to() == Some(self.owner_id);
        if is_own && what.is_decision() && review == Review::Required {
            Err(PermissionError::OwnReview)
        } else {
            Ok(())
        }
    }
}

impl Objective {
    /// Returns `true` if a change by this caller needs an approval: the caller may not approve the objective.
    #[must_use]
    pub fn needs_approval_from_others(&self, caller: &Caller, review: Review) -> bool {
        self.may_be_acted_on_by(caller, Verb::Approve, review).is_err()
    }
}

impl Draft {
    /// Requires that the caller may create this objective, before its owner is looked up (decisions B5, C6, C10).
    ///
    /// # Errors
    /// [`PermissionError::AdminRequired`]; [`PermissionError::OwnReview`] for an objective of the caller's own
    /// that skips a required review.
    pub fn may_be_created_by(&self, caller: &Caller, review: Review) -> Result<(), PermissionError> {
        require_org_writer(self.scope, caller)?;
        if review != Review::Required || self.first_status() == Status::Proposed {
            return Ok(());
        }
        caller.require_admin(AdminContext::Data)?;
        let is_own = caller.bound_to().is_some_and(|own| self.owner.id == Some(own));
        if is_own { Err(PermissionError::OwnReview) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Family;
    use super::super::tests::objective;
    use super::*;
    use crate::access::AccessLevel::{Admin, Standard};
    use crate::access::tests::{bound_caller, unbound};
    use crate::fields::StringEnum;
    use crate::id::EmployeeId;
    use crate::json::Value;
    use ulid::Ulid;

    #[test]
    fn owner_decides_nothing_where_reviews_are_required() {
        let own = objective(Status::Proposed, true);
        let other = EmployeeId::from_ulid(Ulid(77));
        let callers = [
            ("owner", bound_caller(own.owner_id, false), true),
            ("owner with an admin-level key", bound_caller(own.owner_id, false).with_level(Admin), true),
            ("owner who is an org admin", bound_caller(own.owner_id, true), true),
            ("another person", bound_caller(other, false), false),
            ("another org admin", bound_caller(other, true), false),
            ("organization key", unbound(Standard), false),
        ];
        for (name, caller, is_owner) in callers {
            for what in Verb::ALL.iter().copied() {
                for review in Review::ALL.iter().copied() {
                    let is_refused = is_owner && what.is_decision() && review == Review::Required;
                    let expected_error = is_refused.then_some(PermissionError::OwnReview);
                    let result = own.may_be_acted_on_by(&caller, what, review);
                    assert_eq!(result.err(), expected_error, "{name} {what:?} {review:?}");
                }
            }
            assert_eq!(own.may_be_changed_by(&caller), Ok(()), "{name}");
        }
    }

    #[test]
    fn org_objective_is_written_in_admin_context_of_data() {
        let org = Objective { scope: Scope::Org, ..objective(Status::Proposed, false) };
        let other = EmployeeId::from_ulid(Ulid(77));
        let table = [
            (unbound(Standard), false),
            (unbound(Admin), true),
            (bound_caller(other, false).with_level(Admin), false),
            (bound_caller(other, true), true),
        ];
        for (caller, may) in table {
            let expected_error = (!may).then_some(PermissionError::AdminRequired);
            assert_eq!(org.may_be_changed_by(&caller).err(), expected_error, "{caller:?}");
            assert_eq!(
                org.may_be_acted_on_by(&caller, Verb::Submit, Review::Optional).err(),
                expected_error,
                "{caller:?}"
            );
        }
    }

    #[test]
    fn required_review_is_skipped_by_admins_and_never_for_oneself() {
        let own = objective(Status::Proposed, false).owner_id;
        let draft = |status: &str| {
            let text = format!(
                r#"{{"owner_id":"{own}","title":"x","period_start":"2026-01-01","period_end":"2026-12-31",
                     "status":"{status}"}}"#
            );
            let Ok(Value::Object(body)) = serde_json::from_str(&text) else { panic!("{text}") };
            Draft::parse(Family::Employees, body).unwrap()
        };
        let other = EmployeeId::from_ulid(Ulid(77));
        let table = [
            (unbound(Standard), Some(PermissionError::AdminRequired)),
            (unbound(Admin), None),
            (bound_caller(own, false), Some(PermissionError::AdminRequired)),
            (bound_caller(own, true), Some(PermissionError::OwnReview)),
            (bound_caller(other, false).with_level(Admin), Some(PermissionError::AdminRequired)),
            (bound_caller(other, true), None),
        ];
        for (caller, denied) in table {
            for status in ["approved", "in_progress"] {
                let draft = draft(status);
                assert_eq!(draft.may_be_created_by(&caller, Review::Required).err(), denied, "{caller:?}");
                assert_eq!(draft.may_be_created_by(&caller, Review::Optional), Ok(()), "{caller:?}");
            }
            assert_eq!(draft("proposed").may_be_created_by(&caller, Review::Required), Ok(()), "{caller:?}");
        }
    }
}
