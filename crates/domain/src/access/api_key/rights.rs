//! The access of a key, and the callers that may change it (decision B7).

use super::ApiKey;
use crate::access::{Caller, Grant, PermissionError, Reach};

impl ApiKey {
    /// Returns the access that a secret of this key gives.
    pub(super) fn grant(&self) -> Grant {
        let networks = self.allowed_networks.clone();
        Grant {
            scopes: self.scopes,
            level: self.access_level,
            person: self.employee_id,
            reach: Reach { end: self.expires_at, networks, session: self.session_root() },
        }
    }

    /// Requires that the granter may change the access of this key, see [`Caller::may_change`]. A key may always lower
    /// itself, but not with its previous secret.
    pub(super) fn authorize_change(&self, granter: &Caller) -> Result<(), PermissionError> {
        match granter.key == self.id {
            true if granter.has_previous_secret => Err(PermissionError::CannotGrant),
            true => Ok(()),
            false => granter.may_change(&self.grant()),
        }
    }
}
