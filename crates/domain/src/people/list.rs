//! Lists of people (§4.3).

use strum::{IntoStaticStr, VariantArray};

use super::{CustomFields, Employee, LegalHold, Role, Status};
use crate::access::Access;
use crate::external_id;
use crate::fields::{StringEnum, string_enum};
use crate::id::{DepartmentId, EmployeeId};
use crate::keyed::{self, KeyedMap, ValueFilter};
use crate::organization::Organization;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::{Code, ValidationErrors, ValueError};
use crate::text::fold_case;
use crate::time::Timestamp;
use crate::visibility::Viewer;

/// The values of `filter[status]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the variants are those of `Status`")]
pub enum StatusFilter {
    Active,
    Deactivated,
    PendingInvite,
    /// People with any status.
    All,
}

string_enum!(StatusFilter, "EmployeeStatusFilter");

impl StatusFilter {
    /// Returns the statuses that the filter accepts.
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

/// The conditions of a list of people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "parameters of the contract, §4.3")]
pub struct Filter {
    /// Any of these people, without duplicates; empty for all.
    pub ids: Vec<EmployeeId>,
    /// Key of the e-mail address of the person.
    pub email: Option<String>,
    /// Any of these roles; empty for all.
    pub roles: Vec<Role>,
    /// The manager of the people; indirect reports are not included.
    pub manager_id: Option<EmployeeId>,
    pub department_id: Option<DepartmentId>,
    pub status: StatusFilter,
    /// Values of custom fields, all of which a person must have.
    pub custom: Vec<ValueFilter>,
    pub external_id: Option<String>,
    pub job_title: Option<String>,
    /// Inclusive bounds of the last change.
    pub updated_at: Bounds<Timestamp>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            ids: vec![],
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

/// Description of the filter by custom fields.
const CUSTOM_FIELDS: &str = "Only people whose custom field has this value: \
                             `filter[custom_fields.<key>]=<value>`. Numbers and booleans are compared as text \
                             (`42`, `true`). Generated clients take an object with members `custom_fields.<key>`.";

/// The values of `expand` (§2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// The manager of the person.
    Manager,
    /// The department of the person.
    Department,
    /// The people who report to the person directly.
    DirectReports,
    /// The legal hold on the data of the person, for the callers of [`LegalHold::ACCESS`].
    LegalHold,
}

string_enum!(Expand, "EmployeeExpand");

impl Expand {
    /// Returns the access that a path needs in addition to the access to the person; `None` if it needs no more.
    /// Departments are read with the scopes of employees (decision B3).
    #[must_use]
    pub const fn access(self) -> Option<Access> {
        match self {
            Self::Manager | Self::Department | Self::DirectReports => None,
            Self::LegalHold => Some(LegalHold::ACCESS),
        }
    }
}

impl Filter {
    /// Declares and reads the parameters of `GET /employees`.
    pub fn read(params: &mut Params) -> ListRequest<Self, Expand> {
        let mut ids: Vec<EmployeeId> = params.many(&params::id("filter[id]", "Only the person with this id."));
        ids.sort_unstable();
        ids.dedup();
        let filter = Self {
            ids,
            email: params.one(&params::address(
                "filter[email]",
                "Only the person with this e-mail address. The whole address is compared, without case.",
            )),
            roles: params.many(&params::word("filter[role]", "Only people with this role.")),
            manager_id: params.one(&params::id("filter[manager_id]", "Only direct reports of this person.")),
            department_id: params.one(&params::id("filter[department_id]", "Only people in this department.")),
            status: params
                .one(&params::word("filter[status]", "Only people with this status. Default: `active`."))
                .unwrap_or(StatusFilter::Active),
            external_id: params.one(&external_id::FILTER),
            job_title: params.one(&params::any(
                "filter[job_title]",
                "Only people with this job title. The whole text is compared.",
            )),
            custom: keyed::read_filter::<CustomFields>(params, CUSTOM_FIELDS),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        let expand = params.expand();
        params.list::<Employee, _, _>("employees", filter, expand)
    }

    /// Checks that the filters by custom fields need only fields that the viewer sees of all people. Otherwise the
    /// result would tell values that are not shown.
    ///
    /// # Errors
    /// `not_possible` for each filter by a field that the viewer does not see of all people.
    pub fn check_sight(&self, viewer: Viewer, organization: &Organization) -> Result<(), ValidationErrors> {
        let mut problems = ValidationErrors::none();
        let hidden_filters = self.custom.iter().filter(|filter| !organization.shows_custom_field(&filter.key));
        for filter in hidden_filters.filter(|_| viewer != Viewer::Everything) {
            problems.add(format!("filter[{}.{}]", CustomFields::NAME, filter.key), hidden_field());
        }
        problems.or(())
    }
}

fn hidden_field() -> ValueError {
    let message = "is not possible with a key that is bound to a person, unless the organization lists the field in \
                   `visible_custom_fields`";
    ValueError::new(Code::NotPossible, message)
}

impl Sortable for Employee {
    const ORDERS_NAME: &'static str = "EmployeeSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::only_ascending(SortBy::LastName, |person| Key::Text(fold_case(&person.last_name))),
        SortKey::only_ascending(SortBy::FirstName, |person| Key::Text(fold_case(&person.first_name))),
        SortKey::ascending_by(SortBy::CreatedAt, |person| Key::Time(person.created_at)),
        SortKey::ascending_by(SortBy::UpdatedAt, |person| Key::Time(person.updated_at)),
    ];
}
