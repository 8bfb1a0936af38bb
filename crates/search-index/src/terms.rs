//! The terms of a resource: its words, its subject and its readers.

use std::collections::BTreeSet;

use candor_domain::id::EmployeeId;
use candor_domain::search::Searchable;
use candor_domain::ulid::Ulid;
use candor_domain::visibility::Readers;

use crate::segment::{Document, DocumentKey};

/// Prefix of the terms that are no words: those of subjects, readers and changed documents. No word contains it,
/// so no text can imitate such a term.
pub(crate) const SUBJECT: char = '\u{a7}';

/// Returns the term of documents about a person.
pub(crate) fn subject_term(subject: EmployeeId) -> String {
    format!("{SUBJECT}{}", subject.ulid().to_string().to_ascii_lowercase())
}

/// Returns the person whose documents have this term; `None` for any other term.
pub(crate) fn subject_of(term: &[u8]) -> Option<EmployeeId> {
    let text = std::str::from_utf8(term).ok()?.strip_prefix(SUBJECT)?;
    Ulid::from_string(text).ok().map(EmployeeId::from_ulid)
}

/// Returns the term of documents that a person may read regardless of reporting lines, for instance as their
/// author.
///
/// No ULID begins with an `r`, so the term lies outside the range of the subjects' terms.
pub(crate) fn reader_term(reader: EmployeeId) -> String {
    format!("{SUBJECT}r{}", reader.ulid().to_string().to_ascii_lowercase())
}

/// Term of documents that every person of the organization may read.
pub(crate) const EVERY_READER: &str = "\u{a7}r*";

/// Returns the terms of the readers of a resource. The term of its subject is separate.
fn reader_terms(readers: Readers) -> Vec<String> {
    let every = readers.is_public.then(|| EVERY_READER.to_owned());
    readers.people.into_iter().map(reader_term).chain(every).collect()
}

/// Term of changed documents: an older segment may contain them with words that they no longer have.
pub(crate) const CHANGED: &str = "\u{a7}changed";

/// Converts a resource to a document of the index. The document has no terms if the resource is not searchable.
/// `is_changed` means that a segment may contain an older version.
#[must_use]
pub fn document<T: Searchable>(value: &T, id: [u8; 16], is_changed: bool) -> Document {
    let words: BTreeSet<String> = value.found_by();
    let subject = (!words.is_empty()).then(|| subject_term(value.subject()));
    let readers = if words.is_empty() { vec![] } else { reader_terms(value.readers()) };
    let change_mark = (!words.is_empty() && is_changed).then(|| CHANGED.to_owned());
    Document {
        key: DocumentKey { created_at: value.created_at(), id },
        terms: words.into_iter().chain(subject).chain(readers).chain(change_mark).collect(),
    }
}
