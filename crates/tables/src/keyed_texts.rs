//! Texts that are unique by a key, and the rows whose key was computed by an earlier version.

use candor_domain::text::{address_key, name_key};

/// A column of texts, and the column with their keys. A row whose key another row has keeps its former key and is
/// marked in the column `twin`.
#[derive(Debug, Clone, Copy)]
pub struct KeyedText {
    /// Name of the table.
    pub table: &'static str,
    /// Column of the texts.
    pub text: &'static str,
    /// Column of the keys.
    pub key: &'static str,
    /// Condition of the rows whose key may be that of an earlier version.
    pub candidates: &'static str,
    /// Returns the key of a text.
    pub key_of: fn(&str) -> String,
}

/// The texts whose keys were lower-case texts before version 0049 of the schema.
pub const KEYED_TEXTS: [KeyedText; 3] = [
    KeyedText {
        table: "employees",
        text: "email",
        key: "email_key",
        // The index `employees_by_wide_key` has these rows.
        candidates: "octet_length(email_key) <> length(email_key)",
        key_of: address_key,
    },
    KeyedText { table: "departments", text: "name", key: "name_key", candidates: "TRUE", key_of: name_key },
    KeyedText { table: "attributes", text: "name", key: "name_key", candidates: "TRUE", key_of: name_key },
];

/// Number of rows that are read at once.
pub const ROWS_AT_ONCE: u16 = 1_000;
