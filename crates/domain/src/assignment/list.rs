//! Lists of assignments (decision G).

use super::{Assignment, Status};
use crate::id::EmployeeId;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::time::{Date, Timestamp};

/// Which assignments are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// About this person.
    pub employee_id: Option<EmployeeId>,
    /// Of which this person is a reviewer.
    pub reviewer_id: Option<EmployeeId>,
    /// That this person asked for.
    pub requester_id: Option<EmployeeId>,
    /// With any of these statuses; empty = all.
    pub statuses: Vec<Status>,
    /// Due within these bounds.
    pub due_date: Bounds<Date>,
    /// Changed within these bounds (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

impl Filter {
    /// The parameters of `GET /assignments`.
    pub fn read(params: &mut Params) -> ListRequest<Self, ()> {
        let filter = Self {
            employee_id: params.one(&params::id("filter[employee_id]", "Only entries about this person.")),
            reviewer_id: params.one(&params::id("filter[reviewer_id]", "Only assignments with this reviewer.")),
            requester_id: params.one(&params::id("filter[requester_id]", "Only assignments with this requester.")),
            statuses: params.statuses("Only assignments with this status. Default: `all`."),
            due_date: params
                .bounds(&params::date("filter[due_date]", "Only assignments whose due date is within the bounds.")),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        params.list::<Assignment, _, _>("assignments", filter, vec![])
    }

    /// Reads the parameters of `GET /assignments`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, ()>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

/// Days since 1970 of the last day that can be written, 9999-12-31.
const LAST_DAY: i32 = 2_932_896;

impl Assignment {
    /// The day by which it is ordered: the last one there is where none was said.
    #[must_use]
    pub fn due_by(&self) -> Date {
        self.due_date.unwrap_or_else(|| Date::from_epoch_days(LAST_DAY))
    }

    /// The same bounds of [`Assignment::due_by`], without what has no day.
    #[must_use]
    pub fn due_within(wanted: Bounds<Date>) -> Bounds<Date> {
        let last = Date::from_epoch_days(LAST_DAY - 1);
        let lte = wanted.lte.map(|it| it.min(last)).or(wanted.gte.map(|_| last));
        Bounds { lte, ..wanted }
    }
}

impl Listed for Assignment {
    const ORDERS_NAME: &'static str = "AssignmentSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] },
        Order { by: SortBy::DueBy, key: |it| Key::Date(it.due_by()), words: &["due_date", "-due_date"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["-updated_at", "updated_at"] },
    ];
}
