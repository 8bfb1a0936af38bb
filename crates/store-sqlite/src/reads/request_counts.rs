//! Numbers of answered requests.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::request_stats::RequestCount;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::request_counts::RequestCounts;
use candor_tables::flat::CellReader;
use candor_tables::rows::request_count;

use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::{Db, Sql};

const ADD: &str = "INSERT INTO request_counts (tenant_id, hour, status, count) VALUES (?, ?, ?, ?) \
    ON CONFLICT (tenant_id, hour, status) DO UPDATE SET count = count + excluded.count";

const FORGET: &str = "DELETE FROM request_counts WHERE tenant_id = ? AND hour < ?";

const COUNTS: &str = "SELECT hour, status, count FROM request_counts WHERE tenant_id = ? AND hour >= ?";

#[async_trait]
impl RequestCounts for SqliteStore {
    async fn add_request_counts(&self, tenant: Tenant, counts: &[RequestCount], oldest: i64) -> Read<()> {
        let counts = counts.to_vec();
        let add = move |db: &mut Db| {
            for RequestCount { hour, status, count } in counts {
                let additional_count = i64::try_from(count).unwrap_or(i64::MAX);
                let sql = Sql::new(ADD).bind(tenant).bind(hour).bind(i64::from(status)).bind(additional_count);
                db.run(&sql)?;
            }
            let forget = Sql::new(FORGET).bind(tenant).bind(oldest);
            db.run(&forget).map(drop)
        };
        writer::ask(&self.tasks, None, add).await
    }

    async fn request_counts(&self, tenant: Tenant, since: i64) -> Read<Vec<RequestCount>> {
        let sql = Sql::new(COUNTS).bind(tenant).bind(since);
        let count = |row: &mut dyn CellReader| request_count(row).map_err(StorageError::from);
        self.read(tenant, move |db| db.rows(sql, count)).await
    }
}
