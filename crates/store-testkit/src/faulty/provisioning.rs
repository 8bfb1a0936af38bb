//! Provisioning of a store that fails on request.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::{ConnectorId, SyncIssueId};
use candor_domain::time::Timestamp;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_port_storage::provisioning::{PeoplePage, Provisioning, VisiblePeople};
use candor_provisioning::connector::{ConnectorFigures, LinkedPeople, ScimRequest};

use super::{Faulty, FaultyCall, faulty};

faulty! {
    Provisioning {
        List: visible_people(tenant: Tenant, query: &VisiblePeople) -> Read<PeoplePage>;
        Get: linked_people(tenant: Tenant, connector: ConnectorId, since: Timestamp) -> Read<LinkedPeople>;
        Get: connector_figures(tenant: Tenant, connector: ConnectorId) -> Read<ConnectorFigures>;
        Commit: repeat_issue(tenant: Tenant, id: SyncIssueId, message: &str, at: Timestamp) -> Read<bool>;
        Upkeep: log_requests(tenant: Tenant, connector: ConnectorId, requests: &[ScimRequest]) -> Read<()>;
    }
}
