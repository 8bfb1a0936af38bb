//! Lists as flat conditions, so that a store needs to know how a condition is written and nothing about resources.
//!
//! Which lists a resource has stands beside its table, in [`crate::rows`].

use std::marker::PhantomData;

use candor_domain::id::EmployeeId;
use candor_domain::page::{Key, Listed, PageRequest, Sort, SortBy};
use candor_domain::params::{Archived, Bounds};
use candor_domain::time::Timestamp;

use crate::flat::{Cell, Column, MemberTable, Stored, Table, Type};
use crate::read::{ID, RowKind};

/// A list of one resource: what some [`Listing`]s hold together.
#[derive(Debug, Clone)]
pub struct TypedListing<T> {
    parts: Vec<Listing>,
    rows: PhantomData<fn() -> T>,
}

impl<T: Stored> TypedListing<T> {
    /// The lists are in one order and have no row in common.
    #[must_use]
    pub(crate) const fn of(parts: Vec<Listing>) -> Self {
        Self { parts, rows: PhantomData }
    }

    /// The rows behind an id, in the order of their ids.
    #[must_use]
    pub fn behind(id: [u8; 16], limit: u16) -> Self {
        let mut rows = Listing::ordered::<T>(ID, false, limit);
        rows.after = Some((Cell::Id(id), id));
        rows.alone()
    }

    /// What it is put together from.
    #[must_use]
    pub fn parts(&self) -> &[Listing] {
        &self.parts
    }

    /// The same.
    pub(crate) fn into_parts(self) -> Vec<Listing> {
        self.parts
    }

    /// At most so many entries are wanted.
    #[must_use]
    pub fn limit(&self) -> u16 {
        self.parts.first().map_or(0, |it| it.limit)
    }
}

/// A page of a list, without what it is a list of.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Which rows.
    pub kind: RowKind,
    /// The column that leads every index of the list, and the values wanted of it. A store reads one ordered run per
    /// value and merges them, so that no index is needed for every combination.
    pub runs: Option<(Column, Vec<Cell>)>,
    /// All of these must hold.
    pub conditions: Vec<Condition>,
    /// What orders the rows; the id breaks ties.
    pub sort: Column,
    /// Largest first.
    pub descending: bool,
    /// Only rows behind this place.
    pub after: Option<(Cell, [u8; 16])>,
    /// So many rows, and one more to see whether there are more.
    pub limit: u16,
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The column has this value.
    Is(Column, Cell),
    /// The column is null or has another value.
    IsNot(Column, Cell),
    /// The column has one of these values.
    OneOf(Column, Vec<Cell>),
    /// The column is not less.
    AtLeast(Column, Cell),
    /// The column is not more.
    AtMost(Column, Cell),
    /// The column names a direct or indirect report of this person.
    Within(Column, EmployeeId),
    /// The column names this person, or a direct or indirect report of theirs.
    Reach(Column, EmployeeId),
    /// The column names nobody who reports to this person, directly or indirectly.
    Without(Column, EmployeeId),
    /// The row has any of these tags.
    Tagged(MemberTable, Vec<[u8; 16]>),
    /// The row is one of these. They are few, and are read by their ids before they are put in order.
    Among(Vec<[u8; 16]>),
}

/// The column a list is ordered by.
#[must_use]
pub const fn sort_column(by: SortBy) -> Column {
    match by {
        // What has one score is in the order of its creation.
        SortBy::CreatedAt | SortBy::Score => Column::new("created_at", Type::Time),
        SortBy::UpdatedAt => UPDATED_AT,
        SortBy::ObservationDate => OBSERVATION_DATE,
        SortBy::PeriodEnd => Column::new("period_end", Type::Date),
        SortBy::LastName => Column::new("last_name_key", Type::Text),
        SortBy::FirstName => Column::new("first_name_key", Type::Text),
        SortBy::Name => NAME_KEY,
        SortBy::OccurredAt => OCCURRED_AT,
        SortBy::DueBy => Column::new("due_by", Type::Date),
        SortBy::ActiveAt => Column::new("active_at", Type::Time),
        SortBy::Commit => Column::new("position", Type::Int),
    }
}

/// Whether a table has the columns of all these orders.
const fn has_sorts<T: Listed>(table: &Table) -> bool {
    let mut at = 0;
    while at < T::ORDERS.len() {
        if !table.has(&sort_column(T::ORDERS[at].by)) {
            return false;
        }
        at += 1;
    }
    true
}

pub(crate) const UPDATED_AT: Column = Column::new("updated_at", Type::Time);
pub(crate) const OBSERVATION_DATE: Column = Column::new("observation_date", Type::Date);
pub(crate) const NAME_KEY: Column = Column::new("name_key", Type::Text);
pub(crate) const OCCURRED_AT: Column = Column::new("occurred_at", Type::Time);
pub(crate) const STATUS: Column = Column::new("status", Type::Text);
/// The column that says whether a row is archived.
pub const ARCHIVED: Column = Column::new("archived", Type::Flag);

impl Listing {
    /// A page of everything there is. An order whose column the table does not have does not compile.
    pub(crate) fn new<T: Stored + Listed>(sort: Sort, page: &PageRequest) -> Self {
        const { assert!(has_sorts::<T>(T::TABLE), "a table lacks the column of an order of its list") };
        let after = page.after.as_ref().map(|it| (cell(&it.key), it.id));
        let (sort, descending) = (sort_column(sort.by), sort.descending);
        Self { kind: RowKind::of::<T>(), runs: None, conditions: vec![], sort, descending, after, limit: page.limit }
    }

    /// The first of everything there is, in the order of a column.
    pub(crate) fn ordered<T: Stored>(sort: Column, descending: bool, limit: u16) -> Self {
        Self { kind: RowKind::of::<T>(), runs: None, conditions: vec![], sort, descending, after: None, limit }
    }

    /// A page of everything there is that was last changed at such a time (decision D10).
    pub(crate) fn changed<T: Stored + Listed>(within: Bounds<Timestamp>, sort: Sort, page: &PageRequest) -> Self {
        let mut it = Self::new::<T>(sort, page);
        it.within(UPDATED_AT, within, Cell::Time);
        it
    }

    /// A list of nothing but this.
    pub(crate) fn alone<T: Stored>(self) -> TypedListing<T> {
        TypedListing::of(vec![self])
    }

    /// Which table.
    #[must_use]
    pub const fn table(&self) -> &'static Table {
        self.kind.table()
    }

    /// Whether it is put together from several runs.
    #[must_use]
    pub fn is_several_runs(&self) -> bool {
        self.runs.as_ref().is_some_and(|(_, values)| values.len() > 1)
    }

    /// Only rows with this value, if one is wanted.
    pub(crate) fn is(&mut self, column: Column, value: Option<impl Into<Cell>>) {
        self.conditions.extend(value.map(|it| Condition::Is(column, it.into())));
    }

    /// Only rows without this value.
    pub(crate) fn is_not(&mut self, column: Column, value: impl Into<Cell>) {
        self.conditions.push(Condition::IsNot(column, value.into()));
    }

    /// A run for each of these words.
    pub(crate) fn runs<'w>(&mut self, column: Column, words: impl IntoIterator<Item = &'w str>) {
        self.runs = Some((column, words.into_iter().map(|it| Cell::Text(it.to_owned())).collect()));
    }

    /// Only rows with one of these words, if any are wanted.
    pub(crate) fn words<'w>(&mut self, column: Column, words: impl IntoIterator<Item = &'w str>) {
        self.one_of(column, words.into_iter().map(|it| Cell::Text(it.to_owned())).collect());
    }

    /// Only rows with one of these values, if any are wanted.
    pub(crate) fn one_of(&mut self, column: Column, values: Vec<Cell>) {
        if !values.is_empty() {
            self.conditions.push(Condition::OneOf(column, values));
        }
    }

    /// Where the condition stands that says which rows it can be, if there is one.
    #[must_use]
    pub fn among(&self) -> Option<usize> {
        self.conditions.iter().position(|it| matches!(it, Condition::Among(_)))
    }

    /// Only rows with a value between these bounds.
    pub(crate) fn within<T: Copy>(&mut self, column: Column, bounds: Bounds<T>, cell: impl Fn(T) -> Cell) {
        self.conditions.extend(bounds.gte.map(|it| Condition::AtLeast(column, cell(it))));
        self.conditions.extend(bounds.lte.map(|it| Condition::AtMost(column, cell(it))));
    }

    /// Only rows with one of these tags, if any are wanted.
    pub(crate) fn tagged(&mut self, members: MemberTable, tags: impl IntoIterator<Item = [u8; 16]>) {
        let tags: Vec<_> = tags.into_iter().collect();
        if !tags.is_empty() {
            self.conditions.push(Condition::Tagged(members, tags));
        }
    }

    /// Only rows that are archived, or are not.
    pub(crate) fn archived(&mut self, archived: Archived) {
        let values: &[bool] = match archived {
            Archived::No => &[false],
            Archived::Yes => &[true],
            Archived::All => &[false, true],
        };
        self.runs = Some((ARCHIVED, values.iter().map(|it| Cell::Flag(*it)).collect()));
    }
}

fn cell(key: &Key) -> Cell {
    match key {
        Key::Time(it) | Key::Scored(_, it) => Cell::Time(*it),
        Key::Date(it) => Cell::Date(*it),
        Key::Text(it) => Cell::Text(it.clone()),
        Key::Rank(it) => Cell::Int(*it),
    }
}
