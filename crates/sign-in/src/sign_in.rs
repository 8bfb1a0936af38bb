//! Sign-in of a person at an identity provider: the request, the state that the browser brings back, and the causes for
//! which a sign-in is refused (decision B10).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use candor_domain::access::api_key::START;
use candor_domain::fields::{Fields, StringEnum};
use candor_domain::id::{KeyId, OrganizationId};
use candor_domain::json::Object;
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::rule::{self, Field, Line, Text};
use candor_domain::time::Timestamp;
use candor_tokens::discovery::ProviderMetadata;
use candor_tokens::flaw::TokenError;
use candor_tokens::token_response::TokenResponseError;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use url::Url;

use super::command_line::{COMMAND_LINE, CommandLine};
use super::email_domain::parse_domain;
use super::fetch_failure::FetchError;
use super::link_decision::LinkError;
use super::{IdentityProvider, ProvenValues, Status};

/// Maximum number of requests for sign-ins per minute and client address.
pub const SIGN_INS_PER_MINUTE: u32 = 300;
/// Maximum number of requests for sign-ins per minute and browser.
pub const SIGN_INS_OF_BROWSER_PER_MINUTE: u32 = 20;
/// Time within which a sign-in must come back from the provider, in seconds.
pub const STATE_SECONDS: i64 = 600;
/// Shortest time between two updates of a provider's `last_sign_in_at`, in seconds. A write for each sign-in would
/// make all sign-ins wait for one row.
const LAST_SIGN_IN_SECONDS: i64 = 3_600;
/// Length of the longest address, in characters.
const EMAIL_CHARS: usize = 320;
/// Length of the longest id, in characters.
const ID_CHARS: usize = 64;

const EMAIL: Field<Line> = Field::with_about(
    "email",
    rule::line(1..=EMAIL_CHARS),
    "Address of the person. Its domain selects the identity provider, and the provider may fill it in.",
);
const ORGANIZATION: Field<Text> = Field::with_about(
    "organization_id",
    rule::text(1..=ID_CHARS),
    "Organization of the identity provider, if the domain of the address selects none.",
);
const PROVIDER: Field<Text> =
    Field::with_about("identity_provider_id", rule::text(1..=ID_CHARS), "The identity provider itself.");

/// The body of a sign-in, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInDraft {
    /// Address of the person.
    pub email: Option<String>,
    /// Text of the id of the organization.
    pub organization: Option<String>,
    /// Text of the id of the provider.
    pub provider: Option<String>,
    /// Path and filters of the first screen, with a leading slash.
    pub start: String,
    /// Program that gets the session instead of the browser.
    pub command_line: Option<CommandLine>,
}

impl SignInDraft {
    /// Declares and reads the fields of a sign-in.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let email = fields.present(&EMAIL);
        let (organization, provider) = (fields.present(&ORGANIZATION), fields.present(&PROVIDER));
        let start = fields.present(&START).unwrap_or_else(|| "/".to_owned());
        if email.is_none() && organization.is_none() && provider.is_none() && !fields.has_problem("email") {
            let message = "is required without `organization_id` and `identity_provider_id`";
            fields.problem("email", ValueError::new(Code::Required, message));
        }
        let command_line = fields.optional(&COMMAND_LINE);
        let command_line = command_line.and_then(|member| fields.nested("command_line", member));
        Some(Self { email, organization, provider, start, command_line })
    }

    /// Reads the body of a sign-in.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        let mut fields = Fields::new(body);
        let draft = Self::read(&mut fields);
        fields.finish(draft)
    }

    /// Returns the domain of the address as it is registered; `None` if no organization can prove it.
    #[must_use]
    pub fn domain(&self) -> Option<String> {
        let (_, domain) = self.email.as_deref()?.rsplit_once('@')?;
        parse_domain(domain).ok()
    }
}

/// The state of a sign-in. It is sealed, and the browser carries it to the provider and back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInState {
    /// Session that the sign-in begins. A state begins one session only, because no two sessions have the same id.
    #[serde(rename = "k", with = "id_text")]
    pub session: KeyId,
    /// Organization of the provider.
    #[serde(rename = "o", with = "id_text")]
    pub organization: OrganizationId,
    /// Id of the browser that began the sign-in, from its cookie.
    #[serde(rename = "b")]
    pub browser: String,
    /// Nonce that the ID token must repeat.
    #[serde(rename = "n")]
    pub nonce: String,
    /// Verifier of the code challenge.
    #[serde(rename = "v")]
    pub verifier: String,
    /// Screen of the console that opens after the sign-in.
    #[serde(rename = "s")]
    pub start: String,
    /// Program that gets the session instead of the browser.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub command_line: Option<CommandLine>,
    /// End of the state, in milliseconds since 1970.
    #[serde(rename = "e")]
    pub expires_at: i64,
}

mod id_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(super) fn serialize<S: Serializer>(id: &impl Display, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(|_| serde::de::Error::custom("not an id"))
    }
}

impl SignInState {
    /// Returns `true` if this browser may end the sign-in now.
    #[must_use]
    pub fn serves(&self, browser: &str, at: Timestamp) -> bool {
        self.browser == browser && at < Timestamp::from_millis(self.expires_at)
    }

    /// Returns the name of the client that may exchange the code of the session: the browser, or the program that waits.
    #[must_use]
    pub fn exchanger(&self) -> String {
        self.command_line.as_ref().map_or_else(|| self.browser.clone(), CommandLine::program)
    }

    /// Returns the authorization request (OpenID Connect Core, section 3.1.2.1). `sealed` is the state in its sealed form.
    #[must_use]
    pub fn authorization_url(
        &self,
        (provider, metadata): (&IdentityProvider, &ProviderMetadata),
        sealed: &str,
        redirect_uri: &str,
        email: Option<&str>,
    ) -> Option<String> {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, self.verifier.as_bytes()));
        let mut url = Url::parse(&metadata.authorization_endpoint).ok()?;
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &provider.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", "openid email profile")
            .append_pair("state", sealed)
            .append_pair("nonce", &self.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if let Some(acr) = &provider.required_acr {
            query.append_pair("acr_values", acr).append_pair("max_age", &provider.session_lifetime.to_string());
        }
        if let Some(email) = email {
            query.append_pair("login_hint", email);
        }
        drop(query);
        Some(url.into())
    }
}

/// The parameters of the request with which the browser comes back from the provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInResponse {
    /// The sealed state.
    pub state: Option<String>,
    /// Code for the exchange.
    pub code: Option<String>,
    /// Issuer (RFC 9207).
    pub issuer: Option<String>,
    /// Error code of the provider.
    pub error: Option<String>,
}

/// Errors of a provider by which the person, or the policy of the provider, refuses the sign-in.
const DENIALS: &[&str] = &["access_denied", "consent_required", "interaction_required", "login_required"];

impl SignInResponse {
    /// Returns the code for the exchange. Compares the issuer first, so that the code of another provider is never
    /// sent to this one.
    ///
    /// # Errors
    /// Returns the cause for which the sign-in is refused.
    pub fn to_code(&self, metadata: &ProviderMetadata) -> Result<&str, SignInError> {
        let is_issuer = match &self.issuer {
            Some(issuer) => *issuer == metadata.issuer,
            None => !metadata.has_issuer_parameter,
        };
        if !is_issuer {
            return Err(SignInError::ForeignIssuer);
        }
        match (&self.error, &self.code) {
            (Some(error), _) if DENIALS.contains(&error.as_str()) => Err(SignInError::Denied),
            (Some(_), _) | (None, None) => Err(SignInError::ProviderError),
            (None, Some(code)) => Ok(code),
        }
    }
}

/// The cause for which a sign-in is refused. The audit log shows it to admins; the browser learns the reason alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// The state is unknown, too old, of another browser or provider, or was used before.
    #[error("the sign-in is too old, was used before, or was begun by another browser")]
    Expired,
    /// The account was logged out, or its link was removed, after the provider issued the ID token.
    #[error("the account was logged out, or its link was removed, since the identity provider issued the token")]
    Ended,
    /// The person or the policy of the provider refused.
    #[error("the person or the provider denied the sign-in")]
    Denied,
    /// The provider answered with an error, or without a code.
    #[error("the identity provider answered with an error")]
    ProviderError,
    /// The provider is disabled or deleted.
    #[error("the identity provider is not active")]
    InactiveProvider,
    /// The response comes from another issuer.
    #[error("the answer came from another issuer")]
    ForeignIssuer,
    /// The discovery document cannot be used.
    #[error("the discovery document cannot be used")]
    Discovery,
    /// The keys of the provider cannot be fetched.
    #[error("the keys of the identity provider cannot be fetched")]
    NoKeys,
    /// The code cannot be exchanged.
    #[error("cannot exchange the code: {0}")]
    Exchange(FetchError),
    /// The response of the token endpoint cannot be used.
    #[error(transparent)]
    Response(#[from] TokenResponseError),
    /// The ID token is refused.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The account signs in as no person.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Another provider has proven the client id.
    #[error("another identity provider has proven the client id")]
    TakenClientId,
}

impl SignInError {
    /// Returns the reason that the browser learns. The reason names no person and no account.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Expired | Self::Ended => "expired",
            Self::Denied => "denied",
            Self::Link(_) => "not_linked",
            Self::ProviderError
            | Self::InactiveProvider
            | Self::ForeignIssuer
            | Self::Discovery
            | Self::NoKeys
            | Self::Exchange(_)
            | Self::Response(_)
            | Self::Token(_)
            | Self::TakenClientId => "provider",
        }
    }

    /// Returns the word of the cause in the audit log.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Ended => "ended",
            Self::Denied => "denied",
            Self::ProviderError => "provider_error",
            Self::InactiveProvider => "inactive_provider",
            Self::ForeignIssuer => "foreign_issuer",
            Self::Discovery => "discovery",
            Self::NoKeys => "no_keys",
            Self::Exchange(_) => "exchange",
            Self::Response(_) => "token_response",
            Self::Token(flaw) => flaw.word(),
            Self::Link(refusal) => refusal.word(),
            Self::TakenClientId => "taken_client_id",
        }
    }
}

impl IdentityProvider {
    /// Returns `true` if people may sign in. A sign-in proves the client id.
    #[must_use]
    pub fn takes_sign_ins(&self) -> bool {
        self.status != Status::Disabled
    }

    /// Returns the values that a sign-in proves: the client id. The provider sends codes only to addresses that the owner of
    /// the client has set, and the address of each provider is another one.
    #[must_use]
    pub fn values_of_sign_in(&self) -> ProvenValues {
        ProvenValues { audiences: [self.client_id.clone()].into(), ..ProvenValues::default() }
    }

    /// Returns the provider of an organization at which a person signs in: the only active one, or the only pending
    /// one if none is active. Only providers that [take sign-ins](Self::takes_sign_ins) count. `None` if there is
    /// no such provider, or if there are several.
    #[must_use]
    pub fn choose_for_sign_in(providers: &[Self]) -> Option<&Self> {
        let only = |status: Status| {
            let mut candidates =
                providers.iter().filter(move |provider| provider.status == status && provider.takes_sign_ins());
            match (candidates.next(), candidates.next()) {
                (Some(provider), None) => Ok(Some(provider)),
                (None, _) => Ok(None),
                (Some(_), Some(_)) => Err(()),
            }
        };
        match only(Status::Active) {
            Ok(Some(provider)) => Some(provider),
            Ok(None) => only(Status::Pending).ok().flatten(),
            Err(()) => None,
        }
    }

    /// Returns the provider with the time of a sign-in, or `None` if a stored time is recent enough. Clients see no other
    /// change, so `updated_at` stays.
    #[must_use]
    pub fn with_sign_in(&self, at: Timestamp) -> Option<Self> {
        let is_recent = self.last_sign_in_at.is_some_and(|last| at < last.plus_seconds(LAST_SIGN_IN_SECONDS));
        (!is_recent).then(|| Self { last_sign_in_at: Some(at), ..self.clone() })
    }
}

#[cfg(test)]
mod tests;
