//! Enumerations of the document: named schemas of the domain's words.
//!
//! Requests refer to the closed schema. Answers use [`open`], so that new words do not break older clients.

use candor_domain::access::Permission;
use candor_domain::fields::StringEnum;
use candor_domain::page::Sortable;
use candor_domain::params::StatusWord;
use serde_json::{Value, json};

use super::shapes::{Member, reference_to};

/// Name of the enumeration of key scopes: the domain's permissions and the word for all of them.
pub(crate) const SCOPES: &str = Permission::NAME;
/// Name of the enumeration of field error codes.
pub(crate) const FIELD_CODES: &str = candor_domain::problem::Code::NAME;

/// Returns the open form of an enumeration: a known word or any text.
pub(crate) fn open(name: &str) -> Value {
    json!({"anyOf": [reference_to(name), {"type": "string"}]})
}

/// Returns a named enumeration of words.
pub(crate) fn enumeration(name: &'static str, words: &[&str], about: &str) -> Member {
    (name, json!({"type": "string", "enum": words, "description": about}))
}

/// Returns the enumeration of a domain type.
pub(crate) fn enum_member<T: StringEnum>(about: &str) -> Member {
    enumeration(T::NAME, &T::words(), about)
}

/// Returns the status filter of a list: the statuses of the resource and `all`.
pub(crate) fn status_filter<T: StatusWord>(about: &str) -> Member {
    enumeration(T::FILTER_NAME, &T::filter_words(), about)
}

/// Returns the enumeration of a list's sort orders.
pub(crate) fn sort<T: Sortable>() -> Member {
    let words: Vec<_> = T::sorts().map(|(word, _)| word).collect();
    enumeration(T::ORDERS_NAME, &words, "Sort orders of this list. A leading `-` sorts in descending order.")
}
