//! The full-text index: segments in three tables, and the rows waiting to be indexed.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::search_index::UnindexedTable;
use candor_port_storage::search_index::{IndexChange, IndexState, PendingRow, SearchIndex, WantedBlocks};
use candor_port_storage::{CommitError, Version};
use candor_search_index::{Block, Segment, SegmentContents};
use candor_tables::AnyRow;
use candor_tables::flat::CellReader;

use crate::SqliteStore;
use crate::connection::writer;
use crate::sql::refusal::commit_error;
use crate::sql::row::tenant_of;
use crate::sql::{Db, Sql, Value};

const WAIT: &str = "INSERT INTO search_pending (tenant_id, table_name, id, version) VALUES (?, ?, ?, ?) \
    ON CONFLICT (tenant_id, table_name, id) DO UPDATE SET version = excluded.version";
const SEGMENTS: &str = "SELECT id, documents, newest, oldest, fences FROM search_segments \
    WHERE tenant_id = ? AND table_name = ? AND replaced_at IS NULL";
const PENDING: &str = "SELECT id, version FROM search_pending WHERE tenant_id = ? AND table_name = ? LIMIT ?";
const LAST_BLOCK: &str = "SELECT first_key, body FROM search_blocks WHERE tenant_id = ? AND segment_id = ? \
    AND first_key <= ? ORDER BY first_key DESC LIMIT 1";
const BLOCKS_BEFORE: &str = "SELECT first_key, body FROM search_blocks WHERE tenant_id = ?1 AND segment_id = ?2 \
    AND first_key >= coalesce((SELECT max(first_key) FROM search_blocks WHERE tenant_id = ?1 AND segment_id = ?2 \
    AND first_key <= ?3), x'') AND first_key < ?4 ORDER BY first_key";
const CHUNK: &str = "SELECT body FROM search_chunks WHERE tenant_id = ? AND segment_id = ? AND number = ?";
const INDEXED: &str =
    "DELETE FROM search_pending WHERE tenant_id = ? AND table_name = ? AND id = ? AND version = ?";
const REPLACED: &str =
    "UPDATE search_segments SET replaced_at = ? WHERE tenant_id = ? AND id = ? AND replaced_at IS NULL";
const ADD_SEGMENT: &str = "INSERT INTO search_segments (tenant_id, id, table_name, documents, newest, oldest, \
    fences) VALUES (?, ?, ?, ?, ?, ?, ?)";
const ADD_BLOCK: &str = "INSERT INTO search_blocks (tenant_id, segment_id, first_key, body) VALUES (?, ?, ?, ?)";
const ADD_CHUNK: &str = "INSERT INTO search_chunks (tenant_id, segment_id, number, body) VALUES (?, ?, ?, ?)";
const FIRST_PENDING: &str =
    "SELECT tenant_id, table_name FROM search_pending ORDER BY tenant_id, table_name LIMIT 1";
const NEXT_PENDING: &str = "SELECT tenant_id, table_name FROM search_pending \
    WHERE (tenant_id, table_name) > (?1, ?2) ORDER BY tenant_id, table_name LIMIT 1";
const GONE: &str = "SELECT tenant_id, id FROM search_segments WHERE replaced_at < ? ORDER BY replaced_at LIMIT ?";
const REMOVALS: [&str; 3] = [
    "DELETE FROM search_blocks WHERE tenant_id = ? AND segment_id = ?",
    "DELETE FROM search_chunks WHERE tenant_id = ? AND segment_id = ?",
    "DELETE FROM search_segments WHERE tenant_id = ? AND id = ?",
];
const BACKLOG: &str = "SELECT tenant_id, table_name, after_id FROM search_backlog \
    WHERE ?1 IS NULL OR tenant_id = ?1 ORDER BY tenant_id, table_name LIMIT ?2";
const GONE_ON: &str =
    "UPDATE search_backlog SET after_id = ? WHERE tenant_id = ? AND table_name = ? AND after_id = ?";
const DONE: &str = "DELETE FROM search_backlog WHERE tenant_id = ? AND table_name = ? AND after_id = ?";

const NO_TIME: &str = "a segment of the full-text index has no creation times";

/// Queues a written row for indexing if the row is searchable.
pub(crate) fn wait(db: &mut Db, tenant: Tenant, row: &AnyRow) -> Result<(), CommitError> {
    if !row.is_searched() {
        return Ok(());
    }
    let sql = Sql::new(WAIT).bind(tenant).bind(row.table().name).bind(row.id()).bind(row.version().0);
    db.execute(&sql).map(drop).map_err(|error| commit_error(&error))
}

#[async_trait]
impl SearchIndex for SqliteStore {
    async fn index_state(&self, tenant: Tenant, table: &str, most: u16) -> Read<IndexState> {
        let (table, most) = (Value::from(table), i64::from(most));
        self.look_up(tenant, move |db| {
            // One read transaction: between two snapshots, a row could move from the pending rows into a segment.
            let moment = db.moment()?;
            let sql = Sql::new(SEGMENTS).bind(tenant).bind(table.clone());
            let segments = moment.0.rows(sql, segment)?;
            let sql = Sql::new(PENDING).bind(tenant).bind(table.clone()).bind(most);
            let pending =
                moment.0.rows(sql, |row| Ok(PendingRow { id: id(row)?, version: Version(int(row)?) }))?;
            Ok(IndexState { segments, pending })
        })
        .await
    }

    async fn index_blocks(&self, tenant: Tenant, wanted: &[WantedBlocks]) -> Read<Vec<Vec<Block>>> {
        let block_keys = wanted.to_vec();
        self.look_up_all(tenant, block_keys.len(), move |db| {
            // One read transaction for all lookups: otherwise each statement would open its own.
            let moment = db.moment()?;
            let blocks = block_keys.iter().map(|block| blocks(moment.0, tenant, block));
            blocks.collect()
        })
        .await
    }

    async fn index_chunks(&self, tenant: Tenant, wanted: &[([u8; 16], u32)]) -> Read<Vec<Vec<u8>>> {
        let chunk_keys = wanted.to_vec();
        self.look_up_all(tenant, chunk_keys.len(), move |db| {
            let moment = db.moment()?;
            let chunks = chunk_keys.iter().map(|(segment, number)| {
                let sql = Sql::new(CHUNK).bind(tenant).bind(*segment).bind(i64::from(*number));
                Ok(moment.0.first(sql, bytes)?.unwrap_or_default())
            });
            chunks.collect()
        })
        .await
    }

    async fn change_index(&self, tenant: Tenant, table: &str, change: IndexChange) -> Read<bool> {
        let table = table.to_owned();
        let write_result =
            writer::ask_for(&self.tasks, tenant, true, move |db| write(db, tenant, &table, &change)).await;
        match write_result {
            Ok(()) => Ok(true),
            Err(CommitError::Stale) => Ok(false),
            Err(CommitError::Storage(error)) => Err(error),
            Err(
                it @ (CommitError::Taken(_)
                | CommitError::Broken(_)
                | CommitError::Missing
                | CommitError::TooWide
                | CommitError::Replayed),
            ) => Err(StorageError::Failed(it.to_string())),
        }
    }

    async fn next_pending(&self, after: Option<&(Tenant, String)>) -> Read<Option<(Tenant, String)>> {
        let sql = match after {
            None => Sql::new(FIRST_PENDING),
            Some((tenant, table)) => Sql::new(NEXT_PENDING).bind(*tenant).bind(table.as_str()),
        };
        self.look_up(None, move |db| {
            db.first(sql.clone(), |row| Ok((tenant_of(row, "search_pending")?, text(row)?)))
        })
        .await
    }

    async fn remove_replaced(&self, before: Timestamp, most: u16) -> Read<u64> {
        writer::ask_for(&self.tasks, None, true, move |db| {
            let sql = Sql::new(GONE).bind(before).bind(i64::from(most));
            let removed_segments = db.rows(sql, |row| Ok((tenant_of(row, "search_segments")?, id(row)?)))?;
            for (tenant, segment) in &removed_segments {
                for text in REMOVALS {
                    db.run(&Sql::new(text).bind(*tenant).bind(*segment))?;
                }
            }
            Ok(removed_segments.len() as u64)
        })
        .await
    }

    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<UnindexedTable>> {
        let owner = tenant.map_or(Value::Null, Value::from);
        self.look_up(tenant, move |db| {
            db.rows(Sql::new(BACKLOG).bind(owner.clone()).bind(i64::from(most)), backlog)
        })
        .await
    }
}

/// Returns the blocks that overlap a range. Usually that is only the last block that starts before the end of
/// the range, so it is read first.
fn blocks(db: &mut Db, tenant: Tenant, wanted_blocks: &WantedBlocks) -> Read<Vec<Block>> {
    let block_query = |text| Sql::new(text).bind(tenant).bind(wanted_blocks.segment);
    let read = |row: &mut dyn CellReader| Ok(Block { first: bytes(row)?, body: bytes(row)? });
    let Some(last) = db.first(block_query(LAST_BLOCK).bind(wanted_blocks.range.to.as_slice()), read)? else {
        return Ok(vec![]);
    };
    if last.first <= wanted_blocks.range.from {
        return Ok(vec![last]);
    }
    let sql = block_query(BLOCKS_BEFORE).bind(wanted_blocks.range.from.as_slice()).bind(last.first.as_slice());
    let mut blocks = db.rows(sql, read)?;
    blocks.push(last);
    Ok(blocks)
}

/// Changes the index. Fails with `Stale` if another worker has done the same work.
fn write(db: &mut Db, tenant: Tenant, table: &str, change: &IndexChange) -> Result<(), CommitError> {
    let (sql, mut indexed) = (Sql::new(INDEXED).bind(tenant).bind(table), 0);
    for it in &change.indexed {
        indexed += count_changes(db, sql.clone().bind(it.id).bind(it.version.0))?;
    }
    if indexed == 0 && !change.indexed.is_empty() {
        return Err(CommitError::Stale);
    }
    for it in &change.replaced {
        if count_changes(db, Sql::new(REPLACED).bind(change.at).bind(tenant).bind(*it))? == 0 {
            return Err(CommitError::Stale);
        }
    }
    if let Some((backlog, up_to)) = &change.backlog {
        let sql = up_to.map_or_else(|| Sql::new(DONE), |id| Sql::new(GONE_ON).bind(id));
        let sql = sql.bind(backlog.tenant).bind(backlog.table.as_str()).bind(backlog.after);
        if count_changes(db, sql)? == 0 {
            return Err(CommitError::Stale);
        }
    }
    change.segment.as_ref().map_or(Ok(()), |segment| add(db, tenant, table, segment))
}

fn add(db: &mut Db, tenant: Tenant, table: &str, contents: &SegmentContents) -> Result<(), CommitError> {
    let Segment { id, documents, newest, oldest, fences } = &contents.segment;
    let sql = Sql::new(ADD_SEGMENT).bind(tenant).bind(*id).bind(table).bind(i64::from(*documents));
    count_changes(db, sql.bind(*newest).bind(*oldest).bind(fences.as_slice()))?;
    for block in &contents.blocks {
        let sql = Sql::new(ADD_BLOCK).bind(tenant).bind(*id);
        count_changes(db, sql.bind(block.first.as_slice()).bind(block.body.as_slice()))?;
    }
    for (number, chunk) in (0_i64..).zip(&contents.chunks) {
        count_changes(db, Sql::new(ADD_CHUNK).bind(tenant).bind(*id).bind(number).bind(chunk.as_slice()))?;
    }
    Ok(())
}

/// Executes a statement and returns the number of changed rows.
fn count_changes(db: &mut Db, sql: Sql) -> Result<usize, CommitError> {
    db.execute(&sql).map_err(|error| commit_error(&error))
}

fn segment(row: &mut dyn CellReader) -> Read<Segment> {
    let (id, documents) = (id(row)?, u32::try_from(int(row)?).unwrap_or(u32::MAX));
    let mut time =
        || row.time().map_err(StorageError::Failed)?.ok_or_else(|| StorageError::Failed(NO_TIME.to_owned()));
    let (newest, oldest) = (time()?, time()?);
    Ok(Segment { id, documents, newest, oldest, fences: bytes(row)? })
}

fn backlog(row: &mut dyn CellReader) -> Read<UnindexedTable> {
    Ok(UnindexedTable { tenant: tenant_of(row, "search_backlog")?, table: text(row)?, after: id(row)? })
}

fn id(row: &mut dyn CellReader) -> Read<[u8; 16]> {
    row.id().map(Option::unwrap_or_default).map_err(StorageError::Failed)
}

fn int(row: &mut dyn CellReader) -> Read<i64> {
    row.int().map(Option::unwrap_or_default).map_err(StorageError::Failed)
}

fn text(row: &mut dyn CellReader) -> Read<String> {
    row.text().map(Option::unwrap_or_default).map_err(StorageError::Failed)
}

fn bytes(row: &mut dyn CellReader) -> Read<Vec<u8>> {
    row.bytes().map(Option::unwrap_or_default).map_err(StorageError::Failed)
}
