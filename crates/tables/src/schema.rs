//! Every table of the schema, in one list: where a cluster keeps it, whether `candor copy` copies it, and whether the reset
//! of the test data empties it. Tests of both stores compare the list with the migrated databases.

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

use crate::codec::{Bytes, IdColumn, Int, TextColumn, Time, column};
use crate::flat::{Column, Stored, Table, Type};
use crate::rows::JOB_TABLE;

/// One table of the schema.
#[derive(Debug, Clone, Copy)]
pub struct SchemaTable {
    /// Name of the table.
    pub name: &'static str,
    /// Where a cluster keeps its rows.
    pub placement: Placement,
    /// What `candor copy` does with it.
    pub copying: Copying,
    /// Whether `POST /test-data/reset` deletes its rows.
    pub is_test_data: bool,
    /// Columns that identify a row within its tenant.
    pub key: &'static [&'static str],
    /// Columns of a resource, if the table holds one.
    pub(crate) resource: Option<&'static Table>,
    /// Columns beside those of the key and of the resource.
    pub(crate) others: &'static [Column],
    /// Order in which rows are copied; without it, the tenant and then the key.
    pub(crate) copy_order: Option<&'static [&'static str]>,
}

/// Where a cluster keeps the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// On the node of the row's tenant.
    Tenant,
    /// On every node.
    Reference,
    /// On the coordinator.
    Local,
}

/// What `candor copy` does with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// Copies its rows as they are.
    Rows,
    /// Leaves it empty; the service builds it again from copied rows.
    Rebuilt,
    /// Leaves it out: it holds no data of tenants.
    LeftOut,
}

/// The tables, in an order in which each comes after those that it refers to.
pub const TABLES: &[SchemaTable] = &[
    resource::<Organization>().kept(),
    plain("master_keys", &["key_id"])
        .with(&[
            column::<TextColumn>("key_id"),
            column::<TextColumn>("fingerprint"),
            column::<Bytes>("sealed"),
            column::<Time>("recorded_at"),
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
        .with(&[column::<IdColumn>("digest"), column::<IdColumn>("employee_id")]),
    plain("reporting_trees", &[]).with(&[column::<Int>("version"), column::<Int>("changes")]).kept(),
    plain("reporting_lines", &["ancestor_id", "descendant_id"]).with(&[
        column::<IdColumn>("ancestor_id"),
        column::<IdColumn>("descendant_id"),
        column::<Int>("depth"),
    ]),
    resource::<Invitation>()
        .with(&[column::<Option<IdColumn>>("mail_worker"), column::<Option<Time>>("mail_leased_until")]),
    resource::<Objective>(),
    resource::<Observation>(),
    plain("observation_attributes", &["attribute_id", "observation_id"])
        .with(&[column::<IdColumn>("attribute_id"), column::<IdColumn>("observation_id")]),
    resource::<Summary>(),
    plain("summary_includes", &["included_id", "summary_id"])
        .with(&[column::<IdColumn>("included_id"), column::<IdColumn>("summary_id")]),
    resource::<Assignment>(),
    plain("assignment_people", &["person", "assignment_id"])
        .with(&[column::<IdColumn>("person"), column::<IdColumn>("assignment_id")]),
    resource::<Conversation>(),
    plain("conversation_participants", &["participant_id", "conversation_id"])
        .with(&[column::<IdColumn>("participant_id"), column::<IdColumn>("conversation_id")]),
    resource::<Message>(),
    resource::<Notification>(),
    resource::<AuditEntry>().kept(),
    plain("replays", &["key"]).with(&[
        column::<TextColumn>("key"),
        column::<Bytes>("fingerprint"),
        column::<Int>("status"),
        column::<Bytes>("sealed"),
        column::<Time>("created_at"),
        column::<Time>("expires_at"),
    ]),
    resource::<Event>().with(&[column::<Int>("position")]).copied_by(&["position", "tenant_id", "id"]),
    resource::<Subscription>(),
    described(Delivery::TABLE, &["webhook_id", "status", "created_at", "id"]),
    described(JOB_TABLE, &["webhook_id", "event_id"]),
];

/// Columns that a database computes from others of the row, by table; they cannot be written.
const GENERATED: [(&str, &str); 1] = [("conversations", "active_at")];

/// The tables with this placement.
pub fn placed(placement: Placement) -> impl Iterator<Item = &'static SchemaTable> {
    TABLES.iter().filter(move |table| table.placement == placement)
}

/// The tables that hold test data, in an order in which their rows can be deleted: those that refer to others come first.
pub fn test_data() -> impl Iterator<Item = &'static SchemaTable> {
    TABLES.iter().rev().filter(|table| table.is_test_data)
}

/// A table whose rows have columns of its own: of a tenant, copied, emptied with the test data.
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

/// A table of the index of words.
const fn index(name: &'static str, key: &'static [&'static str]) -> SchemaTable {
    SchemaTable { copying: Copying::Rebuilt, ..plain(name, key) }
}

impl SchemaTable {
    /// The same with more columns.
    const fn with(self, others: &'static [Column]) -> Self {
        Self { others, ..self }
    }

    /// The same, copied in the order of these columns.
    const fn copied_by(self, columns: &'static [&'static str]) -> Self {
        Self { copy_order: Some(columns), ..self }
    }

    /// The same, which stays when the test data are emptied: settings, keys, and the record of what happened.
    const fn kept(self) -> Self {
        Self { is_test_data: false, ..self }
    }

    /// The same for a table of the whole database that every node of a cluster needs.
    const fn on_every_node(self) -> Self {
        Self { placement: Placement::Reference, is_test_data: false, ..self }
    }

    /// The same for a table of the whole database that holds no data of tenants.
    const fn left_out(self) -> Self {
        Self { placement: Placement::Local, copying: Copying::LeftOut, is_test_data: false, ..self }
    }

    /// The table of the resource whose rows it holds, if it holds one.
    #[must_use]
    pub const fn resource(&self) -> Option<&'static Table> {
        self.resource
    }

    /// Whether each row has a tenant.
    pub(crate) fn has_tenant(&self) -> bool {
        self.placement == Placement::Tenant
    }

    /// All its columns as `candor copy` reads them, the tenant first.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let tenant = Column::new("tenant_id", Type::Id);
        let mut columns: Vec<_> = self.has_tenant().then_some(tenant).into_iter().collect();
        if let Some(table) = self.resource {
            let own = table.columns.iter().chain(table.recorded).chain(table.derived).copied();
            columns.extend(own.filter(|column| *column != tenant));
            columns.extend(table.versioned.then(|| Column::new("version", Type::Int)));
        }
        columns.retain(|column| !GENERATED.contains(&(self.name, column.name)));
        columns.extend(self.others);
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
