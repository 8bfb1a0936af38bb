//! The API key of a response whose lines are read from the store while the client takes them.

use candor_domain::access::api_key::{ApiKey, KeyHash};
use candor_domain::access::{AllowedNetworks, Permission, PermissionError, Tenant};
use candor_domain::id::KeyId;
use candor_port_storage::StorageExt;

use super::error::Error;
use super::request::{Credential, RequestContext};
use super::services::Services;

/// The key of a request for lines. Its rights are checked again before each page, since a long response would
/// otherwise go on after the key was revoked.
#[derive(Debug)]
pub(crate) struct LineKey {
    organization: Tenant,
    key: KeyId,
    /// Hash of the secret of the request. A secret that a rotation replaced ends before its key.
    secret: Option<KeyHash>,
    /// Scopes, one of which the key needs.
    scopes: &'static [Permission],
    /// Networks of the key at the start of the response.
    networks: AllowedNetworks,
}

impl LineKey {
    pub(crate) fn new(context: &RequestContext, scopes: &'static [Permission]) -> Self {
        let organization = Tenant::live(context.caller.tenant.organization);
        let networks = context.caller.allowed_networks.clone();
        let secret = context.admission.as_ref().and_then(|admission| match admission.credential {
            Credential::Key(hash) => Some(hash),
            Credential::Token(_) => None,
        });
        Self { organization, key: context.caller.key, secret, scopes, networks }
    }

    /// Checks the rights of the key.
    pub(crate) async fn check(&self, services: &Services) -> Result<(), Error> {
        let key = services.store.row::<ApiKey>(self.organization, self.key).await?;
        let now = services.clock.now();
        if key.is_some_and(|key| key.value.may_continue(self.secret, self.scopes, &self.networks, now)) {
            Ok(())
        } else {
            Err(PermissionError::OrganizationKeyRequired.into())
        }
    }
}
