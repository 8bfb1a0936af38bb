//! Claims of verified tokens: bearer tokens, ID tokens and logout tokens, each judged by its own rules, so that no
//! token is accepted as a token of another kind (RFC 8725).

mod login;
mod logout;
mod proof;

use candor_forms::json::{Object, Value};
use candor_forms::signature::unix_seconds;
use candor_forms::time::Timestamp;

use super::flaw::TokenError;
use super::strict_json::{text, texts};
use super::token::{SignedToken, TokenKind, VerifiedToken, audiences, optional_text};

pub use login::{IdClaims, IdExpectation};
pub use logout::{LOGOUTS_PER_MINUTE, LogoutClaims, MAX_LOGOUT_AGE_SECONDS};

/// Largest difference between the clocks of the provider and of the service, in seconds.
pub const TOLERANCE_SECONDS: i64 = 60;
/// Length of the longest subject, in characters. The limit of OpenID Connect is 255 ASCII characters. Other texts of tokens
/// that are stored or looked up have the same limit.
pub const SUBJECT_CHARS: usize = 255;
/// Times of tokens that are stored, in Unix seconds: the years 1970 to 9999.
const STORED_TIMES: std::ops::RangeInclusive<i64> = 0..=253_402_300_799;

/// The settings of a provider that its tokens must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRules {
    /// The `iss` of all tokens.
    pub issuer: String,
    /// The `aud` of ID tokens and logout tokens.
    pub client_id: String,
    /// The `aud` of bearer tokens. Empty: none is accepted.
    pub audiences: Vec<String>,
    /// Clients whose bearer tokens are accepted. Empty: those of all clients.
    pub authorized_parties: Vec<String>,
    /// The `acr` that tokens must have.
    pub required_acr: Option<String>,
    /// Claim with the id of the person at a SCIM connector.
    pub subject_claim: String,
    /// Longest time since the authentication, in seconds, for a required `acr`.
    pub session_lifetime: i64,
}

/// The account that a token is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSubject {
    /// The `sub`, which never changes for an account.
    pub subject: String,
    /// The value of the subject claim, if the token has it as a text.
    pub external_id: Option<String>,
    /// The address, if the provider has verified it.
    pub verified_email: Option<String>,
}

/// Claims of a bearer token that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BearerClaims {
    /// The account.
    pub subject: TokenSubject,
    /// Audiences of the provider that the token is for.
    pub audiences: Vec<String>,
    /// Words of `scope` and `scp`, which name permissions of this service and of others.
    pub named_scopes: Vec<String>,
    /// Time of issue. A logout refuses tokens that were issued before it.
    pub issued_at: Timestamp,
    /// Time from which the token is not accepted any more, without tolerance.
    pub expires_at: Timestamp,
}

/// Returns the provider that a token is for: the only provider that has an audience of the token, if this provider
/// also has the issuer of the token. A token that names audiences of two providers is for neither.
///
/// # Errors
/// Returns [`TokenError::Audience`] or [`TokenError::Issuer`].
pub fn find_provider<'p, P>(
    token: &SignedToken<'_>,
    providers: impl IntoIterator<Item = (P, &'p TokenRules)>,
) -> Result<P, TokenError> {
    let claimed_audiences = token.claimed_audiences();
    let is_meant =
        |rules: &TokenRules| claimed_audiences.iter().any(|audience| is_listed(&rules.audiences, audience));
    let mut providers = providers.into_iter().filter(|(_, rules)| is_meant(rules));
    let (Some((provider, rules)), None) = (providers.next(), providers.next()) else {
        return Err(TokenError::Audience);
    };
    if token.claimed_issuer() == Some(rules.issuer.as_str()) { Ok(provider) } else { Err(TokenError::Issuer) }
}

impl VerifiedToken {
    /// Judges the claims of a bearer token.
    ///
    /// # Errors
    /// Returns the cause for which the token is refused.
    pub fn to_bearer(&self, rules: &TokenRules, now: Timestamp) -> Result<BearerClaims, TokenError> {
        match self.header.kind {
            TokenKind::Any | TokenKind::Access => {}
            TokenKind::Logout => return Err(TokenError::Kind),
        }
        let claims = &self.claims;
        refuse_other_kinds(claims)?;
        check_issuer(claims, rules)?;
        let token_audiences = audiences(claims).ok_or(TokenError::Audience)?;
        let own_audiences = token_audiences.into_iter().filter(|audience| is_listed(&rules.audiences, audience));
        let own_audiences: Vec<String> = own_audiences.map(ToOwned::to_owned).collect();
        if own_audiences.is_empty() {
            return Err(TokenError::Audience);
        }
        check_client(claims, rules)?;
        let times = Times::read(claims, now)?;
        times.check_authentication(rules, false)?;
        Ok(BearerClaims {
            subject: TokenSubject::read(claims, rules)?,
            audiences: own_audiences,
            named_scopes: named_scopes(claims)?,
            issued_at: times.issued_at,
            expires_at: times.expires_at,
        })
    }
}

impl TokenSubject {
    fn read(claims: &Object, rules: &TokenRules) -> Result<Self, TokenError> {
        let subject = subject(claims)?.ok_or(TokenError::Subject)?.to_owned();
        let known_text = |name| text(claims, name).filter(|text| is_storable(text)).map(ToOwned::to_owned);
        let is_verified = claims.get("email_verified") == Some(&Value::Bool(true));
        let verified_email = known_text("email").filter(|_| is_verified);
        Ok(Self { subject, external_id: known_text(&rules.subject_claim), verified_email })
    }
}

/// The times of a token, checked against the present time, and its claims.
struct Times<'c> {
    claims: &'c Object,
    now: i64,
    issued_at: Timestamp,
    expires_at: Timestamp,
}

impl<'c> Times<'c> {
    fn read(claims: &'c Object, now: Timestamp) -> Result<Self, TokenError> {
        let now = unix_seconds(now);
        let issued_at = read_issue_time(claims, now)?;
        let expires_at = seconds(claims, "exp")?.ok_or(TokenError::Time)?;
        check_expiry(expires_at, now)?;
        Ok(Self { claims, now, issued_at: timestamp(issued_at), expires_at: timestamp(expires_at) })
    }

    /// Checks the authentication context class (`acr`) and, if a class is required, the time of the authentication
    /// (`auth_time`). ID tokens must have the time, because the authorization request asked for it.
    fn check_authentication(&self, rules: &TokenRules, is_time_required: bool) -> Result<(), TokenError> {
        let authentication = seconds(self.claims, "auth_time")?;
        let Some(required_acr) = &rules.required_acr else { return Ok(()) };
        if text(self.claims, "acr") != Some(required_acr.as_str()) {
            return Err(TokenError::AuthenticationContext);
        }
        let oldest = self.now.saturating_sub(rules.session_lifetime).saturating_sub(TOLERANCE_SECONDS);
        let newest = self.now.saturating_add(TOLERANCE_SECONDS);
        let is_recent = match authentication {
            Some(time) => (oldest..=newest).contains(&time),
            None => !is_time_required,
        };
        if is_recent { Ok(()) } else { Err(TokenError::AuthenticationTime) }
    }
}

/// Refuses tokens that are bound to a key, and tokens about events. Both would be accepted without the check that
/// makes them valid.
fn refuse_other_kinds(claims: &Object) -> Result<(), TokenError> {
    if claims.get("cnf").is_some() {
        return Err(TokenError::Confirmation);
    }
    if claims.get("events").is_some() { Err(TokenError::Event) } else { Ok(()) }
}

fn check_issuer(claims: &Object, rules: &TokenRules) -> Result<(), TokenError> {
    if text(claims, "iss") == Some(rules.issuer.as_str()) { Ok(()) } else { Err(TokenError::Issuer) }
}

/// Checks the client that a bearer token was issued to: `azp`, else `client_id`.
fn check_client(claims: &Object, rules: &TokenRules) -> Result<(), TokenError> {
    let client = match optional_text(claims, "azp")? {
        Some(client) => Some(client),
        None => optional_text(claims, "client_id")?,
    };
    let is_accepted = client.is_some_and(|client| is_listed(&rules.authorized_parties, client));
    if rules.authorized_parties.is_empty() || is_accepted { Ok(()) } else { Err(TokenError::AuthorizedParty) }
}

/// Returns the time of issue, in Unix seconds, if neither it nor `nbf` is in the future.
fn read_issue_time(claims: &Object, now: i64) -> Result<i64, TokenError> {
    let issued_at = seconds(claims, "iat")?.ok_or(TokenError::Time)?;
    let begin = seconds(claims, "nbf")?.unwrap_or(issued_at).max(issued_at);
    if begin > now.saturating_add(TOLERANCE_SECONDS) { Err(TokenError::NotYetValid) } else { Ok(issued_at) }
}

fn check_expiry(expires_at: i64, now: i64) -> Result<(), TokenError> {
    if now >= expires_at.saturating_add(TOLERANCE_SECONDS) { Err(TokenError::Expired) } else { Ok(()) }
}

/// Returns a time in Unix seconds. Numbers with a fraction or an exponent are refused.
fn seconds(claims: &Object, name: &str) -> Result<Option<i64>, TokenError> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::Number(number)) => number.as_i64().map(Some).ok_or(TokenError::Time),
        Some(Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Object(_)) => {
            Err(TokenError::Time)
        }
    }
}

/// Returns a time that is stored.
fn stored_time(claims: &Object, name: &str) -> Result<Option<Timestamp>, TokenError> {
    match seconds(claims, name)? {
        Some(seconds) if !STORED_TIMES.contains(&seconds) => Err(TokenError::Time),
        seconds => Ok(seconds.map(timestamp)),
    }
}

const fn timestamp(seconds: i64) -> Timestamp {
    Timestamp::from_millis(0).plus_seconds(seconds)
}

/// Returns the subject, if there is one.
fn subject(claims: &Object) -> Result<Option<&str>, TokenError> {
    stored_text(claims, "sub").map_err(|_| TokenError::Subject)
}

/// Returns a text that is stored or looked up, if the token has it.
///
/// # Errors
/// Returns [`TokenError::Malformed`] for another type and for a text that is not storable.
fn stored_text<'c>(claims: &'c Object, name: &str) -> Result<Option<&'c str>, TokenError> {
    match optional_text(claims, name)? {
        Some(text) if !is_storable(text) => Err(TokenError::Malformed),
        text => Ok(text),
    }
}

/// Returns `true` for a text that both stores keep: one of 1 to [`SUBJECT_CHARS`] characters without control characters.
fn is_storable(text: &str) -> bool {
    !text.is_empty() && text.chars().nth(SUBJECT_CHARS).is_none() && !text.chars().any(char::is_control)
}

/// Returns the words that `scope` or `scp` name: a text with blanks between the words, or a list.
fn named_scopes(claims: &Object) -> Result<Vec<String>, TokenError> {
    let mut scopes = Vec::new();
    for name in ["scope", "scp"] {
        let words = match claims.get(name) {
            None => continue,
            Some(Value::Text(words)) => words.split(' ').collect(),
            Some(Value::List(_)) => texts(claims, name).ok_or(TokenError::Malformed)?,
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
                return Err(TokenError::Malformed);
            }
        };
        scopes.extend(words.into_iter().map(ToOwned::to_owned));
    }
    Ok(scopes)
}

fn is_listed(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == text)
}
