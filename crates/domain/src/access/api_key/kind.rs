//! Kinds of API keys, and the session that a key ends with (decision B10).

use strum::{IntoStaticStr, VariantArray};

use super::ApiKey;
use crate::decision::Decision;
use crate::fields::{StringEnum, string_enum};
use crate::id::KeyId;
use crate::refusal::DomainError;
use crate::time::Timestamp;

/// Time after its end for which a session stays in the list of API keys, in seconds: 30 days.
const KEPT_SECONDS: i64 = 30 * 86_400;

/// Life of a portal link's key at most, in seconds. The end of so short a life is expected.
const SHORT_LIFE_SECONDS: i64 = 86_400;

/// Kind of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ApiKeyKind {
    /// A key that another key or the operator created, also as a portal link.
    Key,
    /// The session of a person who signed in at an identity provider (decision B10).
    Session,
}

string_enum!(ApiKeyKind, "ApiKeyKind");

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

    /// Returns the end of a session that is not revoked; `None` for a revoked session and for other keys.
    #[must_use]
    pub fn session_end(&self) -> Option<Timestamp> {
        let is_lasting = self.kind == ApiKeyKind::Session && self.revoked_at.is_none();
        self.expires_at.filter(|_| is_lasting)
    }

    /// Returns the end of which admins are told beforehand; `None` for a session, for a revoked key, and for a key that
    /// lives for a day at most, as that of a portal link.
    #[must_use]
    pub fn notable_end(&self) -> Option<Timestamp> {
        let is_lasting = self.kind == ApiKeyKind::Key && self.revoked_at.is_none();
        self.expires_at.filter(|end| is_lasting && *end > self.created_at.plus_seconds(SHORT_LIFE_SECONDS))
    }

    /// Returns `true` if a session ended so long ago that it leaves the list of API keys.
    #[must_use]
    pub fn is_bygone(&self, at: Timestamp) -> bool {
        let end = self.revoked_at.or(self.expires_at);
        self.kind == ApiKeyKind::Session && end.is_some_and(|end| end.plus_seconds(KEPT_SECONDS) <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, key};
    use super::*;

    #[test]
    fn end_of_a_lasting_key_is_notable() {
        let day = NOW.plus_seconds(SHORT_LIFE_SECONDS);
        let month = NOW.plus_seconds(30 * SHORT_LIFE_SECONDS);
        let lasting = ApiKey { created_at: NOW, expires_at: Some(month), ..key() };
        assert_eq!(lasting.notable_end(), Some(month));
        let session = ApiKey { kind: ApiKeyKind::Session, ..lasting.clone() };
        let revoked_key = ApiKey { revoked_at: Some(NOW), ..lasting.clone() };
        let short = ApiKey { expires_at: Some(day), ..lasting.clone() };
        let endless = ApiKey { expires_at: None, ..lasting };
        assert_eq!([session, revoked_key, short, endless].map(|one| one.notable_end()), [None; 4]);
    }

    #[test]
    fn session_leaves_the_list_a_month_after_its_end() {
        let session = ApiKey { kind: ApiKeyKind::Session, expires_at: Some(NOW.plus_seconds(100)), ..key() };
        let ended_session = ApiKey { expires_at: Some(NOW), ..session.clone() };
        let month = NOW.plus_seconds(KEPT_SECONDS);
        for (key, at, wanted) in [
            (&ended_session, month, true),
            (&ended_session, Timestamp::from_millis(month.millis() - 1), false),
            (&session, month, false),
            (&ApiKey { kind: ApiKeyKind::Key, ..ended_session.clone() }, month, false),
        ] {
            assert_eq!(key.is_bygone(at), wanted, "{at}");
        }
    }
}
