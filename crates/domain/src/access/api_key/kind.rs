//! Kinds of API keys, and the session that a key ends with (decision B10).

use strum::{IntoStaticStr, VariantArray};

use super::ApiKey;
use crate::decision::Decision;
use crate::fields::StringEnum;
use crate::id::KeyId;
use crate::refusal::DomainError;
use crate::time::Timestamp;

/// Kind of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ApiKeyKind {
    /// A key that another key or the operator created, also as a portal link.
    Key,
    /// The session of a person who signed in at an identity provider (decision B10).
    Session,
}

impl StringEnum for ApiKeyKind {
    const NAME: &'static str = "ApiKeyKind";
}

impl ApiKey {
    /// Returns the session that the key ends with: its own id for a session, `None` for a key that no session created.
    #[must_use]
    pub const fn session_root(&self) -> Option<KeyId> {
        match self.kind {
            ApiKeyKind::Session => Some(self.id),
            ApiKeyKind::Key => self.session_id,
        }
    }

    /// Refuses a session, because the secret of a session cannot be rotated.
    pub(super) fn must_not_be_session(&self) -> Result<(), DomainError> {
        match self.kind {
            ApiKeyKind::Key => Ok(()),
            ApiKeyKind::Session => Err(DomainError::transition("kind", self.kind.word(), "rotate")),
        }
    }

    /// Ends the session at the request of its person.
    ///
    /// # Errors
    /// [`DomainError::Conflict`] for a key that is no session, or is revoked.
    pub fn end_session(&self, at: Timestamp) -> Result<Decision<Self>, DomainError> {
        if self.kind == ApiKeyKind::Session {
            self.revoke(at)
        } else {
            Err(DomainError::transition("kind", self.kind.word(), "logout"))
        }
    }
}
