//! Reads and writes for identity providers that provision people over SCIM.
//!
//! Links, issues and requests are rows of ordinary tables. This trait has only what the generic operations lack:
//! counts, the list of people that a provider sees, and the log of its requests.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{ConnectorId, EmployeeId, SyncIssueId};
use candor_domain::time::Timestamp;
use candor_provisioning::connector::{ConnectorFigures, LinkedPeople, ScimRequest};

use crate::error::Read;

/// Start of a page of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeopleStart {
    /// Skips this number of people.
    Skip(u64),
    /// Starts after this person.
    After(EmployeeId),
}

/// Parameters that make the list of a provider a slow read, as errors of slow reads name them.
pub const SLOW_PARAMETERS: [&str; 2] = ["startIndex", "filter"];

/// Query for a page of the people that a provider sees, ordered by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisiblePeople {
    /// The connector of the provider.
    pub connector: ConnectorId,
    /// `true` for people who have not left, `false` for those who have, `None` for both.
    pub active: Option<bool>,
    /// Manager of the people: only direct reports are wanted. `None` for people with any manager or without one.
    pub manager: Option<EmployeeId>,
    /// First person of the page.
    pub start: PeopleStart,
    /// Maximum number of people on the page.
    pub limit: u16,
}

/// The answer to [`VisiblePeople`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeoplePage {
    /// People of the page, ordered by id.
    pub ids: Vec<EmployeeId>,
    /// Number of people on all pages; `None` for a page that starts after a person.
    pub total: Option<u64>,
}

/// Operations for provisioning by identity providers.
#[async_trait]
pub trait Provisioning {
    /// Returns a page of the people that the provider sees: those with a link of the connector that was not
    /// removed, and unmanaged people. Skipping and counting read the index entries of all these people, and
    /// filters read every row, so these are slow reads (decision A17).
    async fn visible_people(&self, tenant: Tenant, query: &VisiblePeople) -> Read<PeoplePage>;
    /// Counts the people who were linked to the connector at the time `since`, and the people who are linked now.
    /// Reads every link of the connector.
    async fn linked_people(&self, tenant: Tenant, connector: ConnectorId, since: Timestamp) -> Read<LinkedPeople>;
    /// Returns the figures of a connector.
    async fn connector_figures(&self, tenant: Tenant, connector: ConnectorId) -> Read<ConnectorFigures>;
    /// Counts one more occurrence of an open issue. Returns `false` if no open issue has this id.
    async fn repeat_issue(&self, tenant: Tenant, id: SyncIssueId, message: &str, at: Timestamp) -> Read<bool>;
    /// Adds requests of one connector to the log, and removes all but the newest
    /// [`KEPT_REQUESTS`](candor_provisioning::connector::KEPT_REQUESTS) of the connector. Requests whose ids are
    /// already logged are ignored.
    async fn log_requests(&self, tenant: Tenant, connector: ConnectorId, requests: &[ScimRequest]) -> Read<()>;
}
