//! Reads of people and reporting lines.

use std::sync::Arc;

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, Id};
use candor_port_storage::error::Read;
use candor_port_storage::store::{Ancestors, People, Reporting, ReportingPair};
use candor_port_storage::{StorageError, Version};
use candor_tables::rows::employees;

use crate::SqliteStore;
use crate::commit::{lines, rebuild};
use crate::listing::teams;
use crate::sql::{Db, Sql};
use crate::text::Draft;

#[async_trait]
impl People for SqliteStore {
    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Ancestors> {
        let people: Vec<_> = people.iter().map(|person| person.to_bytes()).collect();
        self.read(tenant, move |db| lines::read_lines_above(db, tenant, people)).await
    }

    async fn people_below(&self, tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>> {
        self.read(tenant, move |db| teams::people_below(db, tenant, manager)).await
    }

    async fn direct_reports(
        &self,
        tenant: Tenant,
        managers: &[EmployeeId],
        most: u16,
    ) -> Read<Vec<ReportingPair>> {
        let managers = managers.to_vec();
        let read = move |db: &mut Db| {
            let mut all = vec![];
            for manager in managers {
                all.extend(reports_of(db, tenant, manager, most)?);
            }
            Ok(all)
        };
        self.read(tenant, read).await
    }

    async fn tree_height(&self, tenant: Tenant) -> Read<u32> {
        let text = "SELECT coalesce(max(depth), 0) FROM reporting_lines WHERE tenant_id = ?";
        let height = self.read(tenant, move |db| db.number(Sql::new(text).bind(tenant))).await?;
        Ok(u32::try_from(height).unwrap_or_default())
    }

    async fn heights(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<(EmployeeId, u32)>> {
        // The depth check of a move reads the lines, so it first waits until they are complete.
        if !self.look_up(tenant, move |db| rebuild::are_complete(db, tenant)).await? {
            rebuild::complete(Arc::clone(&self.tasks), tenant).await?;
        }
        let people = people.to_vec();
        self.read_large(tenant, move |db| lines::heights(db, tenant, &people)).await
    }

    async fn read_reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting> {
        self.look_up(tenant, move |db| query_reporting(db, tenant, employee, manager)).await
    }
}

fn reports_of(db: &mut Db, tenant: Tenant, manager: EmployeeId, most: u16) -> Read<Vec<ReportingPair>> {
    let mut draft = Draft::default();
    draft.add("SELECT id FROM employees");
    draft
        .with(" WHERE tenant_id = ", tenant)
        .with(" AND manager_id = ", manager)
        .any_of(" AND status", employees::present_statuses());
    draft.with(" ORDER BY last_name_key, first_name_key, id LIMIT ", i64::from(most));
    db.rows(draft.finish(), |row| Ok((manager, Id::from_bytes(lines::id(row, "id")?))))
}

fn query_reporting(db: &mut Db, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting> {
    // One statement, so that both values are from the same moment. It follows the managers of the people, because
    // lines may be incomplete.
    let text = "SELECT coalesce((SELECT version FROM reporting_trees WHERE tenant_id = ?1), 0), \
        EXISTS (WITH RECURSIVE up (person) AS (SELECT manager_id FROM employees WHERE tenant_id = ?1 AND id = ?3 \
        UNION SELECT e.manager_id FROM up CROSS JOIN employees e WHERE e.tenant_id = ?1 AND e.id = up.person) \
        SELECT 1 FROM up WHERE person = ?2)";
    let sql = Sql::new(text).bind(tenant).bind(employee).bind(manager);
    let row = db.first(sql, |row| {
        let corrupt = |reason| StorageError::Corrupt { table: "reporting_trees", column: "version", reason };
        Ok((row.int().map_err(corrupt)?.unwrap_or(0), row.flag().map_err(corrupt)?.unwrap_or(false)))
    })?;
    let (version, below) = row.unwrap_or((0, false));
    Ok(Reporting { tree: Version(version), is_below: below || employee == manager })
}
