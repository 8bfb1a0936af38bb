//! A bearer token whose signature was verified.

use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::access::api_key::KeyHash;
use candor_domain::id::IdentityProviderId;
use candor_domain::identity::key_set::KeySet;
use candor_domain::identity::token::VerifiedToken;

/// A token with a valid signature of a provider.
#[derive(Debug)]
pub struct BearerToken {
    pub(super) hash: KeyHash,
    pub(super) tenant: Tenant,
    pub(super) provider: IdentityProviderId,
    pub(super) issuer: String,
    pub(super) key_id: Option<String>,
    pub(super) token: VerifiedToken,
    /// Key set that verified the signature. If the provider has another key set, the signature is verified again.
    pub(super) keys: Arc<KeySet>,
}

impl BearerToken {
    /// Returns the data set and the provider of the token.
    #[must_use]
    pub const fn owner(&self) -> (Tenant, IdentityProviderId) {
        (self.tenant, self.provider)
    }
}
