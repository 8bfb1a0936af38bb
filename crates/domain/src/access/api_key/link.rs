//! Portal links: API keys whose secret is handed out once, for the code of a link into the console (decision B8).
//!
//! A link is an API key from the start, so that it is listed, audited and revoked like every other API key. Until
//! the link is opened, the key stores the hash of the link's code and authenticates nothing.

use std::net::IpAddr;

use super::body::{ACCESS_LEVEL, NAME, SCOPES};
use super::{ApiKey, Draft, KeyHash, KeyRecord, KeyReferences, hash, last4};
use crate::access::networks::NETWORKS;
use crate::access::{AccessLevel, AllowedNetworks, Caller, Permission, Permissions};
use crate::decision::Decision;
use crate::fields::{Fields, StringEnum};
use crate::id::KeyId;
use crate::json::{Object, Value};
use crate::people::Status;
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::refusal::DomainError;
use crate::rule::{self, Checked, Field, Flag, Rule, Shape, Text, Whole};
use crate::secret::Secret;
use crate::time::Timestamp;

/// Lifetime of the code, in seconds. The code ends sooner if its key does.
pub const CODE_SECONDS: i64 = 1800;
/// Maximum lifetime of the key of a link, in seconds: one day.
pub const MAX_LINK_SECONDS: i64 = 86_400;
/// Minimum lifetime of the key of a link, in seconds: enough to open the link.
const MIN_LINK_SECONDS: i64 = 60;
/// Lifetime of the key of a link if the request names none, in seconds.
const DEFAULT_LINK_SECONDS: i64 = 3600;
/// Maximum length of the address that a link opens, in characters.
pub const START_CHARS: usize = 200;
/// Maximum number of attempts to open a link, per minute and client address.
pub const EXCHANGES_PER_MINUTE: u32 = 20;
/// Length of the longest code that is looked up, in characters.
const MAX_CODE_CHARS: usize = 200;

/// Name of the key if the request names none.
const DEFAULT_NAME: &str = "Portal link";
/// First screen if the request names none.
const DEFAULT_START: &str = "/";

/// Fields that the body of a link must not contain: the service takes environment and person from the calling key,
/// and computes the end from `expires_in`.
const INHERITED: &[&str] = &["environment", "employee_id", "expires_at"];

const READ_ONLY: Field<Flag> = Field::with_about(
    "read_only",
    rule::flag(),
    "`true` grants only the read scopes of `scopes`. One of them must be a read scope.",
);
const EXPIRES_IN: Field<Whole> = Field::with_about(
    "expires_in",
    rule::whole(MIN_LINK_SECONDS..=MAX_LINK_SECONDS),
    "Lifetime of the key in seconds, from the creation of the link. If absent, it is 3600, or less if the \
     calling key expires sooner.",
);
/// The member `start` of a link and of a sign-in.
pub const START: Field<Checked<String>> = Field::with_about(
    "start",
    rule::rule(start, || Shape::Text { min: 1, max: START_CHARS }),
    "Screen that the link opens: its path in the console with filters, such as `/webhooks?view=deliveries`. If \
     absent, it is `/`.",
);
const ALLOWED_NETWORKS: Field<Checked<AllowedNetworks>> = Field::with_about(
    "allowed_networks",
    NETWORKS,
    "The link, too, can be opened only from them. Each has a prefix length and no bits behind it, such as \
     `192.0.2.0/24`. If the calling key has networks, each one lies inside one of them. If absent, they are those of \
     the calling key.",
);
const CODE: Field<Text> =
    Field::with_about("code", rule::text(1..=MAX_CODE_CHARS), "Code of the link, from the fragment of its URL.");

/// Length of a verifier, its challenge and a state, in characters: base64url of 32 bytes.
pub const VERIFIER_CHARS: usize = 43;

const VERIFIER: Field<Text> = Field::with_about(
    "verifier",
    rule::text(VERIFIER_CHARS..=VERIFIER_CHARS),
    "For the code of a sign-in of the command line: the text whose SHA-256 the sign-in named as its challenge.",
);

/// The body of an exchange, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkExchange {
    /// Code of a portal link or of a session.
    pub code: String,
    /// Verifier of the program that signs a person in on the command line.
    pub verifier: Option<String>,
}

/// The body of a portal link, validated by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields of the contract, decision B8")]
pub struct LinkDraft {
    pub name: String,
    /// Permissions of the key, without writes if the link is read-only.
    pub scopes: Permissions,
    pub access_level: AccessLevel,
    /// Networks of the key and of the request that opens the link; `None` for the networks of the caller.
    pub allowed_networks: Option<AllowedNetworks>,
    /// Lifetime of the key in seconds; `None` for the default.
    pub expires_in: Option<i64>,
    /// Path and filters of the first screen, with a leading slash.
    pub start: String,
}

/// Accepts the address of a screen: no other origin, no fragment, and no segment that leaves the console.
fn start(value: &Value) -> Result<String, ValueError> {
    let text = rule::text(1..=START_CHARS).parse(value)?;
    let (path, query) = text.split_once('?').unwrap_or((&text, ""));
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-".contains(&byte);
    let is_query = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-.~%=&+:,[]".contains(&byte);
    let is_same_origin = path.starts_with('/') && !path.starts_with("//");
    if is_same_origin && path.bytes().all(is_path) && query.bytes().all(is_query) {
        Ok(text)
    } else {
        Err(ValueError::format("the path of a screen, such as /webhooks?view=deliveries"))
    }
}

/// Refuses the scope of identity providers, whose keys belong to a connector and open no console.
fn not_of_a_provider(scopes: Permissions) -> Result<Permissions, ValueError> {
    if scopes.is_scim() {
        Err(ValueError::new(Code::InvalidEnum, "must not contain scim, which is for keys of a connector"))
    } else {
        Ok(scopes)
    }
}

/// Returns the read scopes among `scopes`, for a read-only link. Returns an error if there are none.
fn to_read_scopes(scopes: Permissions) -> Result<Permissions, ValueError> {
    let is_read = |scope: &&Permission| scopes.has(**scope) && scope.word().ends_with(":read");
    let reads = Permission::ALL.iter().filter(is_read).fold(Permissions::NONE, |set, scope| set.with(*scope));
    if reads == Permissions::NONE {
        Err(ValueError::new(Code::TooShort, "must have a read scope if read_only is true"))
    } else {
        Ok(reads)
    }
}

impl LinkDraft {
    /// Reads the fields of a portal link.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let scopes = fields.required(&SCOPES);
        let access_level = fields.present_or(&ACCESS_LEVEL, AccessLevel::Standard);
        let name = fields.present(&NAME).unwrap_or_else(|| DEFAULT_NAME.to_owned());
        let is_read_only = fields.present_or(&READ_ONLY, false);
        let allowed_networks = fields.present(&ALLOWED_NETWORKS);
        let expires_in = fields.present(&EXPIRES_IN);
        let start = fields.present(&START).unwrap_or_else(|| DEFAULT_START.to_owned());
        let scopes =
            match scopes.map(|set| if is_read_only { to_read_scopes(set) } else { not_of_a_provider(set) })? {
                Ok(scopes) => scopes,
                Err(flaw) => {
                    fields.problem("scopes", flaw);
                    return None;
                }
            };
        Some(Self { name, scopes, access_level, allowed_networks, expires_in, start })
    }

    /// Reads the body of a portal link.
    ///
    /// # Errors
    /// One problem for each wrong field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        Fields::parse_new(body, INHERITED, Self::read)
    }

    /// Returns the draft of the link's key. The key has the person and the environment of `granter`. By default, it
    /// has the networks of `granter` and ends no later than the key of `granter`.
    #[must_use]
    pub fn for_granter(&self, granter: &Caller, at: Timestamp) -> Draft {
        let default = at.plus_seconds(DEFAULT_LINK_SECONDS);
        let end = match self.expires_in {
            Some(seconds) => at.plus_seconds(seconds),
            None => granter.expires_at.map_or(default, |own| own.min(default)),
        };
        Draft {
            name: self.name.clone(),
            environment: granter.tenant.environment,
            access_level: self.access_level,
            scopes: self.scopes,
            employee: granter.bound_to().map(Into::into),
            expires_at: Some(end),
            connector: None,
            reads_per_minute: None,
            writes_per_minute: None,
            scim_per_minute: None,
            allowed_networks: self.allowed_networks.as_ref().unwrap_or(&granter.allowed_networks).clone(),
        }
    }
}

/// Reads the fields of an exchange.
pub fn read_exchange(fields: &mut Fields) -> Option<LinkExchange> {
    let (code, verifier) = (fields.required(&CODE), fields.optional(&VERIFIER));
    Some(LinkExchange { code: code?, verifier })
}

/// Reads the body of an exchange.
///
/// # Errors
/// One problem for each wrong field.
pub fn parse_exchange(body: Object) -> Result<LinkExchange, ValidationErrors> {
    let mut fields = Fields::new(body);
    let exchange = read_exchange(&mut fields);
    fields.finish(exchange)
}

impl ApiKey {
    /// Creates the key of a portal link with the link's code. `granter` is the caller, or `None` if the operator
    /// creates the link.
    ///
    /// The end of the key is announced by no event, because the end was near from the start.
    ///
    /// # Errors
    /// [`CannotGrant`](crate::access::PermissionError::CannotGrant) for access, an end or networks beyond the
    /// caller's.
    pub fn create_link(
        id: KeyId,
        draft: Draft,
        code: &Secret,
        granter: Option<&Caller>,
        at: Timestamp,
    ) -> Result<Decision<Self>, DomainError> {
        let references = KeyReferences { person_exists: true, connector: None };
        let code_end = at.plus_seconds(CODE_SECONDS);
        let link_end = draft.expires_at.map_or(code_end, |end| end.min(code_end));
        let decision = Self::create(id, draft, code, granter, references, at)?;
        let state = Self { link_expires_at: Some(link_end), expiring_due: None, ..decision.state };
        Ok(Decision::for_creation(state, "api_key.create_link", vec![]))
    }
}

impl KeyRecord {
    /// Opens the portal link of this key: `secret` replaces the code, which cannot be used again. `client` is the
    /// address from which the request came, or `None` if the address cannot be read.
    ///
    /// # Errors
    /// [`DomainError::NotFound`]; the code remains valid for a later attempt:
    ///
    /// - if `code` does not belong to this key or was used before
    /// - if the link or the key has ended, or the key is revoked
    /// - if the person of the key is not stored, is deactivated, or came back after the creation of the key and no
    ///   admin has enabled the key since
    /// - if `client` is outside the key's networks
    pub fn open_link(
        &self,
        code: KeyHash,
        secret: &Secret,
        client: Option<IpAddr>,
        at: Timestamp,
    ) -> Result<Decision<ApiKey>, DomainError> {
        let key = &self.key;
        let lasts = |end: Option<Timestamp>| end.is_none_or(|end| at < end);
        let is_link = key.hash == code && key.link_expires_at.is_some() && lasts(key.link_expires_at);
        let is_usable = key.revoked_at.is_none() && lasts(key.expires_at) && key.allowed_networks.admit(client);
        let has_left = match (key.employee_id, self.holder) {
            (None, _) => false,
            (Some(_), holder) => {
                holder.is_none_or(|holder| holder.status == Status::Deactivated || !key.is_on(holder.returned_at))
            }
        };
        if !is_link || !is_usable || has_left {
            return Err(DomainError::NotFound);
        }
        let state = ApiKey {
            hash: hash(secret.reveal()),
            last4: last4(secret),
            link_expires_at: None,
            updated_at: at.strictly_after(key.updated_at),
            ..key.clone()
        };
        Ok(Decision::for_change(key, state, "api_key.open_link", vec![]))
    }
}

#[cfg(test)]
mod tests;
