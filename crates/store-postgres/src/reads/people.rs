//! Reads of people and reporting lines.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::{EmployeeId, Id};
use candor_port_storage::Version;
use candor_port_storage::error::Read;
use candor_port_storage::store::{Ancestors, People, Reporting, ReportingPair};
use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::rows::employees;

use crate::sql::Sql;
use crate::sql::row::{flag, id, int};
use crate::store::PostgresStore;

/// Maximum number of people below a manager that are read on a shared connection, which takes less than a
/// millisecond. More people are read in a turn of large reads.
const FEW_PEOPLE: usize = 1_000;

/// Returns the stored words of all statuses except that of people who have left.
fn present_statuses() -> impl Iterator<Item = SqlValue> {
    employees::present_statuses().map(|word| SqlValue::Text(word.to_owned()))
}

/// Returns the statement that reads the people below a manager, at most this many.
fn people_below(tenant: Tenant, manager: EmployeeId, most: Option<usize>) -> Sql {
    let mut sql = Sql::default();
    let (tenant, manager) = (sql.tenant(tenant), sql.id(manager.to_bytes()));
    let limit = most.map(|most| format!(" LIMIT {most}")).unwrap_or_default();
    sql.push(&format!(
        "SELECT descendant_id FROM reporting_lines WHERE tenant_id = {tenant} AND ancestor_id = {manager}{limit}"
    ));
    sql
}

#[async_trait]
impl People for PostgresStore {
    async fn lines_above(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Ancestors> {
        let mut sql = Sql::default();
        let (tenant, people) = (sql.tenant(tenant), sql.ids(people.iter().map(|person| person.to_bytes())));
        // One statement, for a consistent snapshot. `OFFSET 0` makes each step an index lookup, also before the
        // table has statistics.
        sql.push(&format!(
            "WITH these (id) AS (SELECT * FROM UNNEST({people})), above (id) AS (SELECT id FROM these UNION \
             SELECT a.ancestor_id FROM these AS t CROSS JOIN LATERAL (SELECT l.ancestor_id \
             FROM reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.descendant_id = t.id OFFSET 0) AS a) \
             SELECT {tenant}::uuid, {tenant}::uuid, coalesce((SELECT version FROM reporting_trees \
             WHERE tenant_id = {tenant}), 0) \
             UNION ALL SELECT a.id, e.manager_id, -1::bigint FROM above AS a CROSS JOIN LATERAL \
             (SELECT manager_id FROM employees WHERE tenant_id = {tenant} AND id = a.id OFFSET 0) AS e \
             WHERE e.manager_id IS NOT NULL"
        ));
        let rows = self.run_exclusive(&sql.planned_anew(), |row| Ok((id(row)?, id(row)?, int(row)?))).await?;
        let tree = rows.iter().find(|row| row.2 >= 0).map_or(0, |row| row.2);
        let lines =
            rows.into_iter().filter(|row| row.2 < 0).map(|row| (Id::from_bytes(row.0), Id::from_bytes(row.1)));
        Ok(Ancestors { tree: Version(tree), lines: lines.collect() })
    }

    async fn people_below(&self, tenant: Tenant, manager: EmployeeId) -> Read<Vec<EmployeeId>> {
        let person = |row: &mut dyn CellReader| Ok(Id::from_bytes(id(row)?));
        let first_people = self.read(&people_below(tenant, manager, Some(FEW_PEOPLE + 1)), person).await?;
        if first_people.len() <= FEW_PEOPLE {
            return Ok(first_people);
        }
        self.read_large(tenant, people_below(tenant, manager, None), person).await
    }

    async fn direct_reports(
        &self,
        tenant: Tenant,
        managers: &[EmployeeId],
        most: u16,
    ) -> Read<Vec<ReportingPair>> {
        let mut sql = Sql::default();
        let (tenant, managers) = (sql.tenant(tenant), sql.ids(managers.iter().map(|manager| manager.to_bytes())));
        let most = sql.bind(SqlValue::Int(i64::from(most)));
        let order = "ORDER BY last_name_key, first_name_key, id";
        let runs: Vec<_> = present_statuses()
            .map(|status| {
                let status = sql.bind(status);
                format!(
                    "(SELECT id, last_name_key, first_name_key FROM employees WHERE tenant_id = {tenant} AND manager_id = m.id \
                     AND status = {status} {order} LIMIT {most})"
                )
            })
            .collect();
        sql.push(&format!(
            "SELECT m.id, e.id FROM UNNEST({managers}) AS m (id) CROSS JOIN LATERAL (SELECT id FROM ({}) AS r {order} \
             LIMIT {most}) AS e",
            runs.join(" UNION ALL "),
        ));
        self.read(&sql, |row| Ok((Id::from_bytes(id(row)?), Id::from_bytes(id(row)?)))).await
    }

    async fn tree_height(&self, tenant: Tenant) -> Read<u32> {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        sql.push(&format!("SELECT coalesce(max(depth), 0) FROM reporting_lines WHERE tenant_id = {tenant}"));
        Ok(self
            .run_exclusive(&sql, int)
            .await?
            .first()
            .and_then(|height| u32::try_from(*height).ok())
            .unwrap_or_default())
    }

    async fn heights(&self, tenant: Tenant, people: &[EmployeeId]) -> Read<Vec<(EmployeeId, u32)>> {
        let (mut sql, tenant_of_read) = (Sql::default(), tenant);
        let (tenant, people) = (sql.tenant(tenant), sql.ids(people.iter().map(|person| person.to_bytes())));
        // This form reads each line once, whatever the planner expects. A lookup for each person would become a
        // scan for each person if one manager has most lines.
        sql.push(&format!(
            "SELECT ancestor_id, max(depth) FROM reporting_lines WHERE tenant_id = {tenant} \
             AND ancestor_id = ANY({people}) GROUP BY ancestor_id"
        ));
        let height = |row: &mut dyn CellReader| {
            Ok((Id::from_bytes(id(row)?), u32::try_from(int(row)?).unwrap_or(u32::MAX)))
        };
        self.read_large(tenant_of_read, sql.planned_anew(), height).await
    }

    async fn read_reporting(&self, tenant: Tenant, employee: EmployeeId, manager: EmployeeId) -> Read<Reporting> {
        let mut sql = Sql::default();
        let (tenant, above, below) = (sql.tenant(tenant), sql.id(employee.to_bytes()), sql.id(manager.to_bytes()));
        sql.push(&format!(
            "SELECT (SELECT version FROM reporting_trees WHERE tenant_id = {tenant}), \
             EXISTS (SELECT 1 FROM reporting_lines WHERE tenant_id = {tenant} AND ancestor_id = {above} \
             AND descendant_id = {below})"
        ));
        let line = self.find(&sql, |row| Ok((int(row)?, flag(row)?))).await?;
        let (tree, reports) = line.unwrap_or_default();
        Ok(Reporting { tree: Version(tree), is_below: reports || employee == manager })
    }
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::time::Duration;

    use candor_port_storage::store::People;
    use candor_store_testkit::Fixtures;
    use candor_test_postgres::TestDatabase;
    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;
    use crate::{PostgresOptions, migrate};

    const DEADLINE: Duration = Duration::from_secs(100);

    #[tokio::test(flavor = "multi_thread")]
    async fn people_below_an_ordinary_manager_need_no_turn() {
        let Some(database) = TestDatabase::empty().unwrap() else { return };
        let options = PostgresOptions::new(database.url(), 6);
        migrate(&options).await.unwrap();
        let (store, make) = (PostgresStore::connect(&options).await.unwrap(), Fixtures::new(1));
        let (tenant, few, many) = (make.tenant(), make.employee().id, make.employee().id);
        let uuid = |bytes: [u8; 16]| format!("'{:032x}'::uuid", u128::from_be_bytes(bytes));
        for (manager, count) in [(few, FEW_PEOPLE), (many, FEW_PEOPLE + 1)] {
            // References are not checked, so that people need no rows.
            let lines = format!(
                "WITH s AS (SELECT set_config('session_replication_role', 'replica', false)) \
                 INSERT INTO reporting_lines (tenant_id, ancestor_id, descendant_id, depth) \
                 SELECT {}, {}, gen_random_uuid(), 1 FROM s, generate_series(1, {count})",
                uuid(tenant.to_bytes()),
                uuid(manager.to_bytes()),
            );
            store.run_exclusive(&Sql::plain(&lines), |_| Ok(())).await.unwrap();
        }
        let turns: Vec<_> = iter::from_fn(|| store.large_work.turn(None).now_or_never()).collect();
        assert!(!turns.is_empty());
        let people = timeout(DEADLINE, store.people_below(tenant, few)).await.unwrap().unwrap();
        assert_eq!(people.len(), FEW_PEOPLE);
        let mut waiting = Box::pin(store.people_below(tenant, many));
        let has_asked = async {
            while !store.large_work.is_awaited() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            people = &mut waiting => panic!("{} people were read without a turn", people.unwrap().len()),
            asked = timeout(DEADLINE, has_asked) => asked.unwrap(),
        }
        drop(turns);
        assert_eq!(waiting.await.unwrap().len(), FEW_PEOPLE + 1);
    }
}
