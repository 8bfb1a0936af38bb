//! Evaluation of a filter for one person.

use candor_domain::id::EmployeeId;
use candor_domain::people::{Employee, Status};
use candor_domain::text::address_key;
use candor_scim::filter::{UserCondition, UserFilter};

use crate::connector::ScimLink;

/// Returns `true` if a person meets all conditions of a filter. `manager` is the person that a condition on the manager
/// names.
#[must_use]
pub fn selects(
    filter: &UserFilter,
    person: &Employee,
    link: Option<&ScimLink>,
    manager: Option<EmployeeId>,
) -> bool {
    let is_equal = |one: &str, other: &str| address_key(one) == address_key(other);
    filter.0.iter().all(|condition| match condition {
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
