//! Columns, encoding and lists of each aggregate.

/// Implements the reads of a table's readers, with the module's `READER_COLUMNS` and `read_readers`.
macro_rules! readers {
    ($resource:ident) => {
        impl $crate::read::StoredReaders for $resource {
            const READERS: &'static $crate::flat::Table = &$crate::flat::Table {
                columns: READER_COLUMNS,
                versioned: false,
                ..$crate::flat::Table::named(<$resource as $crate::flat::Stored>::TABLE.name)
            };

            fn read_readers(
                row: &mut $crate::flat::Reader<'_>,
            ) -> Result<(candor_domain::id::Id<Self::Kind>, Readers), $crate::CorruptRow> {
                read_readers(row)
            }
        }
    };
}

pub mod api_keys;
pub mod assignments;
pub mod attributes;
pub mod audit;
pub mod connectors;
pub mod conversations;
pub mod deliveries;
pub mod departments;
pub mod employees;
pub mod events;
pub mod invitations;
pub mod notifications;
pub mod objectives;
pub mod observations;
pub mod organizations;
pub mod search;
pub mod summaries;
pub mod webhooks;

pub use deliveries::{JOB_TABLE, read_job};

use crate::flat::{Column, Type};
use crate::unique::Unique;

const fn column(name: &'static str, kind: Type) -> Column {
    Column::new(name, kind)
}

/// Unique constraints: the name that PostgreSQL reports, and the columns that SQLite reports.
pub const UNIQUES: [(&str, &str, Unique); 4] = [
    ("employees_email", "employees.tenant_id, employees.email_key", Unique::EmployeeEmail),
    ("employees_external_id", "employees.tenant_id, employees.external_id", Unique::EmployeeExternalId),
    ("departments_name", "departments.tenant_id, departments.name_key", Unique::DepartmentName),
    ("attributes_name", "attributes.tenant_id, attributes.name_key", Unique::AttributeName),
];
