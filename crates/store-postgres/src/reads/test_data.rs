//! Removal of all rows of a data set.

use candor_domain::access::Tenant;
use candor_port_storage::upkeep::Emptied;
use candor_tables::flat::SqlValue;

use crate::failure::Failure;
use crate::nodes::transaction::{Transaction, run_to_completion, send};
use crate::sql::Sql;
use crate::sql::row::int;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Removes some rows of a table. Rows of people refer to their managers, so these references are cleared
    /// first.
    pub(super) async fn empty_piece(&self, tenant: Tenant, table: &'static str, most: u32) -> Emptied {
        if table == "employees" {
            let change = "UPDATE employees SET manager_id = NULL";
            let cut = self.change_some(tenant, change, table, " AND manager_id IS NOT NULL", most).await?;
            if cut > 0 {
                return Ok(cut);
            }
        }
        let removed_count = self.change_some(tenant, &format!("DELETE FROM {table}"), table, "", most).await?;
        if removed_count > 0 && table == "reporting_lines" {
            let change = "UPDATE reporting_trees SET version = version + 1, changes = changes + 1";
            self.change_some(tenant, change, "reporting_trees", "", 1).await?;
        }
        Ok(removed_count)
    }

    /// Runs `change`, an `UPDATE` or `DELETE`, on at most `most` rows of a tenant. Returns the number of these rows.
    async fn change_some(
        &self,
        tenant: Tenant,
        change: &str,
        table: &'static str,
        which: &'static str,
        most: u32,
    ) -> Emptied {
        let mut sql = Sql::default();
        let (tenant, most) = (sql.tenant(tenant), sql.bind(SqlValue::Int(i64::from(most))));
        // A row of another partition may have an equal `ctid`. That row belongs to the same tenant, so it may be
        // changed as well.
        sql.push(&format!(
            "WITH gone AS ({change} WHERE tenant_id = {tenant}{which} AND ctid = ANY(ARRAY(SELECT ctid \
             FROM {table} WHERE tenant_id = {tenant}{which} LIMIT {most})) RETURNING 1) SELECT count(*) FROM gone"
        ));
        let (nodes, transaction) = (self.nodes.clone(), Transaction::single_statement(sql));
        let count_result = run_to_completion(&self.home, async move {
            send(&nodes, &transaction, int).await.map_err(Failure::into_commit)
        });
        Ok(count_result.await?.first().map_or(0, |count| count.unsigned_abs()))
    }
}
