//! Client of identity providers, for a serving process.

use std::sync::Arc;

use candor_identity::{IdentityClient, IdentitySettings};
use candor_port_identity::IdentityTransport;

use super::failure::WiringError;
use candor_settings::Config;

/// Creates the client with the networks that the operator trusts.
///
/// # Errors
/// [`WiringError::Identity`] for a system without name servers.
pub(super) fn identity_client(config: &Config) -> Result<Arc<dyn IdentityTransport>, WiringError> {
    let trusted_networks = config.identity_trusted_networks.clone();
    let settings = IdentitySettings { trusted: trusted_networks, ..IdentitySettings::default() };
    Ok(Arc::new(IdentityClient::new(settings).map_err(WiringError::Identity)?))
}
