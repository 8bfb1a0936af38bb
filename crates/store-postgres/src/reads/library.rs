//! Observations, and what the organization has in common.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::{AttributeId, AttributeKind, DepartmentId, EmployeeKind, Id, ObservationId, OrganizationId};
use candor_domain::library::{Attribute, Department, attribute, department};
use candor_domain::observation::{self, Observation};
use candor_domain::organization::Organization;
use candor_domain::page::{Page, PageRequest, Sort};
use candor_port_storage::flat::{Cell, Stored};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{Library, Observations, Read, Referred};
use candor_port_storage::{Versioned, Wanted};

use futures_util::future::try_join;

use super::people::present_statuses;
use crate::PostgresStore;
use crate::select::{columns, flag, versioned};
use crate::sql::Sql;

#[async_trait]
impl Observations for PostgresStore {
    async fn observation(&self, tenant: Tenant, id: ObservationId) -> Read<Option<Versioned<Observation>>> {
        self.get(tenant, id.to_bytes()).await
    }

    async fn observations(
        &self,
        tenant: Tenant,
        filter: &observation::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Observation>> {
        self.list(tenant, Listing::observations(filter, sort, page)).await
    }

    async fn referred(
        &self,
        tenant: Tenant,
        people: &[Wanted<EmployeeKind>],
        attributes: &[Wanted<AttributeKind>],
    ) -> Read<Referred> {
        // Both travel in one flight; who asks for none of a kind sends nothing.
        let (people, attributes) = try_join(self.wanted(tenant, people), self.wanted(tenant, attributes)).await?;
        Ok(Referred { people, attributes })
    }
}

#[async_trait]
impl Library for PostgresStore {
    async fn organization(&self, tenant: Tenant) -> Read<Option<Versioned<Organization>>> {
        self.get(tenant, tenant.organization.to_bytes()).await
    }

    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        let mut sql = Sql::default();
        let after = sql.id(after.map_or([0; 16], |it| it.to_bytes()));
        let limit = sql.bind(Cell::Int(i64::from(limit)));
        // The live data set of an organization is the one whose id is the organization's.
        sql.push(&format!(
            "SELECT {} FROM organizations WHERE tenant_id = id AND tenant_id > {after} ORDER BY tenant_id LIMIT {limit}",
            columns(Organization::TABLE, "")
        ));
        let found = self.apart(&sql, versioned::<Organization>).await?;
        Ok(found.into_iter().map(|it| it.value).collect())
    }

    async fn department(&self, tenant: Tenant, id: DepartmentId) -> Read<Option<Versioned<Department>>> {
        self.get(tenant, id.to_bytes()).await
    }

    async fn departments(
        &self,
        tenant: Tenant,
        filter: &department::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Department>> {
        self.list(tenant, Listing::departments(filter, sort, page)).await
    }

    async fn departments_by_id(&self, tenant: Tenant, ids: &[DepartmentId]) -> Read<Vec<Versioned<Department>>> {
        self.by_ids(tenant, ids.iter().map(|it| it.to_bytes())).await
    }

    async fn departments_by_name(&self, tenant: Tenant, names: &[String]) -> Read<Vec<Versioned<Department>>> {
        self.by_texts(tenant, "name_key", names).await
    }

    async fn department_by_name(&self, tenant: Tenant, name: &str) -> Read<Option<DepartmentId>> {
        let found = self.id_by_text(tenant, Department::TABLE.name, "name_key", name).await?;
        Ok(found.map(Id::from_bytes))
    }

    async fn department_has_members(&self, tenant: Tenant, id: DepartmentId) -> Read<bool> {
        let mut sql = Sql::default();
        let (tenant, id) = (sql.id(tenant.to_bytes()), sql.id(id.to_bytes()));
        let statuses = present_statuses(&mut sql);
        sql.push(&format!(
            "SELECT EXISTS (SELECT 1 FROM employees WHERE tenant_id = {tenant} AND department_id = {id} AND status = ANY({statuses}))"
        ));
        Ok(self.find(&sql, flag).await? == Some(true))
    }

    async fn attribute(&self, tenant: Tenant, id: AttributeId) -> Read<Option<Versioned<Attribute>>> {
        self.get(tenant, id.to_bytes()).await
    }

    async fn attributes(
        &self,
        tenant: Tenant,
        filter: &attribute::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Attribute>> {
        self.list(tenant, Listing::attributes(filter, sort, page)).await
    }

    async fn attribute_by_name(&self, tenant: Tenant, name: &str) -> Read<Option<AttributeId>> {
        let found = self.id_by_text(tenant, Attribute::TABLE.name, "name_key", name).await?;
        Ok(found.map(Id::from_bytes))
    }
}
