//! The API key of a response whose lines are read from the store while the client takes them.

use candor_domain::access::api_key::ApiKey;
use candor_domain::access::{AllowedNetworks, Permission, PermissionDenied, Tenant};
use candor_domain::id::KeyId;
use candor_port_storage::StorageExt;

use super::error::Error;
use super::request::RequestContext;
use super::services::Services;

/// The key of a request for lines. Its rights are checked again before each page, since a long response would
/// otherwise go on after the key was revoked.
#[derive(Debug)]
pub(crate) struct LineKey {
    organization: Tenant,
    key: KeyId,
    /// Scopes, one of which the key needs.
    scopes: &'static [Permission],
    /// Networks of the key at the start of the response.
    networks: AllowedNetworks,
}

impl LineKey {
    pub(crate) fn new(context: &RequestContext, scopes: &'static [Permission]) -> Self {
        let organization = Tenant::live(context.caller.tenant.organization);
        let networks = context.caller.allowed_networks.clone();
        Self { organization, key: context.caller.key, scopes, networks }
    }

    /// Checks the rights of the key.
    pub(crate) async fn check(&self, services: &Services) -> Result<(), Error> {
        let key = services.store.row::<ApiKey>(self.organization, self.key).await?;
        let now = services.clock.now();
        if key.is_some_and(|key| key.value.may_continue(self.scopes, &self.networks, now)) {
            Ok(())
        } else {
            Err(PermissionDenied::OrganizationKeyRequired.into())
        }
    }
}
