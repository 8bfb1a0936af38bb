//! The enumerations of the document: each is one named schema, made from the words that the domain reads and writes.
//!
//! Requests refer to the schema itself and so are closed. Answers go through [`open`], because the service may learn new
//! words at any time, and a client that is a version behind should not break over one.

use candor_domain::access::Permission;
use candor_domain::fields::Word;
use candor_domain::page::Listed;
use candor_domain::params::StatusWord;
use serde_json::{Value, json};

use super::shapes::{Member, named};

/// The scopes of keys: the permissions of the domain and the word for all of them.
pub(crate) const SCOPES: &str = Permission::NAME;
/// The codes of entries that are about a field.
pub(crate) const FIELD_CODES: &str = "FieldErrorCode";

/// One of a set of words that may grow: what the document knows, or a text.
pub(crate) fn open(name: &str) -> Value {
    json!({"anyOf": [named(name), {"type": "string"}]})
}

/// A set of words.
pub(crate) fn enumeration(name: &'static str, words: &[&str], about: &str) -> Member {
    (name, json!({"type": "string", "enum": words, "description": about}))
}

/// The words of a type of the domain.
pub(crate) fn of<T: Word>(about: &str) -> Member {
    enumeration(T::NAME, &T::words(), about)
}

/// The statuses of a resource and `all`, as its list can be filtered by them.
pub(crate) fn status_filter<T: StatusWord>(about: &str) -> Member {
    enumeration(T::FILTER_NAME, &T::filter_words(), about)
}

/// The orders of a list.
pub(crate) fn sort<T: Listed>() -> Member {
    let words: Vec<_> = T::sorts().map(|(word, _)| word).collect();
    enumeration(T::ORDERS_NAME, &words, "Sort orders of this list. A leading `-` sorts in descending order.")
}
