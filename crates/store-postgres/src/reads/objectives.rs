//! Objectives and notifications.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, NotificationId, ObjectiveId};
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{Filter, Objective, Sight};
use candor_domain::page::{Page, PageRequest, Sort};
use candor_domain::people::Employee;
use candor_domain::time::Date;
use candor_port_storage::Versioned;
use candor_port_storage::flat::{Cell, Stored};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{Objectives, Read};

use crate::PostgresStore;
use crate::select::{columns, id, versioned};
use crate::sql::Sql;

#[async_trait]
impl Objectives for PostgresStore {
    async fn objective(&self, tenant: Tenant, id: ObjectiveId) -> Read<Option<Versioned<Objective>>> {
        self.get(tenant, id.to_bytes()).await
    }

    async fn objectives(
        &self,
        tenant: Tenant,
        filter: &Filter,
        sight: Sight,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Objective>> {
        let listings = Listing::objectives(filter, sight, sort, page);
        let rows = self.rows(tenant, &listings).await?;
        Ok(Page::of(rows.into_iter().map(|it| it.value).collect(), page.limit))
    }

    async fn due_objectives(&self, today: Date, most: u16) -> Read<Vec<(Tenant, Versioned<Objective>)>> {
        let mut sql = Sql::default();
        let (today, most) = (sql.bind(Cell::Date(today)), sql.bind(Cell::Int(i64::from(most))));
        let columns = columns(Objective::TABLE, "");
        sql.push(&format!(
            "SELECT tenant_id, {columns} FROM objectives WHERE due_on <= {today} ORDER BY due_on, tenant_id, id LIMIT {most}"
        ));
        self.read(&sql, |row| Ok((Tenant::from_bytes(id(row)?), versioned(row)?))).await
    }

    async fn org_admins(&self, tenant: Tenant, most: u16) -> Read<Vec<EmployeeId>> {
        let page: Page<Employee> = self.list(tenant, Listing::org_admins(most)).await?;
        Ok(page.items.into_iter().map(|it| it.id).collect())
    }

    async fn notification(&self, tenant: Tenant, id: NotificationId) -> Read<Option<Versioned<Notification>>> {
        self.get(tenant, id.to_bytes()).await
    }

    async fn notifications(
        &self,
        tenant: Tenant,
        filter: &notification::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Notification>> {
        self.list(tenant, Listing::notifications(filter, sort, page)).await
    }
}
