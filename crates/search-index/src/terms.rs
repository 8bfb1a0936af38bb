//! The terms of a resource: its words, its subject and its readers.

use std::collections::BTreeSet;

use candor_domain::id::EmployeeId;
use candor_domain::search::Searchable;
use candor_domain::visibility::Readers;

use crate::segment::{Document, DocumentKey};

/// What stands in no word, so that no text passes for the term of a person.
pub(crate) const SUBJECT: char = '\u{a7}';

/// The term of what is about a person.
pub(crate) fn subject_term(subject: EmployeeId) -> String {
    format!("{SUBJECT}{}", subject.ulid().to_string().to_ascii_lowercase())
}

/// Term of the documents that a person reads whatever the reporting lines say: as their author, for instance.
///
/// No ULID begins with an `r`, so the term lies outside the range of the subjects' terms.
pub(crate) fn reader_term(reader: EmployeeId) -> String {
    format!("{SUBJECT}r{}", reader.ulid().to_string().to_ascii_lowercase())
}

/// Term of the documents that every person of the organization reads.
pub(crate) const EVERY_READER: &str = "\u{a7}r*";

/// The terms that say which bound keys may read a resource, beside the term of its subject.
fn reader_terms(readers: Readers) -> Vec<String> {
    let every = readers.is_public.then(|| EVERY_READER.to_owned());
    readers.people.into_iter().map(reader_term).chain(every).collect()
}

/// The term of what was changed: a segment from before may have it with words that it has no longer.
pub(crate) const CHANGED: &str = "\u{a7}changed";

/// Returns a resource as the index has it, without terms if no word finds it. `is_changed` says that an older version of
/// it may be in a segment.
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
