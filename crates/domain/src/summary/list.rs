//! Lists of summaries (decisions G).

use strum::{IntoStaticStr, VariantArray};

use super::{Status, Summary};
use crate::external_id;
use crate::fields::string_enum;
use crate::id::{EmployeeId, ObjectiveId, ObservationId};
use crate::keyed;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::time::Timestamp;

/// The conditions of a list of summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The person that the summary is about.
    pub employee_id: Option<EmployeeId>,
    /// The author of the summary.
    pub author_id: Option<EmployeeId>,
    /// A manager of the person that the summary is about, at any depth.
    pub manager_id: Option<EmployeeId>,
    /// Any of these statuses, without duplicates; empty for all except archived.
    pub statuses: Vec<Status>,
    /// An objective that the summary includes.
    pub included_objective_id: Option<ObjectiveId>,
    /// An observation that the summary includes.
    pub included_observation_id: Option<ObservationId>,
    /// Inclusive bounds of the last change (decision D10).
    pub updated_at: Bounds<Timestamp>,
    /// Digests of metadata values. A summary must have all of them.
    pub metadata: Vec<[u8; 16]>,
    /// Id in another system.
    pub external_id: Option<String>,
}

/// The values of `expand`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// The person that the summary is about.
    Employee,
    /// The author of the summary.
    Author,
    /// The included objectives of the summary.
    IncludedObjectives,
    /// The included observations of the summary.
    IncludedObservations,
}

string_enum!(Expand, "SummaryExpand");

impl Filter {
    /// Declares and reads the parameters of `GET /summaries`. Archived summaries are listed only if requested by
    /// status.
    pub fn read(params: &mut Params) -> ListRequest<Self, Expand> {
        let mut filter = Self {
            employee_id: params.one(&params::id("filter[employee_id]", "Only entries about this person.")),
            author_id: params.one(&params::id("filter[author_id]", "Only entries by this author.")),
            manager_id: params.one(&params::id(
                "filter[manager_id]",
                "Only entries about the direct and indirect reports of this person. Entries about the person \
                 are not included.",
            )),
            statuses: vec![],
            included_objective_id: params
                .one(&params::id("filter[included_objective_id]", "Only summaries that include this objective.")),
            included_observation_id: params.one(&params::id(
                "filter[included_observation_id]",
                "Only summaries that include this observation.",
            )),
            updated_at: Bounds::default(),
            metadata: vec![],
            external_id: None,
        };
        filter.statuses =
            params.statuses("Only entries with this status, or `all`. Default: all statuses except `archived`.");
        filter.updated_at = params.bounds(&params::UPDATED_AT);
        filter.metadata = keyed::read_metadata_filter(params);
        filter.external_id = params.one(&external_id::FILTER);
        let expand = params.expand();
        params.list::<Summary, _, _>("summaries", filter, expand)
    }
}

impl Sortable for Summary {
    const ORDERS_NAME: &'static str = "SummarySort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |summary| Key::Time(summary.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |summary| Key::Time(summary.updated_at)),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::StringEnum;
    use crate::page::Sort;
    use crate::problem::Code;

    type Query<'a> = &'a [(&'a str, &'a str)];

    fn parse(query: Query<'_>) -> Result<ListRequest<Filter, Expand>, Vec<(String, Code)>> {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Params::new(pairs).parse(Filter::read).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn all_filters_of_a_list_are_read() {
        let (employee, author) = ("emp_00000000000000000000000001", "emp_00000000000000000000000002");
        let (objective, observation) = ("obj_00000000000000000000000003", "obs_00000000000000000000000004");
        let request = parse(&[
            ("filter[employee_id]", employee),
            ("filter[author_id]", author),
            ("filter[manager_id]", author),
            ("filter[status]", "shared"),
            ("filter[status]", "draft"),
            ("filter[status]", "shared"),
            ("filter[included_objective_id]", objective),
            ("filter[included_observation_id]", observation),
            ("filter[updated_at][gte]", "2026-01-01T00:00:00Z"),
            ("filter[metadata.cycle]", "2026-h1"),
            ("filter[external_id]", "crm-7"),
            ("expand", "included_objectives,included_observations,author,employee"),
            ("sort", "updated_at"),
        ])
        .unwrap();
        let expected_filter = Filter {
            employee_id: employee.parse().ok(),
            author_id: author.parse().ok(),
            manager_id: author.parse().ok(),
            statuses: vec![Status::Draft, Status::Shared],
            included_objective_id: objective.parse().ok(),
            included_observation_id: observation.parse().ok(),
            updated_at: Bounds { gte: "2026-01-01T00:00:00Z".parse().ok(), lte: None },
            metadata: vec![keyed::digest("cycle", "2026-h1")],
            external_id: Some("crm-7".to_owned()),
        };
        assert_eq!(request.filter, expected_filter);
        assert_eq!(request.expand.len(), 4);
        assert_eq!(request.sort, Sort::ascending_by(SortBy::UpdatedAt));
        let all = parse(&[("filter[status]", "all"), ("filter[status]", "draft")]).unwrap();
        assert_eq!(all.filter.statuses, Status::ALL);
        let none = parse(&[]).unwrap();
        assert_eq!((none.filter, none.sort), (Filter::default(), Sort::descending_by(SortBy::CreatedAt)));
    }

    #[test]
    fn invalid_parameter_of_a_list_is_reported() {
        let table: &[(Query<'_>, &str, Code)] = &[
            (&[("filter[status]", "proposed")], "filter[status]", Code::InvalidEnum),
            (
                &[("filter[employee_id]", "a"), ("filter[employee_id]", "a")],
                "filter[employee_id]",
                Code::InvalidFormat,
            ),
            (&[("filter[archived]", "all")], "filter[archived]", Code::UnknownField),
            (&[("filter[updated_at][gte]", "2026-01-01")], "filter[updated_at][gte]", Code::InvalidFormat),
            (&[("sort", "title")], "sort", Code::InvalidEnum),
            (&[("expand", "manager")], "expand", Code::InvalidEnum),
        ];
        for (query, field, code) in table {
            assert_eq!(parse(query).unwrap_err(), [((*field).to_owned(), *code)], "{query:?}");
        }
    }
}
