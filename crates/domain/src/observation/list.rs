//! Lists of observations (§4.1).

use super::{Observation, Type};
use crate::fields::Word;
use crate::id::{AttributeId, EmployeeId};
use crate::page::{Key, Listed, Sort, SortBy, Sorts};
use crate::params::{self, Archived, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::time::{Date, Timestamp};

/// Which observations are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// About this person.
    pub employee_id: Option<EmployeeId>,
    /// About a direct or indirect report of this person, at any depth (decision D5).
    pub manager_id: Option<EmployeeId>,
    /// Of this type.
    pub kind: Option<Type>,
    /// Archived or not.
    pub archived: Archived,
    /// With any of these attributes; empty = whatever they have.
    pub attribute_ids: Vec<AttributeId>,
    /// About a day within these bounds.
    pub observation_date: Bounds<Date>,
    /// Created within these bounds.
    pub created_at: Bounds<Timestamp>,
    /// Changed within these bounds (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

/// What can be inlined (§2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expand {
    /// The person it is about.
    Employee,
    /// Its attributes.
    Attributes,
}

impl Word for Expand {
    const WORDS: &'static [(&'static str, Self)] = &[("employee", Self::Employee), ("attributes", Self::Attributes)];
}

impl Filter {
    /// Reads the parameters of `GET /observations`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, Expand>, Problems> {
        let filter = Self {
            employee_id: params.one("filter[employee_id]", params::id),
            manager_id: params.one("filter[manager_id]", params::id),
            kind: params.one("filter[type]", params::word),
            archived: params.one("filter[archived]", params::word).unwrap_or_default(),
            attribute_ids: params.many("filter[attribute_id]", params::id),
            observation_date: params.bounds("filter[observation_date]", params::date),
            created_at: params.bounds("filter[created_at]", params::datetime),
            updated_at: params.bounds("filter[updated_at]", params::datetime),
        };
        let expand = params.expand();
        params.list("observations", Observation::SORTS, filter, expand)
    }
}

impl Listed for Observation {
    const SORTS: Sorts = &[
        ("-observation_date", Sort::down(SortBy::ObservationDate)),
        ("observation_date", Sort::up(SortBy::ObservationDate)),
        ("-created_at", Sort::down(SortBy::CreatedAt)),
        ("created_at", Sort::up(SortBy::CreatedAt)),
        ("-updated_at", Sort::down(SortBy::UpdatedAt)),
        ("updated_at", Sort::up(SortBy::UpdatedAt)),
    ];

    fn key(&self, by: SortBy) -> Key {
        match by {
            SortBy::ObservationDate => Key::Date(self.observation_date),
            SortBy::UpdatedAt => Key::Time(self.updated_at),
            _ => Key::Time(self.created_at),
        }
    }
}
