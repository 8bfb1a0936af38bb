//! Identity providers: the OpenID Connect providers of organizations, by which people sign in (decision B9).

pub mod bearer;
pub mod command_line;
pub mod evidence;
pub mod fetch_failure;
pub mod link_decision;
pub mod session;
pub mod sign_in;

mod body;
mod change;
mod check;
mod email_domain;
mod link;
mod proof;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use strum::{IntoStaticStr, VariantArray};

pub use body::{Draft, MAX_LIFETIME, Patch};
pub use change::MAX_PROVIDERS;
pub use check::{parse_check, read_check};
pub use email_domain::{DOMAIN_CHARS, EmailDomain, PUBLIC_MAILBOXES, VERIFICATION_PREFIX};
pub use link::{IdentityLink, IdentityLinkDraft, ProviderRemoval, StoredLinks};

use body::{ACR, DEFAULT_SCOPES, NAME, SCOPES, SUBJECT_CLAIM};
use body::{AUDIENCES, AUTHORIZED_PARTIES, CLIENT_ID, DEFAULT_LIFETIME, EMAIL_DOMAINS, ISSUER, LIFETIME};
pub use proof::{EmailDomainError, IdentityProof, ProofHolder, ProvableValue, ProvenValues, proof_id_of_address};

use candor_domain::access::Permissions;
use candor_domain::decision::{Resource, identity};
use candor_domain::fields::string_enum;
use candor_domain::id::{IdentityProviderId, IdentityProviderKind};
use candor_domain::page::{Key, SortBy, SortKey, Sortable};
use candor_domain::rule;
use candor_domain::time::Timestamp;
use candor_forms::content::{content, optional, or, or_default, required};

/// Rule by which an account of a provider is linked to a person at the first sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum LinkRule {
    /// The subject claim is the `externalId` of a person at a SCIM connector.
    ScimExternalId,
    /// The verified address of a proven domain is the address of a person.
    VerifiedEmail,
}

string_enum!(LinkRule, "IdentityLinkRule");

/// Status of an identity provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Neither the client id nor an audience is proven.
    Pending,
    /// People sign in through it.
    Active,
    /// An admin has switched it off.
    Disabled,
}

string_enum!(Status, "IdentityProviderStatus");

content! {
    pub struct Content;
    pub struct ContentPatch;

    /// An OpenID Connect provider of an organization. The service issues no tokens and stores no passwords.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct IdentityProvider {
        /// Id of the provider, with the prefix `idp_`.
        pub id: IdentityProviderId,
        /// Display name.
        pub name: String => set by required(NAME),
        /// Issuer, an https URL. The discovery document of the provider names the same issuer.
        pub issuer: String => set once by required(ISSUER),
        /// Client id of the service at the provider.
        pub client_id: String => set by required(CLIENT_ID).about("A change ends all proofs of the client id and of audiences."),
        /// `true` if a client secret is stored, which is never shown.
        #[serde(rename = "client_secret_set", serialize_with = "is_some")]
        #[schemars(with = "bool")]
        pub client_secret: Option<Vec<u8>>,
        /// Audiences of accepted bearer tokens. Empty: no bearer tokens are accepted.
        pub audiences: Vec<String> => set by or_default(AUDIENCES).about("A token is accepted for an audience only after the audience is proven."),
        /// Client ids whose bearer tokens are accepted. Empty: those of all clients.
        pub authorized_parties: Vec<String> => set by or_default(AUTHORIZED_PARTIES),
        /// Rule by which an account is linked to a person at the first sign-in.
        pub link_by: LinkRule => set by required(rule::word()),
        /// Claim of ID tokens with the `externalId` of the person, for `link_by` `scim_external_id`.
        pub subject_claim: String => set by or(SUBJECT_CLAIM, "sub".to_owned()),
        /// Domains of the addresses of people who sign in.
        pub email_domains: Vec<String> => set by or_default(EMAIL_DOMAINS).about(
            "Required for `link_by` `verified_email`. Domains of public mailboxes are refused. A person signs in \
             with an address of a domain only after the domain is proven.",
        ),
        /// The domains with their proofs.
        pub domains: Vec<EmailDomain>,
        /// The client id and the audiences that are proven to belong to the organization.
        pub proven_audiences: Vec<String>,
        /// Permissions of sessions and bearer tokens.
        pub scopes: Permissions => set by or(SCOPES, DEFAULT_SCOPES).about("The calling key must have all of them."),
        /// `true` if a bearer token has only the scopes that it names.
        pub scopes_from_token: bool => set by or(rule::flag(), false),
        /// `true` if sessions of org admins have the admin level and the scopes of its screens.
        pub admin_sessions: bool => set by or(rule::flag(), false).about(
            "For `true` the calling key must have `settings:read`, `settings:write`, `audit:read`, `webhooks:read`, \
             `webhooks:write`, `events:read` and `employees:write`.",
        ),
        /// Lifetime of a session in seconds.
        pub session_lifetime: i64 => set by or(LIFETIME, DEFAULT_LIFETIME),
        /// Authentication context class that ID tokens and bearer tokens must have. Null for any.
        pub required_acr: Option<String> => set by optional(ACR),
        /// Status. A provider is `pending` until its client id or one of its audiences is proven.
        pub status: Status,
        /// Time of the last disabling, which has ended all sessions from before it. Null if there was none.
        pub disabled_at: Option<Timestamp>,
        /// Time of the last sign-in. Null if there was none.
        pub last_sign_in_at: Option<Timestamp>,
        /// Time of creation, which never changes.
        pub created_at: Timestamp,
        /// Time of the last change. It increases with every change.
        pub updated_at: Timestamp,
    }
}

fn is_some<S: Serializer>(secret: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(secret.is_some())
}

impl Resource for IdentityProvider {
    identity!(IdentityProviderKind);
}

impl Sortable for IdentityProvider {
    const ORDERS_NAME: &'static str = "IdentityProviderSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |provider| Key::Time(provider.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |provider| Key::Time(provider.updated_at)),
    ];
}

#[cfg(test)]
mod tests;
