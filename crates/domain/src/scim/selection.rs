//! Evaluation of a filter for one person.

use super::filter::{UserCondition, UserFilter};
use crate::id::EmployeeId;
use crate::people::connector::ScimLink;
use crate::people::{Employee, Status};
use crate::text::address_key;

impl UserFilter {
    /// Returns `true` if a person meets all conditions. `manager` is the person that a condition on the manager
    /// names.
    #[must_use]
    pub fn selects(&self, person: &Employee, link: Option<&ScimLink>, manager: Option<EmployeeId>) -> bool {
        let is_equal = |one: &str, other: &str| address_key(one) == address_key(other);
        self.0.iter().all(|condition| match condition {
            UserCondition::Id(id) => person.id.to_string() == *id,
            UserCondition::UserName(name) => is_equal(link.map_or(&person.email, |link| &link.user_name), name),
            UserCondition::ExternalId(id) => link.and_then(|link| link.external_id.as_ref()) == Some(id),
            UserCondition::Active(is_active) => (person.status != Status::Deactivated) == *is_active,
            UserCondition::Email(email) => is_equal(&person.email, email),
            UserCondition::Manager(text) => {
                let pending = link.and_then(|link| link.manager_ref.as_ref());
                pending.is_some_and(|pending| is_equal(pending, text))
                    || (manager.is_some() && person.manager_id == manager)
            }
        })
    }

    /// Returns the text of the condition on the manager, if there is one.
    #[must_use]
    pub fn manager(&self) -> Option<&str> {
        self.0.iter().find_map(|condition| match condition {
            UserCondition::Manager(text) => Some(text.as_str()),
            UserCondition::Id(_)
            | UserCondition::UserName(_)
            | UserCondition::ExternalId(_)
            | UserCondition::Active(_)
            | UserCondition::Email(_) => None,
        })
    }

    /// Returns the wanted value of `active`; `None` without a condition on it.
    #[must_use]
    pub fn active(&self) -> Option<bool> {
        self.0.iter().find_map(|condition| match condition {
            UserCondition::Active(is_active) => Some(*is_active),
            UserCondition::Id(_)
            | UserCondition::UserName(_)
            | UserCondition::ExternalId(_)
            | UserCondition::Manager(_)
            | UserCondition::Email(_) => None,
        })
    }

    /// Returns `true` if a condition names one person by an indexed identifier.
    #[must_use]
    pub fn names_one(&self) -> bool {
        self.0.iter().any(|condition| match condition {
            UserCondition::Id(_)
            | UserCondition::UserName(_)
            | UserCondition::ExternalId(_)
            | UserCondition::Email(_) => true,
            UserCondition::Active(_) | UserCondition::Manager(_) => false,
        })
    }
}
