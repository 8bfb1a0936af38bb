//! The index of words as a store keeps it: segments as bytes, and the rows that wait to be indexed.
//!
//! Every write of what can be found names the row in a table of its own, in the same transaction. Workers read what is
//! named there, put its words into a new segment and take the names away; small segments are merged. A search looks at the
//! rows that are still named, one by one, and finds all others by the segments of `candor-search-index`.

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::time::Timestamp;
use candor_search_index::{Block, KeyRange, Segment, SegmentContents};
use candor_tables::Version;
use candor_tables::flat::Stored;
use candor_tables::listing::TypedListing;

use crate::error::Read;

/// A table of a tenant with rows that are not in the index of words yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Whose rows.
    pub tenant: Tenant,
    /// The table's name.
    pub table: String,
    /// Rows up to this id are in the index.
    pub after: [u8; 16],
}

impl Backlog {
    /// The rows that come next, in the order of their ids.
    #[must_use]
    pub fn next<T: Stored>(&self, limit: u16) -> TypedListing<T> {
        TypedListing::behind(self.after, limit)
    }
}

/// A row that was written and is not in a segment yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingRow {
    /// Its id.
    pub id: [u8; 16],
    /// The version that it got.
    pub version: Version,
}

/// The index of one table of a tenant, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexState {
    /// Its segments.
    pub segments: Vec<Segment>,
    /// The rows that are in none of them yet, or have changed since.
    pub pending: Vec<PendingRow>,
}

/// Some terms of a segment that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedBlocks {
    /// The segment.
    pub segment: [u8; 16],
    /// The terms.
    pub range: KeyRange,
}

/// A change of the index of one table of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexChange {
    /// The segment that is new, if there is one.
    pub segment: Option<SegmentContents>,
    /// The rows that are in it, or that no word finds: those that have not been written since wait no longer.
    pub indexed: Vec<PendingRow>,
    /// The segments that it takes the place of.
    pub replaced: Vec<[u8; 16]>,
    /// The rows from before the index that are in it now; and up to which id they are, unless that is all of them.
    pub backlog: Option<(Backlog, Option<[u8; 16]>)>,
    /// When it happens.
    pub at: Timestamp,
}

impl IndexChange {
    /// One that changes nothing yet.
    #[must_use]
    pub const fn at(at: Timestamp) -> Self {
        Self { segment: None, indexed: vec![], replaced: vec![], backlog: None, at }
    }
}

/// The index of words in a store.
#[async_trait]
pub trait SearchIndex {
    /// The index of a table, with at most so many of the rows that wait.
    async fn index_state(&self, tenant: Tenant, table: &str, most: u16) -> Read<IndexState>;
    /// For each of the wanted ranges the blocks that overlap it, in their order.
    async fn index_blocks(&self, tenant: Tenant, wanted: &[WantedBlocks]) -> Read<Vec<Vec<Block>>>;
    /// These chunks of keys, each by its segment and its number there; those that are not there are empty.
    async fn index_chunks(&self, tenant: Tenant, wanted: &[([u8; 16], u32)]) -> Read<Vec<Vec<u8>>>;
    /// Changes the index of a table, unless somebody else did what this does; says which.
    async fn change_index(&self, tenant: Tenant, table: &str, change: IndexChange) -> Read<bool>;
    /// Tables of tenants with rows that wait to be indexed; at most so many, by far not all where many rows wait.
    async fn index_pending(&self, most: u16) -> Read<Vec<(Tenant, String)>>;
    /// Removes segments that were replaced before a time, at most so many; says how many went.
    async fn remove_replaced(&self, before: Timestamp, most: u16) -> Read<u64>;
    /// Tables with rows from before the index that are not in it: those of a tenant, or some of anybody's; at most so many.
    async fn index_backlog(&self, tenant: Option<Tenant>, most: u16) -> Read<Vec<Backlog>>;
}
