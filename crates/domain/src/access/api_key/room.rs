//! Bounds on the number of valid keys (decision B7).

use crate::id::EmployeeId;
use crate::problem::{Code, ValueError};
use crate::refusal::DomainError;

/// Default for the maximum number of valid keys of an organization that act for no person.
pub const MAX_OF_ORGANIZATION: u32 = 200;
/// Maximum number of valid keys that act for one person.
pub const MAX_OF_PERSON: u32 = 20;

/// Bound on the number of valid keys that act for one person, or of valid keys of an organization that act for no
/// person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRoom {
    /// Person that the keys act for; `None` for the keys of the organization.
    pub holder: Option<EmployeeId>,
    /// Maximum number of keys that may be valid at one time.
    pub most: u32,
}

impl KeyRoom {
    /// Returns the bound for the keys that act for `holder`. `of_organization` is the maximum number of valid keys
    /// that act for no person.
    #[must_use]
    pub const fn new(holder: Option<EmployeeId>, of_organization: u32) -> Self {
        let most = if holder.is_some() { MAX_OF_PERSON } else { of_organization };
        Self { holder, most }
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
        let whose = if self.holder.is_some() { "for a person" } else { "without a person" };
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
        let person = Some(EmployeeId::from_ulid(Ulid(7)));
        let table = [(None, 2, 1, true), (None, 2, 2, false), (None, 2, 9, false)];
        let of_person = [(person, 2, MAX_OF_PERSON - 1, true), (person, 900, MAX_OF_PERSON, false)];
        for (holder, of_organization, valid, allowed) in table.into_iter().chain(of_person) {
            let answer = KeyRoom::new(holder, of_organization).admit(valid);
            assert_eq!(answer.is_ok(), allowed, "{holder:?} {of_organization} {valid}");
        }
    }
}
