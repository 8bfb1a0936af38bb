//! Proof by a token that an admin posts: which audiences belong to the organization.

use super::{IdExpectation, TokenRules};
use crate::identity::flaw::TokenFlaw;
use crate::identity::strict_json::text;
use crate::identity::token::{TokenKind, VerifiedToken};
use crate::time::Timestamp;

/// Claims with the client to which a token was issued: those of the standards, and those of Okta and Entra ID.
const CLIENT_CLAIMS: [&str; 4] = ["azp", "client_id", "cid", "appid"];

impl VerifiedToken {
    /// Returns the audiences that the token proves as a bearer token, in the order of the provider.
    ///
    /// No token proves a client id. Everybody who may sign in to a program of another organization has ID tokens for the
    /// client id of the program, which is also their audience. So a token that was issued to its audience proves nothing.
    /// A sign-in proves the client id: the provider sends the code to an address that only the owner of the client sets.
    ///
    /// # Errors
    /// Returns the cause for which the token is neither a bearer token nor an ID token of the provider.
    pub fn to_proof(&self, rules: &TokenRules, now: Timestamp) -> Result<Vec<String>, TokenFlaw> {
        let bearer = self.to_bearer(rules, now);
        let login = self.to_id(rules, IdExpectation::default(), now);
        if let (Err(bearer_flaw), Err(login_flaw)) = (&bearer, &login) {
            // The kind of token that its audience names tells the cause.
            return Err(if *bearer_flaw == TokenFlaw::Audience { *login_flaw } else { *bearer_flaw });
        }
        let token_audiences = bearer.map_or_else(|_| vec![], |claims| claims.audiences);
        let is_proven = |audience: &&String| {
            **audience != rules.client_id && token_audiences.contains(audience) && !self.is_issued_to(audience)
        };
        Ok(rules.audiences.iter().filter(is_proven).cloned().collect())
    }

    /// Returns `true` if the audience may be the client to which the token was issued, as in an ID token.
    fn is_issued_to(&self, audience: &str) -> bool {
        let client = CLIENT_CLAIMS.iter().find_map(|name| text(&self.claims, name));
        match (self.header.kind, client) {
            (_, Some(client)) => client == audience,
            (TokenKind::Access, None) => false,
            (TokenKind::Any | TokenKind::Logout, None) => true,
        }
    }
}
