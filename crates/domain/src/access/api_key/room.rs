//! Bounds on the number of valid keys (decision B7).

use super::ApiKey;
use crate::id::{EmployeeId, KeyId};
use crate::problem::{Code, ValueError};
use crate::refusal::DomainError;

/// Default for the maximum number of valid keys of an organization that act for no person.
pub const MAX_OF_ORGANIZATION: u32 = 200;
/// Maximum number of valid keys that act for one person and that no session created.
pub const MAX_OF_PERSON: u32 = 20;
/// Maximum number of valid keys that end with one session.
pub const MAX_OF_SESSION: u32 = 20;

/// Bound on the number of valid keys that end with one session, that act for one person, or that act for no person of an
/// organization. A key counts for one bound only: keys of an ended session take no place of other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRoom {
    /// Person that the keys act for; `None` for the keys of the organization.
    pub holder: Option<EmployeeId>,
    /// Session that the keys end with; `None` for keys that no session created.
    pub session: Option<KeyId>,
    /// Maximum number of keys that may be valid at one time.
    pub most: u32,
}

impl KeyRoom {
    /// Returns the bound among whose keys `key` counts. `of_organization` is the maximum number of valid keys that act
    /// for no person.
    #[must_use]
    pub fn new(key: &ApiKey, of_organization: u32) -> Self {
        Self::with_owner(key.employee_id, key.session_id, of_organization)
    }

    const fn with_owner(holder: Option<EmployeeId>, session: Option<KeyId>, of_organization: u32) -> Self {
        let most = match (holder, session) {
            (_, Some(_)) => MAX_OF_SESSION,
            (Some(_), None) => MAX_OF_PERSON,
            (None, None) => of_organization,
        };
        Self { holder, session, most }
    }

    /// Checks that one more key may be valid in addition to `valid` other keys. Existing keys above the bound stay
    /// valid.
    ///
    /// # Errors
    /// Returns [`DomainError::Unprocessable`] at the bound (decision B7).
    pub fn admit(self, valid: u32) -> Result<(), DomainError> {
        if valid < self.most {
            return Ok(());
        }
        let whose = match (self.holder, self.session) {
            (_, Some(_)) => "of a session",
            (Some(_), None) => "for a person",
            (None, None) => "without a person",
        };
        let message = format!("must be at most {} valid keys {whose}; revoke one first", self.most);
        Err(DomainError::unprocessable("api_keys", ValueError::new(Code::LimitReached, message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ulid::Ulid;

    #[test]
    fn key_at_or_above_the_bound_is_refused() {
        let (person, session) = (Some(EmployeeId::from_ulid(Ulid(7))), Some(KeyId::from_ulid(Ulid(8))));
        let table = [
            (None, None, 2, 1, true),
            (None, None, 2, 2, false),
            (None, None, 2, 9, false),
            (person, None, 2, MAX_OF_PERSON - 1, true),
            (person, None, 900, MAX_OF_PERSON, false),
            (person, session, 2, MAX_OF_SESSION - 1, true),
            (person, session, 900, MAX_OF_SESSION, false),
        ];
        for (holder, session, of_organization, valid, allowed) in table {
            let admission = KeyRoom::with_owner(holder, session, of_organization).admit(valid);
            assert_eq!(admission.is_ok(), allowed, "{holder:?} {session:?} {of_organization} {valid}");
        }
    }
}
