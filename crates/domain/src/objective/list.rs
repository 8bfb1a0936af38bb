//! Lists of objectives, and the two families they stand in (§4.2, decision C7).

use strum::{IntoStaticStr, VariantArray};

use super::{Objective, Scope, Status};
use crate::fields::Word;
use crate::id::EmployeeId;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::Problems;
use crate::time::{Date, Timestamp};

/// One of the two resources that share shape and lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// `/employee-objectives`
    Employees,
    /// `/manager-objectives`
    Managers,
}

impl Family {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Employees, Self::Managers];

    /// The path of the resource.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Employees => "/employee-objectives",
            Self::Managers => "/manager-objectives",
        }
    }

    /// The scopes that stand in it.
    #[must_use]
    pub const fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Employees => &[Scope::Employee],
            Self::Managers => &[Scope::Manager, Scope::Org],
        }
    }

    /// The scope of a new objective that says none.
    #[must_use]
    pub const fn default_scope(self) -> Scope {
        match self {
            Self::Employees => Scope::Employee,
            Self::Managers => Scope::Manager,
        }
    }

    /// What documents call these scopes.
    #[must_use]
    pub const fn scopes_name(self) -> &'static str {
        match self {
            Self::Employees => "EmployeeObjectiveScope",
            Self::Managers => "ManagerObjectiveScope",
        }
    }
}

/// Which objectives are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Of these scopes; none of them = nothing.
    pub scopes: Vec<Scope>,
    /// Of this person.
    pub owner_id: Option<EmployeeId>,
    /// With any of these statuses.
    pub statuses: Vec<Status>,
    /// Starting within these bounds.
    pub period_start: Bounds<Date>,
    /// Ending within these bounds.
    pub period_end: Bounds<Date>,
    /// Changed within these bounds (decision D10).
    pub updated_at: Bounds<Timestamp>,
}

/// What can be inlined (§2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// The person responsible.
    Owner,
    /// The summaries that cite it.
    LinkedSummaries,
}

impl Word for Expand {
    const NAME: &'static str = "ObjectiveExpand";
}

impl Filter {
    /// The parameters of a list of one family. Archived ones are listed only if asked for by status.
    pub fn read(family: Family, params: &mut Params) -> ListRequest<Self, Expand> {
        let owner_id = params.one(&params::id("filter[owner_id]", "Only objectives of this owner."));
        let scope: Option<Scope> = params.one(&params::word(
            "filter[scope]",
            "Only objectives of this scope. A scope that these paths do not have matches nothing.",
        ));
        let mut statuses: Vec<Status> =
            params.statuses("Only entries with this status, or `all`. Default: all statuses except `archived`.");
        if statuses.is_empty() {
            statuses = Status::ALL.iter().copied().filter(|it| *it != Status::Archived).collect();
        }
        let scopes = match (family, scope) {
            // §4.2: this resource always returns its own scope, whatever the filter says.
            (Family::Employees, _) | (Family::Managers, None) => family.scopes().to_vec(),
            (Family::Managers, Some(scope)) => family.scopes().iter().copied().filter(|it| *it == scope).collect(),
        };
        let filter = Self {
            scopes,
            owner_id,
            statuses,
            period_start: params.bounds(&params::date(
                "filter[period_start]",
                "Only objectives whose period starts within the bounds.",
            )),
            period_end: params
                .bounds(&params::date("filter[period_end]", "Only objectives whose period ends within the bounds.")),
            updated_at: params.bounds(&params::UPDATED_AT),
        };
        let expand = params.expand();
        params.list::<Objective, _, _>(family.path(), filter, expand)
    }

    /// Reads the parameters of a list of one family. Archived ones are listed only if asked for by status.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(family: Family, mut params: Params) -> Result<ListRequest<Self, Expand>, Problems> {
        let request = Self::read(family, &mut params);
        params.finish(request)
    }
}

impl Listed for Objective {
    const ORDERS_NAME: &'static str = "ObjectiveSort";
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::PeriodEnd, key: |it| Key::Date(it.period_end), words: &["-period_end", "period_end"] },
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["-updated_at", "updated_at"] },
    ];
}
