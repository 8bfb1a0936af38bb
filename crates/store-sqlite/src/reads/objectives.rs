//! Objectives and notifications.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, NotificationId, ObjectiveId};
use candor_domain::notification::{self, Notification};
use candor_domain::objective::{Filter, Objective, Sight};
use candor_domain::page::{Page, PageRequest, Sort};
use candor_domain::people::Employee;
use candor_domain::time::Date;
use candor_port_storage::flat::{Cell, Fetch, Reader, Stored};
use candor_port_storage::listing::{Listing, merge};
use candor_port_storage::store::{Objectives, Read};
use candor_port_storage::{StorageError, Version, Versioned};

use crate::sql::Sql;
use crate::{SqliteStore, list, table};

#[async_trait]
impl Objectives for SqliteStore {
    async fn objective(&self, tenant: Tenant, id: ObjectiveId) -> Read<Option<Versioned<Objective>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
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
        let limit = page.limit;
        self.list(tenant, listings, move |db, listings| {
            let pages: Result<Vec<_>, _> = listings.iter().map(|it| list::page(db, tenant, it)).collect();
            Ok(merge(pages?, sort, limit))
        })
        .await
    }

    async fn due_objectives(&self, today: Date, most: u16) -> Read<Vec<(Tenant, Versioned<Objective>)>> {
        self.read(move |db| {
            let columns = &db.statements(Objective::TABLE).columns;
            let text = format!(
                "SELECT tenant_id, {columns} FROM objectives WHERE due_on <= ? ORDER BY due_on, tenant_id, id LIMIT ?"
            );
            db.rows(Sql::new(text).bind(Cell::Date(today)).bind(i64::from(most)), owned)
        })
        .await
    }

    async fn org_admins(&self, tenant: Tenant, most: u16) -> Read<Vec<EmployeeId>> {
        let listing = Listing::org_admins(most);
        let page: Page<Employee> = self.page(tenant, listing).await?;
        Ok(page.items.into_iter().map(|it| it.id).collect())
    }

    async fn notification(&self, tenant: Tenant, id: NotificationId) -> Read<Option<Versioned<Notification>>> {
        self.look_up(move |db| table::get(db, tenant, id.to_bytes())).await
    }

    async fn notifications(
        &self,
        tenant: Tenant,
        filter: &notification::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<Notification>> {
        let listing = Listing::notifications(filter, sort, page);
        self.page(tenant, listing).await
    }
}

/// An objective behind its tenant.
fn owned(row: &mut dyn Fetch) -> Result<(Tenant, Versioned<Objective>), StorageError> {
    let corrupt = |reason| StorageError::Corrupt { table: "objectives", column: "tenant_id", reason };
    let tenant = row.id().and_then(|it| it.ok_or_else(|| "null".to_owned())).map_err(corrupt)?;
    let mut reader = Reader::new(row, Objective::TABLE);
    let value = Objective::read(&mut reader)?;
    Ok((Tenant::from_bytes(tenant), Versioned { value, version: Version(reader.int()?) }))
}
