//! Claims of ID tokens (OpenID Connect Core, section 3.1.3.7).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_forms::json::Object;
use candor_forms::time::Timestamp;
use ring::digest::digest;

use super::{Times, TokenRules, TokenSubject, check_issuer, refuse_other_kinds, stored_text, stored_time};
use crate::flaw::TokenError;
use crate::token::{TokenKind, VerifiedToken, audiences, optional_text};

/// Values of a sign-in that its ID token must repeat.
#[derive(Clone, Copy, Default)]
pub struct IdExpectation<'s> {
    /// The nonce of the authorization request. `None` if the token comes from no sign-in of the service.
    pub nonce: Option<&'s str>,
    /// The access token that came with the ID token.
    pub access_token: Option<&'s str>,
}

/// Claims of an ID token that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdClaims {
    /// The account.
    pub subject: TokenSubject,
    /// Id of the session at the provider, which a logout token names.
    pub session_id: Option<String>,
    /// Time at which the session at the provider ends, if the provider states it.
    pub session_ends_at: Option<Timestamp>,
    /// Time of issue.
    pub issued_at: Timestamp,
}

impl VerifiedToken {
    /// Judges the claims of an ID token.
    ///
    /// # Errors
    /// Returns the cause for which the token is refused.
    pub fn to_id(
        &self,
        rules: &TokenRules,
        expectation: IdExpectation<'_>,
        now: Timestamp,
    ) -> Result<IdClaims, TokenError> {
        match self.header.kind {
            TokenKind::Any => {}
            TokenKind::Access | TokenKind::Logout => return Err(TokenError::Kind),
        }
        let claims = &self.claims;
        refuse_other_kinds(claims)?;
        check_issuer(claims, rules)?;
        check_audience(claims, rules)?;
        let times = Times::read(claims, now)?;
        times.check_authentication(rules, true)?;
        if let Some(nonce) = expectation.nonce
            && optional_text(claims, "nonce")? != Some(nonce)
        {
            return Err(TokenError::Nonce);
        }
        self.check_access_token(expectation.access_token)?;
        let session_ends_at = stored_time(claims, "session_expiry")?;
        if session_ends_at.is_some_and(|end| end <= now) {
            return Err(TokenError::Expired);
        }
        Ok(IdClaims {
            subject: TokenSubject::read(claims, rules)?,
            session_id: stored_text(claims, "sid")?.map(ToOwned::to_owned),
            session_ends_at,
            issued_at: times.issued_at,
        })
    }

    /// Checks that `at_hash` is the left half of the hash of the access token, by the algorithm of the ID token.
    /// Accepts a token without `at_hash`, and an ID token that came without an access token.
    fn check_access_token(&self, access_token: Option<&str>) -> Result<(), TokenError> {
        let Some(expected_hash) = optional_text(&self.claims, "at_hash")? else { return Ok(()) };
        let Some(access_token) = access_token else { return Ok(()) };
        let hash = digest(self.header.algorithm.hash(), access_token.as_bytes());
        let (left_half, _) = hash.as_ref().split_at(hash.as_ref().len() / 2);
        let is_same = URL_SAFE_NO_PAD.encode(left_half) == expected_hash;
        if is_same { Ok(()) } else { Err(TokenError::AccessTokenHash) }
    }
}

/// Checks that the token is for the client. With other audiences, or with `azp`, the client is also the authorized party.
fn check_audience(claims: &Object, rules: &TokenRules) -> Result<(), TokenError> {
    let token_audiences = audiences(claims).ok_or(TokenError::Audience)?;
    if !token_audiences.contains(&rules.client_id.as_str()) {
        return Err(TokenError::Audience);
    }
    let is_alone = token_audiences.iter().all(|audience| *audience == rules.client_id);
    match optional_text(claims, "azp")? {
        Some(party) if party == rules.client_id => Ok(()),
        None if is_alone => Ok(()),
        None | Some(_) => Err(TokenError::AuthorizedParty),
    }
}
