//! What a search finds of each resource: its list, as the caller sees it, with the words that are wanted.

use candor_domain::fields::Word;
use candor_domain::id::EmployeeId;
use candor_domain::objective::{self, Objective, Scope, Sight};
use candor_domain::observation::{self, Observation};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::params::Bounds;
use candor_domain::people::{self, Employee, StatusFilter};
use candor_domain::search::{Filter, WantedWords};
use candor_domain::summary::{self, Summary};

use super::{column, employees, objectives, observations, summaries};
use crate::flat::{Cell, Column, Stored, Type};
use crate::listing::{Condition, Listing, TypedListing, sort_column};
use crate::read::ID;
use crate::search_index::IndexQuery;

/// The newest first.
const NEWEST: Sort = Sort::down(SortBy::CreatedAt);

/// The people below a manager in a column, if that is wanted.
fn below(column: Column, manager: Option<EmployeeId>) -> Option<Condition> {
    manager.map(|it| Condition::Within(column, it))
}

/// The words, unless none are wanted.
fn has_words(filter: &Filter, words: &WantedWords) -> Option<Condition> {
    let query = || IndexQuery { words: words.clone(), subject: filter.employee_id };
    (!words.all.is_empty()).then(|| Condition::Words(query()))
}

/// A list narrowed to what has the words. What an index of words answers needs no runs: they become conditions.
fn with_words<T: Stored>(list: TypedListing<T>, filter: &Filter, words: &WantedWords) -> TypedListing<T> {
    let narrowed = |mut it: Listing| {
        if let Some((column, values)) = it.runs.take() {
            it.one_of(column, values);
        }
        it.within(sort_column(SortBy::CreatedAt), filter.created_at, Cell::Time);
        it.conditions.extend(has_words(filter, words));
        it
    };
    TypedListing::of(list.into_parts().into_iter().map(narrowed).collect())
}

/// Observations. They are the most by far, so their list keeps its run, along which it can be walked, also without words.
#[must_use]
pub fn observations(filter: &Filter, words: &WantedWords, page: &PageRequest) -> TypedListing<Observation> {
    let Filter { employee_id, manager_id, kind, created_at } = *filter;
    let of = observation::Filter { employee_id, manager_id, kind, created_at, ..observation::Filter::default() };
    let list = observations::list(&of, NEWEST, page).into_parts().into_iter().map(|mut it| {
        it.conditions.extend(has_words(filter, words));
        it
    });
    TypedListing::of(list.collect())
}

/// Objectives of every scope that the caller sees.
#[must_use]
pub fn objectives(filter: &Filter, words: &WantedWords, sight: Sight, page: &PageRequest) -> TypedListing<Objective> {
    if filter.kind.is_some() {
        return TypedListing::of(vec![]);
    }
    let open = objective::Status::ALL.iter().copied().filter(|it| *it != objective::Status::Archived);
    let of = objective::Filter {
        scopes: Scope::ALL.to_vec(),
        owner_id: filter.employee_id,
        statuses: open.collect(),
        period_start: Bounds::default(),
        period_end: Bounds::default(),
        updated_at: Bounds::default(),
    };
    let mut list = objectives::list(&of, sight, NEWEST, page).into_parts();
    for it in &mut list {
        it.conditions.extend(below(column("owner_id", Type::Id), filter.manager_id));
    }
    with_words(TypedListing::<Objective>::of(list), filter, words)
}

/// People who have not left.
#[must_use]
pub fn employees(filter: &Filter, words: &WantedWords, page: &PageRequest) -> TypedListing<Employee> {
    if filter.kind.is_some() {
        return TypedListing::of(vec![]);
    }
    let of = people::Filter { status: StatusFilter::All, ..people::Filter::default() };
    let mut list = employees::list(&of, NEWEST, page).into_parts();
    for it in &mut list {
        // Who has left is found by no word.
        it.runs = None;
        it.is(ID, filter.employee_id);
        it.conditions.extend(below(ID, filter.manager_id));
    }
    with_words(TypedListing::<Employee>::of(list), filter, words)
}

/// Summaries that a caller sees who acts for this person, or for nobody in particular.
#[must_use]
pub fn summaries(
    filter: &Filter,
    words: &WantedWords,
    acts_for: Option<EmployeeId>,
    page: &PageRequest,
) -> TypedListing<Summary> {
    if filter.kind.is_some() {
        return TypedListing::of(vec![]);
    }
    let Filter { employee_id, manager_id, .. } = *filter;
    let of = summary::Filter { employee_id, manager_id, ..summary::Filter::default() };
    with_words(summaries::list(&of, acts_for, NEWEST, page), filter, words)
}
