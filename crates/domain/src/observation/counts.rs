//! Counts of observations by group.

use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use super::{Filter, Type};
use crate::counts::{self, CountRequest};
use crate::fields::string_enum;
use crate::id::{AttributeId, DepartmentId};
use crate::params::Params;

/// Members by which observations are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ObservationGroup {
    /// The type of the observation.
    Type,
    /// Each attribute of the observation. An observation with several attributes is in several groups.
    AttributeId,
    /// The month of the observation date.
    Month,
    /// The current department of the person that the observation is about.
    DepartmentId,
}

string_enum!(ObservationGroup, "ObservationGroup");

/// Number of observations of one group. Contains the fields given in `group_by`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObservationCount {
    /// Type of the observations.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Type")]
    pub kind: Option<String>,
    /// Attribute of the observations. Null for observations without attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AttributeId>")]
    pub attribute_id: Option<Option<AttributeId>>,
    /// Month of the observation date, `YYYY-MM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub month: Option<String>,
    /// Current department of the people that the observations are about. Null for people without a department.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DepartmentId>")]
    pub department_id: Option<Option<DepartmentId>>,
    /// Number of observations in the group.
    pub count: u64,
}

impl Filter {
    /// Declares and reads the parameters of `GET /observations/counts`.
    pub fn read_counts(params: &mut Params) -> CountRequest<Self, ObservationGroup> {
        let about = "One or two members to group by, separated by commas. `department_id` also requires the scope \
                     `employees:read`.";
        let groups = counts::groups(params, about);
        CountRequest { filter: Self::read_conditions(params), groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;

    type Parsed = Result<CountRequest<Filter, ObservationGroup>, Vec<(String, Code)>>;

    fn parse(query: &[(&str, &str)]) -> Parsed {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Params::new(pairs).parse(Filter::read_counts).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn counts_are_grouped_by_one_or_two_members() {
        let groups = |text: &str| parse(&[("group_by", text)]).unwrap().groups;
        assert_eq!(groups("type"), [ObservationGroup::Type]);
        assert_eq!(groups("month,department_id"), [ObservationGroup::Month, ObservationGroup::DepartmentId]);
        let filter = parse(&[("group_by", "attribute_id"), ("filter[type]", "strength")]).unwrap();
        assert_eq!(filter.filter.kind, Some(Type::Strength));
    }

    #[test]
    fn invalid_group_is_reported() {
        for (query, code) in [
            (&[][..], Code::Required),
            (&[("group_by", "")], Code::InvalidEnum),
            (&[("group_by", "week")], Code::InvalidEnum),
            (&[("group_by", "type,type")], Code::InvalidFormat),
            (&[("group_by", "type,month,attribute_id")], Code::TooLong),
            (&[("group_by", "type"), ("group_by", "month")], Code::InvalidFormat),
        ] {
            assert_eq!(parse(query), Err(vec![("group_by".to_owned(), code)]), "{query:?}");
        }
        let filter = parse(&[("group_by", "type"), ("filter[status]", "x")]);
        assert_eq!(filter, Err(vec![("filter[status]".to_owned(), Code::UnknownField)]));
    }
}
