//! The index of words: which documents of a data set have which words.
//!
//! Every write of what can be found names the row in a table of its own, in the same transaction. Workers read what is
//! named there, put its words into a new segment of the index and take the names away; small segments are merged. So a
//! search looks at the rows that are still named, one by one, and finds all others by the segments. Both stores keep
//! segments as bytes and know nothing of them: what they are is here, once.
//!
//! What the index finds is read and looked at by the domain before anybody sees it. So a segment may still have a document
//! whose text has changed, or that cannot be found any more.

pub mod block;
mod query;
pub mod segment;
mod visible;

use std::collections::BTreeSet;

use async_trait::async_trait;
use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::search::Searchable;
use candor_domain::time::Timestamp;
use candor_domain::visibility::Readers;

pub use block::{Block, KeyRange};
pub use query::{IndexQuery, PrefixTerm, Term, with_all};
pub use segment::{CHUNK, Document, DocumentKey, Segment, SegmentContents, keys, to_merge};
pub use visible::VisibleTerms;

use crate::Version;
use crate::backlog::Backlog;
use crate::store::Read;

/// What stands in no word, so that no text passes for the term of a person.
const SUBJECT: char = '\u{a7}';

/// The term of what is about a person.
fn subject_term(subject: EmployeeId) -> String {
    format!("{SUBJECT}{}", subject.ulid().to_string().to_ascii_lowercase())
}

/// Term of the documents that a person reads whatever the reporting lines say: as their author, for instance.
///
/// No ULID begins with an `r`, so the term lies outside the range of the subjects' terms.
fn reader_term(reader: EmployeeId) -> String {
    format!("{SUBJECT}r{}", reader.ulid().to_string().to_ascii_lowercase())
}

/// Term of the documents that every person of the organization reads.
const EVERY_READER: &str = "\u{a7}r*";

/// The terms that say which bound keys may read a resource, beside the term of its subject.
fn reader_terms(readers: Readers) -> Vec<String> {
    let every = readers.is_public.then(|| EVERY_READER.to_owned());
    readers.people.into_iter().map(reader_term).chain(every).collect()
}

/// The term of what was changed: a segment from before may have it with words that it has no longer.
const CHANGED: &str = "\u{a7}changed";

/// A resource of a version as the index has it; without terms if it is not found by any word.
#[must_use]
pub fn document<T: Searchable>(it: &T, id: [u8; 16], version: Version) -> Document {
    let words: BTreeSet<String> = it.found_by();
    let subject = (!words.is_empty()).then(|| subject_term(it.subject()));
    let readers = if words.is_empty() { vec![] } else { reader_terms(it.readers()) };
    let changed = (!words.is_empty() && version > Version::FIRST).then(|| CHANGED.to_owned());
    Document {
        key: DocumentKey { created_at: it.created_at(), id },
        terms: words.into_iter().chain(subject).chain(readers).chain(changed).collect(),
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
