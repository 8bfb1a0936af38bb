//! Lists that check the hits of a search: the visible rows among those that the full-text index returned.

use candor_domain::fields::StringEnum;
use candor_domain::id::EmployeeId;
use candor_domain::objective::{self, Objective};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::{self, Employee, StatusFilter};
use candor_domain::search::Filter;
use candor_domain::summary::{self, Summary};
use candor_domain::visibility::Viewer;

use super::{column, employees, objectives, observations, summaries};
use crate::flat::{Column, SqlValue, Stored, Type};
use crate::listing::{Condition, Listing, STATUS, TypedListing, sort_column};
use crate::read::ID;

/// Order of the checked hits: newest first.
const NEWEST: Sort = Sort::descending_by(SortBy::CreatedAt);

/// Returns the condition for people below a manager, if there is one.
fn people_below(column: Column, manager: Option<EmployeeId>) -> Option<Condition> {
    manager.map(|manager| Condition::Within(column, manager))
}

/// Returns a page request with a limit that fits all of these rows.
fn page(among: &[[u8; 16]]) -> PageRequest {
    PageRequest { limit: u16::try_from(among.len()).unwrap_or(u16::MAX), after: None }
}

/// Restricts a list to the rows with these ids, and to the creation times of the filter. The rows are looked up by
/// id, so runs become conditions.
fn restrict_to_ids<T: Stored>(list: TypedListing<T>, filter: &Filter, ids: &[[u8; 16]]) -> TypedListing<T> {
    let narrowed_list = |mut listing: Listing| {
        if let Some((column, values)) = listing.runs.take() {
            listing.one_of(column, values);
        }
        listing.restrict_to_bounds(sort_column(SortBy::CreatedAt), filter.created_at, SqlValue::Time);
        listing.conditions.push(Condition::Among(ids.to_vec()));
        listing
    };
    TypedListing::from_parts(list.into_parts().into_iter().map(narrowed_list).collect())
}

/// Returns the list of the observations among `ids` that match the filter and that the viewer may see.
#[must_use]
pub fn observations(filter: &Filter, ids: &[[u8; 16]], viewer: Viewer) -> TypedListing<Observation> {
    let Filter { employee_id, manager_id, kind, status: _, created_at: _ } = *filter;
    let observation_filter =
        observation::Filter { employee_id, manager_id, kind, ..observation::Filter::default() };
    restrict_to_ids(observations::list(&observation_filter, viewer, NEWEST, &page(ids)), filter, ids)
}

/// Returns the list of the objectives among `ids`, of every scope, that match the filter and that the viewer may
/// see.
#[must_use]
pub fn objectives(filter: &Filter, ids: &[[u8; 16]], viewer: Viewer) -> TypedListing<Objective> {
    if filter.kind.is_some() {
        return TypedListing::from_parts(vec![]);
    }
    let open = objective::Status::ALL.iter().copied().filter(|status| *status != objective::Status::Archived);
    let open_statuses: Vec<_> = open.collect();
    let objective_filter =
        objective::Filter { owner_id: filter.employee_id, ..objective::Filter::of_everyone(&open_statuses) };
    let mut list = objectives::list(&objective_filter, viewer, NEWEST, &page(ids)).into_parts();
    for it in &mut list {
        it.conditions.extend(people_below(column("owner_id", Type::Id), filter.manager_id));
    }
    restrict_to_ids(TypedListing::<Objective>::from_parts(list), filter, ids)
}

/// Returns the list of the people among `ids` who match the filter. Without a filter by status, people who have left
/// are excluded.
#[must_use]
pub fn employees(filter: &Filter, ids: &[[u8; 16]]) -> TypedListing<Employee> {
    if filter.kind.is_some() {
        return TypedListing::from_parts(vec![]);
    }
    let status = filter.status.unwrap_or(StatusFilter::All);
    let people_filter = people::Filter { status, ..people::Filter::default() };
    let mut list = employees::list(&people_filter, NEWEST, &page(ids)).into_parts();
    for it in &mut list {
        if filter.status.is_none() {
            it.runs(STATUS, employees::present_statuses());
        }
        it.is(ID, filter.employee_id);
        it.conditions.extend(people_below(ID, filter.manager_id));
    }
    restrict_to_ids(TypedListing::<Employee>::from_parts(list), filter, ids)
}

/// Returns the list of the summaries among `ids` that match the filter and that the viewer may see.
#[must_use]
pub fn summaries(filter: &Filter, ids: &[[u8; 16]], viewer: Viewer) -> TypedListing<Summary> {
    if filter.kind.is_some() {
        return TypedListing::from_parts(vec![]);
    }
    let Filter { employee_id, manager_id, .. } = *filter;
    let summary_filter = summary::Filter { employee_id, manager_id, ..summary::Filter::default() };
    restrict_to_ids(summaries::list(&summary_filter, viewer, NEWEST, &page(ids)), filter, ids)
}
