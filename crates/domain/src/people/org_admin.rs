//! Rules of org admins: their rights are given and taken in admin context only, and the last active org admin stays
//! (decision D12).

use super::{Employee, Role, Status};
use crate::access::PermissionError;
use crate::fields::StringEnum;
use crate::refusal::{BrokenRule, DomainError};

impl Employee {
    /// Returns `true` for an org admin who is active. An organization keeps at least one of them.
    #[must_use]
    pub const fn is_active_org_admin(&self) -> bool {
        matches!((self.role, self.status), (Role::OrgAdmin, Status::Active))
    }

    /// Requires admin context for a change that gives or takes the rights of an org admin: a change of the role,
    /// or of the status, the address or the external id of an org admin. The invitation goes to the address, and
    /// identity providers find people by address and external id. `before` is `None` for a new person.
    ///
    /// # Errors
    /// [`PermissionError::AdminRequired`].
    pub fn authorize_admin_change(
        before: Option<&Self>,
        after: &Self,
        is_admin: bool,
    ) -> Result<(), PermissionError> {
        let has_role = |person: &Self| person.role == Role::OrgAdmin;
        let who = |person: &Self| (person.status, person.email.clone(), person.external_id.clone());
        let concerns_admins = before.map_or(has_role(after), |before| {
            has_role(before) != has_role(after) || has_role(after) && who(before) != who(after)
        });
        if concerns_admins && !is_admin { Err(PermissionError::AdminRequired) } else { Ok(()) }
    }

    /// Requires admin context for an invitation that makes its reader an active org admin.
    ///
    /// # Errors
    /// [`PermissionError::AdminRequired`].
    pub fn authorize_invitation(&self, is_admin: bool) -> Result<(), PermissionError> {
        if self.role == Role::OrgAdmin && !is_admin { Err(PermissionError::AdminRequired) } else { Ok(()) }
    }

    /// Returns `true` if the person stops being an active org admin.
    #[must_use]
    pub fn ceases_as_admin(before: Option<&Self>, after: &Self) -> bool {
        before.is_some_and(Self::is_active_org_admin) && !after.is_active_org_admin()
    }

    /// Requires that another active org admin stays after this change.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] with the rule `last_admin`.
    pub fn require_other_admin(
        before: Option<&Self>,
        after: &Self,
        has_other_admin: bool,
    ) -> Result<(), DomainError> {
        if has_other_admin || !Self::ceases_as_admin(before, after) {
            return Ok(());
        }
        let is_role = after.role != Role::OrgAdmin;
        let (field, current) =
            if is_role { ("role", Role::OrgAdmin.word()) } else { ("status", Status::Active.word()) };
        Err(DomainError::broken_rule(field, current, BrokenRule::LastAdmin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::employee;
    use super::*;

    fn person(role: Role, status: Status) -> Employee {
        Employee { role, status, ..employee(1) }
    }

    #[test]
    fn change_of_admin_rights_needs_admin_context_and_keeps_one() {
        let roles = [Role::Employee, Role::Manager, Role::OrgAdmin];
        let statuses = [Status::Active, Status::Deactivated, Status::PendingInvite];
        let all: Vec<_> =
            roles.iter().flat_map(|role| statuses.iter().map(|status| person(*role, *status))).collect();
        for before in all.iter().map(Some).chain([None]) {
            for after in &all {
                let had = before.is_some_and(|before| before.role == Role::OrgAdmin);
                let has = after.role == Role::OrgAdmin;
                let is_moved = before.is_some_and(|before| before.status != after.status);
                let concerns = had != has || had && is_moved;
                let case = format!("{before:?} to {after:?}");
                assert_eq!(Employee::authorize_admin_change(before, after, false).is_err(), concerns, "{case}");
                assert_eq!(Employee::authorize_admin_change(before, after, true), Ok(()), "{case}");
                let was = before.is_some_and(|before| had && before.status == Status::Active);
                let ceases = was && !(has && after.status == Status::Active);
                assert_eq!(Employee::require_other_admin(before, after, false).is_err(), ceases, "{case}");
                assert!(Employee::require_other_admin(before, after, true).is_ok(), "{case}");
            }
        }
    }

    #[test]
    fn identity_of_an_org_admin_needs_admin_context() {
        for (role, is_refused) in [(Role::OrgAdmin, true), (Role::Manager, false)] {
            let person_before = person(role, Status::Active);
            for after in [
                Employee { email: "attacker@example.com".to_owned(), ..person_before.clone() },
                Employee { external_id: Some("7".to_owned()), ..person_before.clone() },
            ] {
                let result = Employee::authorize_admin_change(Some(&person_before), &after, false);
                assert_eq!(result.is_err(), is_refused, "{after:?}");
            }
            let renamed_person = Employee { job_title: Some("Lead".to_owned()), ..person_before.clone() };
            assert_eq!(Employee::authorize_admin_change(Some(&person_before), &renamed_person, false), Ok(()));
        }
    }

    #[test]
    fn refusal_of_the_last_admin_names_the_rule_and_the_remedy() {
        let admin_before = person(Role::OrgAdmin, Status::Active);
        let admin_after = person(Role::OrgAdmin, Status::Deactivated);
        let refusal = Employee::require_other_admin(Some(&admin_before), &admin_after, false).unwrap_err();
        let DomainError::Conflict(conflict) = &refusal else { panic!("{refusal:?}") };
        let conflict_json = serde_json::to_value(conflict).unwrap();
        assert_eq!(
            conflict_json,
            serde_json::json!({"field": "status", "current": "active", "rule": "last_admin"})
        );
        assert!(refusal.to_string().contains("Give another person the role `org_admin` first"), "{refusal}");
    }
}
