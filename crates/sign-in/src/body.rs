//! Request bodies of identity providers (decision B9).

use candor_domain::access::api_key::SCOPES_RULE;
use candor_domain::access::{Permission, Permissions};
use candor_domain::fields::Fields;
use candor_domain::json::{Object, Value};
use candor_domain::problem::{Code, ValidationErrors, ValueError};
use candor_domain::receiver_url::ReceiverUrl;
use candor_domain::refusal::DomainError;
use candor_domain::rule::{self, Checked, Field, Line, List, OneOf, Rule, Shape, Url, Whole};
use candor_domain::secret::Secret;
use candor_domain::update::Update;

use super::email_domain::{DOMAIN_CHARS, parse_domain};
use super::{Content, ContentPatch, IdentityProvider, LinkRule, Status};

/// Length of the longest name, in characters.
const NAME_CHARS: usize = 80;
/// Length of the longest issuer, in characters.
const ISSUER_CHARS: usize = 2_000;
/// Length of the longest client id, audience and authentication context class, in characters.
const ID_CHARS: usize = 255;
/// Length of the longest client secret, in characters.
const SECRET_CHARS: usize = 1_024;
/// Length of the longest name of a claim, in characters.
const CLAIM_CHARS: usize = 64;
/// Maximum number of audiences of a provider.
const MAX_AUDIENCES: usize = 5;
/// Maximum number of authorized parties of a provider.
const MAX_PARTIES: usize = 20;
/// Maximum number of e-mail domains of a provider.
const MAX_DOMAINS: usize = 20;
/// Lifetime of a session in seconds unless a request names another lifetime: half a day.
pub(super) const DEFAULT_LIFETIME: i64 = 43_200;
/// Smallest lifetime of a session in seconds.
const MIN_LIFETIME: i64 = 300;
/// Largest lifetime of a session in seconds: a day.
pub const MAX_LIFETIME: i64 = 86_400;

/// Scopes of sessions and tokens unless a request names other scopes: the scopes of a person's own work.
pub(super) const DEFAULT_SCOPES: Permissions = Permissions::NONE
    .with(Permission::ObservationsRead)
    .with(Permission::ObservationsWrite)
    .with(Permission::ObjectivesRead)
    .with(Permission::ObjectivesWrite)
    .with(Permission::EmployeesRead)
    .with(Permission::SummariesRead)
    .with(Permission::SummariesWrite)
    .with(Permission::ConversationsRead)
    .with(Permission::ConversationsWrite)
    .with(Permission::AssignmentsRead)
    .with(Permission::AssignmentsWrite)
    .with(Permission::NotificationsRead)
    .with(Permission::NotificationsWrite);

pub(super) const NAME: Line = rule::line(1..=NAME_CHARS);
pub(super) const ISSUER: Url<String> = rule::url(ISSUER_CHARS, parse_issuer);
pub(super) const CLIENT_ID: Line = rule::line(1..=ID_CHARS);
pub(super) const AUDIENCES: List<Checked<String>> = rule::list(MAX_AUDIENCES, ID);
pub(super) const AUTHORIZED_PARTIES: List<Checked<String>> = rule::list(MAX_PARTIES, ID);
pub(super) const SUBJECT_CLAIM: Line = rule::line(1..=CLAIM_CHARS);
pub(super) const EMAIL_DOMAINS: List<Checked<String>> = rule::list(
    MAX_DOMAINS,
    rule::rule(|value| parse_domain(rule::as_text(value)?), || Shape::Line { min: 1, max: DOMAIN_CHARS }),
);
pub(super) const SCOPES: Checked<Permissions> = rule::rule(parse_scopes, || SCOPES_RULE.shape());
pub(super) const LIFETIME: Whole = rule::whole(MIN_LIFETIME..=MAX_LIFETIME);
pub(super) const ACR: Line = rule::line(1..=ID_CHARS);

/// The rule of a client id or audience within a list.
const ID: Checked<String> = rule::rule(|value| CLIENT_ID.parse(value), || CLIENT_ID.shape());

const CLIENT_SECRET: Field<Line> = Field::with_about(
    "client_secret",
    rule::line(1..=SECRET_CHARS),
    "Secret of the client at the provider, which no response shows. Null for a public client.",
);
const NEW_CLIENT_SECRET: Field<Line> = Field::with_about(
    "client_secret",
    rule::line(1..=SECRET_CHARS),
    "Secret of the client at the provider, which no response shows. Null removes it. Required with another \
     `client_id` if a secret is stored.",
);
const STATUS: Field<OneOf<Status>> = Field::with_about(
    "status",
    rule::word(),
    "`disabled` ends all sessions and refuses tokens. `active` enables a disabled provider again: its status is then \
     `pending` until its client id or one of its audiences is proven. 409 for any other change of the status.",
);

const READ_ONLY: &[&str] = &[
    "id",
    "client_secret_set",
    "domains",
    "proven_audiences",
    "disabled_at",
    "last_sign_in_at",
    "created_at",
    "updated_at",
];
const IMMUTABLE: &[&str] = &["issuer"];

/// The body of a creation, validated on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub(super) content: Content,
    /// Client secret; `None` for a public client.
    pub client_secret: Option<Secret>,
}

/// The body of an update, validated on its own. `None` keeps the stored value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pub(super) content: ContentPatch,
    /// Client secret; `Some(None)` removes it.
    pub client_secret: Option<Option<Secret>>,
    pub(super) status: Option<Status>,
}

/// Reads an issuer: a URL without user, query and fragment, kept as the client gave it. Tokens must name the
/// issuer letter by letter. [`Draft::require_https`] refuses plain http where the operator trusts no network.
fn parse_issuer(text: &str) -> Result<String, ValueError> {
    let issuer = ReceiverUrl::parse(text)?;
    if !matches!(issuer.url().scheme(), "https" | "http") || text.contains(['?', '#']) {
        return Err(wrong_issuer());
    }
    Ok(text.to_owned())
}

fn wrong_issuer() -> ValueError {
    ValueError::format("an https URL without query and fragment")
}

fn parse_scopes(value: &Value) -> Result<Permissions, ValueError> {
    let scopes = SCOPES_RULE.parse(value)?;
    if scopes.is_scim() { Err(ValueError::format("without the scope `scim`")) } else { Ok(scopes) }
}

/// Returns the problem of a provider that links by address and has no domain.
fn missing_domain(link_by: LinkRule, domains: &[String]) -> Option<ValueError> {
    let needs_domain = link_by == LinkRule::VerifiedEmail && domains.is_empty();
    let message = "must have at least one domain if `link_by` is `verified_email`";
    needs_domain.then(|| ValueError::new(Code::Required, message))
}

impl Draft {
    /// Declares and reads the fields of a creation.
    pub fn read(fields: &mut Fields) -> Option<Self> {
        let (content, client_secret) = (Content::read(fields), fields.optional(&CLIENT_SECRET).map(Secret::new));
        let content = content?;
        let flaw = missing_domain(content.link_by, &content.email_domains);
        if let Some(flaw) = flaw.filter(|_| !fields.has_problem("email_domains")) {
            fields.problem("email_domains", flaw);
        }
        Some(Self { content, client_secret })
    }

    /// Reads the body of a creation.
    ///
    /// # Errors
    /// Returns every invalid field.
    pub fn parse(body: Object) -> Result<Self, ValidationErrors> {
        let read_only: Vec<_> = READ_ONLY.iter().copied().chain(["status"]).collect();
        Fields::parse_new(body, &read_only, Self::read)
    }

    /// Requires an https issuer, unless the operator trusts a network in which providers may have no TLS. The address
    /// itself is checked when a connection to it is opened.
    ///
    /// # Errors
    /// Returns [`DomainError::Invalid`] for an issuer over plain http.
    pub fn require_https(&self, has_trusted_network: bool) -> Result<(), DomainError> {
        let is_plain = ReceiverUrl::parse(&self.content.issuer).is_ok_and(|url| url.url().scheme() == "http");
        if is_plain && !has_trusted_network { Err(DomainError::invalid("issuer", wrong_issuer())) } else { Ok(()) }
    }
}

impl Patch {
    /// Declares and reads the fields of an update.
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            content: ContentPatch::read(fields),
            client_secret: fields.nullable(&NEW_CLIENT_SECRET).map(|secret| secret.map(Secret::new)),
            status: fields.present(&STATUS),
        }
    }

    /// Reads the body of an update.
    #[must_use]
    pub fn parse(body: Object) -> Update<Self> {
        Update::read(body, &[READ_ONLY, IMMUTABLE], Self::read)
    }
}

impl Patch {
    /// Checks an update against the stored provider. An update with another client id must contain the field
    /// `client_secret`, because the stored secret is for the stored client id.
    ///
    /// # Errors
    /// One problem for each wrong or immutable field.
    pub fn resolve(update: &Update<Self>, stored: &IdentityProvider) -> Result<Self, ValidationErrors> {
        let (patch, mut fields) = update.compare(stored);
        let domains = patch.content.email_domains.as_ref().unwrap_or(&stored.email_domains);
        let flaw = missing_domain(patch.content.link_by.unwrap_or(stored.link_by), domains);
        if let Some(flaw) = flaw.filter(|_| !fields.has_problem("email_domains")) {
            fields.problem("email_domains", flaw);
        }
        let is_another_client = patch.content.client_id.as_ref().is_some_and(|id| *id != stored.client_id);
        let keeps_secret = stored.client_secret.is_some() && patch.client_secret.is_none();
        if is_another_client && keeps_secret && !fields.has_problem("client_secret") {
            let message = "is required with another `client_id`: the stored secret is for the former one";
            fields.problem("client_secret", ValueError::new(Code::Required, message));
        }
        fields.finish(Some(patch))
    }
}
