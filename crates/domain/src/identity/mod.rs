//! Identity providers: the OpenID Connect providers of organizations, by which people sign in.

pub mod algorithm;
pub mod claims;
pub mod discovery;
pub mod evidence;
pub mod fetch_failure;
pub mod flaw;
pub mod key_cache;
pub mod key_set;
pub mod link_decision;
pub mod strict_json;
pub mod token;
pub mod token_response;

use strum::{IntoStaticStr, VariantArray};

use crate::fields::StringEnum;

/// Rule by which an account of a provider is linked to a person at the first sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum LinkRule {
    /// The subject claim is the `externalId` of a person at a SCIM connector.
    ScimExternalId,
    /// The verified address of a proven domain is the address of a person.
    VerifiedEmail,
}

impl StringEnum for LinkRule {
    const NAME: &'static str = "IdentityLinkRule";
}
