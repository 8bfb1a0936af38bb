//! Lists of objectives, and the two API resources that show them (§4.2, decision C7).

use strum::{IntoStaticStr, VariantArray};

use super::{Confidence, Objective, Scope, Status};
use crate::external_id;
use crate::fields::{StringEnum, string_enum};
use crate::id::{EmployeeId, ObjectiveId};
use crate::keyed;
use crate::page::{Key, SortBy, SortKey, Sortable};
use crate::params::{self, Bounds, ListRequest, Param, Params, ValueForm};
use crate::problem::ValueError;
use crate::time::{Date, Timestamp};

/// One of the two API resources that share the shape and lifecycle of objectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// The resource `/employee-objectives`, with objectives of the scope `employee`.
    Employees,
    /// The resource `/manager-objectives`, with objectives of the scopes `manager` and `org`.
    Managers,
}

impl Family {
    /// Both families, in the order of their declaration.
    pub const ALL: [Self; 2] = [Self::Employees, Self::Managers];

    /// Returns the path of the resource.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Employees => "/employee-objectives",
            Self::Managers => "/manager-objectives",
        }
    }

    /// Returns the scopes of objectives that the resource shows.
    #[must_use]
    pub const fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Employees => &[Scope::Employee],
            Self::Managers => &[Scope::Manager, Scope::Org],
        }
    }

    /// Returns the scope of a new objective whose body names none.
    #[must_use]
    pub const fn default_scope(self) -> Scope {
        match self {
            Self::Employees => Scope::Employee,
            Self::Managers => Scope::Manager,
        }
    }

    /// Returns the name of the set [`Family::scopes`] in the OpenAPI document.
    #[must_use]
    pub const fn scopes_name(self) -> &'static str {
        match self {
            Self::Employees => "EmployeeObjectiveScope",
            Self::Managers => "ManagerObjectiveScope",
        }
    }
}

/// The values of `filter[confidence]`, by which objectives are counted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the other variants are those of `Confidence`")]
pub enum ConfidenceFilter {
    OnTrack,
    AtRisk,
    OffTrack,
    /// Objectives without a confidence.
    None,
}

string_enum!(ConfidenceFilter, "ObjectiveConfidenceFilter");

impl From<Option<Confidence>> for ConfidenceFilter {
    fn from(confidence: Option<Confidence>) -> Self {
        match confidence {
            Some(Confidence::OnTrack) => Self::OnTrack,
            Some(Confidence::AtRisk) => Self::AtRisk,
            Some(Confidence::OffTrack) => Self::OffTrack,
            None => Self::None,
        }
    }
}

/// Conditions of a list of objectives. The default matches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Accepted scopes. An empty list accepts none.
    pub scopes: Vec<Scope>,
    /// The owner of the objective.
    pub owner_id: Option<EmployeeId>,
    /// Statuses that the list shows.
    pub statuses: Vec<Status>,
    /// Only objectives that wait for a review (decision C1): proposed ones that were submitted.
    pub in_review: bool,
    /// Bounds of the first day.
    pub period_start: Bounds<Date>,
    /// Bounds of the last day.
    pub period_end: Bounds<Date>,
    /// Bounds of the last change (decision D10).
    pub updated_at: Bounds<Timestamp>,
    /// Any of these confidences, without duplicates; empty for all.
    pub confidences: Vec<ConfidenceFilter>,
    /// Bounds of the last check-in. An objective without one counts as checked in at the earliest time.
    pub last_check_in_at: Bounds<Timestamp>,
    /// The objective that the objectives support.
    pub parent_id: Option<ObjectiveId>,
    /// Digests of metadata values. An objective must have all of them.
    pub metadata: Vec<[u8; 16]>,
    /// Id in another system.
    pub external_id: Option<String>,
}

/// Linked resources that a response can inline (§2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Expand {
    /// The owner of the objective.
    Owner,
    /// The summaries that include the objective.
    LinkedSummaries,
    /// The objective that the objective supports.
    Parent,
}

string_enum!(Expand, "ObjectiveExpand");

const IN_REVIEW: Param<bool> = params::param(
    "filter[in_review]",
    "`true`: only objectives that wait for a review, which are proposed and were submitted.",
    ValueForm::True,
    |text| if text == "true" { Ok(true) } else { Err(ValueError::format("`true`; leave the filter out for all")) },
);

const CONFIDENCE: Param<ConfidenceFilter> =
    params::word("filter[confidence]", "Only objectives with this `confidence`, or `none` for those without one.");

const LAST_CHECK_IN_AT: Param<Timestamp> = params::datetime(
    "filter[last_check_in_at]",
    "Only objectives whose last check-in is within the bounds. An objective without a check-in is included if there is no lower bound.",
);

/// Reads the confidences of a list, without duplicates. A request for all of them has no condition.
fn confidences(params: &mut Params) -> Vec<ConfidenceFilter> {
    let words = params.many(&CONFIDENCE);
    let confidences: Vec<_> = ConfidenceFilter::ALL.iter().copied().filter(|word| words.contains(word)).collect();
    if confidences.len() == ConfidenceFilter::ALL.len() { vec![] } else { confidences }
}

impl Filter {
    /// Creates the filter of all objectives of a family that a person owns, archived ones included.
    #[must_use]
    pub fn owned_by(owner: EmployeeId, family: Family) -> Self {
        Self { owner_id: Some(owner), ..Self::with_statuses(family, Status::ALL) }
    }

    /// Creates the filter of the archived objectives of a family that were last changed at this time or before.
    #[must_use]
    pub fn archived_until(last: Timestamp, family: Family) -> Self {
        let updated_at = Bounds { gte: None, lte: Some(last) };
        Self { updated_at, ..Self::with_statuses(family, &[Status::Archived]) }
    }

    /// Creates the filter of all objectives of both families with these statuses.
    #[must_use]
    pub fn of_everyone(statuses: &[Status]) -> Self {
        let scopes = Family::ALL.iter().flat_map(|family| family.scopes()).copied().collect();
        Self { scopes, ..Self::with_statuses(Family::Employees, statuses) }
    }

    fn with_statuses(family: Family, statuses: &[Status]) -> Self {
        Self { scopes: family.scopes().to_vec(), statuses: statuses.to_vec(), ..Self::default() }
    }

    /// Reads the parameters of a family's list into a filter. Archived objectives are listed only if a status
    /// filter asks for them.
    pub fn read(family: Family, params: &mut Params) -> ListRequest<Self, Expand> {
        let filter = Self::read_conditions(family, params);
        let expand = params.expand();
        params.list::<Objective, _, _>(family.path(), filter, expand)
    }

    /// Reads the conditions, without the parameters of a page.
    pub(super) fn read_conditions(family: Family, params: &mut Params) -> Self {
        let owner_id = params.one(&params::id("filter[owner_id]", "Only objectives of this owner."));
        let about_scope = match family {
            Family::Employees => "Has no effect: every entry has the scope `employee`.",
            Family::Managers => "Only objectives of this scope. `employee` matches nothing.",
        };
        let scope: Option<Scope> = params.one(&params::word("filter[scope]", about_scope));
        let mut statuses: Vec<Status> =
            params.statuses("Only entries with this status, or `all`. Default: all statuses except `archived`.");
        if statuses.is_empty() {
            statuses = Status::ALL.iter().copied().filter(|status| *status != Status::Archived).collect();
        }
        let scopes = match (family, scope) {
            // §4.2: this resource always returns its own scope, whatever the filter says.
            (Family::Employees, _) | (Family::Managers, None) => family.scopes().to_vec(),
            (Family::Managers, Some(scope)) => {
                family.scopes().iter().copied().filter(|member| *member == scope).collect()
            }
        };
        let in_review = params.one(&IN_REVIEW).unwrap_or_default();
        if in_review {
            statuses.retain(|status| *status == Status::Proposed);
        }
        Self {
            confidences: confidences(params),
            last_check_in_at: params.bounds(&LAST_CHECK_IN_AT),
            parent_id: params.one(&params::id("filter[parent_id]", "Only objectives that support this one.")),
            // An empty list of scopes accepts no objective, an empty list of statuses would accept all.
            scopes: if statuses.is_empty() { vec![] } else { scopes },
            owner_id,
            statuses,
            in_review,
            period_start: params.bounds(&params::date(
                "filter[period_start]",
                "Only objectives whose period starts within the bounds.",
            )),
            period_end: params.bounds(&params::date(
                "filter[period_end]",
                "Only objectives whose period ends within the bounds.",
            )),
            updated_at: params.bounds(&params::UPDATED_AT),
            metadata: keyed::read_metadata_filter(params),
            external_id: params.one(&external_id::FILTER),
        }
    }
}

impl Sortable for Objective {
    const ORDERS_NAME: &'static str = "ObjectiveSort";
    const ORDERS: &'static [SortKey<Self>] = &[
        SortKey::descending_by(SortBy::PeriodEnd, |objective| Key::Date(objective.period_end)),
        SortKey::descending_by(SortBy::CreatedAt, |objective| Key::Time(objective.created_at)),
        SortKey::descending_by(SortBy::UpdatedAt, |objective| Key::Time(objective.updated_at)),
        SortKey::descending_by(SortBy::CheckedInAt, |objective| Key::Time(objective.checked_in_at())),
    ];
}
