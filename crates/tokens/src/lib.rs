//! Tokens of identity providers: structure, keys, signatures and claims, read and judged without I/O (RFC 7515, RFC 7517,
//! RFC 7519, OpenID Connect).
//!
//! A [`SignedToken`](token::SignedToken) is well-formed. Only [`verify`](token::SignedToken::verify) makes a
//! [`VerifiedToken`](token::VerifiedToken) of it, so no rule reads claims whose signature was not verified. [`claims`]
//! judges them by the settings of the provider, [`flaw`] has the causes of a refusal. [`discovery`] reads where the
//! provider has its keys, [`key_cache`] decides when they are fetched.
//!
//! The crate knows no person and no stored provider. The module `identity` of `candor-domain` decides for which person a
//! token stands.

pub mod algorithm;
pub mod claims;
pub mod discovery;
pub mod flaw;
pub mod key_cache;
pub mod key_set;
pub mod strict_json;
pub mod token;
pub mod token_response;
