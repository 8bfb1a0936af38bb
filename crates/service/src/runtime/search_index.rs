//! The index of words is kept up to date beside the service: what was written waits to be put into it, and so does what was
//! there before it.

use candor_domain::access::Tenant;
use candor_domain::fields::Word;
use candor_domain::id::Id;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::{Searchable, Type};
use candor_domain::summary::Summary;
use candor_port_storage::search_index::{Backlog, IndexChange, WantedBlocks};
use candor_port_storage::{StorageExt, Version, Versioned};
use candor_search_index::{CHUNK, Document, KeyRange, Segment, SegmentContents, document, to_merge};
use candor_tables::flat::Stored;
use metrics::{counter, gauge};
use tokio::task::spawn_blocking;

use crate::context::error::Error;
use crate::context::search_index::{self, TABLES, table};
use crate::context::services::Services;

/// Rows indexed at once; few enough that no writer waits for long.
const PIECE: u16 = 2_000;
/// Rows that wait of which the tables are looked at, …
const LOOKED_AT: u16 = 5_000;
/// … and segments that are removed, at once.
const REMOVED: u16 = 50;
/// So many seconds after it was replaced no search can be reading a segment any more.
const KEPT: i64 = 60;
/// After so many pieces it is said how far it is.
const PIECES_BETWEEN_REPORTS: u64 = 100;

/// Counter of the rows that this process has indexed.
const INDEXED_ROWS: &str = "candor_search_indexed_rows_total";

/// Indexes what was there before the index, as long as `goes_on` says so; says how many rows this instance indexed. Any
/// number of instances may do this at once.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is indexed the next time.
pub async fn fill(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let (mut indexed, mut pieces) = (0, 0_u64);
    counter!(INDEXED_ROWS).increment(0);
    loop {
        let left = services.store.index_backlog(None, TABLES).await?;
        gauge!("candor_search_backlog_tables").set(u32::try_from(left.len()).unwrap_or(u32::MAX));
        services.search_index.set_complete(left.is_empty());
        let Some(first) = left.first() else { return Ok(indexed) };
        if !goes_on() {
            return Ok(indexed);
        }
        (indexed, pieces) = (indexed + piece(services, first).await?, pieces + 1);
        if pieces.is_multiple_of(PIECES_BETWEEN_REPORTS) {
            let tables = left.len();
            tracing::info!(indexed, tables, "indexing the words of what was there before the search");
        }
    }
}

/// Indexes what waits, once for each table of a data set, as long as `goes_on` says so; says how many rows this instance
/// indexed. Any number of instances may do this at once. A table that cannot be indexed keeps no other from it.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Bug`]; what is left is indexed the next time.
pub async fn index_pending(services: &Services, goes_on: impl Fn() -> bool) -> Result<u64, Error> {
    let mut indexed = 0;
    for (tenant, table) in services.store.index_pending(LOOKED_AT).await? {
        loop {
            if !goes_on() {
                return Ok(indexed);
            }
            let rows = match what_waits(services, tenant, kind_of(&table)?).await {
                Ok(rows) => rows,
                Err(error) => {
                    let organization = tenant.organization;
                    tracing::warn!(%organization, table, %error, "could not index what waits; tried again soon");
                    break;
                }
            };
            indexed += rows;
            if rows < PIECE.into() {
                break;
            }
        }
    }
    let before = services.clock.now().plus_seconds(-KEPT);
    while goes_on() && services.store.remove_replaced(before, REMOVED).await? >= REMOVED.into() {}
    Ok(indexed)
}

fn kind_of(table: &str) -> Result<Type, Error> {
    let kind = Type::ALL.iter().copied().find(|kind| search_index::table(*kind) == table);
    kind.ok_or_else(|| Error::Bug(format!("{table} is not searched")))
}

/// Indexes the next rows of a table from before the index; says how many these were.
async fn piece(services: &Services, it: &Backlog) -> Result<u64, Error> {
    let kind = kind_of(&it.table)?;
    let read = match kind {
        Type::Observations => rows_of::<Observation>(services, it).await?,
        Type::Objectives => rows_of::<Objective>(services, it).await?,
        Type::Employees => rows_of::<Employee>(services, it).await?,
        Type::Summaries => rows_of::<Summary>(services, it).await?,
    };
    let is_last = read.len() < PIECE.into();
    let up_to = read.last().map(|entry| entry.key.id).filter(|_| !is_last);
    let change = IndexChange { backlog: Some((it.clone(), up_to)), ..IndexChange::at(services.clock.now()) };
    index(services, it.tenant, kind, read, change).await
}

async fn rows_of<T: Searchable + Stored>(services: &Services, it: &Backlog) -> Result<Vec<Document>, Error> {
    Ok(documents(services.store.entries(it.tenant, it.next::<T>(PIECE)).await?))
}

fn documents<T: Searchable + Stored>(rows: Vec<Versioned<T>>) -> Vec<Document> {
    rows.into_iter().map(|row| document(&row.value, row.value.key().to_bytes(), row.version > Version::FIRST)).collect()
}

/// Indexes rows of a table that wait; says how many these were.
async fn what_waits(services: &Services, tenant: Tenant, kind: Type) -> Result<u64, Error> {
    let waiting = services.store.index_state(tenant, table(kind), PIECE).await?.pending;
    if waiting.is_empty() {
        return Ok(0);
    }
    let ids: Vec<_> = waiting.iter().map(|waiting| waiting.id).collect();
    let read = match kind {
        Type::Observations => rows_with::<Observation>(services, tenant, &ids).await?,
        Type::Objectives => rows_with::<Objective>(services, tenant, &ids).await?,
        Type::Employees => rows_with::<Employee>(services, tenant, &ids).await?,
        Type::Summaries => rows_with::<Summary>(services, tenant, &ids).await?,
    };
    let change = IndexChange { indexed: waiting, ..IndexChange::at(services.clock.now()) };
    index(services, tenant, kind, read, change).await
}

async fn rows_with<T: Searchable + Stored>(
    services: &Services,
    tenant: Tenant,
    ids: &[[u8; 16]],
) -> Result<Vec<Document>, Error> {
    let ids: Vec<Id<<T as Stored>::Kind>> = ids.iter().map(|id| Id::from_bytes(*id)).collect();
    Ok(documents(services.store.rows::<T>(tenant, &ids).await?))
}

/// Puts documents into a new segment with the rest of a change, and merges segments where there are many; says how many
/// documents this instance indexed.
async fn index(
    services: &Services,
    tenant: Tenant,
    kind: Type,
    documents: Vec<Document>,
    change: IndexChange,
) -> Result<u64, Error> {
    let (rows, id) = (documents.len() as u64, segment_id(services));
    let segment = beside(move || SegmentContents::of(id, documents)).await?;
    if !services.store.change_index(tenant, table(kind), IndexChange { segment, ..change }).await? {
        return Ok(0);
    }
    counter!(INDEXED_ROWS).increment(rows);
    merge(services, tenant, kind).await?;
    Ok(rows)
}

/// Merges segments of a table until there are few.
async fn merge(services: &Services, tenant: Tenant, kind: Type) -> Result<(), Error> {
    loop {
        let state = services.store.index_state(tenant, table(kind), 1).await?;
        let some: Vec<Segment> = to_merge(&state.segments).into_iter().cloned().collect();
        if some.is_empty() {
            return Ok(());
        }
        let mut contents = vec![];
        for it in &some {
            contents.push(contents_of(services, tenant, it).await?);
        }
        let id = segment_id(services);
        let segment = beside(move || SegmentContents::merged(id, &contents)).await?;
        let replaced = some.iter().map(|segment| segment.id).collect();
        let change = IndexChange { segment, replaced, ..IndexChange::at(services.clock.now()) };
        if !services.store.change_index(tenant, table(kind), change).await? {
            return Ok(());
        }
    }
}

async fn contents_of(services: &Services, tenant: Tenant, it: &Segment) -> Result<SegmentContents, Error> {
    let wanted = [WantedBlocks { segment: it.id, range: KeyRange::all() }];
    let blocks = services.store.index_blocks(tenant, &wanted).await?.into_iter().flatten().collect();
    let numbers: Vec<_> = (0..it.documents.div_ceil(CHUNK)).map(|number| (it.id, number)).collect();
    let chunks = services.store.index_chunks(tenant, &numbers).await?;
    Ok(SegmentContents { segment: it.clone(), blocks, chunks })
}

fn segment_id(services: &Services) -> [u8; 16] {
    services.ids.ulid(services.clock.now()).to_bytes()
}

/// What takes a while without waiting for anything, on a thread where no request waits for it.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(|error| Error::Bug(error.to_string()))
}
