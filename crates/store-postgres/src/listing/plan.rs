//! Counts that select the cheapest source of a page's rows.

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_tables::flat::SqlValue;
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::{ListPlan, ListPlanner, counted_to};

use crate::sql::Sql;
use crate::sql::row::int;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Returns the plan for a page of a list.
    pub(super) async fn plan(&self, tenant: Tenant, listing: &Listing) -> Read<ListPlan> {
        let mut planner = ListPlanner::new(listing);
        while let Some(condition) = planner.next_to_count() {
            planner.add_count(self.count(tenant, condition).await?);
        }
        Ok(planner.plan())
    }

    /// Counts the people or rows that a condition names, up to the planner's maximum.
    async fn count(&self, tenant: Tenant, condition: &Condition) -> Read<usize> {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        let subquery = match condition {
            Condition::Within(_, manager) | Condition::Reach(_, manager) => {
                format!(
                    "reporting_lines WHERE tenant_id = {tenant} AND ancestor_id = {}",
                    sql.id(manager.to_bytes())
                )
            }
            Condition::Tagged(members, tags) => {
                let (name, member, tags) = (members.name, members.member, sql.ids(tags.iter().copied()));
                format!("{name} WHERE tenant_id = {tenant} AND {member} = ANY({tags})")
            }
            Condition::Is(..)
            | Condition::IsNot(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..)
            | Condition::Among(..) => return Ok(0),
        };
        let most = sql.bind(SqlValue::Int(i64::try_from(counted_to(condition)).unwrap_or(i64::MAX)));
        sql.push(&format!("SELECT count(*) FROM (SELECT 1 FROM {subquery} LIMIT {most}) AS counted"));
        let count = self.find(&sql, int).await?.unwrap_or_default();
        Ok(usize::try_from(count).unwrap_or_default())
    }
}
