//! What the organization has in common.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{AttributeId, DepartmentId, OrganizationId};
use candor_domain::library::{Attribute, Department, attribute, department};
use candor_domain::organization::Organization;
use candor_domain::page::{Page, PageRequest, Sort};
use candor_port_storage::Versioned;
use candor_port_storage::flat::Stored;
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{Library, Read};

use crate::sql::{Db, Sql};
use crate::{SqliteStore, commit, table};

#[async_trait]
impl Library for SqliteStore {
    async fn organization(&self, tenant: Tenant) -> Read<Option<Versioned<Organization>>> {
        self.look_up(move |db| table::get(db, tenant, tenant.organization.to_bytes())).await
    }

    async fn organizations(&self, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
        self.read(move |db| organizations(db, after, limit)).await
    }

    async fn department(&self, tenant: Tenant, id: DepartmentId) -> Read<Option<Versioned<Department>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
    }

    async fn departments(
        &self,
        tenant: Tenant,
        filter: &department::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Department>> {
        let listing = Listing::departments(filter, sort, page);
        self.page(tenant, listing).await
    }

    async fn departments_by_id(&self, tenant: Tenant, ids: &[DepartmentId]) -> Read<Vec<Versioned<Department>>> {
        let ids: Vec<_> = ids.iter().map(|it| it.to_bytes()).collect();
        self.look_up_all(ids.len(), move |db| table::by_ids(db, tenant, &ids)).await
    }

    async fn departments_by_name(&self, tenant: Tenant, names: &[String]) -> Read<Vec<Versioned<Department>>> {
        let names = names.to_vec();
        self.look_up_all(names.len(), move |db| {
            table::by_values(db, tenant, " AND name_key", names.iter().map(String::as_str))
        })
        .await
    }

    async fn department_by_name(&self, tenant: Tenant, name: &str) -> Read<Option<DepartmentId>> {
        let name = name.to_owned();
        let id = self.look_up(move |db| table::id_by(db, tenant, "departments", "name_key", &name)).await?;
        Ok(id.map(DepartmentId::from_bytes))
    }

    async fn department_has_members(&self, tenant: Tenant, id: DepartmentId) -> Read<bool> {
        self.look_up(move |db| commit::has_members(db, tenant, id.to_bytes())).await
    }

    async fn attribute(&self, tenant: Tenant, id: AttributeId) -> Read<Option<Versioned<Attribute>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
    }

    async fn attributes(
        &self,
        tenant: Tenant,
        filter: &attribute::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Attribute>> {
        let listing = Listing::attributes(filter, sort, page);
        self.page(tenant, listing).await
    }

    async fn attribute_by_name(&self, tenant: Tenant, name: &str) -> Read<Option<AttributeId>> {
        let name = name.to_owned();
        let id = self.look_up(move |db| table::id_by(db, tenant, "attributes", "name_key", &name)).await?;
        Ok(id.map(AttributeId::from_bytes))
    }
}

/// The live data set of an organization is the one whose id is the organization's.
fn organizations(db: &mut Db, after: Option<OrganizationId>, limit: u16) -> Read<Vec<Organization>> {
    let columns = &db.statements(Organization::TABLE).columns;
    let text = format!(
        "SELECT {columns} FROM organizations WHERE tenant_id = id AND tenant_id > ? ORDER BY tenant_id LIMIT ?"
    );
    let after = after.map_or([0; 16], |it| it.to_bytes());
    db.rows(Sql::new(text).bind(after).bind(i64::from(limit)), table::value)
}
