//! Reads single conditions of a filter.

use super::filter::{UserCondition, UserFilter};

impl UserFilter {
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
