//! Claims of logout tokens (OpenID Connect Back-Channel Logout 1.0).

use candor_forms::json::{Object, Value};
use candor_forms::signature::unix_seconds;
use candor_forms::time::Timestamp;

use super::{TokenRules, check_expiry, check_issuer, read_issue_time, seconds, stored_text, subject, timestamp};
use crate::flaw::TokenError;
use crate::token::{TokenKind, VerifiedToken, audiences};

/// Largest age of a logout token, in seconds. Ids of used tokens are kept for this time plus
/// [`TOLERANCE_SECONDS`](super::TOLERANCE_SECONDS).
pub const MAX_LOGOUT_AGE_SECONDS: i64 = 300;
/// Number of valid logout tokens per minute of the providers of one organization, as many as the writes of all its keys. A
/// provider ends the sessions of as many people as sign in, and each token is a write.
pub const LOGOUTS_PER_MINUTE: u32 = 1_000;
/// Name of the event of a logout.
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// Claims of a logout token that is accepted: the sessions to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogoutClaims {
    /// The account. If `session_id` is `None`, all sessions of the account end.
    pub subject: Option<String>,
    /// Id of the session at the provider.
    pub session_id: Option<String>,
    /// Id of the token, by which a repeated logout is recognized.
    pub token_id: String,
    /// Time of issue. Bearer tokens of the account that were issued before are refused.
    pub issued_at: Timestamp,
}

impl VerifiedToken {
    /// Judges the claims of a logout token.
    ///
    /// # Errors
    /// Returns the cause for which the token is refused.
    pub fn to_logout(&self, rules: &TokenRules, now: Timestamp) -> Result<LogoutClaims, TokenError> {
        match self.header.kind {
            TokenKind::Any | TokenKind::Logout => {}
            TokenKind::Access => return Err(TokenError::Kind),
        }
        let claims = &self.claims;
        if claims.get("cnf").is_some() {
            return Err(TokenError::Confirmation);
        }
        check_issuer(claims, rules)?;
        if !audiences(claims).is_some_and(|audiences| audiences.contains(&rules.client_id.as_str())) {
            return Err(TokenError::Audience);
        }
        let now = unix_seconds(now);
        let issued_at = read_issue_time(claims, now)?;
        if now.saturating_sub(issued_at) > MAX_LOGOUT_AGE_SECONDS {
            return Err(TokenError::TooOld);
        }
        // Tokens by earlier drafts of the specification have no `exp`. Their age is limited by `iat`.
        if let Some(expires_at) = seconds(claims, "exp")? {
            check_expiry(expires_at, now)?;
        }
        let (subject, session_id) = (subject(claims)?, stored_text(claims, "sid")?);
        let token_id = stored_text(claims, "jti").map_err(|_| TokenError::Logout)?.ok_or(TokenError::Logout)?;
        // A nonce marks an ID token, which must not end sessions.
        let is_logout = has_event(claims) && claims.get("nonce").is_none();
        if !is_logout || (subject.is_none() && session_id.is_none()) {
            return Err(TokenError::Logout);
        }
        Ok(LogoutClaims {
            subject: subject.map(ToOwned::to_owned),
            session_id: session_id.map(ToOwned::to_owned),
            token_id: token_id.to_owned(),
            issued_at: timestamp(issued_at),
        })
    }
}

fn has_event(claims: &Object) -> bool {
    let Some(Value::Object(events)) = claims.get("events") else { return false };
    matches!(events.get(EVENT), Some(Value::Object(_)))
}
