//! Reads and removals of the history: replays, events, and expired rows.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::event::{FeedFilter, FeedStart};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey, Replay};
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::store::{Expiry, FeedPage, History};
use candor_port_storage::{StorageError, StoredReplay};
use candor_tables::flat::{CellReader, SqlValue};

use super::feed::FeedRead;
use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::layout::idempotency::store_replay;
use crate::sql::Sql;
use crate::sql::row::int;
use crate::store::PostgresStore;

#[async_trait]
impl History for PostgresStore {
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>> {
        let mut sql = Sql::default();
        let (tenant, key) = (sql.tenant(tenant), sql.bind(SqlValue::Text(key.as_str().to_owned())));
        let now = sql.bind(SqlValue::Time(now));
        sql.push(&format!(
            "SELECT fingerprint, status, sealed FROM replays WHERE tenant_id = {tenant} AND key = {key} \
             AND expires_at > {now}"
        ));
        self.find(&sql, read_replay).await
    }

    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool> {
        Ok(!self.run_exclusive(&store_replay(tenant, &replay), int).await?.is_empty())
    }

    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        oldest: Timestamp,
        start: &FeedStart,
        limit: u16,
    ) -> Read<FeedPage> {
        self.piece(tenant, &FeedRead { layout: self.layout, filter, oldest, start, limit }).await
    }

    async fn sweep(&self, expiry: Expiry, most: u32) -> Read<u64> {
        let kinds = [
            ("replays", "key", "expires_at <=", expiry.replays),
            ("events", "id", "created_at <", expiry.events),
            ("notifications", "id", "read_at <", expiry.read_notifications),
            ("notifications", "id", "created_at <", expiry.notifications),
        ];
        let mut swept = 0;
        for (table, key, condition, at) in kinds {
            let sql = delete_expired(self.layout, (table, key), condition, at, most);
            let removed_counts = self.run_exclusive(&sql, int).await?;
            swept += removed_counts.into_iter().map(|count| u64::try_from(count).unwrap_or_default()).sum::<u64>();
        }
        Ok(swept)
    }
}

/// Statement that deletes expired rows, oldest first. Concurrent sweeps of several instances skip each other's
/// locked rows.
fn delete_expired(
    layout: SharedLayout,
    (table, key): (&str, &str),
    condition: &str,
    at: Timestamp,
    most: u32,
) -> Sql {
    let mut sql = Sql::default();
    let (at, most) = (sql.bind(SqlValue::Time(at)), sql.bind(SqlValue::Int(i64::from(most))));
    let column = condition.split(' ').next().unwrap_or_default();
    let passing_over = layout.skip_locked();
    sql.push(&format!(
        "WITH doomed AS MATERIALIZED (SELECT tenant_id, {key} FROM {table} WHERE {condition} {at} \
         ORDER BY {column} LIMIT {most}{passing_over}), \
         gone AS (DELETE FROM {table} AS t USING doomed AS d WHERE t.tenant_id = d.tenant_id \
         AND t.{key} = d.{key} RETURNING 1) \
         SELECT count(*) FROM gone"
    ));
    sql
}

pub(super) fn read_replay(row: &mut dyn CellReader) -> Result<StoredReplay, Failure> {
    let corrupt =
        |column, reason: &str| StorageError::Corrupt { table: "replays", column, reason: reason.to_owned() };
    let fingerprint = row.bytes().map_err(Failure::Other)?.unwrap_or_default();
    let fingerprint = <[u8; 32]>::try_from(fingerprint).map_err(|_| corrupt("fingerprint", "not 32 bytes"))?;
    let status = u16::try_from(int(row)?).map_err(|_| corrupt("status", "not a status"))?;
    let sealed_reply = row.bytes().map_err(Failure::Other)?.unwrap_or_default();
    Ok(StoredReplay { fingerprint: Fingerprint::from_bytes(fingerprint), status, sealed: sealed_reply })
}
