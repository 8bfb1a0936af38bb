//! Every table of the schema, in exactly one of three lists: it is copied, it is made anew, or it is left out. The tests
//! of both stores hold these against what the migrations make, column by column.

use candor_domain::access::api_key::ApiKey;
use candor_domain::assignment::Assignment;
use candor_domain::audit::AuditEntry;
use candor_domain::conversation::{Conversation, Message};
use candor_domain::event::Event;
use candor_domain::library::{Attribute, Department};
use candor_domain::notification::Notification;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::organization::Organization;
use candor_domain::people::{Connector, Employee, Invitation};
use candor_domain::summary::Summary;
use candor_domain::webhook::{Delivery, Subscription};

use crate::flat::{Cell, Column, Stored, Table, Type};
use crate::rows::JOB_TABLE;

/// What is made anew from the rows that are copied: the index of words, which the service fills piece by piece as it does
/// with what was there before the search.
pub const REBUILT: [&str; 5] =
    ["search_backlog", "search_pending", "search_segments", "search_blocks", "search_chunks"];

/// Tables without data of tenants: the row that proves that a write is possible, and the mails of today by recipient.
pub const NOT_COPIED: [&str; 2] = ["write_probes", "recipient_mails"];

/// Columns of copied tables that a database makes by itself from others of the row, by table.
const GENERATED: [(&str, &str); 1] = [("conversations", "active_at")];

/// A table whose rows are copied as they stand.
#[derive(Debug, Clone)]
pub struct CopyTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The columns by which rows are told apart and in whose order they are read, by their numbers among the columns.
    pub key: Vec<usize>,
}

impl CopyTable {
    /// The key of a row.
    #[must_use]
    pub fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        self.key.iter().filter_map(|at| row.get(*at).cloned()).collect()
    }

    /// The columns of the key.
    pub fn key_columns(&self) -> impl Iterator<Item = Column> {
        self.key.iter().filter_map(|at| self.columns.get(*at).copied())
    }

    /// Where the positions of events stand, in the table that has them.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.columns.iter().position(|it| self.name == Event::TABLE.name && it.name == "position")
    }
}

/// The tables that are copied, what is referred to before what refers to it.
#[must_use]
pub fn tables() -> Vec<CopyTable> {
    let mut all = vec![
        of::<Organization>(),
        plain(
            "master_keys",
            &[("key_id", Type::Text)],
            &[("fingerprint", Type::Text), ("sealed", Type::Bytes), ("recorded_at", Type::Time)],
        ),
        of::<ApiKey>(),
    ];
    all.extend(people());
    all.extend(feedback());
    all.extend(history());
    all
}

fn people() -> [CopyTable; 8] {
    let mails = [("mail_worker", Type::Id), ("mail_leased_until", Type::Time)];
    [
        of::<Department>(),
        of::<Attribute>(),
        of::<Connector>(),
        of::<Employee>(),
        side("employee_custom_values", "digest", "employee_id"),
        plain("reporting_trees", &[("tenant_id", Type::Id)], &[("version", Type::Int), ("changes", Type::Int)]),
        with(side("reporting_lines", "ancestor_id", "descendant_id"), &[("depth", Type::Int)]),
        with(of::<Invitation>(), &mails),
    ]
}

fn feedback() -> [CopyTable; 12] {
    [
        of::<Observation>(),
        side("observation_attributes", "attribute_id", "observation_id"),
        of::<Objective>(),
        of::<Summary>(),
        side("summary_includes", "included_id", "summary_id"),
        of::<Conversation>(),
        side("conversation_participants", "participant_id", "conversation_id"),
        of::<Message>(),
        of::<Assignment>(),
        side("assignment_people", "person", "assignment_id"),
        of::<Notification>(),
        of::<AuditEntry>(),
    ]
}

fn history() -> [CopyTable; 5] {
    let replays = [
        ("fingerprint", Type::Bytes),
        ("status", Type::Int),
        ("sealed", Type::Bytes),
        ("created_at", Type::Time),
        ("expires_at", Type::Time),
    ];
    [
        plain("replays", &[("tenant_id", Type::Id), ("key", Type::Text)], &replays),
        in_order(with(of::<Event>(), &[("position", Type::Int)]), &["position", "tenant_id", "id"]),
        of::<Subscription>(),
        in_order(table(JOB_TABLE), &["tenant_id", "webhook_id", "event_id"]),
        in_order(of::<Delivery>(), &["tenant_id", "webhook_id", "status", "created_at", "id"]),
    ]
}

fn of<T: Stored>() -> CopyTable {
    in_order(table(T::TABLE), &["tenant_id", "id"])
}

/// A resource's table; the tenant comes first, then what is read of it.
fn table(it: &'static Table) -> CopyTable {
    let tenant = Column::new("tenant_id", Type::Id);
    let own = it.columns.iter().chain(it.recorded).chain(it.derived).copied();
    let version = it.versioned.then(|| Column::new("version", Type::Int));
    let is_stored = |column: &Column| !GENERATED.contains(&(it.name, column.name));
    let mut columns: Vec<_> = own.chain(version).filter(is_stored).collect();
    if !columns.contains(&tenant) {
        columns.insert(0, tenant);
    }
    CopyTable { name: it.name, columns, key: vec![] }
}

/// A table that ties two ids together.
fn side(name: &'static str, one: &'static str, other: &'static str) -> CopyTable {
    plain(name, &[("tenant_id", Type::Id), (one, Type::Id), (other, Type::Id)], &[])
}

fn plain(name: &'static str, key: &[(&'static str, Type)], others: &[(&'static str, Type)]) -> CopyTable {
    let columns = key.iter().chain(others).map(|(name, kind)| Column::new(name, *kind)).collect();
    CopyTable { name, columns, key: (0..key.len()).collect() }
}

/// The same table with more columns.
fn with(mut it: CopyTable, columns: &[(&'static str, Type)]) -> CopyTable {
    it.columns.extend(columns.iter().map(|(name, kind)| Column::new(name, *kind)));
    it
}

/// The same table in the order of these columns, all of which it has.
fn in_order(mut it: CopyTable, key: &[&str]) -> CopyTable {
    it.key = key.iter().filter_map(|name| it.columns.iter().position(|column| column.name == *name)).collect();
    it
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_is_in_two_lists_and_every_key_is_whole() {
        let all = tables();
        let mut names: Vec<_> = all.iter().map(|it| it.name).chain(REBUILT).chain(NOT_COPIED).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for it in &all {
            let mut columns: Vec<_> = it.columns.iter().map(|it| it.name).collect();
            columns.sort_unstable();
            columns.dedup();
            assert_eq!(columns.len(), it.columns.len(), "{}", it.name);
            assert!(!it.key.is_empty(), "{}", it.name);
        }
        let find = |name: &str| all.iter().find(|it| it.name == name).unwrap();
        assert_eq!(find("deliveries").key.len(), 5);
        assert_eq!(find("events").key_columns().next().unwrap().name, "position");
        assert_eq!(find("events").position(), Some(find("events").key[0]));
    }
}
