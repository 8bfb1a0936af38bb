//! Proof by a token that an admin posts: which client id and which audiences belong to the organization.

use super::{IdExpectation, TokenRules};
use crate::identity::flaw::TokenFlaw;
use crate::identity::token::VerifiedToken;
use crate::time::Timestamp;

/// Values of a provider that a token proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenProof {
    /// `true` if the token proves the client id.
    pub has_client_id: bool,
    /// Audiences that the token proves, in the order of the provider.
    pub audiences: Vec<String>,
}

impl VerifiedToken {
    /// Returns the values that the token proves: as a bearer token its audiences, as an ID token the client id of a
    /// public client. The client id of a confidential client is proven by a sign-in with its secret only.
    ///
    /// # Errors
    /// Returns the cause for which the token is neither a bearer token nor an ID token of the provider.
    pub fn to_proof(
        &self,
        rules: &TokenRules,
        is_public_client: bool,
        now: Timestamp,
    ) -> Result<TokenProof, TokenFlaw> {
        let bearer = self.to_bearer(rules, now);
        let login = self.to_id(rules, IdExpectation::default(), now);
        if let (Err(bearer_flaw), Err(login_flaw)) = (&bearer, &login) {
            // A token without an audience of bearer tokens was meant as an ID token, so its flaw as an ID token is
            // the cause.
            return Err(if *bearer_flaw == TokenFlaw::Audience { *login_flaw } else { *bearer_flaw });
        }
        let token_audiences = bearer.map_or_else(|_| vec![], |claims| claims.audiences);
        let is_proven = |audience: &&String| **audience != rules.client_id && token_audiences.contains(audience);
        Ok(TokenProof {
            has_client_id: is_public_client && login.is_ok(),
            audiences: rules.audiences.iter().filter(is_proven).cloned().collect(),
        })
    }
}
