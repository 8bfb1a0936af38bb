//! What is written with every change.

use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::audit::{self, AuditEntry};
use candor_domain::event::{Event, FeedFilter};
use candor_domain::fields::Word;
use candor_domain::page::{Key, Page, PageRequest, Position, Sort};
use candor_domain::replay::{Fingerprint, IdempotencyKey, Replay};
use candor_domain::time::Timestamp;
use candor_port_storage::flat::{Cell, Fetch, Stored, Type};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{FeedPage, Read, StorageError, StoredReplay, Trail};

use tokio::time::sleep;

use crate::PostgresStore;
use crate::commit::keeping;
use crate::failure::Failure;
use crate::select::{columns, flag, int, versioned};
use crate::sql::Sql;

/// How often, and how far apart, the feed looks again while events are held back.
const SETTLING_TRIES: u32 = 20;
const SETTLING: Duration = Duration::from_millis(5);

#[async_trait]
impl Trail for PostgresStore {
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>> {
        let mut sql = Sql::default();
        let (tenant, key) = (sql.id(tenant.to_bytes()), sql.bind(Cell::Text(key.as_str().to_owned())));
        let now = sql.bind(Cell::Time(now));
        sql.push(&format!(
            "SELECT fingerprint, status, sealed FROM replays WHERE tenant_id = {tenant} AND key = {key} AND expires_at > {now}"
        ));
        self.find(&sql, stored_replay).await
    }

    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool> {
        Ok(!self.apart(&keeping(tenant, &replay), int).await?.is_empty())
    }

    /// An event is shown when every transaction that began before its own has ended, for such a one may yet commit
    /// before it in the order of the feed. Transactions are short, so events that are held back are waited for a
    /// little; one that is left open anywhere in the cluster holds the feed back for as long as it stays.
    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        since: Timestamp,
        after: Option<&Position>,
        limit: u16,
    ) -> Read<FeedPage> {
        let sql = feed_sql(tenant, filter, since, after, limit);
        let mut tried = 1;
        let settled = loop {
            let found = self.apart(&sql, |row| Ok((flag(row)?, int(row)?, versioned::<Event>(row)?.value))).await?;
            let all = found.len();
            let settled: Vec<_> = found.into_iter().filter(|(settled, ..)| *settled).collect();
            if settled.len() == all || settled.len() >= usize::from(limit) || tried == SETTLING_TRIES {
                break settled;
            }
            tried += 1;
            sleep(SETTLING).await;
        };
        let page = Page::of(settled, limit);
        let last = page.items.last().map(|(_, rank, it)| Position { key: Key::Rank(*rank), id: it.id.to_bytes() });
        Ok(FeedPage {
            next: last.or_else(|| after.cloned()),
            events: page.items.into_iter().map(|(_, _, it)| it).collect(),
            more: page.more,
        })
    }

    async fn audit_log(
        &self,
        tenant: Tenant,
        filter: &audit::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<AuditEntry>> {
        self.list(tenant, Listing::audit(filter, sort, page)).await
    }

    async fn sweep(&self, now: Timestamp, events_before: Timestamp, most: u32) -> Read<u64> {
        let expired = doomed("replays", "key", "expires_at <=", now, most);
        let old = doomed("events", "id", "created_at <", events_before, most);
        let gone = self.apart(&expired, int).await?.into_iter().chain(self.apart(&old, int).await?);
        Ok(gone.map(|it| u64::try_from(it).unwrap_or_default()).sum())
    }
}

fn feed_sql(tenant: Tenant, filter: &FeedFilter, since: Timestamp, after: Option<&Position>, limit: u16) -> Sql {
    let mut sql = Sql::default();
    let (tenant, since) = (sql.id(tenant.to_bytes()), sql.bind(Cell::Time(since)));
    let rows = sql.bind(Cell::Int(i64::from(limit) + 1));
    let mut conditions = String::new();
    if let Some(Position { key: Key::Rank(rank), id }) = after {
        let (rank, id) = (sql.bind(Cell::Int(*rank)), sql.id(*id));
        conditions.push_str(&format!(" AND (position, id) > ({rank}, {id})"));
    }
    if !filter.kinds.is_empty() {
        let kinds = sql.many(Type::Text, filter.kinds.iter().map(|it| Cell::Text(it.word().to_owned())));
        conditions.push_str(&format!(" AND type = ANY({kinds})"));
    }
    sql.push(&format!(
        "SELECT position < (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + feed_offset()), position, {} \
         FROM events WHERE tenant_id = {tenant} AND created_at >= {since}{conditions} ORDER BY position, id LIMIT {rows}",
        columns(Event::TABLE, "")
    ));
    sql
}

/// Removes rows before an instant, oldest first. Several instances sweep at once; none waits for another.
fn doomed(table: &str, key: &str, condition: &str, at: Timestamp, most: u32) -> Sql {
    let mut sql = Sql::default();
    let (at, most) = (sql.bind(Cell::Time(at)), sql.bind(Cell::Int(i64::from(most))));
    let column = condition.split(' ').next().unwrap_or_default();
    sql.push(&format!(
        "WITH doomed AS MATERIALIZED (SELECT tenant_id, {key} FROM {table} WHERE {condition} {at} ORDER BY {column} \
         LIMIT {most} FOR UPDATE SKIP LOCKED), \
         gone AS (DELETE FROM {table} AS t USING doomed AS d WHERE t.tenant_id = d.tenant_id AND t.{key} = d.{key} RETURNING 1) \
         SELECT count(*) FROM gone"
    ));
    sql
}

fn stored_replay(row: &mut dyn Fetch) -> Result<StoredReplay, Failure> {
    let corrupt = |column, reason: &str| StorageError::Corrupt { table: "replays", column, reason: reason.to_owned() };
    let fingerprint = row.bytes().map_err(Failure::Other)?.unwrap_or_default();
    let fingerprint = <[u8; 32]>::try_from(fingerprint).map_err(|_| corrupt("fingerprint", "not 32 bytes"))?;
    let status = u16::try_from(int(row)?).map_err(|_| corrupt("status", "not a status"))?;
    let sealed = row.bytes().map_err(Failure::Other)?.unwrap_or_default();
    Ok(StoredReplay { fingerprint: Fingerprint::from_bytes(fingerprint), status, sealed })
}
