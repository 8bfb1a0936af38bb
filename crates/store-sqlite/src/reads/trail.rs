//! What is written with every change: answers for retries, events and the audit log.

use async_trait::async_trait;

use candor_domain::access::Tenant;
use candor_domain::audit::{self, AuditEntry};
use candor_domain::event::{Event, FeedFilter};
use candor_domain::fields::Word;
use candor_domain::page::{Key, Page, PageRequest, Position, Sort};
use candor_domain::replay::{Fingerprint, IdempotencyKey, Replay};
use candor_domain::time::Timestamp;
use candor_port_storage::flat::{Fetch, Reader, Stored};
use candor_port_storage::listing::Listing;
use candor_port_storage::store::{FeedPage, Read, Trail};
use candor_port_storage::{CommitError, StorageError, StoredReplay};

use crate::sql::{Db, Sql, failed};
use crate::text::Draft;
use crate::{SqliteStore, commit, list, writer};

const ANSWER: &str =
    "SELECT fingerprint, status, sealed FROM replays WHERE tenant_id = ? AND key = ? AND expires_at > ?";

const FORGET_ANSWERS: &str = "DELETE FROM replays WHERE (tenant_id, key) IN \
    (SELECT tenant_id, key FROM replays WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)";

const FORGET_EVENTS: &str = "DELETE FROM events WHERE position IN \
    (SELECT position FROM events WHERE created_at < ? ORDER BY created_at LIMIT ?)";

#[async_trait]
impl Trail for SqliteStore {
    async fn replay(&self, tenant: Tenant, key: &IdempotencyKey, now: Timestamp) -> Read<Option<StoredReplay>> {
        let sql = Sql::new(ANSWER).bind(tenant).bind(key.as_str()).bind(now);
        self.look_up(move |db| db.first(sql, answer)).await
    }

    async fn keep(&self, tenant: Tenant, replay: Replay) -> Read<bool> {
        let kept = writer::ask(&self.tasks, move |db| commit::keep_answer(db, tenant, &replay)).await;
        match kept {
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
        since: Timestamp,
        after: Option<&Position>,
        limit: u16,
    ) -> Read<FeedPage> {
        let (kinds, after) = (filter.kinds.clone(), after.cloned());
        self.read(move |db| {
            let mut draft = Draft::default();
            draft.add("SELECT ").add(&db.statements(Event::TABLE).columns).add(", position FROM events");
            draft.with(" WHERE tenant_id = ", tenant).with(" AND position > ", behind(after.as_ref()));
            draft.with(" AND created_at >= ", since);
            if !kinds.is_empty() {
                draft.any_of(" AND type", kinds.iter().map(|it| it.word()));
            }
            draft.with(" ORDER BY position LIMIT ", i64::from(limit) + 1);
            let mut events = db.rows(draft.finish(), placed)?;
            let more = events.len() > usize::from(limit);
            events.truncate(limit.into());
            let last = events.last().map(|(event, rank)| Position { key: Key::Rank(*rank), id: event.id.to_bytes() });
            let events = events.into_iter().map(|(event, _)| event).collect();
            Ok(FeedPage { events, next: last.or(after), more })
        })
        .await
    }

    async fn audit_log(
        &self,
        tenant: Tenant,
        filter: &audit::Filter,
        sort: Sort,
        page: &PageRequest,
    ) -> Read<Page<AuditEntry>> {
        let listing = Listing::audit(filter, sort, page);
        self.read(move |db| list::page(db, tenant, &listing)).await
    }

    async fn sweep(&self, now: Timestamp, events_before: Timestamp, most: u32) -> Read<u64> {
        let most = i64::from(most);
        let sweep = move |db: &mut Db| {
            let answers = db.execute(&Sql::new(FORGET_ANSWERS).bind(now).bind(most)).map_err(|it| failed(&it))?;
            let events =
                db.execute(&Sql::new(FORGET_EVENTS).bind(events_before).bind(most)).map_err(|it| failed(&it))?;
            Ok((answers + events) as u64)
        };
        writer::ask(&self.tasks, sweep).await
    }
}

fn behind(after: Option<&Position>) -> i64 {
    match after.map(|it| &it.key) {
        Some(Key::Rank(rank)) => *rank,
        Some(Key::Time(_) | Key::Date(_) | Key::Text(_)) | None => 0,
    }
}

fn placed(row: &mut dyn Fetch) -> Result<(Event, i64), StorageError> {
    let mut reader = Reader::new(row, Event::TABLE);
    Ok((Event::read(&mut reader)?, reader.int()?))
}

fn answer(row: &mut dyn Fetch) -> Result<StoredReplay, StorageError> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: "replays", column, reason };
    let absent = || "null".to_owned();
    let fingerprint = row.bytes().and_then(|it| it.ok_or_else(absent)).map_err(corrupt("fingerprint"))?;
    let fingerprint = fingerprint.try_into().map_err(|_| corrupt("fingerprint")("not 32 bytes".to_owned()))?;
    let status = row.int().and_then(|it| it.ok_or_else(absent)).map_err(corrupt("status"))?;
    let status = u16::try_from(status).map_err(|_| corrupt("status")(format!("unexpected value {status}")))?;
    let sealed = row.bytes().and_then(|it| it.ok_or_else(absent)).map_err(corrupt("sealed"))?;
    Ok(StoredReplay { fingerprint: Fingerprint::from_bytes(fingerprint), status, sealed })
}
