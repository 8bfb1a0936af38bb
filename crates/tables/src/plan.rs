//! Where the rows of a page come from where another table has a say: one choice for all stores, without a database.
//!
//! A list can be walked in its own order, and each row that is met looked up in the other table; or the few rows that
//! the other table names are gathered and put in order. A database cannot know which is shorter, so a store counts what
//! the conditions name, and asks here. Nothing is remembered from one page to the next.

use crate::access_path::AccessPath;
use crate::flat::Column;
use crate::listing::{Condition, Listing};

/// People whose rows are all gathered: each costs a store some 2 µs, and has several rows.
const GATHERED_PEOPLE: usize = 200;
/// People of whom only the first rows are gathered, because an index leads to them.
const GATHERED_FIRSTS: usize = 300;
/// People who are hashed, at some 0.15 µs each. More are met so soon that an index is asked for each row instead.
const HASHED_PEOPLE: usize = 4_000;
/// Rows with a tag that are gathered.
const GATHERED_ROWS: usize = 2_000;
/// Rows with a tag that are hashed.
const HASHED_ROWS: usize = 8_000;

/// What a store has counted for a condition that another table answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedRows {
    /// Which one of the list's conditions.
    pub condition: usize,
    /// How many people or rows it names, counted to [`counted_to`].
    pub count: usize,
}

/// Where the rows of a page come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowSource {
    /// The list in its own order; each row that is met is looked up in the other tables.
    Scan(RowFilter),
    /// All rows of the people, or with the tags, that this condition names.
    Gather(usize),
    /// The rows of the people whom this condition names; the first row of each shows whose can be on the page.
    GatherFirsts(usize),
}

/// How a row that is met is looked up in the other tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// The conditions whose people or rows are hashed before the scan; an index is asked for each of the others.
    pub hashed: Vec<usize>,
}

/// What leads to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPlan {
    /// What is tried first. A scan goes only so far, if there is something else to try.
    pub first: RowSource,
    /// What leads to the page if the scan went so far without filling it: somebody may have been silent for long.
    pub then: Option<RowSource>,
}

/// Plans a page while a store counts what the conditions name: one after the other, and no more of them than decide.
#[derive(Debug)]
pub struct ListPlanner<'l> {
    listing: &'l Listing,
    named: Vec<NamedRows>,
    next: usize,
    plan: ListPlan,
}

impl<'l> ListPlanner<'l> {
    /// Of a list of which nothing was counted.
    #[must_use]
    pub fn of(listing: &'l Listing) -> Self {
        let first = listing.among().map_or(RowSource::Scan(RowFilter { hashed: vec![] }), RowSource::Gather);
        let plan = ListPlan { first, then: None };
        Self { listing, named: vec![], next: 0, plan }
    }

    /// The condition that is to be counted next, to [`counted_to`]; none once the plan is made. What is few needs no look
    /// at the others.
    pub fn next_to_count(&mut self) -> Option<&'l Condition> {
        if self.plan.first.is_gathered() {
            return None;
        }
        let mut conditions = self.listing.conditions.iter().enumerate().skip(self.next);
        let (at, condition) = conditions.find(|(_, it)| is_elsewhere(it))?;
        self.next = at + 1;
        Some(condition)
    }

    /// How many people or rows the condition names that was last asked for.
    pub fn counted(&mut self, count: usize) {
        self.named.push(NamedRows { condition: self.next.saturating_sub(1), count });
        self.plan = choose(self.listing, &self.named);
    }

    /// What leads to the page.
    #[must_use]
    pub fn plan(self) -> ListPlan {
        self.plan
    }
}

/// Whether another table has a say in which rows a condition wants.
#[must_use]
pub const fn is_elsewhere(condition: &Condition) -> bool {
    match condition {
        Condition::Within(..) | Condition::Reach(..) | Condition::Tagged(..) | Condition::Among(..) => true,
        // What is left out says nothing about where the others are.
        Condition::Is(..)
        | Condition::IsNot(..)
        | Condition::OneOf(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Without(..) => false,
    }
}

/// Whether an index leads from each person whom the column names to their first rows in the order of the list.
#[must_use]
pub fn leads_to_firsts(listing: &Listing, column: &Column) -> bool {
    let sort = listing.sort.name;
    listing
        .table()
        .indexes
        .iter()
        .any(|it| it.firsts && it.columns.first() == Some(&column.name) && it.columns.contains(&sort))
}

/// Whether the rows of a list are so few that they are put in order, whatever other index has that order.
#[must_use]
pub fn is_of_few(listing: &Listing) -> bool {
    let one =
        |name: &str| listing.conditions.iter().any(|it| matches!(it, Condition::Is(column, _) if column.name == name));
    let mut few = listing.table().indexes.iter().filter(|it| it.of_few && it.columns.first().is_some_and(|it| one(it)));
    listing.among().is_some() || few.any(|it| !it.columns.contains(&listing.sort.name))
}

/// Whether the index along the list holds what conditions ask besides, so that rows need not be read to pass them by.
#[must_use]
pub fn is_covered(listing: &Listing) -> bool {
    AccessPath::of(listing).index.is_some_and(|it| it.columns.last() != Some(&"id"))
}

/// How far a store counts what a condition names: one more than what the choice goes by.
#[must_use]
pub const fn counted_to(condition: &Condition) -> usize {
    match most_hashed(condition) {
        Some(most) => most + 1,
        None => 0,
    }
}

const fn most_hashed(condition: &Condition) -> Option<usize> {
    match condition {
        Condition::Within(..) | Condition::Reach(..) => Some(HASHED_PEOPLE),
        Condition::Tagged(..) => Some(HASHED_ROWS),
        Condition::Is(..)
        | Condition::IsNot(..)
        | Condition::OneOf(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Without(..)
        | Condition::Among(..) => None,
    }
}

impl NamedRows {
    fn condition<'l>(&self, listing: &'l Listing) -> Option<&'l Condition> {
        listing.conditions.get(self.condition)
    }

    /// The rows of what the condition names, and the most people or rows for which these are gathered at once.
    fn gathered(&self, listing: &Listing) -> Option<(RowSource, usize)> {
        match self.condition(listing)? {
            Condition::Within(column, _) | Condition::Reach(column, _) if leads_to_firsts(listing, column) => {
                Some((RowSource::GatherFirsts(self.condition), GATHERED_FIRSTS))
            }
            Condition::Within(..) | Condition::Reach(..) => Some((RowSource::Gather(self.condition), GATHERED_PEOPLE)),
            Condition::Tagged(..) => Some((RowSource::Gather(self.condition), GATHERED_ROWS)),
            Condition::Is(..)
            | Condition::IsNot(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..)
            | Condition::Among(..) => None,
        }
    }

    /// Whether all that the condition names is hashed.
    fn is_hashed(&self, listing: &Listing) -> bool {
        self.condition(listing).and_then(most_hashed).is_some_and(|most| self.count <= most)
    }
}

impl RowSource {
    /// Whether it begins with what a condition names, so that nothing has to be walked past.
    #[must_use]
    pub const fn is_gathered(&self) -> bool {
        match self {
            Self::Gather(_) | Self::GatherFirsts(_) => true,
            Self::Scan(_) => false,
        }
    }
}

/// Chooses where the rows of a page come from by what was counted for its conditions.
#[must_use]
pub fn choose(listing: &Listing, named: &[NamedRows]) -> ListPlan {
    let (few, many) = (least(listing, named.iter()), named.iter().filter(|it| it.is_hashed(listing)));
    if let Some((share, source)) = few
        && share <= 1.0
    {
        return ListPlan { first: source, then: None };
    }
    let hashed = many.clone().map(|it| it.condition).collect();
    let then = least(listing, many).map(|(_, source)| source);
    let then = then.unwrap_or_else(|| RowSource::Scan(RowFilter::hashing_all(listing)));
    ListPlan { first: RowSource::Scan(RowFilter { hashed }), then: Some(then) }
}

/// The condition of which the least is gathered, measured by how much that may be.
fn least<'n>(listing: &Listing, named: impl Iterator<Item = &'n NamedRows>) -> Option<(f64, RowSource)> {
    let share = |it: &NamedRows| {
        let (source, most) = it.gathered(listing)?;
        Some((it.count as f64 / most as f64, source))
    };
    named.filter_map(share).min_by(|(one, _), (other, _)| one.total_cmp(other))
}

impl RowFilter {
    /// Everything is hashed, as is best for a scan that goes far.
    #[must_use]
    pub fn hashing_all(listing: &Listing) -> Self {
        let all = listing.conditions.iter().enumerate().filter(|(_, it)| is_elsewhere(it));
        Self { hashed: all.map(|(at, _)| at).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::{AttributeId, EmployeeId};
    use candor_domain::objective::Family;
    use candor_domain::observation::Filter;
    use candor_domain::page::{PageRequest, Sort, SortBy};
    use candor_domain::params::Params;
    use candor_domain::visibility::Viewer;

    use crate::rows;

    const PAGE: PageRequest = PageRequest { limit: 10, after: None };

    /// What somebody's people were tagged with, by day or by time of creation.
    fn observations(by: SortBy) -> Listing {
        let filter = Filter {
            manager_id: Some(EmployeeId::from_bytes([1; 16])),
            attribute_ids: vec![AttributeId::from_bytes([2; 16])],
            ..Filter::default()
        };
        rows::observations::list(&filter, Viewer::Everything, Sort::down(by), &PAGE).parts()[0].clone()
    }

    fn objectives(query: &[(&str, &str)], by: SortBy) -> Listing {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let filter = candor_domain::objective::Filter::parse(Family::Managers, Params::new(pairs)).unwrap().filter;
        rows::objectives::list(&filter, Viewer::Everything, Sort::down(by), &PAGE).parts()[0].clone()
    }

    const fn people(count: usize) -> NamedRows {
        NamedRows { condition: 0, count }
    }

    const fn tagged(count: usize) -> NamedRows {
        NamedRows { condition: 1, count }
    }

    fn scan(hashed: &[usize]) -> RowSource {
        RowSource::Scan(RowFilter { hashed: hashed.to_vec() })
    }

    fn first(by: SortBy, named: &[NamedRows]) -> RowSource {
        choose(&observations(by), named).first
    }

    #[test]
    fn the_number_of_people_decides_between_gathering_hashing_and_an_index() {
        for (by, count, wanted) in [
            (SortBy::ObservationDate, 0, RowSource::GatherFirsts(0)),
            (SortBy::ObservationDate, 300, RowSource::GatherFirsts(0)),
            (SortBy::ObservationDate, 301, scan(&[0])),
            (SortBy::CreatedAt, 200, RowSource::Gather(0)),
            (SortBy::CreatedAt, 201, scan(&[0])),
            (SortBy::CreatedAt, 4_000, scan(&[0])),
            (SortBy::CreatedAt, 4_001, scan(&[])),
        ] {
            assert_eq!(first(by, &[people(count)]), wanted, "{count} by {by:?}");
        }
    }

    #[test]
    fn the_number_of_tagged_rows_decides_between_gathering_hashing_and_an_index() {
        let sources = [0, 2_000, 2_001, 8_000, 8_001].map(|it| first(SortBy::CreatedAt, &[tagged(it)]));
        let gather = RowSource::Gather(1);
        assert_eq!(sources, [gather.clone(), gather, scan(&[1]), scan(&[1]), scan(&[])]);
    }

    #[test]
    fn of_two_conditions_the_one_is_gathered_that_names_less() {
        let source = |count, rows| first(SortBy::CreatedAt, &[people(count), tagged(rows)]);
        assert_eq!(source(100, 1_900), RowSource::Gather(0));
        assert_eq!(source(190, 100), RowSource::Gather(1));
        assert_eq!(source(3_000, 1_900), RowSource::Gather(1));
        assert_eq!(source(3_000, 3_500), scan(&[0, 1]));
        assert_eq!(source(20_000, 3_000), scan(&[1]), "what is many is looked up");
    }

    #[test]
    fn a_scan_that_did_not_fill_the_page_is_followed_by_what_has_a_bound() {
        let then = |by, named: &[NamedRows]| choose(&observations(by), named).then;
        assert_eq!(then(SortBy::CreatedAt, &[people(4_000)]), Some(RowSource::Gather(0)));
        assert_eq!(then(SortBy::ObservationDate, &[people(4_000)]), Some(RowSource::GatherFirsts(0)));
        assert_eq!(then(SortBy::CreatedAt, &[tagged(4_001)]), Some(RowSource::Gather(1)));
        assert_eq!(then(SortBy::CreatedAt, &[people(4_001)]), Some(scan(&[0, 1])), "to its end, with hashes");
        assert_eq!(then(SortBy::CreatedAt, &[]), Some(scan(&[0, 1])));
        assert_eq!(then(SortBy::CreatedAt, &[people(10)]), None);
    }

    #[test]
    fn what_is_few_needs_no_look_at_the_others() {
        let listing = observations(SortBy::CreatedAt);
        let asked = |counts: &[usize]| {
            let (mut planner, mut counts, mut asked) = (ListPlanner::of(&listing), counts.iter(), 0);
            while planner.next_to_count().is_some() {
                planner.counted(*counts.next().unwrap());
                asked += 1;
            }
            (asked, planner.plan())
        };
        assert_eq!(asked(&[200]), (1, choose(&listing, &[people(200)])));
        assert_eq!(asked(&[201, 2_001]), (2, choose(&listing, &[people(201), tagged(2_001)])));
        let plain = Listing { conditions: vec![], ..listing.clone() };
        assert_eq!(ListPlanner::of(&plain).plan(), ListPlan { first: scan(&[]), then: None });
    }

    #[test]
    fn no_more_is_counted_than_decides() {
        let all = observations(SortBy::CreatedAt).conditions;
        assert_eq!(all.iter().map(counted_to).collect::<Vec<_>>(), [4_001, 8_001]);
    }

    #[test]
    fn what_is_said_of_the_tables_follows_from_their_indexes() {
        assert!(is_covered(&observations(SortBy::ObservationDate)));
        let one = [("filter[owner_id]", "emp_01ARZ3NDEKTSV4RRFFQ69G5FAV")];
        assert!(!is_covered(&objectives(&one, SortBy::PeriodEnd)));
        assert!(is_of_few(&objectives(&one, SortBy::CreatedAt)));
        assert!(!is_of_few(&objectives(&one, SortBy::PeriodEnd)), "their index has the order");
        assert!(!is_of_few(&objectives(&[], SortBy::CreatedAt)));
    }
}
