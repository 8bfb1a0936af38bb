//! Effect of an erasure on every column that can hold text of a person.
//!
//! Tests of both stores fail if a column of the type text or bytes has no entry.

use std::collections::BTreeSet;

/// Effect of an erasure on a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEffect {
    /// The rows of the person are deleted.
    Removed,
    /// In rows of the person, or about the person or a removed resource, the value is overwritten by a value
    /// without personal data, such as a fixed text, null or `{}`.
    Replaced,
    /// The value is a word of the service, an id, a digest, or a setting. It holds no text about a person.
    Wordless,
    /// The value is a digest or a key, and each row has a different value. It holds no text about a person.
    Random,
    /// The text belongs to the organization or to another person, and stays.
    Kept,
    /// The value is encrypted text of the person. The rows of the person, and replays that name the person, are removed or
    /// overwritten.
    SealedText,
    /// The value is an encrypted secret of the organization. It holds no text of a person.
    Sealed,
    /// The value holds terms of searchable texts. Segments with documents of the person are written anew without
    /// them.
    Rewritten,
}

use TextEffect::{Kept, Random, Removed, Replaced, Rewritten, Sealed, SealedText, Wordless};

/// Columns of one table with the same effect: table, effect, columns.
pub type TextColumns = (&'static str, TextEffect, &'static [&'static str]);

/// All columns of the types text and bytes.
pub const TEXT_COLUMNS: &[TextColumns] = &[
    ("api_keys", Replaced, &["name", "allowed_networks", "identity_subject", "identity_sid"]),
    ("api_keys", Wordless, &["kind", "environment", "access_level", "scopes", "last4"]),
    ("api_keys", Random, &["hash", "previous_hash"]),
    ("assignments", Removed, &["title", "instructions", "submissions", "metadata", "external_id"]),
    ("assignments", Wordless, &["status"]),
    ("attributes", Kept, &["name", "category", "name_key"]),
    ("attributes", Wordless, &["tone"]),
    ("audit_entries", Replaced, &["actor_name", "changes", "comment", "ip", "user_agent", "api_key_name"]),
    (
        "audit_entries",
        Wordless,
        &["action", "actor_type", "actor_id", "target_type", "target_id", "request_id", "api_key_id"],
    ),
    // Notes of the person on the objectives of others stay, under the pseudonym.
    ("check_ins", Removed, &["note", "key_results"]),
    ("check_ins", Wordless, &["confidence"]),
    ("connectors", Replaced, &["last_sync_message"]),
    ("connectors", Kept, &["hris_source", "mapped_custom_field_keys", "custom_field_mappings"]),
    ("connectors", Wordless, &["type", "last_sync_status"]),
    ("conversations", Replaced, &["title"]),
    ("conversations", Wordless, &["about_type", "joins"]),
    // The URL is a setting of the subscription, and the target of a redirect is a setting of the receiver.
    ("deliveries", Wordless, &["event_type", "status", "failure", "request_id", "request_url", "failure_detail"]),
    ("delivery_jobs", Wordless, &["event_type", "origin"]),
    ("departments", Kept, &["name", "name_key"]),
    (
        "employees",
        Replaced,
        &[
            "email",
            "external_id",
            "first_name",
            "last_name",
            "custom_fields",
            "hris_source",
            "job_title",
            "email_key",
            "first_name_key",
            "last_name_key",
        ],
    ),
    ("employees", Kept, &["hold_reason"]),
    ("employees", Wordless, &["role", "status"]),
    ("erased_rows", Wordless, &["kind"]),
    (
        "erasures",
        Wordless,
        &["status", "requester_type", "requester_id", "counts", "out_of_reach", "tables_to_rewrite"],
    ),
    // The address, until the erasure is completed.
    ("erasures", SealedText, &["sealed_email"]),
    ("events", Replaced, &["data"]),
    ("events", Wordless, &["type", "request_id"]),
    ("identity_links", Removed, &["subject"]),
    ("identity_links", Random, &["person_key"]),
    (
        "identity_providers",
        Kept,
        &[
            "name",
            "issuer",
            "client_id",
            "audiences",
            "authorized_parties",
            "subject_claim",
            "domains",
            "proven_audiences",
            "required_acr",
        ],
    ),
    ("identity_providers", Sealed, &["client_secret"]),
    ("identity_providers", Wordless, &["link_by", "scopes", "status"]),
    ("invitations", Removed, &["mail_token"]),
    ("invitations", Wordless, &["mail_status", "mail_failure", "domain_hash"]),
    ("invitations", Random, &["token_hash"]),
    ("master_keys", Wordless, &["fingerprint", "sealed"]),
    ("master_keys", Random, &["key_id"]),
    ("messages", Replaced, &["body"]),
    ("notifications", Removed, &["title", "body"]),
    ("notifications", Wordless, &["type", "target_type", "target_id"]),
    ("objectives", Removed, &["title", "description", "reviewed", "metadata", "external_id", "key_results"]),
    ("objectives", Wordless, &["scope", "status", "shelf", "scope_status", "confidence", "confidence_key"]),
    ("observations", Removed, &["observation", "impact", "recommended_action", "metadata", "external_id"]),
    ("observations", Wordless, &["type", "visibility"]),
    ("organizations", Kept, &["name"]),
    (
        "organizations",
        Wordless,
        &["objective_review", "summary_review", "visible_custom_fields", "retention", "retention_starts"],
    ),
    // A digest of the address and a day, deleted within two days.
    ("recipient_mails", Random, &["recipient"]),
    ("replays", SealedText, &["sealed"]),
    ("replays", Random, &["key", "fingerprint"]),
    ("retention_runs", Wordless, &["status", "applied", "counts", "out_of_reach", "tables_to_rewrite"]),
    ("scim_brakes", Wordless, &["minutes"]),
    // Paths have words of SCIM and ids only, without the query.
    ("scim_requests", Wordless, &["method", "path", "scim_type"]),
    ("scim_requests", Kept, &["user_agent"]),
    (
        "scim_users",
        Removed,
        &["user_name", "external_id", "manager_ref", "extra", "user_name_key", "external_key", "manager_key"],
    ),
    ("search_backlog", Wordless, &["table_name"]),
    ("search_blocks", Rewritten, &["first_key", "body"]),
    ("search_chunks", Rewritten, &["body"]),
    ("search_pending", Wordless, &["table_name"]),
    ("search_segments", Rewritten, &["fences"]),
    ("search_segments", Wordless, &["table_name"]),
    ("summaries", Removed, &["title", "body", "feedback_comment", "metadata", "external_id"]),
    ("summaries", Wordless, &["status", "stage"]),
    ("sync_issues", Removed, &["user_name", "external_id", "message"]),
    ("sync_issues", Wordless, &["kind"]),
    ("sync_issues", Random, &["open_key"]),
    ("webhooks", Kept, &["url", "description"]),
    ("webhooks", Sealed, &["secrets", "headers"]),
    (
        "webhooks",
        Wordless,
        &[
            "event_types",
            "effective_event_types",
            "last_delivery_status",
            "payload",
            "filter_type",
            "filter_scopes",
        ],
    ),
];

/// Returns the pairs of table and column of all entries.
pub fn text_columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXT_COLUMNS.iter().flat_map(|(table, _, columns)| columns.iter().map(move |column| (*table, *column)))
}

/// Returns the pairs of table and column of which the database makes no statistics. Samples of texts of people would
/// outlive their rows, and samples of random values answer no question of the planner.
pub fn columns_without_statistics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let columns_by_table = TEXT_COLUMNS.iter().filter(|(_, effect, _)| *effect != Wordless);
    columns_by_table.flat_map(|(table, _, columns)| columns.iter().map(move |column| (*table, *column)))
}

/// Returns the tables with text of people in rows that an erasure removes or overwrites, in the order of their names. The
/// pages of the database keep the text until the table is written anew.
#[must_use]
pub fn erased_tables() -> BTreeSet<&'static str> {
    let has_erased_text = |effect: TextEffect| match effect {
        Removed | Replaced | SealedText | Rewritten => true,
        Wordless | Random | Kept | Sealed => false,
    };
    TEXT_COLUMNS.iter().filter(|(_, effect, _)| has_erased_text(*effect)).map(|(table, _, _)| *table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_with_text_of_people_are_erased() {
        let tables = erased_tables();
        for table in ["employees", "erasures", "observations", "replays", "search_segments"] {
            assert!(tables.contains(table), "{table}");
        }
        for table in ["attributes", "identity_providers", "organizations", "retention_runs", "webhooks"] {
            assert!(!tables.contains(table), "{table}");
        }
    }

    #[test]
    fn each_column_has_one_effect() {
        let all: BTreeSet<_> = text_columns().collect();
        assert_eq!(all.len(), text_columns().count());
    }
}
