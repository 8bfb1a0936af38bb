//! History written with every change: replays, events and the audit log.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::event::{Event, FeedFilter, FeedStart};
use candor_domain::idempotency::{Fingerprint, IdempotencyKey, Replay};
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::store::{Expiry, FeedPage, History};
use candor_port_storage::{CommitError, StorageError, StoredReplay};
use candor_tables::flat::{CellReader, Stored};

use super::feed::{self, FeedRead};
use crate::SqliteStore;
use crate::commit;
use crate::connection::writer;
use crate::sql::{Db, Sql};

const SELECT_REPLAY: &str =
    "SELECT fingerprint, status, sealed FROM replays WHERE tenant_id = ? AND key = ? AND expires_at > ?";

const FORGET_REPLAYS: &str = "DELETE FROM replays WHERE (tenant_id, key) IN \
    (SELECT tenant_id, key FROM replays WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)";

const FORGET_EVENTS: &str = "DELETE FROM events WHERE position IN \
    (SELECT position FROM events WHERE created_at < ? ORDER BY created_at LIMIT ?)";

const FORGET_READ_NOTIFICATIONS: &str = "DELETE FROM notifications WHERE rowid IN \
    (SELECT rowid FROM notifications WHERE read_at < ? ORDER BY read_at LIMIT ?)";

const FORGET_NOTIFICATIONS: &str = "DELETE FROM notifications WHERE rowid IN \
    (SELECT rowid FROM notifications WHERE created_at < ? ORDER BY created_at LIMIT ?)";

#[async_trait]
impl History for SqliteStore {
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>> {
        let sql = Sql::new(SELECT_REPLAY).bind(tenant).bind(key.as_str()).bind(now);
        self.look_up(tenant, move |db| db.first(sql, read_replay)).await
    }

    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool> {
        let keep_result =
            writer::ask(&self.tasks, tenant, move |db| commit::keep_replay(db, tenant, &replay)).await;
        match keep_result {
            Ok(()) => Ok(true),
            Err(CommitError::Replayed) => Ok(false),
            Err(CommitError::Storage(error)) => Err(error),
            Err(other) => Err(StorageError::Failed(other.to_string())),
        }
    }

    async fn feed(
        &self,
        tenant: Tenant,
        filter: &FeedFilter,
        oldest: Timestamp,
        start: &FeedStart,
        limit: u16,
    ) -> Read<FeedPage> {
        let conditions = filter.conditions(start);
        let most = (!conditions.is_empty()).then_some(self.slow.limits.feed_scan);
        let feed_read =
            FeedRead { tenant, kinds: filter.kinds.clone(), oldest, start: start.clone(), limit, most };
        let are_large = self.row_sizes.are_large(tenant, Event::TABLE, limit.into());
        let read = move |db: &mut Db| feed::piece(db, &feed_read);
        let page = match (conditions.is_empty(), are_large) {
            (true, false) => self.read(tenant, read).await?,
            (true, true) => self.read_large(tenant, read).await?,
            (false, _) => self.slowly(tenant, conditions, read).await?,
        };
        let bytes = page.events.iter().map(|event| event.data.len()).sum();
        self.row_sizes.note(tenant, Event::TABLE, page.events.len(), bytes);
        Ok(page)
    }

    async fn sweep(&self, expiry: Expiry, most: u32) -> Read<u64> {
        let kinds = [
            (FORGET_REPLAYS, expiry.replays),
            (FORGET_EVENTS, expiry.events),
            (FORGET_READ_NOTIFICATIONS, expiry.read_notifications),
            (FORGET_NOTIFICATIONS, expiry.notifications),
        ];
        let mut swept = 0;
        // One transaction for each kind of rows, so that other writers do not wait for the whole sweep.
        for (text, until) in kinds {
            let sql = Sql::new(text).bind(until).bind(i64::from(most));
            swept += writer::ask(&self.tasks, None, move |db| db.run(&sql)).await? as u64;
        }
        Ok(swept)
    }
}

fn read_replay(row: &mut dyn CellReader) -> Read<StoredReplay> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: "replays", column, reason };
    let absent = || "null".to_owned();
    let fingerprint = row.bytes().and_then(|byte| byte.ok_or_else(absent)).map_err(corrupt("fingerprint"))?;
    let fingerprint = fingerprint.try_into().map_err(|_| corrupt("fingerprint")("not 32 bytes".to_owned()))?;
    let status = row.int().and_then(|number| number.ok_or_else(absent)).map_err(corrupt("status"))?;
    let status = u16::try_from(status).map_err(|_| corrupt("status")(format!("unexpected value {status}")))?;
    let sealed_reply = row.bytes().and_then(|byte| byte.ok_or_else(absent)).map_err(corrupt("sealed"))?;
    Ok(StoredReplay { fingerprint: Fingerprint::from_bytes(fingerprint), status, sealed: sealed_reply })
}
