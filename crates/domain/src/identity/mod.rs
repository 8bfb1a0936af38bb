//! Identity providers: the OpenID Connect providers of organizations, by which people sign in.

pub mod algorithm;
pub mod claims;
pub mod discovery;
pub mod flaw;
pub mod key_cache;
pub mod key_set;
pub mod strict_json;
pub mod token;
