//! Lists of people (§4.3).

use super::{Employee, Role, Status, custom};
use crate::fields::Word;
use crate::id::{DepartmentId, EmployeeId};
use crate::page::{Key, Listed, Sort, SortBy, Sorts};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::text::folded;
use crate::time::Timestamp;

/// Which statuses are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusFilter {
    /// One of them.
    Only(Status),
    /// All of them.
    All,
}

impl Word for StatusFilter {
    const NAME: &'static str = "EmployeeStatusFilter";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("active", Self::Only(Status::Active)),
        ("deactivated", Self::Only(Status::Deactivated)),
        ("pending_invite", Self::Only(Status::PendingInvite)),
        ("all", Self::All),
    ];
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
            status: StatusFilter::Only(Status::Active),
            custom: vec![],
            external_id: None,
            updated_at: Bounds::default(),
        }
    }
}

/// What can be inlined (§2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    const WORDS: &'static [(&'static str, Self)] =
        &[("manager", Self::Manager), ("department", Self::Department), ("direct_reports", Self::DirectReports)];
}

impl Filter {
    /// Reads the parameters of `GET /employees`.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(mut params: Params) -> Result<ListRequest<Self, Expand>, Problems> {
        let custom = params.keyed("custom_fields", custom::is_key);
        let filter = Self {
            email: params.one("filter[email]", |it| Ok(folded(it))),
            roles: params.many("filter[role]", params::word),
            manager_id: params.one("filter[manager_id]", params::id),
            department_id: params.one("filter[department_id]", params::id),
            status: params.one("filter[status]", params::word).unwrap_or(StatusFilter::Only(Status::Active)),
            custom: custom.iter().map(|(key, value)| custom::digest(key, value)).collect(),
            external_id: params.one("filter[external_id]", params::any),
            updated_at: params.bounds("filter[updated_at]", params::datetime),
        };
        let expand = params.expand();
        params.list("employees", Employee::SORTS, filter, expand)
    }
}

impl Listed for Employee {
    const SORTS: Sorts = &[
        ("last_name", Sort::up(SortBy::LastName)),
        ("first_name", Sort::up(SortBy::FirstName)),
        ("created_at", Sort::up(SortBy::CreatedAt)),
        ("-created_at", Sort::down(SortBy::CreatedAt)),
        ("updated_at", Sort::up(SortBy::UpdatedAt)),
        ("-updated_at", Sort::down(SortBy::UpdatedAt)),
    ];

    fn key(&self, by: SortBy) -> Key {
        match by {
            SortBy::CreatedAt => Key::Time(self.created_at),
            SortBy::UpdatedAt => Key::Time(self.updated_at),
            SortBy::FirstName => Key::Text(folded(&self.first_name)),
            _ => Key::Text(folded(&self.last_name)),
        }
    }
}
