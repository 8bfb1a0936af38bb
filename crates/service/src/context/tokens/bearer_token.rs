//! A bearer token whose signature was verified.

use std::sync::Weak;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::KeyHash;
use candor_domain::id::IdentityProviderId;
use candor_tokens::key_set::KeySet;
use candor_tokens::token::PackedToken;

/// A token with a valid signature of a provider.
#[derive(Debug)]
pub struct BearerToken {
    pub(super) hash: KeyHash,
    pub(super) tenant: Tenant,
    pub(super) provider: IdentityProviderId,
    pub(super) issuer: String,
    pub(super) key_id: Option<String>,
    pub(super) token: PackedToken,
    /// Keys that verified the signature. Another key set verifies it again. A cached token keeps no former key set in
    /// memory.
    pub(super) keys: Weak<KeySet>,
}

impl BearerToken {
    /// Returns the size of the token in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.token.size() + self.issuer.len() + self.key_id.as_ref().map_or(0, String::len)
    }

    /// Returns the data set and the provider of the token.
    #[must_use]
    pub const fn owner(&self) -> (Tenant, IdentityProviderId) {
        (self.tenant, self.provider)
    }
}
