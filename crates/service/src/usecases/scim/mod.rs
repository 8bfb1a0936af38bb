//! Requests of identity providers over SCIM: reads, creation, replacement, PATCH and removal of people.
//!
//! The domain decides about one person ([`candor_provisioning`]). This module loads the rows of the decision and
//! commits it with the link, issues, events and audit entries.

mod arrival;
mod change;
mod issues;
mod load;
mod plan;
mod read;
mod view;
mod write;

use candor_domain::access::Tenant;
use candor_domain::id::ConnectorId;
use candor_port_storage::Version;
use candor_provisioning::Connector;
use candor_scim::CustomMapping;

use crate::context::error::Error;
use crate::context::request::RequestContext;
use crate::context::services::{Services, or_not_found};
use crate::usecases::connectors::provider;

pub use read::{get, list};
pub use write::{create, patch, remove, replace};

/// A SCIM request without its body.
#[derive(Debug, Clone)]
pub struct ScimContext {
    /// The caller, the origin and the idempotency key.
    request: RequestContext,
    /// Connector of the API key.
    connector: ConnectorId,
    /// URL of the SCIM service.
    base: String,
    /// Renders the entity tag of a person and a link.
    tag: fn(Version, u64) -> String,
}

/// The connector of a request, with its parsed mappings.
struct LoadedConnector {
    connector: Connector,
    mappings: Vec<CustomMapping>,
}

impl ScimContext {
    /// Creates the context of a request with the key of a connector. `tag` renders entity tags.
    ///
    /// # Errors
    /// Not found for a key without a connector.
    pub fn new(request: RequestContext, tag: fn(Version, u64) -> String) -> Result<Self, Error> {
        let connector = or_not_found(request.caller.connector)?;
        let base = request.services.settings.scim_url();
        Ok(Self { request, connector, base, tag })
    }

    fn services(&self) -> &Services {
        &self.request.services
    }

    fn tenant(&self) -> Tenant {
        self.request.caller.tenant
    }

    /// Loads the connector of the API key.
    async fn load_connector(&self) -> Result<LoadedConnector, Error> {
        let connector = provider::connector(&self.request).await?.value;
        let mappings = connector.custom_field_mappings.iter();
        let mappings = mappings.filter_map(|(key, path)| CustomMapping::parse(key, path).ok()).collect();
        Ok(LoadedConnector { connector, mappings })
    }
}
