//! Indexes changed rows for search in the background, and rows that are older than the index.

use std::collections::HashSet;

use candor_domain::access::Tenant;
use candor_domain::fields::StringEnum;
use candor_domain::id::Id;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::{Searchable, Type};
use candor_domain::summary::Summary;
use candor_port_storage::search_index::{IndexChange, UnindexedTable, WantedBlocks};
use candor_port_storage::{StorageExt, Version, Versioned};
use candor_search_index::{CHUNK, Document, KeyRange, Segment, SegmentContents, document, keys, to_merge};
use candor_tables::flat::Stored;
use metrics::{counter, gauge};
use tokio::task::spawn_blocking;

use crate::context::error::Error;
use crate::context::search_index::{self, TABLES, table};
use crate::context::services::Services;

/// Number of rows indexed in one commit: few, so that other writers do not wait long.
const PIECE: u16 = 2_000;
/// Size of the texts of one commit in bytes, after which no further row is added. In scripts without spaces nearly each
/// pair of characters is a term, and a term takes some hundred times its bytes while a segment is built.
const PIECE_BYTES: usize = 2 * 1024 * 1024;
/// Number of rows read at once until a piece is full.
const READ: usize = 100;
/// Maximum size of the terms of the segments that are merged into one, in bytes. Further segments are left for
/// another merge.
const MERGED_BYTES: usize = 16 * 1024 * 1024;
/// Number of segments removed in one commit.
const REMOVED: u16 = 50;
/// Time in seconds for which a replaced segment is kept, because a search may still read it.
const KEPT: i64 = 60;
/// Number of pieces between two progress messages.
const PIECES_BETWEEN_REPORTS: u64 = 100;

/// Metric name: rows that this process has indexed.
const INDEXED_ROWS: &str = "candor_search_indexed_rows_total";

/// Indexes rows that are older than the index, while `goes_on` returns `true`. Returns the number of rows that
/// this instance indexed. Safe to run on several instances at once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call indexes the rest.
pub async fn fill(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let (mut indexed, mut pieces) = (0, 0_u64);
    counter!(INDEXED_ROWS).increment(0);
    loop {
        let backlog = services.store.index_backlog(None, TABLES).await?;
        gauge!("candor_search_backlog_tables").set(u32::try_from(backlog.len()).unwrap_or(u32::MAX));
        services.search_index.set_complete(backlog.is_empty());
        // Tables take turns, so that a large one does not hold back all others.
        let turn = usize::try_from(pieces).unwrap_or_default() % backlog.len().max(1);
        let Some(next) = backlog.get(turn) else { return Ok(indexed) };
        if !goes_on() {
            return Ok(indexed);
        }
        (indexed, pieces) = (indexed + piece(services, next).await?, pieces + 1);
        if pieces.is_multiple_of(PIECES_BETWEEN_REPORTS) {
            let tables = backlog.len();
            tracing::info!(indexed, tables, "indexing existing data for the search");
        }
    }
}

/// Indexes pending rows while `goes_on` returns `true`. Returns the number of rows that this instance indexed. Several
/// instances may run this function at once. A failing table does not stop the run.
///
/// Tables take turns, each with one piece, so that much work of one organization does not hold back that of others.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; the next call indexes the rest.
pub async fn index_pending(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut indexed_count = 0;
    loop {
        let (mut after, mut has_more) = (None, false);
        while let Some((tenant, table)) = services.store.next_pending(after.as_ref()).await? {
            if !goes_on() {
                return Ok(indexed_count);
            }
            match pending_piece(services, tenant, kind_of(&table)?).await {
                Ok((rows, is_all)) => {
                    indexed_count += rows;
                    has_more |= !is_all && rows > 0;
                }
                Err(error) => {
                    let organization = tenant.organization;
                    tracing::warn!(%organization, table, %error, "cannot index pending rows; retrying soon");
                }
            }
            after = Some((tenant, table));
        }
        if !has_more {
            break;
        }
    }
    let oldest_read = services.clock.now().plus_seconds(-KEPT);
    while goes_on() && services.store.remove_replaced(oldest_read, REMOVED).await? >= REMOVED.into() {}
    Ok(indexed_count)
}

fn kind_of(table: &str) -> Result<Type, Error> {
    let kind = Type::ALL.iter().copied().find(|kind| search_index::table(*kind) == table);
    kind.ok_or_else(|| Error::Bug(format!("{table} is not searched")))
}

/// Indexes the next rows of a table's backlog; returns their number.
async fn piece(services: &Services, unindexed_table: &UnindexedTable) -> Result<u64, Error> {
    let kind = kind_of(&unindexed_table.table)?;
    let read = match kind {
        Type::Observations => rows_of::<Observation>(services, unindexed_table).await?,
        Type::Objectives => rows_of::<Objective>(services, unindexed_table).await?,
        Type::Employees => rows_of::<Employee>(services, unindexed_table).await?,
        Type::Summaries => rows_of::<Summary>(services, unindexed_table).await?,
    };
    let (read, is_last) = read;
    let up_to = read.last().map(|entry| entry.key.id).filter(|_| !is_last);
    let change = IndexChange {
        backlog: Some((unindexed_table.clone(), up_to)),
        ..IndexChange::created_at(services.clock.now())
    };
    index(services, unindexed_table.tenant, kind, read, change).await
}

/// Returns the documents of the next rows of a table's backlog up to the size of a piece, and `true` if no row is
/// left after them.
async fn rows_of<T: Searchable + Stored>(
    services: &Services,
    table: &UnindexedTable,
) -> Result<(Vec<Document>, bool), Error> {
    let mut rows = services.store.entries(table.tenant, table.next::<T>(PIECE)).await?;
    let (read, mut bytes) = (rows.len(), 0);
    let fitting = rows.iter().take_while(|row| {
        let has_room = bytes < PIECE_BYTES;
        bytes += text_bytes(&row.value);
        has_room
    });
    let fitting = fitting.count();
    rows.truncate(fitting);
    Ok((documents(rows).await?, fitting == read && read < PIECE.into()))
}

fn text_bytes(row: &impl Searchable) -> usize {
    row.texts().iter().map(|(_, text)| text.len()).sum()
}

async fn documents<T: Searchable + Stored>(rows: Vec<Versioned<T>>) -> Result<Vec<Document>, Error> {
    run_blocking(move || {
        let rows = rows.into_iter();
        rows.map(|row| document(&row.value, row.value.key().to_bytes(), row.version > Version::FIRST)).collect()
    })
    .await
}

/// Indexes the next pending rows of a table. Returns their number, and `true` if none is left.
async fn pending_piece(services: &Services, tenant: Tenant, kind: Type) -> Result<(u64, bool), Error> {
    let mut waiting = services.store.index_state(tenant, table(kind), PIECE).await?.pending;
    if waiting.is_empty() {
        return Ok((0, true));
    }
    let ids: Vec<_> = waiting.iter().map(|waiting| waiting.id).collect();
    let read = match kind {
        Type::Observations => rows_with::<Observation>(services, tenant, &ids).await?,
        Type::Objectives => rows_with::<Objective>(services, tenant, &ids).await?,
        Type::Employees => rows_with::<Employee>(services, tenant, &ids).await?,
        Type::Summaries => rows_with::<Summary>(services, tenant, &ids).await?,
    };
    let (read, count) = read;
    let is_all = count == waiting.len() && count < PIECE.into();
    waiting.truncate(count);
    let change = IndexChange { indexed: waiting, ..IndexChange::created_at(services.clock.now()) };
    Ok((index(services, tenant, kind, read, change).await?, is_all))
}

/// Returns the documents of the rows with these ids up to the size of a piece, and the number of ids that were
/// looked up.
async fn rows_with<T: Searchable + Stored>(
    services: &Services,
    tenant: Tenant,
    ids: &[[u8; 16]],
) -> Result<(Vec<Document>, usize), Error> {
    let (mut read, mut count, mut bytes) = (vec![], 0, 0);
    for some in ids.chunks(READ) {
        let some: Vec<Id<<T as Stored>::Kind>> = some.iter().map(|id| Id::from_bytes(*id)).collect();
        let rows = services.store.rows::<T>(tenant, &some).await?;
        bytes += rows.iter().map(|row| text_bytes(&row.value)).sum::<usize>();
        count += some.len();
        read.extend(documents(rows).await?);
        if bytes >= PIECE_BYTES {
            break;
        }
    }
    Ok((read, count))
}

/// Commits documents as a new segment together with a change, then merges segments if there are many. Returns
/// the number of documents indexed, or 0 if another instance was faster.
async fn index(
    services: &Services,
    tenant: Tenant,
    kind: Type,
    documents: Vec<Document>,
    change: IndexChange,
) -> Result<u64, Error> {
    let (rows, id) = (documents.len() as u64, segment_id(services));
    let segment = run_blocking(move || SegmentContents::build(id, documents)).await?;
    if !services.store.change_index(tenant, table(kind), IndexChange { segment, ..change }).await? {
        return Ok(0);
    }
    counter!(INDEXED_ROWS).increment(rows);
    merge(services, tenant, kind).await?;
    Ok(rows)
}

/// Merges segments of a table while it has too many small ones.
async fn merge(services: &Services, tenant: Tenant, kind: Type) -> Result<(), Error> {
    loop {
        let state = services.store.index_state(tenant, table(kind), 1).await?;
        let some: Vec<Segment> = to_merge(&state.segments).into_iter().cloned().collect();
        if some.is_empty() {
            return Ok(());
        }
        let (mut contents, mut bytes) = (vec![], 0);
        for it in &some {
            let next = contents_of(services, tenant, it).await?;
            bytes += next.blocks.iter().map(|block| block.body.len()).sum::<usize>();
            if bytes > MERGED_BYTES {
                break;
            }
            contents.push(next);
        }
        if contents.len() < 2 {
            return Ok(());
        }
        let id = segment_id(services);
        let replaced_ids = contents.iter().map(|contents| contents.segment.id).collect();
        let segment = run_blocking(move || SegmentContents::merge(id, &contents)).await?;
        let change =
            IndexChange { segment, replaced: replaced_ids, ..IndexChange::created_at(services.clock.now()) };
        if !services.store.change_index(tenant, table(kind), change).await? {
            return Ok(());
        }
    }
}

/// Replaces the segments that contain these documents by segments without the documents. Returns `true` if there were
/// such segments.
pub(super) async fn forget(
    services: &Services,
    tenant: Tenant,
    documents: &HashSet<[u8; 16]>,
) -> Result<bool, Error> {
    let mut has_found = false;
    for kind in Type::ALL {
        let state = services.store.index_state(tenant, table(*kind), 1).await?;
        for segment in state.segments {
            let numbers: Vec<_> =
                (0..segment.documents.div_ceil(CHUNK)).map(|number| (segment.id, number)).collect();
            let chunks = services.store.index_chunks(tenant, &numbers).await?;
            if !chunks.iter().flat_map(|chunk| keys(chunk)).any(|key| documents.contains(&key.id)) {
                continue;
            }
            has_found = true;
            let contents = contents_of(services, tenant, &segment).await?;
            let (id, documents) = (segment_id(services), documents.clone());
            let remaining_contents = run_blocking(move || contents.remove_documents(id, &documents)).await?;
            let replaced_ids = vec![segment.id];
            let change = IndexChange {
                segment: remaining_contents,
                replaced: replaced_ids,
                ..IndexChange::created_at(services.clock.now())
            };
            services.store.change_index(tenant, table(*kind), change).await?;
        }
    }
    Ok(has_found)
}

async fn contents_of(services: &Services, tenant: Tenant, it: &Segment) -> Result<SegmentContents, Error> {
    let blocks_to_read = [WantedBlocks { segment: it.id, range: KeyRange::all() }];
    let blocks = services.store.index_blocks(tenant, &blocks_to_read).await?.into_iter().flatten().collect();
    let numbers: Vec<_> = (0..it.documents.div_ceil(CHUNK)).map(|number| (it.id, number)).collect();
    let chunks = services.store.index_chunks(tenant, &numbers).await?;
    Ok(SegmentContents { segment: it.clone(), blocks, chunks })
}

fn segment_id(services: &Services) -> [u8; 16] {
    services.ids.ulid(services.clock.now()).to_bytes()
}

/// Runs CPU-bound work on the blocking pool, so that requests do not wait for it.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(|error| Error::Bug(error.to_string()))
}
