//! Lists of observations (§4.1).

use strum::{IntoStaticStr, VariantArray};

use super::{Observation, Type};
use crate::external_id;
use crate::fields::string_enum;
use crate::id::{AttributeId, EmployeeId};
use crate::keyed;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Archived, Bounds, ListRequest, Params};
use crate::time::{Date, Timestamp};

/// Conditions of a list of observations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The person that the observation is about.
    pub employee_id: Option<EmployeeId>,
    /// A manager: the observation is about a direct or indirect report of this person, at any depth (decision D5).
    pub manager_id: Option<EmployeeId>,
    /// The type of the observation.
    pub kind: Option<Type>,
    /// Selects active observations, archived ones, or both.
    pub archived: Archived,
    /// Accepted attributes. An empty list accepts observations with and without attributes.
    pub attribute_ids: Vec<AttributeId>,
    /// Bounds of the day that the observation is about.
    pub observation_date: Bounds<Date>,
    /// Bounds of the creation time.
    pub created_at: Bounds<Timestamp>,
    /// Bounds of the last change (decision D10).
    pub updated_at: Bounds<Timestamp>,
    /// Digests of metadata values. An observation must have all of them.
    pub metadata: Vec<[u8; 16]>,
    /// Id in another system.
    pub external_id: Option<String>,
}

/// Linked resources that a response can inline (§2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// The person that the observation is about.
    Employee,
    /// The attributes of the observation.
    Attributes,
    /// The author of the observation.
    Author,
}

string_enum!(Expand, "ObservationExpand");

impl Filter {
    /// Reads the parameters of `GET /observations` into a filter. Problems are recorded in `params`.
    pub fn read(params: &mut Params) -> ListRequest<Self, Expand> {
        let filter = Self::read_conditions(params);
        let expand = params.expand();
        params.list::<Observation, _, _>("observations", filter, expand)
    }

    /// Reads the conditions, without the parameters of a page.
    pub(super) fn read_conditions(params: &mut Params) -> Self {
        Self {
            employee_id: params.one(&params::id("filter[employee_id]", "Only entries about this person.")),
            manager_id: params.one(&params::id(
                "filter[manager_id]",
                "Only entries about the direct and indirect reports of this person. Entries about the person \
                 are not included.",
            )),
            kind: params.one(&params::word("filter[type]", "Only observations of this type.")),
            archived: params.one(&params::ARCHIVED).unwrap_or_default(),
            attribute_ids: params
                .many(&params::id("filter[attribute_id]", "Only observations with this attribute.")),
            observation_date: params.bounds(&params::date(
                "filter[observation_date]",
                "Only observations whose day is within the bounds.",
            )),
            created_at: params.bounds(&params::datetime(
                "filter[created_at]",
                "Only entries whose creation time is within the bounds.",
            )),
            updated_at: params.bounds(&params::UPDATED_AT),
            metadata: keyed::read_metadata_filter(params),
            external_id: params.one(&external_id::FILTER),
        }
    }
}

impl Sortable for Observation {
    const ORDERS_NAME: &'static str = "ObservationSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::ObservationDate, |observation| Key::Date(observation.observation_date)),
        SortKey::descending_by(SortBy::CreatedAt, |observation| Key::Time(observation.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |observation| Key::Time(observation.updated_at)),
    ];
}

#[cfg(test)]
mod tests {
    use super::super::tests::observation;
    use super::*;
    use crate::page::{PageRequest, Sort};
    use crate::problem::Code;

    type Query<'a> = &'a [(&'a str, &'a str)];

    fn parse(query: Query<'_>) -> Result<ListRequest<Filter, Expand>, Vec<(String, Code)>> {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Params::new(pairs).parse(Filter::read).map_err(|problems| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        })
    }

    #[test]
    fn default_list_is_the_50_newest_active_observations() {
        let request = parse(&[]).unwrap();
        assert_eq!(request.filter, Filter::default());
        assert_eq!(request.filter.archived, Archived::No);
        assert_eq!(request.sort, Sort::descending_by(SortBy::ObservationDate));
        assert_eq!(request.page, PageRequest { limit: 50, after: None });
    }

    #[test]
    fn every_filter_is_read() {
        let (employee, manager) = ("emp_00000000000000000000000001", "emp_00000000000000000000000002");
        let (one, two) = ("attr_00000000000000000000000003", "attr_00000000000000000000000004");
        let request = parse(&[
            ("filter[employee_id]", employee),
            ("filter[manager_id]", manager),
            ("filter[type]", "opportunity"),
            ("filter[archived]", "all"),
            ("filter[attribute_id]", one),
            ("filter[attribute_id]", two),
            ("filter[observation_date][gte]", "2026-01-01"),
            ("filter[observation_date][lte]", "2026-01-31"),
            ("filter[created_at][gte]", "2026-01-01T00:00:00Z"),
            ("filter[updated_at][lte]", "2026-01-01T01:00:00+01:00"),
            ("filter[metadata.source]", ""),
            ("filter[metadata.cycle]", "2026-h1"),
            ("filter[external_id]", "crm-7"),
            ("expand", "attributes,employee,attributes"),
            ("sort", "-updated_at"),
        ])
        .unwrap();
        let new_year = "2026-01-01T00:00:00Z".parse().ok();
        let expected_filter = Filter {
            employee_id: employee.parse().ok(),
            manager_id: manager.parse().ok(),
            kind: Some(Type::Opportunity),
            archived: Archived::All,
            attribute_ids: vec![one.parse().unwrap(), two.parse().unwrap()],
            observation_date: Bounds { gte: "2026-01-01".parse().ok(), lte: "2026-01-31".parse().ok() },
            created_at: Bounds { gte: new_year, lte: None },
            updated_at: Bounds { gte: None, lte: new_year },
            metadata: vec![keyed::digest("cycle", "2026-h1"), keyed::digest("source", "")],
            external_id: Some("crm-7".to_owned()),
        };
        assert_eq!(request.filter, expected_filter);
        assert_eq!(request.expand, [Expand::Attributes, Expand::Employee]);
        assert_eq!(request.sort, Sort::descending_by(SortBy::UpdatedAt));
    }

    #[test]
    fn malformed_id_in_a_filter_matches_nothing() {
        let nobody = EmployeeId::from_bytes([0; 16]);
        for text in ["", "obs_00000000000000000000000001", "emp_1", "'; --"] {
            assert_eq!(
                parse(&[("filter[employee_id]", text)]).unwrap().filter.employee_id,
                Some(nobody),
                "{text}"
            );
        }
    }

    #[test]
    fn bad_parameter_is_named_with_its_code() {
        let table: &[(Query<'_>, &str, Code)] = &[
            (&[("filter[type]", "praise")], "filter[type]", Code::InvalidEnum),
            (&[("filter[archived]", "yes")], "filter[archived]", Code::InvalidEnum),
            (&[("filter[type]", "strength"), ("filter[type]", "strength")], "filter[type]", Code::InvalidFormat),
            (&[("filter[observation_date]", "2026-01-01")], "filter[observation_date]", Code::UnknownField),
            (&[("filter[created_at][gte]", "2026-01-01")], "filter[created_at][gte]", Code::InvalidFormat),
            (&[("filter[status]", "active")], "filter[status]", Code::UnknownField),
            (&[("filter[metadata]", "x")], "filter[metadata]", Code::UnknownField),
            (&[("filter[metadata.]", "x")], "filter[metadata.]", Code::TooShort),
            (&[("sort", "type")], "sort", Code::InvalidEnum),
            (&[("expand", "reviewer")], "expand", Code::InvalidEnum),
        ];
        for (query, field, code) in table {
            assert_eq!(parse(query).unwrap_err(), [((*field).to_owned(), *code)], "{query:?}");
        }
    }

    #[test]
    fn every_order_has_its_own_sort_value() {
        let time = |millis| Timestamp::from_millis(millis);
        let dated_observation = Observation {
            observation_date: Date::from_epoch_days(3),
            created_at: time(1),
            updated_at: time(2),
            ..observation()
        };
        for (word, sort) in Observation::sorts() {
            let expected_key = match word.trim_start_matches('-') {
                "observation_date" => Key::Date(Date::from_epoch_days(3)),
                "created_at" => Key::Time(time(1)),
                _ => Key::Time(time(2)),
            };
            assert_eq!(
                (dated_observation.key(sort.by), sort.descending),
                (Some(expected_key), word.starts_with('-')),
                "{word}"
            );
        }
    }
}
