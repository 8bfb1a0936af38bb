//! Full-text index: the documents of a data set by their words.
//!
//! Every write of a searchable row adds the row to a table of pending rows, in the same transaction. Workers write
//! the words of pending rows into a new segment and remove the pending entries; small segments are merged. A search
//! checks the pending rows one by one, and finds all other rows through the segments. Stores keep segments as opaque
//! bytes; this crate alone encodes and decodes them.
//!
//! The service reads every hit and checks it in the domain before it reaches a client. So a segment may still
//! contain a document whose text has changed, or that is no longer searchable.

pub mod block;
#[cfg(test)]
mod naive;
mod query;
pub mod segment;
mod terms;
mod visible;

pub use block::{Block, KeyRange};
pub use query::{IndexQuery, PrefixTerm, Term, with_all};
pub use segment::{CHUNK, Document, DocumentKey, Segment, SegmentContents, keys, to_merge};
pub use terms::document;
pub use visible::VisibleTerms;
