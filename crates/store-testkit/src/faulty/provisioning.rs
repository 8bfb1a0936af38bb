//! Provisioning of a store that fails on request.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::{ConnectorId, SyncIssueId};
use candor_domain::time::Timestamp;
use candor_port_storage::Storage;
use candor_port_storage::error::Read;
use candor_port_storage::provisioning::{PeoplePage, Provisioning, VisiblePeople};
use candor_provisioning::connector::{ConnectorFigures, LinkedPeople, ScimRequest};

use super::{Faulty, FaultyCall};

#[async_trait]
impl<S: Storage + ?Sized> Provisioning for Faulty<S> {
    async fn visible_people(&self, tenant: Tenant, query: &VisiblePeople) -> Read<PeoplePage> {
        self.run_call(FaultyCall::List, self.store.visible_people(tenant, query)).await
    }
    async fn linked_people(&self, tenant: Tenant, connector: ConnectorId, since: Timestamp) -> Read<LinkedPeople> {
        self.run_call(FaultyCall::Get, self.store.linked_people(tenant, connector, since)).await
    }
    async fn connector_figures(&self, tenant: Tenant, connector: ConnectorId) -> Read<ConnectorFigures> {
        self.run_call(FaultyCall::Get, self.store.connector_figures(tenant, connector)).await
    }
    async fn repeat_issue(&self, tenant: Tenant, id: SyncIssueId, message: &str, at: Timestamp) -> Read<bool> {
        self.run_call(FaultyCall::Commit, self.store.repeat_issue(tenant, id, message, at)).await
    }
    async fn log_requests(&self, tenant: Tenant, connector: ConnectorId, requests: &[ScimRequest]) -> Read<()> {
        self.run_call(FaultyCall::Upkeep, self.store.log_requests(tenant, connector, requests)).await
    }
}
