//! People: the organization's system of record for them (§2.3, §3.3, §4.3).

mod change;
pub mod connector;
mod custom;
pub mod invitation;
mod lifecycle;
mod list;

pub use change::{Draft, Patch, References, ReportingLine};
pub(crate) use change::{EMAIL, EXTERNAL_ID, FIRST_NAME, JOB_TITLE, LAST_NAME, ROLE};
pub use connector::Connector;
pub(crate) use custom::is_key;
pub use custom::{Custom, CustomFields, CustomPatch, MAX_FIELDS, MAX_KEY_CHARS, MAX_VALUE_CHARS};
pub use invitation::Invitation;
pub use lifecycle::Rehire;
pub use list::{Expand, Filter, StatusFilter};

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::decision::Resource;
use crate::fields::{Word, as_word};
use crate::id::{ConnectorId, DepartmentId, EmployeeId, EmployeeKind};
use crate::time::Timestamp;

/// The longest first name, and the longest last name (§8).
pub const NAME_CHARS: usize = 80;
/// The longest external id (decision D10).
pub const EXTERNAL_ID_CHARS: usize = 128;
/// The longest job title.
pub const JOB_TITLE_CHARS: usize = 120;
/// The most people that `direct_reports` inlines (§8).
pub const MAX_DIRECT_REPORTS: u16 = 100;
/// What `hris_source` says of people whom no HR system manages (decision D8).
pub const MANUAL: &str = "manual";

/// What a person may do in the organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Works there.
    Employee,
    /// Leads others.
    Manager,
    /// Shapes the organization.
    OrgAdmin,
}

impl Word for Role {
    const NAME: &'static str = "Role";
}

/// Whether a person works there now (§3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    /// Works there.
    Active,
    /// Has left.
    Deactivated,
    /// Was invited and has not accepted.
    PendingInvite,
}

impl Word for Status {
    const NAME: &'static str = "EmployeeStatus";
}

/// A person of the organization.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Employee {
    /// Their id.
    pub id: EmployeeId,
    /// Their address, unique in the organization without case, across all statuses.
    pub email: String,
    /// Their id in another system, unique in the organization.
    pub external_id: Option<String>,
    /// Their first name.
    pub first_name: String,
    /// Their last name.
    pub last_name: String,
    /// What they do, in the organization's words.
    pub job_title: Option<String>,
    /// What they may do.
    #[serde(serialize_with = "as_word")]
    pub role: Role,
    /// Their manager; null at the top of a reporting tree.
    pub manager_id: Option<EmployeeId>,
    /// Their department.
    pub department_id: Option<DepartmentId>,
    /// Whether they work there now.
    #[serde(serialize_with = "as_word")]
    pub status: Status,
    /// What else the organization records.
    pub custom_fields: CustomFields,
    /// Whether an HR system owns part of this record.
    pub is_hris_managed: bool,
    /// Which HR system that is, or `manual`.
    pub hris_source: String,
    /// The connector through which it does.
    #[serde(skip)]
    pub connector_id: Option<ConnectorId>,
    /// When they were recorded.
    pub created_at: Timestamp,
    /// When the record last changed.
    pub updated_at: Timestamp,
    /// When they left; null unless they have.
    pub deactivated_at: Option<Timestamp>,
}

impl Resource for Employee {
    type Kind = EmployeeKind;
    const NAME: &'static str = "employee";

    fn id(&self) -> EmployeeId {
        self.id
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ulid::Ulid;

    pub(crate) fn employee(number: u128) -> Employee {
        let at = Timestamp::from_millis(1_000);
        Employee {
            id: EmployeeId::from_ulid(Ulid(number)),
            email: format!("person{number}@example.com"),
            external_id: None,
            first_name: "Ada".to_owned(),
            last_name: "Example".to_owned(),
            job_title: None,
            role: Role::Employee,
            manager_id: None,
            department_id: None,
            status: Status::Active,
            custom_fields: CustomFields::default(),
            is_hris_managed: false,
            hris_source: MANUAL.to_owned(),
            connector_id: None,
            created_at: at,
            updated_at: at,
            deactivated_at: None,
        }
    }
}
