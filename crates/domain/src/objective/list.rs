//! Lists of objectives, and the two families they stand in (§4.2, decision C7).

use strum::{IntoStaticStr, VariantArray};

use super::{Objective, Scope, Status};
use crate::fields::Word;
use crate::id::EmployeeId;
use crate::page::{Key, Listed, Order, SortBy};
use crate::params::{self, Bounds, ListRequest, Params};
use crate::problem::{Flaw, Problems};
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

    /// Accepts a scope that stands in it.
    pub(super) fn scope(self, scope: Scope) -> Result<Scope, Flaw> {
        if self.scopes().contains(&scope) {
            return Ok(scope);
        }
        Err(Flaw::one_of(&self.scopes().iter().map(|it| it.word()).collect::<Vec<_>>()))
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
    /// Reads the parameters of a list of one family. Archived ones are listed only if asked for by status.
    ///
    /// # Errors
    /// Every parameter that is wrong.
    pub fn parse(family: Family, mut params: Params) -> Result<ListRequest<Self, Expand>, Problems> {
        let scope: Option<Scope> = params.one("filter[scope]", params::word);
        let named: Vec<Status> = params.many("filter[status]", params::word);
        let mut statuses = Vec::new();
        for status in named {
            if !statuses.contains(&status) {
                statuses.push(status);
            }
        }
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
            owner_id: params.one("filter[owner_id]", params::id),
            statuses,
            period_start: params.bounds("filter[period_start]", params::date),
            period_end: params.bounds("filter[period_end]", params::date),
            updated_at: params.bounds("filter[updated_at]", params::datetime),
        };
        let expand = params.expand();
        params.list::<Objective, _, _>(family.path(), filter, expand)
    }
}

impl Listed for Objective {
    const ORDERS: &'static [Order<Self>] = &[
        Order { by: SortBy::PeriodEnd, key: |it| Key::Date(it.period_end), words: &["-period_end", "period_end"] },
        Order { by: SortBy::CreatedAt, key: |it| Key::Time(it.created_at), words: &["-created_at", "created_at"] },
        Order { by: SortBy::UpdatedAt, key: |it| Key::Time(it.updated_at), words: &["-updated_at", "updated_at"] },
    ];
}
