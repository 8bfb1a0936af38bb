//! Proof by a token that an admin posts: which audiences belong to the organization.

use candor_forms::id::IdentityProviderId;
use candor_forms::json::Value;
use candor_forms::time::Timestamp;

use super::{IdExpectation, TokenRules};
use crate::flaw::TokenError;
use crate::strict_json::{text, texts};
use crate::token::{TokenKind, VerifiedToken};

/// Claims in which a token names the provider that it proves audiences for. Only an administrator of the issuer adds a claim
/// or a role. Other claims are texts that users or clients choose: the client of an authorization request chooses its
/// scopes, and some issuers write unknown scopes into tokens.
const NAMING_CLAIMS: [&str; 2] = ["candor_provider", "roles"];
/// Claims with the client to which a token was issued: those of the standards, and those of Okta and Entra ID.
const CLIENT_CLAIMS: [&str; 4] = ["azp", "client_id", "cid", "appid"];

impl VerifiedToken {
    /// Returns the audiences that the token proves as a bearer token, in the order of the provider.
    ///
    /// No token proves a client id. Each user of a program of another organization has ID tokens for the
    /// client id of the program, which is also their audience. So a token that was issued to its audience proves nothing.
    /// A sign-in proves the client id: the provider sends the code to an address that only the owner of the client sets.
    ///
    /// Each user of a company also has access tokens for its programs. So a token that proves an audience names the provider.
    ///
    /// # Errors
    /// Returns the cause for which the token is neither a bearer token nor an ID token of the provider, or
    /// [`TokenError::UnnamedProvider`].
    pub fn to_proof(
        &self,
        rules: &TokenRules,
        provider: IdentityProviderId,
        now: Timestamp,
    ) -> Result<Vec<String>, TokenError> {
        let bearer = self.to_bearer(rules, now);
        let login = self.to_id(rules, IdExpectation::default(), now);
        if let (Err(bearer_flaw), Err(login_flaw)) = (&bearer, &login) {
            // A token without an audience of bearer tokens was meant as an ID token, so its flaw as an ID token is
            // the cause.
            return Err(if *bearer_flaw == TokenError::Audience { *login_flaw } else { *bearer_flaw });
        }
        let token_audiences = bearer.map_or_else(|_| vec![], |claims| claims.audiences);
        let is_proven = |audience: &&String| {
            **audience != rules.client_id && token_audiences.contains(audience) && !self.is_issued_to(audience)
        };
        let audiences: Vec<_> = rules.audiences.iter().filter(is_proven).cloned().collect();
        if audiences.is_empty() || self.names(provider) { Ok(audiences) } else { Err(TokenError::UnnamedProvider) }
    }

    /// Returns `true` if one of [`NAMING_CLAIMS`], a text or a list, has the id of the provider.
    fn names(&self, provider: IdentityProviderId) -> bool {
        let id = provider.to_string();
        NAMING_CLAIMS.iter().any(|name| match self.claims.get(name) {
            Some(Value::Text(words)) => words.split(' ').any(|word| word == id),
            Some(Value::List(_)) => texts(&self.claims, name).is_some_and(|words| words.contains(&id.as_str())),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
        })
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
