//! Counts of objectives by group.

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{ConfidenceFilter, Family, Filter, Scope, Status};
use crate::counts::{self, CountRequest};
use crate::fields::string_enum;
use crate::params::Params;

/// Members by which objectives are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ObjectiveGroup {
    /// The status of the objective.
    Status,
    /// The scope of the objective.
    Scope,
    /// The month of the last day of the period.
    Month,
    /// The confidence of the last check-in that states one.
    Confidence,
}

string_enum!(ObjectiveGroup, "ObjectiveGroup");

/// Number of objectives of one group. Contains the fields given in `group_by`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObjectiveCount {
    /// Status of the objectives.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Status")]
    pub status: Option<String>,
    /// Scope of the objectives.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Scope")]
    pub scope: Option<String>,
    /// Month of `period_end`, `YYYY-MM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub month: Option<String>,
    /// Confidence of the objectives; `none` for those without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ConfidenceFilter")]
    pub confidence: Option<String>,
    /// Number of objectives in the group.
    pub count: u64,
}

impl Filter {
    /// Declares and reads the parameters of the counts of a family.
    pub fn read_counts(family: Family, params: &mut Params) -> CountRequest<Self, ObjectiveGroup> {
        let groups = counts::groups(params, "One or two members to group by, separated by commas.");
        CountRequest { filter: Self::read_conditions(family, params), groups }
    }
}
