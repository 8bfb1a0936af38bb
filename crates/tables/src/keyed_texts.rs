//! Texts that are unique by a key, and the rows whose key was computed by an earlier version.

use candor_domain::text::{address_key, name_key};
use candor_provisioning::connector::ScimLink;

/// A column of texts, and the column with their keys. A row whose key another row has keeps its former key.
#[derive(Debug, Clone, Copy)]
pub struct KeyedText {
    /// Name of the table.
    pub table: &'static str,
    /// Column of the texts.
    pub text: &'static str,
    /// Column of the keys.
    pub key: &'static str,
    /// Condition of the rows whose key may come from an earlier version.
    pub candidates: &'static str,
    /// Returns the key of a text. The arguments are the text and the stored key.
    pub key_of: fn(&str, &str) -> String,
    /// `true` if the column `twin` marks the rows that keep their former key.
    pub marks_twins: bool,
}

/// The texts whose keys were lower-case texts in earlier versions: SCIM user names before version 0055 of the
/// schema, the other texts before version 0049. A provider distinguishes its own user names, so twins among user
/// names are not marked.
pub const KEYED_TEXTS: [KeyedText; 4] = [
    KeyedText {
        table: "employees",
        text: "email",
        key: "email_key",
        // The index `employees_by_wide_key` has these rows.
        candidates: "octet_length(email_key) <> length(email_key)",
        key_of: |email, _| address_key(email),
        marks_twins: true,
    },
    name_text("departments"),
    name_text("attributes"),
    KeyedText {
        table: "scim_users",
        text: "user_name",
        key: "user_name_key",
        // The index `scim_users_by_wide_key` has these rows.
        candidates: "octet_length(user_name_key) <> length(user_name_key)",
        key_of: ScimLink::current_user_name_key,
        marks_twins: false,
    },
];

const fn name_text(table: &'static str) -> KeyedText {
    let key_of = |name: &str, _: &str| name_key(name);
    KeyedText { table, text: "name", key: "name_key", candidates: "TRUE", key_of, marks_twins: true }
}

/// Number of rows that are read at once.
pub const ROWS_AT_ONCE: u16 = 1_000;
