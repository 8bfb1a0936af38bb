//! Storage of the full-text index: segments as bytes, and the rows waiting to be indexed.
//!
//! Every write of a searchable row adds it to a table of pending rows in the same transaction. Workers write
//! the words of pending rows into a new segment and remove the pending entries; small segments are merged. A
//! search reads the pending rows directly and finds all others through the segments of `candor-search-index`.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_search_index::{Block, KeyRange, Segment, SegmentContents};
use candor_tables::Version;
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;

use crate::error::Read;

/// A table of a tenant with rows that are not indexed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnindexedTable {
    /// Tenant of the rows.
    pub tenant: Tenant,
    /// Name of the table.
    pub table: String,
    /// Rows up to this id are indexed.
    pub after: [u8; 16],
}

impl UnindexedTable {
    /// Returns the next rows to index, ordered by id.
    #[must_use]
    pub fn next<T: Stored>(&self, limit: u16) -> TypedListing<T> {
        TypedListing::after_id(self.after, limit)
    }
}

/// A written row that is not in a segment yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRow {
    /// Id of the row.
    pub id: [u8; 16],
    /// Version of the row.
    pub version: Version,
}

/// Index of one table of a tenant, from one snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexState {
    /// Segments that are not replaced.
    pub segments: Vec<Segment>,
    /// Rows that are in no segment, or that have changed since they were indexed.
    pub pending: Vec<PendingRow>,
}

/// Terms to read from a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedBlocks {
    /// Id of the segment.
    pub segment: [u8; 16],
    /// Range of terms to read.
    pub range: KeyRange,
}

/// A change to the index of one table of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexChange {
    /// The new segment, if any.
    pub segment: Option<SegmentContents>,
    /// Rows that the new segment contains or that have no words. Rows that were written again since the worker
    /// read them stay pending.
    pub indexed: Vec<PendingRow>,
    /// Segments whose documents the new segment contains. They are marked as replaced.
    pub replaced: Vec<[u8; 16]>,
    /// Backlog table, and the id up to which its rows are now indexed; the id is `None` if all rows are.
    pub backlog: Option<(UnindexedTable, Option<[u8; 16]>)>,
    /// Time of the change.
    pub at: Timestamp,
}

impl IndexChange {
    /// Creates a change without content.
    #[must_use]
    pub const fn created_at(at: Timestamp) -> Self {
        Self { segment: None, indexed: vec![], replaced: vec![], backlog: None, at }
    }
}

/// The full-text index in a store.
#[async_trait]
pub trait SearchIndex {
    /// Returns the index of a table, with at most `most` pending rows.
    async fn index_state(&self, tenant: Tenant, table: &str, most: u16) -> Read<IndexState>;
    /// Returns the blocks that overlap each of the ranges, in order.
    async fn index_blocks(&self, tenant: Tenant, wanted: &[WantedBlocks]) -> Read<Vec<Vec<Block>>>;
    /// Returns chunks of keys by segment and number; a missing chunk is empty.
    async fn index_chunks(&self, tenant: Tenant, wanted: &[([u8; 16], u32)]) -> Read<Vec<Vec<u8>>>;
    /// Changes the index of a table. Returns `false` if another worker has already done the same work.
    async fn change_index(&self, tenant: Tenant, table: &str, change: IndexChange) -> Read<bool>;
    /// Returns the first table with pending rows after this one, ordered by tenant and name; the first of all for
    /// `None`.
    async fn next_pending(&self, after: Option<&(Tenant, String)>) -> Read<Option<(Tenant, String)>>;
    /// Removes up to `most` segments that were replaced before a time. Returns their number.
    async fn remove_replaced(&self, before: Timestamp, most: u16) -> Read<u64>;
    /// Returns up to `most` tables with rows that were written before the index existed: those of a tenant,
    /// or of all tenants.
    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<UnindexedTable>>;
}
