//! Numbers of answered requests.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::request_stats::RequestCount;
use candor_port_storage::error::Read;
use candor_port_storage::request_counts::RequestCounts;
use candor_tables::flat::{CellReader, SqlValue, Type};
use candor_tables::rows::request_count;

use crate::failure::Failure;
use crate::sql::Sql;
use crate::store::PostgresStore;

#[async_trait]
impl RequestCounts for PostgresStore {
    async fn add_request_counts(&self, tenant: Tenant, counts: &[RequestCount], oldest: i64) -> Read<()> {
        self.run_exclusive(&add_counts(tenant, counts), |_| Ok(())).await?;
        let mut forget = Sql::default();
        let (tenant, oldest) = (forget.tenant(tenant), forget.bind(SqlValue::Int(oldest)));
        forget.push(&format!("DELETE FROM request_counts WHERE tenant_id = {tenant} AND hour < {oldest}"));
        self.run_exclusive(&forget, |_| Ok(())).await.map(drop)
    }

    async fn request_counts(&self, tenant: Tenant, since: i64) -> Read<Vec<RequestCount>> {
        let mut sql = Sql::default();
        let (tenant, since) = (sql.tenant(tenant), sql.bind(SqlValue::Int(since)));
        sql.push(&format!(
            "SELECT hour, status, count FROM request_counts WHERE tenant_id = {tenant} AND hour >= {since}"
        ));
        self.read(&sql, |row: &mut dyn CellReader| request_count(row).map_err(Failure::from)).await
    }
}

/// Builds the statement that adds these numbers to the stored ones. Its rows are sorted, so that several instances
/// lock them in the same order.
fn add_counts(tenant: Tenant, counts: &[RequestCount]) -> Sql {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    let mut many = |value: fn(&RequestCount) -> i64| {
        sql.many(Type::Int, counts.iter().map(|count| SqlValue::Int(value(count))))
    };
    let hours = many(|count| count.hour);
    let statuses = many(|count| i64::from(count.status));
    let numbers = many(|count| i64::try_from(count.count).unwrap_or(i64::MAX));
    sql.push(&format!(
        "INSERT INTO request_counts AS c (tenant_id, hour, status, count) \
         SELECT {tenant}::uuid, r.* FROM UNNEST({hours}, {statuses}, {numbers}) AS r \
         ON CONFLICT (tenant_id, hour, status) DO UPDATE SET count = c.count + excluded.count"
    ));
    sql
}
