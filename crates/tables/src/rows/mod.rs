//! Columns, encoding and lists of each resource.

/// Implements `StoredReaders` for a resource with the `READER_COLUMNS` and `read_readers` of its module.
macro_rules! readers {
    ($resource:ident) => {
        impl $crate::read::StoredReaders for $resource {
            const READERS: &'static $crate::flat::Table = &$crate::flat::Table {
                columns: READER_COLUMNS,
                versioned: false,
                ..$crate::flat::Table::with_name(<$resource as $crate::flat::Stored>::TABLE.name)
            };

            fn read_readers(
                row: &mut $crate::flat::Reader<'_>,
            ) -> Result<(candor_domain::id::Id<Self::Kind>, Readers), $crate::CorruptRowError> {
                read_readers(row)
            }
        }
    };
}

pub mod api_keys;
pub mod assignments;
pub mod attributes;
pub mod audit;
pub mod check_ins;
pub mod connectors;
pub mod conversations;
pub mod deliveries;
pub mod departments;
pub mod employees;
pub mod erasures;
pub mod events;
pub mod identity_links;
pub mod identity_proofs;
pub mod identity_providers;
pub mod invitations;
mod log_figures;
pub mod notifications;
pub mod objectives;
pub mod observations;
pub mod organizations;
mod request_counts;
pub mod retention_runs;
mod scim_brakes;
pub mod scim_requests;
pub mod scim_users;
pub mod search;
pub mod summaries;
pub mod sync_issues;
pub mod webhooks;

pub use deliveries::{JOB_TABLE, read_job};
pub use log_figures::{add_figure, without_types};
pub use request_counts::request_count;

use crate::flat::{Column, SqlValue, Stored, Type};
use crate::listing::{Listing, TypedListing};
use crate::read::ID;
use crate::unique::Unique;

const fn column(name: &'static str, kind: Type) -> Column {
    Column::new(name, kind)
}

/// Column of the id in another system.
const EXTERNAL_ID: Column = column("external_id", Type::Text);
/// Column that marks twins: rows whose key another row has, from before keys were computed as they are now.
const TWIN: Column = column("twin", Type::Flag);
/// List of the twins of a resource, ordered by id: no lookup by an address or a name finds them.
#[must_use]
pub fn twins<T: Stored>(most: u16) -> TypedListing<T> {
    let mut it = Listing::new_ordered::<T>(ID, false, most);
    it.is(TWIN, Some(SqlValue::Flag(true)));
    it.into_list()
}

/// Filter that is answered by the digests of metadata.
const METADATA_FILTER: (&str, &str) = ("digest", "metadata.…");

/// A column whose values are unique within a tenant. Null is not a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueColumn {
    /// Name of the constraint, as PostgreSQL reports it.
    pub constraint: &'static str,
    /// Name of the table.
    pub table: &'static str,
    /// Name of the column.
    pub column: &'static str,
    /// Value that is reported as taken if the constraint is violated.
    pub unique: Unique,
}

impl UniqueColumn {
    const fn new(constraint: &'static str, table: &'static str, column: &'static str, unique: Unique) -> Self {
        Self { constraint, table, column, unique }
    }

    /// Returns `true` if SQLite reports the constraint by these columns.
    #[must_use]
    pub fn is_reported_as(&self, columns: &str) -> bool {
        let Self { table, column, .. } = self;
        columns == format!("{table}.tenant_id, {table}.{column}")
    }
}

/// The unique columns of all tables, without the ids.
pub const UNIQUES: [UniqueColumn; 12] = [
    UniqueColumn::new("employees_email", "employees", "email_key", Unique::EmployeeEmail),
    UniqueColumn::new("employees_external_id", "employees", "external_id", Unique::EmployeeExternalId),
    UniqueColumn::new("observations_external_id", "observations", "external_id", Unique::ObservationExternalId),
    UniqueColumn::new("objectives_external_id", "objectives", "external_id", Unique::ObjectiveExternalId),
    UniqueColumn::new("summaries_external_id", "summaries", "external_id", Unique::SummaryExternalId),
    UniqueColumn::new("assignments_external_id", "assignments", "external_id", Unique::AssignmentExternalId),
    UniqueColumn::new("departments_name", "departments", "name_key", Unique::DepartmentName),
    UniqueColumn::new("attributes_name", "attributes", "name_key", Unique::AttributeName),
    UniqueColumn::new("scim_users_user_name", "scim_users", "user_name_key", Unique::ScimUserName),
    UniqueColumn::new("scim_users_external_id", "scim_users", "external_key", Unique::ScimExternalId),
    UniqueColumn::new("identity_links_person", "identity_links", "person_key", Unique::IdentityLinkPerson),
    UniqueColumn::new("sync_issues_open", "sync_issues", "open_key", Unique::OpenIssue),
];
