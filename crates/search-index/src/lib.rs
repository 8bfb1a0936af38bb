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
