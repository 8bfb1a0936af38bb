//! Lists as conditions on columns, so that a store needs no knowledge of resources.
//!
//! The lists of a resource are defined beside its table, in [`crate::rows`].

use std::marker::PhantomData;

use candor_domain::id::EmployeeId;
use candor_domain::page::{Key, PageRequest, Sort, SortBy, Sortable};
use candor_domain::params::{Archived, Bounds};
use candor_domain::time::Timestamp;

use crate::flat::{Column, MemberTable, SqlValue, Stored, Table, Type};
use crate::read::{ID, RowKind};

/// A list of one resource: the union of some [`Listing`]s.
#[derive(Debug, Clone)]
pub struct TypedListing<T> {
    parts: Vec<Listing>,
    rows: PhantomData<fn() -> T>,
}

impl<T: Stored> TypedListing<T> {
    /// Creates a list from parts that have the same order and no row in common.
    #[must_use]
    pub(crate) const fn from_parts(parts: Vec<Listing>) -> Self {
        Self { parts, rows: PhantomData }
    }

    /// Returns the rows after an id, ordered by id.
    #[must_use]
    pub fn after_id(id: [u8; 16], limit: u16) -> Self {
        let mut rows = Listing::new_ordered::<T>(ID, false, limit);
        rows.after = Some((SqlValue::Id(id), id));
        rows.into_list()
    }

    /// Returns the parts of the list.
    #[must_use]
    pub fn parts(&self) -> &[Listing] {
        &self.parts
    }

    /// Returns the parts of the list by value.
    pub(crate) fn into_parts(self) -> Vec<Listing> {
        self.parts
    }

    /// Returns the maximum number of entries.
    #[must_use]
    pub fn limit(&self) -> u16 {
        self.parts.first().map_or(0, |part| part.limit)
    }
}

/// A page of a list, without the type of its rows.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Kind of the rows.
    pub kind: RowKind,
    /// The leading column of every index of the list, and the selected values. A store reads one ordered run
    /// per value and merges them, so that no index is needed for each combination.
    pub runs: Option<(Column, Vec<SqlValue>)>,
    /// Conditions, combined with AND.
    pub conditions: Vec<Condition>,
    /// Sort column; the id breaks ties.
    pub sort: Column,
    /// `true` for descending order.
    pub descending: bool,
    /// Sort value and id after which the page starts.
    pub after: Option<(SqlValue, [u8; 16])>,
    /// Maximum number of rows. A store reads one more to find out whether there are more.
    pub limit: u16,
}

/// A condition on a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The column has this value.
    Is(Column, SqlValue),
    /// The column is null or has another value.
    IsNot(Column, SqlValue),
    /// The column has one of these values.
    OneOf(Column, Vec<SqlValue>),
    /// The column is at least this value.
    AtLeast(Column, SqlValue),
    /// The column is at most this value.
    AtMost(Column, SqlValue),
    /// The column contains a direct or indirect report of this person.
    Within(Column, EmployeeId),
    /// The column contains this person, or a direct or indirect report of theirs.
    Reach(Column, EmployeeId),
    /// The column does not contain a direct or indirect report of this person.
    Without(Column, EmployeeId),
    /// The row has any of these tags.
    Tagged(MemberTable, Vec<[u8; 16]>),
    /// The row has one of these ids. They are few, and are looked up before the rows are sorted.
    Among(Vec<[u8; 16]>),
}

/// Returns the column that a list is sorted by.
#[must_use]
pub const fn sort_column(by: SortBy) -> Column {
    match by {
        // Hits with the same score are sorted by creation time.
        SortBy::CreatedAt | SortBy::Score => Column::new("created_at", Type::Time),
        SortBy::UpdatedAt => UPDATED_AT,
        SortBy::ObservationDate => OBSERVATION_DATE,
        SortBy::PeriodEnd => Column::new("period_end", Type::Date),
        SortBy::LastName => Column::new("last_name_key", Type::Text),
        SortBy::FirstName => Column::new("first_name_key", Type::Text),
        SortBy::Name => NAME_KEY,
        SortBy::OccurredAt => OCCURRED_AT,
        SortBy::AttemptedAt => ATTEMPTED_AT,
        SortBy::DueBy => Column::new("due_by", Type::Date),
        SortBy::ActiveAt => Column::new("active_at", Type::Time),
        SortBy::CheckedInAt => CHECKED_IN_AT,
        SortBy::RequestedAt => Column::new("requested_at", Type::Time),
        SortBy::StartedAt => Column::new("started_at", Type::Time),
        SortBy::Commit => Column::new("position", Type::Int),
    }
}

/// Returns `true` if a table has the columns of all orders of its list.
const fn has_sorts<T: Sortable>(table: &Table) -> bool {
    let mut index = 0;
    while index < T::ORDERS.len() {
        if !table.has(&sort_column(T::ORDERS[index].by)) {
            return false;
        }
        index += 1;
    }
    true
}

pub(crate) const UPDATED_AT: Column = Column::new("updated_at", Type::Time);
pub(crate) const OBSERVATION_DATE: Column = Column::new("observation_date", Type::Date);
pub(crate) const NAME_KEY: Column = Column::new("name_key", Type::Text);
pub(crate) const OCCURRED_AT: Column = Column::new("occurred_at", Type::Time);
pub(crate) const ATTEMPTED_AT: Column = Column::new("attempted_at", Type::Time);
pub(crate) const CHECKED_IN_AT: Column = Column::new("checked_in_at", Type::Time);
pub(crate) const STATUS: Column = Column::new("status", Type::Text);
/// Column that marks archived rows.
pub const ARCHIVED: Column = Column::new("archived", Type::Flag);

impl Listing {
    /// Creates a page without conditions. An order without a column in the table does not compile.
    pub(crate) fn new<T: Stored + Sortable>(sort: Sort, page: &PageRequest) -> Self {
        const { assert!(has_sorts::<T>(T::TABLE), "a table lacks the column of an order of its list") };
        let start = page.after.as_ref().map(|position| (cell(&position.key), position.id));
        let (sort, descending) = (sort_column(sort.by), sort.descending);
        Self {
            kind: RowKind::new::<T>(),
            runs: None,
            conditions: vec![],
            sort,
            descending,
            after: start,
            limit: page.limit,
        }
    }

    /// Creates the first page without conditions, ordered by a column.
    pub(crate) fn new_ordered<T: Stored>(sort: Column, descending: bool, limit: u16) -> Self {
        Self { kind: RowKind::new::<T>(), runs: None, conditions: vec![], sort, descending, after: None, limit }
    }

    /// Creates a page without conditions, in ascending order of a column.
    pub(crate) fn ordered_after<T: Stored>(sort: Column, page: &PageRequest) -> Self {
        let start = page.after.as_ref().map(|position| (cell(&position.key), position.id));
        Self { after: start, ..Self::new_ordered::<T>(sort, false, page.limit) }
    }

    /// Creates the list of the rows whose last change was within these bounds (decision D10).
    pub(crate) fn list_by_update_time<T: Stored + Sortable>(
        within: Bounds<Timestamp>,
        sort: Sort,
        page: &PageRequest,
    ) -> Self {
        let mut it = Self::new::<T>(sort, page);
        it.restrict_to_bounds(UPDATED_AT, within, SqlValue::Time);
        it
    }

    /// Returns a list with this as its only part.
    pub(crate) fn into_list<T: Stored>(self) -> TypedListing<T> {
        TypedListing::from_parts(vec![self])
    }

    /// Returns the table of the list.
    #[must_use]
    pub const fn table(&self) -> &'static Table {
        self.kind.table()
    }

    /// Returns `true` if the list has several runs.
    #[must_use]
    pub fn has_several_runs(&self) -> bool {
        self.runs.as_ref().is_some_and(|(_, values)| values.len() > 1)
    }

    /// Returns `false` if the list selects no value of its leading column, so that no row matches.
    #[must_use]
    pub fn has_runs(&self) -> bool {
        self.runs.as_ref().is_none_or(|(_, values)| !values.is_empty())
    }

    /// Adds an equality condition if there is a value.
    pub(crate) fn is(&mut self, column: Column, value: Option<impl Into<SqlValue>>) {
        self.conditions.extend(value.map(|value| Condition::Is(column, value.into())));
    }

    /// Excludes rows with this value.
    pub(crate) fn is_not(&mut self, column: Column, value: impl Into<SqlValue>) {
        self.conditions.push(Condition::IsNot(column, value.into()));
    }

    /// Sets one run per word.
    pub(crate) fn runs<'w>(&mut self, column: Column, words: impl IntoIterator<Item = &'w str>) {
        self.runs = Some((column, words.into_iter().map(|word| SqlValue::Text(word.to_owned())).collect()));
    }

    /// Restricts the list to these words, if there are any.
    pub(crate) fn words<'w>(&mut self, column: Column, words: impl IntoIterator<Item = &'w str>) {
        self.one_of(column, words.into_iter().map(|word| SqlValue::Text(word.to_owned())).collect());
    }

    /// Restricts the list to these values, if there are any.
    pub(crate) fn one_of(&mut self, column: Column, values: Vec<SqlValue>) {
        if !values.is_empty() {
            self.conditions.push(Condition::OneOf(column, values));
        }
    }

    /// Returns the index of the condition that lists the possible ids, if there is one.
    #[must_use]
    pub fn ids_condition(&self) -> Option<usize> {
        self.conditions.iter().position(|condition| matches!(condition, Condition::Among(_)))
    }

    /// Adds the bounds as conditions.
    pub(crate) fn restrict_to_bounds<T: Copy>(
        &mut self,
        column: Column,
        bounds: Bounds<T>,
        cell: impl Fn(T) -> SqlValue,
    ) {
        self.conditions.extend(bounds.gte.map(|value| Condition::AtLeast(column, cell(value))));
        self.conditions.extend(bounds.lte.map(|value| Condition::AtMost(column, cell(value))));
    }

    /// Restricts the list to rows with one of these tags, if there are any.
    pub(crate) fn restrict_to_tags(&mut self, members: MemberTable, tags: impl IntoIterator<Item = [u8; 16]>) {
        let tags: Vec<_> = tags.into_iter().collect();
        if !tags.is_empty() {
            self.conditions.push(Condition::Tagged(members, tags));
        }
    }

    /// Restricts the list to rows with all of these digests, each of a key and its value in metadata or custom
    /// fields.
    pub(crate) fn restrict_to_digests(&mut self, members: MemberTable, digests: &[[u8; 16]]) {
        for digest in digests {
            self.restrict_to_tags(members, [*digest]);
        }
    }

    /// Restricts the list to archived or active rows, or combines both: one run for each.
    pub(crate) fn restrict_to_archived(&mut self, archived: Archived) {
        let values: &[bool] = match archived {
            Archived::No => &[false],
            Archived::Yes => &[true],
            Archived::All => &[false, true],
        };
        self.runs = Some((ARCHIVED, values.iter().map(|value| SqlValue::Flag(*value)).collect()));
    }
}

fn cell(key: &Key) -> SqlValue {
    match key {
        Key::Time(it) | Key::Scored(_, it) => SqlValue::Time(*it),
        Key::Date(it) => SqlValue::Date(*it),
        Key::Text(it) => SqlValue::Text(it.clone()),
        Key::Rank(it) => SqlValue::Int(*it),
    }
}
