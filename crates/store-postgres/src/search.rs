//! Storage of the full-text index: segments as rows of three tables, and the queue of rows to index.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_port_storage::Version;
use candor_port_storage::error::Read;
use candor_port_storage::search_index::UnindexedTable;
use candor_port_storage::search_index::{IndexChange, IndexState, PendingRow, SearchIndex, WantedBlocks};
use candor_search_index::{Block, Segment, SegmentContents};
use candor_tables::flat::{CellReader, SqlValue, Type};

use crate::failure::Failure;
use crate::layout::statement::assert_sql;
use crate::nodes::transaction::{Transaction, send};
use crate::sql::Sql;
use crate::sql::row::{id, int, owner};
use crate::store::PostgresStore;

/// Name of the check that fails if another worker already made the change.
const OVERTAKEN: &str = "overtaken";
/// Maximum number of block ranges or chunks read on a shared connection. More are read on a pooled one.
const FEW: usize = 256;

#[async_trait]
impl SearchIndex for PostgresStore {
    /// Uses one statement, for a consistent snapshot: every row is in the queue, in a segment, or in both.
    async fn index_state(&self, tenant: Tenant, table: &str, most: u16) -> Read<IndexState> {
        let mut sql = Sql::default();
        let (tenant, table) = (sql.tenant(tenant), sql.bind(SqlValue::Text(table.to_owned())));
        let most = sql.bind(SqlValue::Int(most.into()));
        sql.push(&format!(
            "SELECT id, documents, newest, oldest, fences FROM search_segments \
             WHERE tenant_id = {tenant} AND table_name = {table} AND replaced_at IS NULL UNION ALL \
             SELECT id, version, NULL, NULL, NULL FROM (SELECT id, version FROM search_pending \
             WHERE tenant_id = {tenant} AND table_name = {table} LIMIT {most}) AS p"
        ));
        let mut state = IndexState::default();
        for it in self.read(&sql, part).await? {
            match it {
                Part::Segment(it) => state.segments.push(it),
                Part::Pending(it) => state.pending.push(it),
            }
        }
        Ok(state)
    }

    async fn index_blocks(&self, tenant: Tenant, wanted: &[WantedBlocks]) -> Read<Vec<Vec<Block>>> {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        let numbers = sql.many(Type::Int, (0..).zip(wanted).map(|(at, _)| SqlValue::Int(at)));
        let segments = sql.ids(wanted.iter().map(|block| block.segment));
        let from = sql.many(Type::Bytes, wanted.iter().map(|block| SqlValue::Bytes(block.range.from.clone())));
        let to = sql.many(Type::Bytes, wanted.iter().map(|block| SqlValue::Bytes(block.range.to.clone())));
        let block_source =
            format!("FROM search_blocks AS b WHERE b.tenant_id = {tenant} AND b.segment_id = w.segment_id");
        sql.push(&format!(
            "SELECT w.number, f.first_key, f.body FROM UNNEST({numbers}, {segments}, {from}, {to}) \
             AS w (number, segment_id, first, last) CROSS JOIN LATERAL (SELECT b.first_key, b.body {block_source} \
             AND b.first_key >= coalesce((SELECT b.first_key {block_source} AND b.first_key <= w.first \
             ORDER BY b.first_key DESC LIMIT 1), ''::bytea) AND b.first_key <= w.last ORDER BY b.first_key \
             OFFSET 0) AS f"
        ));
        let read = |row: &mut dyn CellReader| Ok((place(row)?, Block { first: bytes(row)?, body: bytes(row)? }));
        let read_blocks = if wanted.len() <= FEW {
            self.read(&sql, read).await?
        } else {
            self.run_exclusive(&sql, read).await?
        };
        let mut blocks: Vec<Vec<Block>> = vec![vec![]; wanted.len()];
        for (at, block) in read_blocks {
            if let Some(it) = blocks.get_mut(at) {
                it.push(block);
            }
        }
        Ok(blocks)
    }

    async fn index_chunks(&self, tenant: Tenant, wanted: &[([u8; 16], u32)]) -> Read<Vec<Vec<u8>>> {
        let mut sql = Sql::default();
        let tenant = sql.tenant(tenant);
        let numbers = sql.many(Type::Int, (0..).zip(wanted).map(|(at, _)| SqlValue::Int(at)));
        let segments = sql.ids(wanted.iter().map(|(segment, _)| *segment));
        let chunks = sql.many(Type::Int, wanted.iter().map(|(_, number)| SqlValue::Int(i64::from(*number))));
        sql.push(&format!(
            "SELECT w.number, c.body \
             FROM UNNEST({numbers}, {segments}, {chunks}) AS w (number, segment_id, chunk) \
             CROSS JOIN LATERAL (SELECT body FROM search_chunks WHERE tenant_id = {tenant} \
             AND segment_id = w.segment_id AND number = w.chunk OFFSET 0) AS c"
        ));
        let read = |row: &mut dyn CellReader| Ok((place(row)?, bytes(row)?));
        let read_chunks = if wanted.len() <= FEW {
            self.read(&sql, read).await?
        } else {
            self.run_exclusive(&sql, read).await?
        };
        let mut chunks = vec![vec![]; wanted.len()];
        for (at, body) in read_chunks {
            if let Some(it) = chunks.get_mut(at) {
                *it = body;
            }
        }
        Ok(chunks)
    }

    async fn change_index(&self, tenant: Tenant, table: &str, change: IndexChange) -> Read<bool> {
        let statements = statements(tenant, table, &change);
        let result = send(&self.nodes, &Transaction::from_marked(statements), |_| Ok(())).await;
        match result {
            Ok(_) => Ok(true),
            Err(Failure::Check(word)) if word == OVERTAKEN => Ok(false),
            Err(failure) => Err(failure.into_storage()),
        }
    }

    async fn next_pending(&self, after: Option<&(Tenant, String)>) -> Read<Option<(Tenant, String)>> {
        let mut sql = Sql::default();
        let resume_condition = after.map(|(tenant, table)| {
            let (tenant, table) = (sql.id(tenant.to_bytes()), sql.bind(SqlValue::Text(table.clone())));
            format!("WHERE (tenant_id, table_name) > ({tenant}, {table})")
        });
        let start_condition = resume_condition.unwrap_or_default();
        sql.push(&format!(
            "SELECT tenant_id, table_name FROM search_pending {start_condition} ORDER BY tenant_id, table_name LIMIT 1"
        ));
        let next = self
            .run_exclusive(&sql, |row| Ok((owner(row)?, row.text().map_err(Failure::Other)?.unwrap_or_default())));
        // A cluster answers with one row of each node.
        Ok(next.await?.into_iter().min_by_key(|(tenant, table)| (tenant.to_bytes(), table.clone())))
    }

    async fn remove_replaced(&self, before: Timestamp, most: u16) -> Read<u64> {
        let mut sql = Sql::default();
        let (before, most) = (sql.bind(SqlValue::Time(before)), sql.bind(SqlValue::Int(most.into())));
        sql.push(&format!(
            "SELECT tenant_id, id FROM search_segments WHERE replaced_at < {before} ORDER BY replaced_at \
             LIMIT {most}"
        ));
        let removed_segments = self.run_exclusive(&sql, |row| Ok((owner(row)?, id(row)?))).await?;
        for (tenant, segment) in &removed_segments {
            let tables =
                [("search_blocks", "segment_id"), ("search_chunks", "segment_id"), ("search_segments", "id")];
            let removal = tables.map(|(table, key)| {
                let mut sql = Sql::default();
                let (tenant, segment) = (sql.tenant(*tenant), sql.id(*segment));
                sql.push(&format!("DELETE FROM {table} WHERE tenant_id = {tenant} AND {key} = {segment}"));
                (sql, false)
            });
            let removal = Transaction::from_marked(removal.into());
            send(&self.nodes, &removal, |_| Ok(())).await.map_err(Failure::into_storage)?;
        }
        Ok(removed_segments.len() as u64)
    }

    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<UnindexedTable>> {
        let mut sql = Sql::default();
        let whose =
            tenant.map(|tenant| format!("WHERE tenant_id = {}", sql.id(tenant.to_bytes()))).unwrap_or_default();
        let most = sql.bind(SqlValue::Int(most.into()));
        sql.push(&format!(
            "SELECT tenant_id, table_name, after_id FROM search_backlog {whose} ORDER BY tenant_id, table_name \
             LIMIT {most}"
        ));
        self.read(&sql, backlog).await
    }
}

/// Builds the statements of a change to the index. The flags are `false`: no row is part of a result.
fn statements(tenant: Tenant, table: &str, change: &IndexChange) -> Vec<(Sql, bool)> {
    let mut all = vec![];
    if !change.indexed.is_empty() {
        all.push(remove_indexed(tenant, table, &change.indexed));
    }
    if !change.replaced.is_empty() {
        all.push(replace_segments(tenant, change));
    }
    if let Some((backlog, up_to)) = &change.backlog {
        all.push(advance_backlog(backlog, *up_to));
    }
    if let Some(it) = &change.segment {
        all.extend(insert_segment(tenant, table, it));
    }
    all.into_iter().map(|id| (id, false)).collect()
}

/// Builds the statement that removes indexed rows from the queue. Rows that were written after the worker read
/// them, or that a writer locks now, stay queued.
fn remove_indexed(tenant: Tenant, table: &str, rows: &[PendingRow]) -> Sql {
    let mut sql = Sql::default();
    let (tenant, table) = (sql.tenant(tenant), sql.bind(SqlValue::Text(table.to_owned())));
    let ids = sql.ids(rows.iter().map(|row| row.id));
    let versions = sql.many(Type::Int, rows.iter().map(|row| SqlValue::Int(row.version.0)));
    let some = assert_sql("(SELECT count(*) FROM gone) > 0", OVERTAKEN);
    // Lookups by key, because the planner misjudges a mostly empty table. A slow statement would block the
    // writers of these rows.
    sql.push(&format!(
        "WITH mine AS MATERIALIZED (SELECT p.id FROM UNNEST({ids}, {versions}) AS u (id, version) \
         CROSS JOIN LATERAL (SELECT q.id FROM search_pending AS q \
         WHERE q.tenant_id = {tenant} AND q.table_name = {table} AND q.id = u.id AND q.version = u.version FOR UPDATE SKIP LOCKED) AS p), \
         gone AS (DELETE FROM search_pending WHERE tenant_id = {tenant} AND table_name = {table} \
         AND id = ANY(ARRAY(SELECT id FROM mine)) RETURNING 1) SELECT {some}"
    ));
    sql
}

fn replace_segments(tenant: Tenant, change: &IndexChange) -> Sql {
    let mut sql = Sql::default();
    let (tenant, at) = (sql.tenant(tenant), sql.bind(SqlValue::Time(change.at)));
    let ids = sql.ids(change.replaced.iter().copied());
    let count = sql.bind(SqlValue::Int(i64::try_from(change.replaced.len()).unwrap_or(i64::MAX)));
    let all = assert_sql(&format!("(SELECT count(*) FROM gone) = {count}"), OVERTAKEN);
    sql.push(&format!(
        "WITH gone AS (UPDATE search_segments SET replaced_at = {at} WHERE tenant_id = {tenant} \
         AND id = ANY({ids}) AND replaced_at IS NULL RETURNING 1) SELECT {all}"
    ));
    sql
}

fn advance_backlog(backlog: &UnindexedTable, up_to: Option<[u8; 16]>) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(backlog.tenant);
    let (name, after) = (sql.bind(SqlValue::Text(backlog.table.clone())), sql.id(backlog.after));
    let change = match up_to {
        Some(id) => format!("UPDATE search_backlog SET after_id = {}", sql.id(id)),
        None => "DELETE FROM search_backlog".to_owned(),
    };
    let mine = assert_sql("(SELECT count(*) FROM gone) = 1", OVERTAKEN);
    sql.push(&format!(
        "WITH gone AS ({change} WHERE tenant_id = {tenant} AND table_name = {name} AND after_id = {after} \
         RETURNING 1) SELECT {mine}"
    ));
    sql
}

fn insert_segment(tenant: Tenant, table: &str, contents: &SegmentContents) -> [Sql; 3] {
    let (mut head, mut blocks, mut chunks) = (Sql::default(), Sql::default(), Sql::default());
    let Segment { id, documents, newest, oldest, fences } = &contents.segment;
    let cells = [
        SqlValue::Id(tenant.to_bytes()),
        SqlValue::Id(*id),
        SqlValue::Text(table.to_owned()),
        SqlValue::Int(i64::from(*documents)),
        SqlValue::Time(*newest),
        SqlValue::Time(*oldest),
        SqlValue::Bytes(fences.clone()),
    ];
    let values = cells.map(|cell| head.bind(cell)).join(", ");
    head.push(&format!(
        "INSERT INTO search_segments (tenant_id, id, table_name, documents, newest, oldest, fences) \
         VALUES ({values})"
    ));
    let (own, segment) = (blocks.tenant(tenant), blocks.id(*id));
    let first = blocks.many(Type::Bytes, contents.blocks.iter().map(|block| SqlValue::Bytes(block.first.clone())));
    let body = blocks.many(Type::Bytes, contents.blocks.iter().map(|block| SqlValue::Bytes(block.body.clone())));
    blocks.push(&format!(
        "INSERT INTO search_blocks (tenant_id, segment_id, first_key, body) \
         SELECT {own}, {segment}, u.first_key, u.body FROM UNNEST({first}, {body}) AS u (first_key, body)"
    ));
    let (own, segment) = (chunks.tenant(tenant), chunks.id(*id));
    let number = chunks.many(Type::Int, (0..).zip(&contents.chunks).map(|(at, _)| SqlValue::Int(at)));
    let body = chunks.many(Type::Bytes, contents.chunks.iter().map(|chunk| SqlValue::Bytes(chunk.clone())));
    chunks.push(&format!(
        "INSERT INTO search_chunks (tenant_id, segment_id, number, body) \
         SELECT {own}, {segment}, u.number, u.body FROM UNNEST({number}, {body}) AS u (number, body)"
    ));
    [head, blocks, chunks]
}

enum Part {
    Segment(Segment),
    Pending(PendingRow),
}

/// Reads a segment or a pending row. A pending row has null instead of the newest and oldest time of a segment.
fn part(row: &mut dyn CellReader) -> Result<Part, Failure> {
    let (id, number) = (id(row)?, int(row)?);
    let times = (row.time().map_err(Failure::Other)?, row.time().map_err(Failure::Other)?);
    let (Some(newest), Some(oldest)) = times else {
        return Ok(Part::Pending(PendingRow { id, version: Version(number) }));
    };
    let documents = u32::try_from(number).unwrap_or(u32::MAX);
    Ok(Part::Segment(Segment { id, documents, newest, oldest, fences: bytes(row)? }))
}

fn bytes(row: &mut dyn CellReader) -> Result<Vec<u8>, Failure> {
    row.bytes().map(Option::unwrap_or_default).map_err(Failure::Other)
}

fn place(row: &mut dyn CellReader) -> Result<usize, Failure> {
    Ok(usize::try_from(int(row)?).unwrap_or(usize::MAX))
}

fn backlog(row: &mut dyn CellReader) -> Result<UnindexedTable, Failure> {
    let tenant = owner(row)?;
    let table = row.text().map_err(Failure::Other)?.unwrap_or_default();
    Ok(UnindexedTable { tenant, table, after: id(row)? })
}
