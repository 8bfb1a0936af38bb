//! Exports: every resource of a data set as lines, in parts that a cursor continues (decision H1).

mod cursor;
mod lines;

pub use cursor::{ExportCursor, ExportPlace};
pub use lines::{ExportCheckpoint, ExportCounts, ExportEnd, ExportHeader, ExportLine, ExportRow};

use strum::{IntoStaticStr, VariantArray};

use crate::access::{Permission, Tenant};
use crate::fields::{StringEnum, string_enum};
use crate::params::{self, Param, Params, ValueForm};
use crate::problem::ValueError;
use crate::time::Timestamp;

/// The resources that an export can contain, in the order of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "each is named after its resource")]
pub enum ExportedResource {
    Employees,
    Observations,
    EmployeeObjectives,
    ManagerObjectives,
    CheckIns,
    Summaries,
    Conversations,
    Messages,
    Assignments,
    Departments,
    Attributes,
}

string_enum!(ExportedResource, "ExportedResource");

impl ExportedResource {
    /// Returns the `type` of the lines of this resource: its name in the singular.
    #[must_use]
    pub const fn line_type(self) -> &'static str {
        match self {
            Self::Employees => "employee",
            Self::Observations => "observation",
            Self::EmployeeObjectives => "employee_objective",
            Self::ManagerObjectives => "manager_objective",
            Self::CheckIns => "check_in",
            Self::Summaries => "summary",
            Self::Conversations => "conversation",
            Self::Messages => "message",
            Self::Assignments => "assignment",
            Self::Departments => "department",
            Self::Attributes => "attribute",
        }
    }

    /// Returns the scope that GET of this resource needs.
    #[must_use]
    pub const fn read_scope(self) -> Permission {
        match self {
            Self::Employees | Self::Departments => Permission::EmployeesRead,
            Self::Observations | Self::Attributes => Permission::ObservationsRead,
            Self::EmployeeObjectives | Self::ManagerObjectives | Self::CheckIns => Permission::ObjectivesRead,
            Self::Summaries => Permission::SummariesRead,
            Self::Conversations | Self::Messages => Permission::ConversationsRead,
            Self::Assignments => Permission::AssignmentsRead,
        }
    }

    /// Returns the resources whose removal changes rows of this resource. An erasure names only the person, so a
    /// copy without these resources cannot tell which of its rows change.
    #[must_use]
    pub const fn depends_on(self) -> &'static [Self] {
        match self {
            Self::Conversations => &[
                Self::Observations,
                Self::EmployeeObjectives,
                Self::ManagerObjectives,
                Self::Summaries,
                Self::Assignments,
            ],
            Self::Employees
            | Self::Observations
            | Self::EmployeeObjectives
            | Self::ManagerObjectives
            | Self::CheckIns
            | Self::Summaries
            | Self::Messages
            | Self::Assignments
            | Self::Departments
            | Self::Attributes => &[],
        }
    }
}

/// A request for an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRequest {
    /// The exported resources, without duplicates, in the order of the lines.
    pub resources: Vec<ExportedResource>,
    /// The point at which an earlier export goes on; `None` for a new export.
    pub from: Option<ExportCursor>,
}

const RESOURCES: Param<Vec<ExportedResource>> = params::param(
    "resources",
    "Resources to export, separated by commas. Default: all.",
    ValueForm::Words(ExportedResource::NAME),
    resources,
);
const CURSOR: Param<String> = params::param(
    "cursor",
    "The `cursor` of a checkpoint, to continue the export after it. Give the same `resources` as before. A \
     cursor is valid for 30 days after the beginning of its export.",
    ValueForm::Any,
    |text| Ok(text.to_owned()),
);

fn resources(text: &str) -> Result<Vec<ExportedResource>, ValueError> {
    let mut resources = text.split(',').map(ExportedResource::from_word).collect::<Result<Vec<_>, _>>()?;
    resources.sort_unstable();
    resources.dedup();
    Ok(resources)
}

impl ExportRequest {
    /// Declares and reads the parameters of `GET /exports`. `open` decrypts a sealed cursor, and returns `None` for a
    /// text that the service did not seal. Problems are `invalid_enum` for an unknown resource, `invalid_format` for a text
    /// that is no cursor of this organization with these resources, `out_of_range` for a cursor that is too old.
    pub fn read(
        params: &mut Params,
        tenant: Tenant,
        now: Timestamp,
        open: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let is_malformed = params.values_of(RESOURCES.name()).any(|text| resources(text).is_err());
        let resources = params.one(&RESOURCES).unwrap_or_else(|| ExportedResource::ALL.to_vec());
        // Unreadable `resources` are one problem. The cursor of such a request cannot be compared with them.
        let from = params.one_and(&CURSOR, |text| {
            let opened_text = open(&text).unwrap_or_default();
            if is_malformed {
                Ok(None)
            } else {
                ExportCursor::read(&opened_text, tenant, &resources, now).map(Some)
            }
        });
        Self { resources, from: from.flatten() }
    }
}

#[cfg(test)]
mod tests;
