//! The full-text index of a data set: a map from words to documents.
//!
//! Every write of a searchable row adds it to a table of pending rows in the same transaction. Workers write
//! the words of pending rows into a new segment and remove the pending entries; small segments are merged. A
//! search reads the pending rows directly and finds all others through the segments. Both stores keep
//! segments as opaque bytes; this crate defines their format.
//!
//! The domain reads and checks every hit before it is shown. Therefore a segment may contain documents whose
//! text has changed or that are no longer searchable.

pub mod block;
mod query;
pub mod segment;
mod visible;

use std::collections::BTreeSet;

use candor_domain::id::EmployeeId;
use candor_domain::search::Searchable;
use candor_domain::visibility::Readers;

pub use block::{Block, KeyRange};
pub use query::{IndexQuery, PrefixTerm, Term, with_all};
pub use segment::{CHUNK, Document, DocumentKey, Segment, SegmentContents, keys, to_merge};
pub use visible::VisibleTerms;

/// Prefix of special terms. No word contains it, so no text can imitate the term of a person.
const SUBJECT: char = '\u{a7}';

/// Returns the term of the documents about a person.
fn subject_term(subject: EmployeeId) -> String {
    format!("{SUBJECT}{}", subject.ulid().to_string().to_ascii_lowercase())
}

/// Returns the term of the documents that a person may read regardless of the reporting lines, for example as
/// their author.
///
/// No ULID begins with an `r`, so the term lies outside the range of the subjects' terms.
fn reader_term(reader: EmployeeId) -> String {
    format!("{SUBJECT}r{}", reader.ulid().to_string().to_ascii_lowercase())
}

/// Term of the documents that every person of the organization may read.
const EVERY_READER: &str = "\u{a7}r*";

/// Returns the terms of the bound keys that may read a resource, beside the term of its subject.
fn reader_terms(readers: Readers) -> Vec<String> {
    let every = readers.is_public.then(|| EVERY_READER.to_owned());
    readers.people.into_iter().map(reader_term).chain(every).collect()
}

/// Term of changed documents: an older segment may still have them with their previous words.
const CHANGED: &str = "\u{a7}changed";

/// Returns a resource as an index document; without terms if it has no words. `is_changed` says that a
/// segment may have an older version.
#[must_use]
pub fn document<T: Searchable>(it: &T, id: [u8; 16], is_changed: bool) -> Document {
    let words: BTreeSet<String> = it.found_by();
    let subject = (!words.is_empty()).then(|| subject_term(it.subject()));
    let readers = if words.is_empty() { vec![] } else { reader_terms(it.readers()) };
    let changed = (!words.is_empty() && is_changed).then(|| CHANGED.to_owned());
    Document {
        key: DocumentKey { created_at: it.created_at(), id },
        terms: words.into_iter().chain(subject).chain(readers).chain(changed).collect(),
    }
}
