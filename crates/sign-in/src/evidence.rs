//! Evidence that a check of a provider collects: its documents, the TXT records of domains, and a posted token.
//!
//! A caller fetches, and adds each response as it comes. Problems are texts for admins, each with the address that it is
//! about.

use candor_domain::id::IdentityProviderId;
use candor_domain::time::Timestamp;
use candor_tokens::claims::TokenRules;
use candor_tokens::discovery::{ProviderMetadata, discovery_address};
use candor_tokens::flaw::TokenError;
use candor_tokens::key_set::KeySet;
use candor_tokens::token::SignedToken;

use super::fetch_failure::FetchError;

/// The findings of a check.
///
/// ```
/// use candor_sign_in::evidence::ProviderEvidence;
/// use candor_sign_in::fetch_failure::FetchError;
///
/// let mut evidence = ProviderEvidence::default();
/// assert_eq!(evidence.add_discovery("https://id.example.com", Err(FetchError::Status(404))), None);
/// let address = "https://id.example.com/.well-known/openid-configuration";
/// assert_eq!(evidence.problems, [format!("{address}: the response has the status 404")]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderEvidence {
    /// The issuer that the discovery document confirms.
    pub issuer: Option<String>,
    /// Number of keys that can verify tokens.
    pub keys: usize,
    /// Texts of the TXT records of each domain whose name server has answered.
    pub records: Vec<(String, Vec<String>)>,
    /// Audiences that the posted token proves.
    pub audiences: Vec<String>,
    /// Problems, in the order of the check.
    pub problems: Vec<String>,
}

impl ProviderEvidence {
    /// Adds the response for the discovery document. Returns its content if it can be used.
    pub fn add_discovery(
        &mut self,
        issuer: &str,
        document: Result<&[u8], FetchError>,
    ) -> Option<ProviderMetadata> {
        let address = discovery_address(issuer);
        let document = document.map_err(|failure| self.add_problem(&address, failure)).ok()?;
        match ProviderMetadata::parse(document, issuer) {
            Ok(metadata) => {
                self.issuer = Some(metadata.issuer.clone());
                Some(metadata)
            }
            Err(flaws) => {
                flaws.into_iter().for_each(|flaw| self.add_problem(&address, flaw));
                None
            }
        }
    }

    /// Adds the response for the key set. Returns the keys if it can be used.
    pub fn add_keys(&mut self, jwks_uri: &str, document: Result<&[u8], FetchError>) -> Option<KeySet> {
        let document = document.map_err(|failure| self.add_problem(jwks_uri, failure)).ok()?;
        let keys = KeySet::parse(document).map_err(|flaw| self.add_problem(jwks_uri, flaw)).ok()?;
        self.keys = keys.len();
        if keys.is_empty() {
            self.add_problem(jwks_uri, "the key set has no key that can verify tokens");
        }
        Some(keys)
    }

    /// Adds the TXT records of a domain.
    pub fn add_records(&mut self, domain: &str, records: Result<Vec<String>, FetchError>) {
        match records {
            Ok(records) => self.records.push((domain.to_owned(), records)),
            Err(failure) => self.add_problem(domain, failure),
        }
    }

    /// Adds a token that an admin has posted. Without keys it proves nothing.
    pub fn add_token(
        &mut self,
        token: &str,
        keys: Option<&KeySet>,
        rules: &TokenRules,
        provider: IdentityProviderId,
        now: Timestamp,
    ) {
        let Some(keys) = keys else { return };
        match prove(token, keys, rules, provider, now) {
            Ok(audiences) if audiences.is_empty() => {
                self.add_problem(
                    "token",
                    "the token proves nothing: a sign-in proves the client id, and an access token that was issued to a \
                     client proves another audience",
                );
            }
            Ok(audiences) => self.audiences = audiences,
            Err(flaw) => self.add_problem("token", flaw),
        }
    }

    /// Returns `true` if there is no problem.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    fn add_problem(&mut self, subject: &str, problem: impl std::fmt::Display) {
        self.problems.push(format!("{subject}: {problem}"));
    }
}

fn prove(
    token: &str,
    keys: &KeySet,
    rules: &TokenRules,
    provider: IdentityProviderId,
    now: Timestamp,
) -> Result<Vec<String>, TokenError> {
    SignedToken::parse(token)?.verify(keys)?.to_proof(rules, provider, now)
}
