//! Requests of identity providers over SCIM: reads, creation, replacement, PATCH and removal of people.
//!
//! The domain decides about one person ([`candor_domain::scim`]). This module loads the rows of the decision and
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
use candor_domain::people::Connector;
use candor_domain::scim::CustomMapping;
use candor_port_storage::Version;

use crate::context::error::Error;
use crate::context::request::RequestContext;
use crate::context::services::Services;
use crate::usecases::connectors::provider;

pub use read::{get, list};
pub use write::{create, patch, remove, replace};

/// Entity tags of a request's `If-Match`: version of the person and version of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScimPrecondition {
    /// `*`: any existing version.
    Any,
    /// One of these tags.
    OneOf(Vec<String>),
}

/// A SCIM request without its body.
#[derive(Debug, Clone)]
pub struct ScimContext {
    /// The caller, the origin and the idempotency key.
    pub request: RequestContext,
    /// Connector of the API key.
    pub connector: ConnectorId,
    /// URL of the SCIM service.
    pub base: String,
    /// Condition of the `If-Match` header.
    pub precondition: Option<ScimPrecondition>,
    /// Renders the entity tag of a person and a link.
    pub tag: fn(Version, u64) -> String,
}

/// The connector of a request, with its parsed mappings.
struct LoadedConnector {
    connector: Connector,
    mappings: Vec<CustomMapping>,
}

impl ScimContext {
    fn tenant(&self) -> Tenant {
        self.request.caller.tenant
    }

    /// Loads the connector of the API key.
    async fn load_connector(&self, services: &Services) -> Result<LoadedConnector, Error> {
        let connector = provider::connector(services, &self.request).await?.value;
        let mappings = connector.custom_field_mappings.iter();
        let mappings = mappings.filter_map(|(key, path)| CustomMapping::parse(key, path).ok()).collect();
        Ok(LoadedConnector { connector, mappings })
    }
}
