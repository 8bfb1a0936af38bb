//! Lists of assignments (decision G).

use super::{Assignment, Status};
use crate::external_id;
use crate::id::EmployeeId;
use crate::keyed;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::time::{Date, Timestamp};

/// Conditions of a list of assignments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The person that the feedback is about.
    pub employee_id: Option<EmployeeId>,
    /// A reviewer of the assignment.
    pub reviewer_id: Option<EmployeeId>,
    /// The person who asks for the feedback.
    pub requester_id: Option<EmployeeId>,
    /// Accepted statuses. An empty list accepts all.
    pub statuses: Vec<Status>,
    /// Bounds of the due date.
    pub due_date: Bounds<Date>,
    /// Bounds of the last change (decision D10).
    pub updated_at: Bounds<Timestamp>,
    /// Digests of metadata values. An assignment must have all of them.
    pub metadata: Vec<[u8; 16]>,
    /// Id in another system.
    pub external_id: Option<String>,
}

impl Filter {
    /// Reads the parameters of `GET /assignments` into a filter. Problems are recorded in `params`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            employee_id: params.one(&params::id("filter[employee_id]", "Only entries about this person.")),
            reviewer_id: params.one(&params::id("filter[reviewer_id]", "Only assignments with this reviewer.")),
            requester_id: params.one(&params::id("filter[requester_id]", "Only assignments with this requester.")),
            statuses: params.statuses("Only assignments with this status. Default: `all`."),
            due_date: params.bounds(&params::date(
                "filter[due_date]",
                "Only assignments whose due date is within the bounds.",
            )),
            updated_at: params.bounds(&params::UPDATED_AT),
            metadata: keyed::read_metadata_filter(params),
            external_id: params.one(&external_id::FILTER),
        };
        params.list::<Assignment, _, _>("assignments", filter, vec![])
    }
}

/// The last day that a date can hold, 9999-12-31, in days since 1970-01-01.
const LAST_DAY: i32 = 2_932_896;

impl Assignment {
    /// Returns the day by which assignments are ordered: the due date, or the last possible day if there is none.
    #[must_use]
    pub fn due_by(&self) -> Date {
        self.due_date.unwrap_or_else(|| Date::from_epoch_days(LAST_DAY))
    }

    /// Translates bounds of the due date into bounds of [`Assignment::due_by`] that exclude assignments without
    /// due date.
    #[must_use]
    pub fn due_within(wanted: Bounds<Date>) -> Bounds<Date> {
        let last = Date::from_epoch_days(LAST_DAY - 1);
        let lte = wanted.lte.map(|end| end.min(last)).or(wanted.gte.map(|_| last));
        Bounds { lte, ..wanted }
    }
}

impl Sortable for Assignment {
    const ORDERS_NAME: &'static str = "AssignmentSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::CreatedAt, |assignment| Key::Time(assignment.created_at)),
        SortKey::ascending_by(SortBy::DueBy, |assignment| Key::Date(assignment.due_by())),
        SortKey::descending_by(SortBy::UpdatedAt, |assignment| Key::Time(assignment.updated_at)),
    ];
}
