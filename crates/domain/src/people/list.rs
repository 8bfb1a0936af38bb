//! Lists of people (§4.3).

use strum::{IntoStaticStr, VariantArray};

use super::{Employee, Role, Status, custom};
use crate::fields::Word;
use crate::id::{DepartmentId, EmployeeId};
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::text::folded;
use crate::time::Timestamp;

/// Which statuses are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum StatusFilter {
    /// [`Status::Active`]
    Active,
    /// [`Status::Deactivated`]
    Deactivated,
    /// [`Status::PendingInvite`]
    PendingInvite,
    /// All of them.
    All,
}

impl Word for StatusFilter {
    const NAME: &'static str = "EmployeeStatusFilter";
}

impl StatusFilter {
    /// The statuses that it lets through.
    #[must_use]
    pub const fn statuses(self) -> &'static [Status] {
        match self {
            Self::Active => &[Status::Active],
            Self::Deactivated => &[Status::Deactivated],
            Self::PendingInvite => &[Status::PendingInvite],
            Self::All => Status::ALL,
        }
    }
}

impl From<Status> for StatusFilter {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Deactivated => Self::Deactivated,
            Status::PendingInvite => Self::PendingInvite,
        }
    }
}

/// Which people are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// With this address, folded.
    pub email: Option<String>,
    /// With any of these roles; empty = with any.
    pub roles: Vec<Role>,
    /// Direct reports of this person.
    pub manager_id: Option<EmployeeId>,
    /// Members of this department.
    pub department_id: Option<DepartmentId>,
    /// With this status.
    pub status: StatusFilter,
    /// With all of these custom values, as digests.
    pub custom: Vec<[u8; 16]>,
    /// With this id in another system.
    pub external_id: Option<String>,
    /// Who do this.
    pub job_title: Option<String>,
    /// Changed within these bounds.
    pub updated_at: Bounds<Timestamp>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            email: None,
            roles: vec![],
            manager_id: None,
            department_id: None,
            status: StatusFilter::Active,
            custom: vec![],
            external_id: None,
            job_title: None,
            updated_at: Bounds::default(),
        }
    }
}

/// What the filter by custom fields means.
const CUSTOM_FIELDS: &str = "Only people whose custom field has this value: \
                             `filter[custom_fields.<key>]=<value>`. Numbers and booleans are compared as text \
                             (`42`, `true`). As an object, its members are named `custom_fields.<key>`.";

/// What can be inlined (§2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// Their manager.
    Manager,
    /// Their department.
    Department,
    /// The people who report to them.
    DirectReports,
}

impl Word for Expand {
    const NAME: &'static str = "EmployeeExpand";
}

impl Filter {
    /// The parameters of `GET /employees`.
    pub fn read(params: &mut Params) -> ListRequest<Self, Expand> {
        let filter = Self {
            email: params.one(&params::folded(
                "filter[email]",
                "Only the person with this e-mail address. The whole address is compared, without case.",
            )),
            roles: params.many(&params::word("filter[role]", "Only people with this role.")),
            manager_id: params.one(&params::id("filter[manager_id]", "Only direct reports of this person.")),
            department_id: params.one(&params::id("filter[department_id]", "Only people in this department.")),
            status: params
                .one(&params::word("filter[status]", "Only people with this status. Default: `active`."))
                .unwrap_or(StatusFilter::Active),
            external_id: params.one(&params::any(
                "filter[external_id]",
                "Only the person with this id in another system. The whole id is compared.",
            )),
            job_title: params
                .one(&params::any("filter[job_title]", "Only people with this job title. The whole text is compared.")),
            custom: params
                .keyed("custom_fields", CUSTOM_FIELDS, custom::is_key)
                .iter()
                .map(|(key, value)| custom::digest(key, value))
                .collect(),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        let expand = params.expand();
        params.list::<Employee, _, _>("employees", filter, expand)
    }

    /// Reads the parameters of `GET /employees`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, Expand>, Problems> {
        let request = Self::read(&mut params);
        params.finish(request)
    }
}

impl Listed for Employee {
    const ORDERS_NAME: &'static str = "EmployeeSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::LastName, key: |it| Key::Text(folded(&it.last_name)), words: &["last_name"] },
        Order { by: SortBy::FirstName, key: |it| Key::Text(folded(&it.first_name)), words: &["first_name"] },
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["created_at", "-created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["updated_at", "-updated_at"] },
    ];
}
