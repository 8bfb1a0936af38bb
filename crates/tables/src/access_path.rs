//! Which declared index leads to the rows of a list, and which of its conditions none answers.
//!
//! An index answers a list when its columns are those that have one wanted value, followed by the column of the order:
//! then the rows of a page stand beside each other, and a page costs the same however much is stored. Whatever else is
//! asked has to be looked at row by row, and where few rows match, most of what a tenant has is walked past. Such a list
//! must not run where others wait for it (decision A17).
//!
//! People below a manager and rows with a tag are found through other tables. Stores have bounded ways of their own to
//! those, so these conditions are not judged here.

use crate::flat::{Column, Index, Table};
use crate::listing::{Condition, Listing};

/// The key of every table.
const BY_ID: Index = Index::on(&["id"]);

/// How the rows of a list are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessPath {
    /// The index that leads along the list; none if no index has its order.
    pub index: Option<&'static Index>,
    /// The columns with conditions that the index does not answer, each once. Rows that do not have what is wanted of
    /// them are walked past.
    pub unanswered: Vec<Column>,
}

impl AccessPath {
    /// The declared index that leaves the fewest conditions unanswered; the first of several.
    #[must_use]
    pub fn of(listing: &Listing) -> Self {
        if listing.among().is_some() {
            return Self { index: Some(&BY_ID), unanswered: vec![] };
        }
        let along = listing.table().indexes.iter().filter_map(|it| along(listing, it));
        along
            .min_by_key(|it| it.unanswered.len())
            .unwrap_or_else(|| Self { index: None, unanswered: asked(listing, |_| false) })
    }

    /// Whether a page costs the same however much is stored.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        self.index.is_some() && self.unanswered.is_empty()
    }
}

/// What is asked about one column.
struct Asked {
    column: Column,
    /// One value is wanted, as each run of a list wants one.
    is_equal: bool,
    /// Values between bounds are wanted.
    is_range: bool,
}

fn questions(listing: &Listing) -> impl Iterator<Item = Asked> {
    let equal = |column: Column| Asked { column, is_equal: true, is_range: false };
    let range = |column: Column| Asked { column, is_equal: false, is_range: true };
    let run = listing.runs.iter().map(move |(column, _)| equal(*column));
    run.chain(listing.conditions.iter().filter_map(move |it| match it {
        Condition::Is(column, _) => Some(equal(*column)),
        Condition::OneOf(column, values) if values.len() == 1 => Some(equal(*column)),
        Condition::OneOf(column, _) => Some(Asked { column: *column, is_equal: false, is_range: false }),
        Condition::AtLeast(column, _) | Condition::AtMost(column, _) => Some(range(*column)),
        // Rows with a value that is not wanted are few: those that another part of the list has.
        Condition::IsNot(..)
        | Condition::Within(..)
        | Condition::Reach(..)
        | Condition::Without(..)
        | Condition::Tagged(..)
        | Condition::Among(..) => None,
    }))
}

/// The columns that are asked about, but for questions that are answered.
fn asked(listing: &Listing, is_answered: impl Fn(&Asked) -> bool) -> Vec<Column> {
    let mut columns = vec![];
    let is_looked_at = |asked: &Asked| listing.table().looked_at.contains(&asked.column.name);
    for it in questions(listing).filter(|asked| !is_answered(asked) && !is_looked_at(asked)) {
        if !columns.contains(&it.column) {
            columns.push(it.column);
        }
    }
    columns
}

/// The way along one index, if it has the order of the list or leads to one row.
fn along(listing: &Listing, index: &'static Index) -> Option<AccessPath> {
    let is_fixed = |name: &str| questions(listing).any(|it| it.is_equal && it.column.name == name);
    if index.unique && index.columns.iter().all(|it| is_fixed(it)) {
        return Some(AccessPath { index: Some(index), unanswered: vec![] });
    }
    let sort = listing.sort.name;
    let fixed = index.columns.iter().take_while(|it| **it != sort && is_fixed(it)).count();
    let (leading, rest) = index.columns.split_at_checked(fixed)?;
    if rest.first() != Some(&sort) {
        return None;
    }
    let is_answered = |it: &Asked| {
        let name = it.column.name;
        (it.is_equal && leading.contains(&name)) || (name == sort && (it.is_equal || it.is_range))
    };
    Some(AccessPath { index: Some(index), unanswered: asked(listing, is_answered) })
}

/// The parameters by which somebody asked for what no index answers, such as `filter[type]`. Where every condition has an
/// index and it took long all the same, those that other tables answer.
#[must_use]
pub fn unanswered_parameters<'l>(listings: impl IntoIterator<Item = &'l Listing>) -> Vec<String> {
    let listings: Vec<_> = listings.into_iter().collect();
    let unanswered = |it: &Listing| {
        let columns = AccessPath::of(it).unanswered;
        columns.iter().map(|column| parameter(it.table(), column.name)).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = listings.iter().copied().flat_map(unanswered).collect();
    if names.is_empty() {
        names = listings.iter().flat_map(|it| it.conditions.iter().filter_map(|c| elsewhere(it.table(), c))).collect();
    }
    names.sort();
    names.dedup();
    names
}

/// The name of the filter of a column.
fn parameter(table: &Table, column: &str) -> String {
    let named = table.parameters.iter().find(|(it, _)| *it == column).map(|(_, name)| *name);
    let name = named.unwrap_or_else(|| column.strip_suffix("_key").unwrap_or(column));
    format!("filter[{name}]")
}

/// The name of a filter that another table answers. Whose rows a caller may see is no filter of theirs.
fn elsewhere(table: &Table, condition: &Condition) -> Option<String> {
    match condition {
        Condition::Within(..) => Some("filter[manager_id]".to_owned()),
        Condition::Tagged(members, _) => Some(parameter(table, members.member)),
        Condition::Reach(..)
        | Condition::Without(..)
        | Condition::Is(..)
        | Condition::IsNot(..)
        | Condition::OneOf(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Among(..) => None,
    }
}

#[cfg(test)]
#[path = "access_path/tests.rs"]
mod tests;
