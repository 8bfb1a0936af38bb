//! Rules by which a caller gives access to keys and identity providers, and changes it (decisions B5, B7, B9, B12).

use super::{AccessLevel, Caller, PermissionError, Permissions, Reach};
use crate::id::EmployeeId;
use crate::time::Timestamp;

/// The access of a key that a caller creates, widens or rotates.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields named after their types")]
pub struct Grant {
    pub scopes: Permissions,
    pub level: AccessLevel,
    /// The person of the key, or `None` for a key of the organization.
    pub person: Option<EmployeeId>,
    pub reach: Reach,
}

impl Grant {
    /// Access without any limit: what an account may get that is linked to a person, when the role of the person and the
    /// access of the provider grow.
    pub const ALL: Self =
        Self { scopes: Permissions::ALL, level: AccessLevel::Admin, person: None, reach: Reach::UNLIMITED };
}

/// Returns `true` if a key that ends at `end` outlasts one that ends at `other`. `None` means no end.
pub(super) fn outlasts(end: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    match (end, other) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(end), Some(other)) => end > other,
    }
}

impl Caller {
    /// Requires that the caller may change and rotate keys of this person, or of the organization for `None`. A
    /// bound key manages keys of its own person only, whatever that person's role (decision B5).
    ///
    /// # Errors
    /// [`PermissionError::CannotGrant`].
    pub fn may_manage_keys_of(&self, person: Option<EmployeeId>) -> Result<(), PermissionError> {
        if self.bound_to().is_none_or(|own| person == Some(own)) {
            Ok(())
        } else {
            Err(PermissionError::CannotGrant)
        }
    }

    /// Requires that the caller may grant this access. The caller must manage keys of the person and have each
    /// granted scope and the granted level. The caller's key must end no earlier than the granted key, and its
    /// networks must contain those of the granted key. A role grants no admin level (decisions B5, B7, B12). A
    /// session, or a key that it created, grants access only to keys that end with the session (decision B10).
    ///
    /// # Errors
    /// [`PermissionError::CannotGrant`].
    pub fn may_grant(&self, grant: &Grant) -> Result<(), PermissionError> {
        self.may_manage_keys_of(grant.person)?;
        let has_level = grant.level == AccessLevel::Standard || self.level == grant.level;
        let may_as_much = self.scopes.cover(grant.scopes) && has_level;
        let may_grant = may_as_much && self.reach().covers(&grant.reach);
        if may_grant { Ok(()) } else { Err(PermissionError::CannotGrant) }
    }

    /// Requires that the caller may change this access at all, also to less. A caller with less access could otherwise
    /// lower it to its own, take it over by a rotation or a link, and keep it when an admin raises it again. So the
    /// caller must be able to grant the access as it is (decisions B7, B9, B12). A session takes over no access that it
    /// did not create, so its own end does not count.
    ///
    /// # Errors
    /// [`PermissionError::CannotGrant`].
    pub fn may_change(&self, grant: &Grant) -> Result<(), PermissionError> {
        let mut grant = grant.clone();
        if self.session.is_some() {
            grant.reach = Reach { end: self.expires_at, session: self.session, ..grant.reach };
        }
        self.may_grant(&grant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_end_outlasts() {
        let time = |millis| Some(Timestamp::from_millis(millis));
        let table = [
            (None, None, false),
            (None, time(1), true),
            (time(1), None, false),
            (time(1), time(1), false),
            (time(2), time(1), true),
        ];
        for (end, other, wanted) in table {
            assert_eq!(outlasts(end, other), wanted, "{end:?} {other:?}");
        }
    }
}
