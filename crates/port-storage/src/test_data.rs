//! The tables that a data set consists of, in the order in which their rows can go.

use crate::change::CommitError;

/// A table whose rows go when test data are emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestTable {
    /// Its name.
    pub name: &'static str,
    /// What tells its rows of one tenant apart.
    pub key: &'static [&'static str],
}

const fn table(name: &'static str, key: &'static [&'static str]) -> TestTable {
    TestTable { name, key }
}

/// What is emptied, and what refers to something before what it refers to. What stays is the organization with its
/// settings, its keys, and the audit log, which nothing is ever taken from.
pub const TEST_TABLES: &[TestTable] = &[
    table("delivery_jobs", &["webhook_id", "event_id"]),
    table("deliveries", &["webhook_id", "status", "created_at", "id"]),
    table("webhooks", &["id"]),
    table("events", &["id"]),
    table("replays", &["key"]),
    table("notifications", &["id"]),
    table("messages", &["id"]),
    table("conversation_participants", &["participant_id", "conversation_id"]),
    table("conversations", &["id"]),
    table("assignment_people", &["person", "assignment_id"]),
    table("assignments", &["id"]),
    table("summary_includes", &["included_id", "summary_id"]),
    table("summaries", &["id"]),
    table("observation_attributes", &["attribute_id", "observation_id"]),
    table("observations", &["id"]),
    table("objectives", &["id"]),
    table("invitations", &["id"]),
    table("reporting_lines", &["ancestor_id", "descendant_id"]),
    table("employee_custom_values", &["digest", "employee_id"]),
    table("employees", &["id"]),
    table("connectors", &["id"]),
    table("departments", &["id"]),
    table("attributes", &["id"]),
    table("search_pending", &["table_name", "id"]),
    table("search_blocks", &["segment_id", "first_key"]),
    table("search_chunks", &["segment_id", "number"]),
    table("search_segments", &["id"]),
    table("search_backlog", &["table_name"]),
];

/// What came of emptying a piece of a table: how many rows went, or that something refers to them that came meanwhile.
pub type Emptied = Result<u64, CommitError>;
