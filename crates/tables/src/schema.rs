//! List of all tables of the schema. For each, it declares the placement on a cluster, the behaviour of `candor
//! copy`, and whether a reset of the test data deletes its rows. Tests of both stores compare the list with the
//! migrated databases.

use candor_domain::access::api_key::ApiKey;
use candor_domain::assignment::Assignment;
use candor_domain::audit::AuditEntry;
use candor_domain::catalog::{Attribute, Department};
use candor_domain::conversation::{Conversation, Message};
use candor_domain::erasure::Erasure;
use candor_domain::event::Event;
use candor_domain::notification::Notification;
use candor_domain::objective::{CheckIn, Objective};
use candor_domain::observation::Observation;
use candor_domain::organization::Organization;
use candor_domain::people::{Employee, Invitation};
use candor_domain::retention::RetentionRun;
use candor_domain::summary::Summary;
use candor_provisioning::Connector;
use candor_provisioning::connector::{BrakeCount, ScimLink, ScimRequest, SyncIssue};
use candor_sign_in::{IdentityLink, IdentityProof, IdentityProvider, ProviderRemoval};
use candor_subscriptions::{Delivery, Subscription};

use crate::codec::{Bytes, IdColumn, Int, TextColumn, Time, column};
use crate::flat::{Column, Stored, Table, Type};
use crate::rows::JOB_TABLE;

/// One table of the schema.
#[derive(Debug, Clone, Copy)]
pub struct SchemaTable {
    /// Name of the table.
    pub name: &'static str,
    /// Placement of the rows on a cluster.
    pub placement: Placement,
    /// Behaviour of `candor copy` for this table.
    pub copying: Copying,
    /// `true` if `POST /test-data/reset` deletes the rows.
    pub is_test_data: bool,
    /// Columns that identify a row within its tenant.
    pub key: &'static [&'static str],
    /// Declared columns of the resource, if the table holds one.
    pub(crate) resource: Option<&'static Table>,
    /// Columns that the resource does not declare, such as all columns of a table without a resource.
    pub(crate) others: &'static [Column],
    /// Columns that order the rows of a copy; the tenant and the key by default.
    pub(crate) copy_order: Option<&'static [&'static str]>,
}

/// Placement of a table's rows on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Rows are on the node of their tenant.
    Tenant,
    /// Every node has a copy of the rows.
    Reference,
    /// Rows are on the coordinator only.
    Local,
}

/// Behaviour of `candor copy` for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// Copies the rows unchanged.
    Rows,
    /// Does not copy; the service rebuilds the rows from copied ones.
    Rebuilt,
    /// Does not copy: the table holds no data of tenants.
    LeftOut,
}

/// All tables, each after the tables that it references.
pub const TABLES: &[SchemaTable] = &[
    resource::<Organization>().keep_in_reset(),
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
    resource::<ApiKey>().keep_in_reset(),
    index("search_backlog", &["table_name"]),
    index("search_segments", &["id"]),
    index("search_chunks", &["segment_id", "number"]),
    index("search_blocks", &["segment_id", "first_key"]),
    index("search_pending", &["table_name", "id"]),
    resource::<Attribute>(),
    resource::<Department>(),
    resource::<Connector>(),
    resource::<IdentityProvider>(),
    resource::<ProviderRemoval>(),
    // At most one provider of the whole installation holds a proof, so the key does not contain the tenant.
    resource::<IdentityProof>().with(&[column::<IdColumn>("tenant_id")]).on_every_node(),
    resource::<Employee>(),
    resource::<ScimLink>(),
    resource::<IdentityLink>(),
    resource::<SyncIssue>(),
    resource::<ScimRequest>(),
    plain("request_counts", &["hour", "status"]).with(&[
        column::<Int>("hour"),
        column::<Int>("status"),
        column::<Int>("count"),
    ]),
    resource::<BrakeCount>(),
    plain("employee_custom_values", &["digest", "employee_id"])
        .with(&[column::<IdColumn>("digest"), column::<IdColumn>("employee_id")]),
    plain("reporting_trees", &[])
        .with(&[column::<Int>("version"), column::<Int>("changes"), column::<Option<IdColumn>>("rebuilt_until")])
        .keep_in_reset(),
    plain("reporting_lines", &["ancestor_id", "descendant_id"]).with(&[
        column::<IdColumn>("ancestor_id"),
        column::<IdColumn>("descendant_id"),
        column::<Int>("depth"),
    ]),
    resource::<Invitation>()
        .with(&[column::<Option<IdColumn>>("mail_worker"), column::<Option<Time>>("mail_leased_until")]),
    resource::<Erasure>().keep_in_reset(),
    resource::<RetentionRun>().keep_in_reset(),
    plain("erased_rows", &["erasure_id", "kind", "id"])
        .with(&[column::<IdColumn>("erasure_id"), column::<TextColumn>("kind"), column::<IdColumn>("id")])
        .keep_in_reset(),
    resource::<Objective>(),
    plain("objective_metadata_values", &["digest", "objective_id"])
        .with(&[column::<IdColumn>("digest"), column::<IdColumn>("objective_id")]),
    resource::<CheckIn>(),
    resource::<Observation>(),
    plain("observation_attributes", &["attribute_id", "observation_id"])
        .with(&[column::<IdColumn>("attribute_id"), column::<IdColumn>("observation_id")]),
    plain("observation_metadata_values", &["digest", "observation_id"])
        .with(&[column::<IdColumn>("digest"), column::<IdColumn>("observation_id")]),
    resource::<Summary>(),
    plain("summary_includes", &["included_id", "summary_id"])
        .with(&[column::<IdColumn>("included_id"), column::<IdColumn>("summary_id")]),
    plain("summary_metadata_values", &["digest", "summary_id"])
        .with(&[column::<IdColumn>("digest"), column::<IdColumn>("summary_id")]),
    resource::<Assignment>(),
    plain("assignment_people", &["person", "assignment_id"])
        .with(&[column::<IdColumn>("person"), column::<IdColumn>("assignment_id")]),
    plain("assignment_metadata_values", &["digest", "assignment_id"])
        .with(&[column::<IdColumn>("digest"), column::<IdColumn>("assignment_id")]),
    resource::<Conversation>(),
    plain("conversation_participants", &["participant_id", "conversation_id"])
        .with(&[column::<IdColumn>("participant_id"), column::<IdColumn>("conversation_id")]),
    resource::<Message>(),
    resource::<Notification>(),
    resource::<AuditEntry>().keep_in_reset(),
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
    describe_table(Delivery::TABLE, &["webhook_id", "status", "created_at", "id"]),
    describe_table(JOB_TABLE, &["webhook_id", "event_id"]),
];

/// Columns that the database computes from other columns of the row, as pairs of table and column. They cannot be
/// written.
const GENERATED: [(&str, &str); 1] = [("conversations", "active_at")];

/// Returns the tables with this placement.
pub fn tables_with(placement: Placement) -> impl Iterator<Item = &'static SchemaTable> {
    TABLES.iter().filter(move |table| table.placement == placement)
}

/// Returns the tables with test data, in an order in which their rows can be deleted: referencing tables come
/// first.
pub fn test_data() -> impl Iterator<Item = &'static SchemaTable> {
    TABLES.iter().rev().filter(|table| table.is_test_data)
}

/// Creates a table with only a name and a key. By default its rows have a tenant, are copied, and are deleted with
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

const fn describe_table(table: &'static Table, key: &'static [&'static str]) -> SchemaTable {
    SchemaTable { resource: Some(table), ..plain(table.name, key) }
}

const fn resource<T: Stored>() -> SchemaTable {
    describe_table(T::TABLE, &["id"])
}

/// Creates a table of the full-text index.
const fn index(name: &'static str, key: &'static [&'static str]) -> SchemaTable {
    SchemaTable { copying: Copying::Rebuilt, ..plain(name, key) }
}

impl SchemaTable {
    /// Adds columns to the table.
    const fn with(self, others: &'static [Column]) -> Self {
        Self { others, ..self }
    }

    /// Sets the order in which rows are copied.
    const fn copied_by(self, columns: &'static [&'static str]) -> Self {
        Self { copy_order: Some(columns), ..self }
    }

    /// Excludes the table from a reset of the test data: settings, keys and the audit log are kept.
    const fn keep_in_reset(self) -> Self {
        Self { is_test_data: false, ..self }
    }

    /// Makes the key of the table independent of tenants, places a copy of the table on every node of a cluster, and
    /// excludes the table from a reset of the test data.
    const fn on_every_node(self) -> Self {
        Self { placement: Placement::Reference, is_test_data: false, ..self }
    }

    /// Makes the table independent of tenants, and excludes it from copies and from a reset of the test data.
    const fn left_out(self) -> Self {
        Self { placement: Placement::Local, copying: Copying::LeftOut, is_test_data: false, ..self }
    }

    /// Returns the table of the stored resource; `None` if the table holds no resource.
    #[must_use]
    pub const fn resource(&self) -> Option<&'static Table> {
        self.resource
    }

    /// Returns `true` if each row has a tenant.
    pub(crate) fn has_tenant(&self) -> bool {
        self.placement == Placement::Tenant
    }

    /// Returns all columns in the order of `candor copy`, the tenant first.
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
    fn table_is_listed_once_with_distinct_columns() {
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
