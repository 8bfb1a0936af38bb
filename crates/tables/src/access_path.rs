//! Selection of the index for a list, and of the conditions that it does not answer.
//!
//! An index answers a list if its columns are those with an equality condition, followed by the sort column:
//! then the rows of a page are adjacent, and the cost of a page does not depend on the amount of data. All
//! other conditions are checked row by row, and if few rows match, the scan reads and discards most rows of the tenant.
//! Such a list must not run on shared threads (decision A17).
//!
//! People below a manager and rows with a tag are found through other tables. Stores have bounded plans for such
//! conditions, so they are ignored here.

use crate::flat::{Column, Index, Table};
use crate::listing::{Condition, Listing};

/// Primary key of every table that lists read, after the tenant.
const BY_ID: Index = Index::of_columns(&["id"]);

/// The index that a list uses, and the conditions that the index does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessPath {
    /// Index with the order of the list, or `None` if there is no such index.
    pub index: Option<&'static Index>,
    /// Columns with conditions that the index does not answer, without duplicates. The scan skips rows that
    /// do not match them.
    pub unanswered: Vec<Column>,
}

impl AccessPath {
    /// Returns the path of the index that leaves the fewest conditions unanswered; the first one of several.
    #[must_use]
    pub fn new(listing: &Listing) -> Self {
        if listing.ids_condition().is_some() {
            return Self { index: Some(&BY_ID), unanswered: vec![] };
        }
        let indexes = listing.table().indexes.iter().chain([&BY_ID]);
        indexes
            .filter_map(|index| path_along(listing, index))
            .min_by_key(|path| path.unanswered.len())
            .unwrap_or_else(|| Self { index: None, unanswered: unanswered_columns(listing, |_| false) })
    }

    /// Returns `true` if the cost of a page does not depend on the amount of data.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        self.index.is_some() && self.unanswered.is_empty()
    }
}

/// Returns `true` if the conditions of each run of a list fix all columns of a unique index, so that the run has at most
/// one row.
#[must_use]
pub fn has_one_row(listing: &Listing) -> bool {
    let mut unique_indexes = listing.table().indexes.iter().filter(|index| index.unique);
    unique_indexes.any(|index| is_fixed_by(listing, index))
}

fn is_fixed_by(listing: &Listing, index: &Index) -> bool {
    let is_fixed =
        |name: &str| column_conditions(listing).any(|asked| asked.is_equal && asked.column.name == name);
    index.columns.iter().all(|column| is_fixed(column))
}

/// Condition on one column.
struct ColumnCondition {
    column: Column,
    /// `true` for equality with one value, and for the leading column of a list, because each run fixes the value
    /// of that column.
    is_equal: bool,
    /// `true` for a range with one or two bounds.
    is_range: bool,
}

fn column_conditions(listing: &Listing) -> impl Iterator<Item = ColumnCondition> {
    let equal = |column: Column| ColumnCondition { column, is_equal: true, is_range: false };
    let range = |column: Column| ColumnCondition { column, is_equal: false, is_range: true };
    let run = listing.runs.iter().map(move |(column, _)| equal(*column));
    run.chain(listing.conditions.iter().filter_map(move |condition| match condition {
        Condition::Is(column, _) => Some(equal(*column)),
        Condition::OneOf(column, values) if values.len() == 1 => Some(equal(*column)),
        Condition::OneOf(column, _) => Some(ColumnCondition { column: *column, is_equal: false, is_range: false }),
        Condition::AtLeast(column, _) | Condition::AtMost(column, _) => Some(range(*column)),
        // `IsNot` excludes few rows, such as those that belong to another part of the list.
        Condition::IsNot(..)
        | Condition::Within(..)
        | Condition::Reach(..)
        | Condition::Without(..)
        | Condition::Tagged(..)
        | Condition::Among(..) => None,
    }))
}

/// Returns the columns with unanswered conditions.
fn unanswered_columns(listing: &Listing, is_answered: impl Fn(&ColumnCondition) -> bool) -> Vec<Column> {
    let mut columns = vec![];
    let is_looked_at = |asked: &ColumnCondition| listing.table().looked_at.contains(&asked.column.name);
    for it in column_conditions(listing).filter(|asked| !is_answered(asked) && !is_looked_at(asked)) {
        if !columns.contains(&it.column) {
            columns.push(it.column);
        }
    }
    columns
}

/// Returns the access path for one index, if it has the order of the list or finds a single row.
fn path_along(listing: &Listing, index: &'static Index) -> Option<AccessPath> {
    let is_fixed =
        |name: &str| column_conditions(listing).any(|asked| asked.is_equal && asked.column.name == name);
    if index.unique && is_fixed_by(listing, index) {
        return Some(AccessPath { index: Some(index), unanswered: vec![] });
    }
    let sort = listing.sort.name;
    let fixed_count = index.columns.iter().take_while(|column| **column != sort && is_fixed(column)).count();
    let (leading, rest) = index.columns.split_at_checked(fixed_count)?;
    if rest.first() != Some(&sort) {
        return None;
    }
    let is_answered = |asked: &ColumnCondition| {
        let name = asked.column.name;
        (asked.is_equal && leading.contains(&name)) || (name == sort && (asked.is_equal || asked.is_range))
    };
    Some(AccessPath { index: Some(index), unanswered: unanswered_columns(listing, is_answered) })
}

/// Returns the parameters that no index answers, such as `filter[type]`. If an index answers all conditions,
/// returns the parameters that are answered through other tables.
#[must_use]
pub fn unanswered_parameters<'l>(listings: impl IntoIterator<Item = &'l Listing>) -> Vec<String> {
    let listings: Vec<_> = listings.into_iter().collect();
    let unanswered_names = |listing: &Listing| {
        let columns = AccessPath::new(listing).unanswered;
        columns.iter().map(|column| parameter(listing.table(), column.name)).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = listings.iter().copied().flat_map(unanswered_names).collect();
    if names.is_empty() {
        names = listings
            .iter()
            .flat_map(|listing| listing.conditions.iter().filter_map(|c| side_table_filter(listing.table(), c)))
            .collect();
    }
    names.sort();
    names.dedup();
    names
}

/// Returns the name of the filter on a column.
fn parameter(table: &Table, column: &str) -> String {
    let parameter_name =
        table.parameters.iter().find(|(parameter, _)| *parameter == column).map(|(_, name)| *name);
    let name = parameter_name.unwrap_or_else(|| column.strip_suffix("_key").unwrap_or(column));
    format!("filter[{name}]")
}

/// Returns the name of the client's filter that is answered through another table. `None` for other conditions,
/// such as restrictions by the caller's permissions.
fn side_table_filter(table: &Table, condition: &Condition) -> Option<String> {
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
mod tests;
