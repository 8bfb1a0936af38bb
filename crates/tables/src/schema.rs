//! List of all tables of the schema: their placement in a cluster, their treatment by `candor copy`, and
//! whether the reset of the test data empties them. Tests of both stores compare the list with the migrated
//! databases.

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

use crate::flat::{Column, Stored, Table, Type};
use crate::rows::JOB_TABLE;

/// A table of the schema.
#[derive(Debug, Clone, Copy)]
pub struct SchemaTable {
    /// Name of the table.
    pub name: &'static str,
    /// Placement of its rows in a cluster.
    pub placement: Placement,
    /// Treatment by `candor copy`.
    pub copying: Copying,
    /// Whether `POST /test-data/reset` deletes its rows.
    pub is_test_data: bool,
    /// Columns that identify a row within its tenant.
    pub key: &'static [&'static str],
    /// Columns of a resource, if the table holds one.
    pub(crate) resource: Option<&'static Table>,
    /// Columns in addition to those of the key and of the resource.
    pub(crate) others: &'static [(&'static str, Type)],
    /// Order in which rows are copied; the default is the tenant and then the key.
    pub(crate) copy_order: Option<&'static [&'static str]>,
}

/// Placement of a table's rows in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// On the node of the row's tenant.
    Tenant,
    /// A copy on every node.
    Reference,
    /// On the coordinator only.
    Local,
}

/// Treatment of a table by `candor copy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// Rows are copied unchanged.
    Rows,
    /// Left empty; the service rebuilds it from the copied rows.
    Rebuilt,
    /// Skipped, because it contains no data of tenants.
    LeftOut,
}

/// The tables, each after the tables that it references.
pub const TABLES: &[SchemaTable] = &[
    resource::<Organization>().kept(),
    plain("master_keys", &["key_id"])
        .with(&[
            ("key_id", Type::Text),
            ("fingerprint", Type::Text),
            ("sealed", Type::Bytes),
            ("recorded_at", Type::Time),
        ])
        .on_every_node(),
    plain("write_probes", &[]).left_out(),
    plain("recipient_mails", &["day", "recipient"]).left_out(),
    resource::<ApiKey>().kept(),
    index("search_backlog", &["table_name"]),
    index("search_segments", &["id"]),
    index("search_chunks", &["segment_id", "number"]),
    index("search_blocks", &["segment_id", "first_key"]),
    index("search_pending", &["table_name", "id"]),
    resource::<Attribute>(),
    resource::<Department>(),
    resource::<Connector>(),
    resource::<Employee>(),
    plain("employee_custom_values", &["digest", "employee_id"])
        .with(&[("digest", Type::Id), ("employee_id", Type::Id)]),
    plain("reporting_trees", &[]).with(&[("version", Type::Int), ("changes", Type::Int)]).kept(),
    plain("reporting_lines", &["ancestor_id", "descendant_id"]).with(&[
        ("ancestor_id", Type::Id),
        ("descendant_id", Type::Id),
        ("depth", Type::Int),
    ]),
    resource::<Invitation>().with(&[("mail_worker", Type::Id), ("mail_leased_until", Type::Time)]),
    resource::<Objective>(),
    resource::<Observation>(),
    plain("observation_attributes", &["attribute_id", "observation_id"])
        .with(&[("attribute_id", Type::Id), ("observation_id", Type::Id)]),
    resource::<Summary>(),
    plain("summary_includes", &["included_id", "summary_id"])
        .with(&[("included_id", Type::Id), ("summary_id", Type::Id)]),
    resource::<Assignment>(),
    plain("assignment_people", &["person", "assignment_id"]).with(&[("person", Type::Id), ("assignment_id", Type::Id)]),
    resource::<Conversation>(),
    plain("conversation_participants", &["participant_id", "conversation_id"])
        .with(&[("participant_id", Type::Id), ("conversation_id", Type::Id)]),
    resource::<Message>(),
    resource::<Notification>(),
    resource::<AuditEntry>().kept(),
    plain("replays", &["key"]).with(&[
        ("key", Type::Text),
        ("fingerprint", Type::Bytes),
        ("status", Type::Int),
        ("sealed", Type::Bytes),
        ("created_at", Type::Time),
        ("expires_at", Type::Time),
    ]),
    resource::<Event>().with(&[("position", Type::Int)]).copied_by(&["position", "tenant_id", "id"]),
    resource::<Subscription>(),
    described(Delivery::TABLE, &["webhook_id", "status", "created_at", "id"]),
    described(JOB_TABLE, &["webhook_id", "event_id"]),
];

/// Columns that the database computes from others of the row, by table; they cannot be written.
const GENERATED: [(&str, &str); 1] = [("conversations", "active_at")];

/// Returns the tables with this placement.
pub fn placed(placement: Placement) -> impl Iterator<Item = &'static SchemaTable> {
    TABLES.iter().filter(move |table| table.placement == placement)
}

/// Returns the tables with test data, in an order in which their rows can be deleted: referencing tables come
/// first.
pub fn test_data() -> impl Iterator<Item = &'static SchemaTable> {
    TABLES.iter().rev().filter(|table| table.is_test_data)
}

/// Creates a table with its own columns. It belongs to a tenant, is copied, and is emptied by the reset of
/// the test data.
const fn plain(name: &'static str, key: &'static [&'static str]) -> SchemaTable {
    SchemaTable {
        name,
        placement: Placement::Tenant,
        copying: Copying::Rows,
        is_test_data: true,
        key,
        resource: None,
        others: &[],
        copy_order: None,
    }
}

const fn described(table: &'static Table, key: &'static [&'static str]) -> SchemaTable {
    SchemaTable { resource: Some(table), ..plain(table.name, key) }
}

const fn resource<T: Stored>() -> SchemaTable {
    described(T::TABLE, &["id"])
}

/// Creates a table of the full-text index.
const fn index(name: &'static str, key: &'static [&'static str]) -> SchemaTable {
    SchemaTable { copying: Copying::Rebuilt, ..plain(name, key) }
}

impl SchemaTable {
    /// Adds columns to those of the resource.
    const fn with(self, others: &'static [(&'static str, Type)]) -> Self {
        Self { others, ..self }
    }

    /// Sets the columns that order the copied rows.
    const fn copied_by(self, columns: &'static [&'static str]) -> Self {
        Self { copy_order: Some(columns), ..self }
    }

    /// Excludes the table from the reset of the test data: settings, keys and history.
    const fn kept(self) -> Self {
        Self { is_test_data: false, ..self }
    }

    /// Places a table of the whole database on every node of a cluster.
    const fn on_every_node(self) -> Self {
        Self { placement: Placement::Reference, is_test_data: false, ..self }
    }

    /// Marks a table of the whole database without data of tenants.
    const fn left_out(self) -> Self {
        Self { placement: Placement::Local, copying: Copying::LeftOut, is_test_data: false, ..self }
    }

    /// Returns `true` if rows have a tenant.
    pub(crate) fn has_tenant(&self) -> bool {
        self.placement == Placement::Tenant
    }

    /// Returns all columns as `candor copy` reads them, the tenant first.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let tenant = Column::new("tenant_id", Type::Id);
        let mut columns: Vec<_> = self.has_tenant().then_some(tenant).into_iter().collect();
        if let Some(table) = self.resource {
            let own = table.columns.iter().chain(table.recorded).chain(table.derived).copied();
            columns.extend(own.filter(|column| *column != tenant));
            columns.extend(table.versioned.then(|| Column::new("version", Type::Int)));
        }
        columns.retain(|column| !GENERATED.contains(&(self.name, column.name)));
        columns.extend(self.others.iter().map(|(name, kind)| Column::new(name, *kind)));
        columns
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_table_is_listed_once_with_each_column_once() {
        let names: BTreeSet<_> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(names.len(), TABLES.len());
        for table in TABLES {
            let columns = table.columns();
            let names: BTreeSet<_> = columns.iter().map(|column| column.name).collect();
            assert_eq!(names.len(), columns.len(), "{}", table.name);
            let is_copied = table.copying == Copying::Rows;
            assert!(!is_copied || table.key.iter().all(|column| names.contains(column)), "{}", table.name);
        }
    }
}
