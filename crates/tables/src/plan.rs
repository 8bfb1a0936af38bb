//! Plan of a page with conditions on other tables. The choice is the same for all stores and needs no database.
//!
//! A store can scan the list in its order and look up each row in the other table. Or it can gather the few rows
//! that the other table names, and sort them. A database cannot estimate which one is cheaper. Therefore a store
//! counts the matches of the conditions and chooses here. Nothing is cached between pages.

use crate::access_path::AccessPath;
use crate::flat::Column;
use crate::listing::{Condition, Listing};

/// Maximum number of people whose rows are all gathered. Each costs about 2 µs and has several rows.
const GATHERED_PEOPLE: usize = 200;
/// Maximum number of people whose first rows are gathered with an index.
const GATHERED_FIRSTS: usize = 300;
/// Maximum number of people to hash, at about 0.15 µs each. With more people, matches are so frequent that an
/// index lookup per row is cheaper.
const HASHED_PEOPLE: usize = 4_000;
/// Maximum number of tagged rows to gather.
const GATHERED_ROWS: usize = 2_000;
/// Maximum number of tagged rows to hash.
const HASHED_ROWS: usize = 8_000;

/// Count of the matches of a condition on another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchCount {
    /// Position of the condition in the list.
    pub condition: usize,
    /// Number of people or rows, up to [`counted_to`].
    pub count: usize,
}

/// Source of the rows of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowSource {
    /// Scan in list order; each row is looked up in the other tables.
    Scan(RowFilter),
    /// All matches of the condition at this position of the list, found through its people or tags and then sorted.
    Gather(usize),
    /// Like `Gather`, for a condition on people: the first row of each person in list order, then all rows of the
    /// people whose first row can be on the page.
    GatherFirsts(usize),
}

/// Filter of scanned rows by the conditions on other tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Positions of the conditions whose people or rows are hashed before the scan. For the remaining conditions,
    /// each row is looked up in an index.
    pub hashed: Vec<usize>,
}

/// Plan of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPlan {
    /// First attempt. A scan is limited if there is an alternative.
    pub first: RowSource,
    /// Alternative if the scan reached its limit before the page was full, for example because a team has no
    /// recent rows.
    pub then: Option<RowSource>,
}

/// Planner that asks the store to count the conditions one by one, until the choice is made.
#[derive(Debug)]
pub struct ListPlanner<'l> {
    listing: &'l Listing,
    named: Vec<MatchCount>,
    next: usize,
    plan: ListPlan,
}

impl<'l> ListPlanner<'l> {
    /// Creates a planner for a list before any condition is counted.
    #[must_use]
    pub fn new(listing: &'l Listing) -> Self {
        let first =
            listing.ids_condition().map_or(RowSource::Scan(RowFilter { hashed: vec![] }), RowSource::Gather);
        let plan = ListPlan { first, then: None };
        Self { listing, named: vec![], next: 0, plan }
    }

    /// Returns the next condition to count, up to [`counted_to`], or `None` if the plan is final. After a
    /// small count the other conditions are not needed.
    pub fn next_to_count(&mut self) -> Option<&'l Condition> {
        if self.plan.first.is_gathered() {
            return None;
        }
        let mut conditions = self.listing.conditions.iter().enumerate().skip(self.next);
        let (at, condition) = conditions.find(|(_, condition)| is_elsewhere(condition))?;
        self.next = at + 1;
        Some(condition)
    }

    /// Records the count of the last returned condition.
    pub fn add_count(&mut self, count: usize) {
        self.named.push(MatchCount { condition: self.next.saturating_sub(1), count });
        self.plan = choose(self.listing, &self.named);
    }

    /// Returns the plan for the counts so far.
    #[must_use]
    pub fn plan(self) -> ListPlan {
        self.plan
    }
}

/// Returns `true` if a condition selects rows through another table.
#[must_use]
pub const fn is_elsewhere(condition: &Condition) -> bool {
    match condition {
        Condition::Within(..) | Condition::Reach(..) | Condition::Tagged(..) | Condition::Among(..) => true,
        // `Without` reads another table, too, but an exclusion cannot select the rows of the list.
        Condition::Is(..)
        | Condition::IsNot(..)
        | Condition::OneOf(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Without(..) => false,
    }
}

/// Returns `true` if an index finds, for each person in the column, the first rows in list order.
#[must_use]
pub fn leads_to_firsts(listing: &Listing, column: &Column) -> bool {
    let sort = listing.sort.name;
    listing
        .table()
        .indexes
        .iter()
        .any(|index| index.firsts && index.columns.first() == Some(&column.name) && index.columns.contains(&sort))
}

/// Returns `true` if a list has so few rows that sorting them is always the best plan.
#[must_use]
pub fn is_of_few(listing: &Listing) -> bool {
    let one = |name: &str| {
        listing
            .conditions
            .iter()
            .any(|condition| matches!(condition, Condition::Is(column, _) if column.name == name))
    };
    let mut few = listing
        .table()
        .indexes
        .iter()
        .filter(|index| index.of_few && index.columns.first().is_some_and(|column| one(column)));
    listing.ids_condition().is_some() || few.any(|condition| !condition.columns.contains(&listing.sort.name))
}

/// Returns `true` if the index of the list contains the columns of further conditions, so that non-matching
/// rows are skipped without reading them.
#[must_use]
pub fn is_covered(listing: &Listing) -> bool {
    AccessPath::new(listing).index.is_some_and(|index| index.columns.last() != Some(&"id"))
}

/// Returns the limit for counting a condition: one more than the highest threshold.
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

impl MatchCount {
    fn condition<'l>(&self, listing: &'l Listing) -> Option<&'l Condition> {
        listing.conditions.get(self.condition)
    }

    /// Returns the source that gathers the rows of the condition, and the maximum count for that source. `None` if
    /// no other table names the rows.
    fn gathering_source(&self, listing: &Listing) -> Option<(RowSource, usize)> {
        match self.condition(listing)? {
            Condition::Within(column, _) | Condition::Reach(column, _) if leads_to_firsts(listing, column) => {
                Some((RowSource::GatherFirsts(self.condition), GATHERED_FIRSTS))
            }
            Condition::Within(..) | Condition::Reach(..) => {
                Some((RowSource::Gather(self.condition), GATHERED_PEOPLE))
            }
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

    /// Returns `true` if all matches of the condition are hashed.
    fn is_hashed(&self, listing: &Listing) -> bool {
        self.condition(listing).and_then(most_hashed).is_some_and(|most| self.count <= most)
    }
}

impl RowSource {
    /// Returns `true` for sources that gather matches and skip no rows.
    #[must_use]
    pub const fn is_gathered(&self) -> bool {
        match self {
            Self::Gather(_) | Self::GatherFirsts(_) => true,
            Self::Scan(_) => false,
        }
    }
}

/// Chooses the plan of a page from the counts of its conditions.
#[must_use]
pub fn choose(listing: &Listing, named: &[MatchCount]) -> ListPlan {
    let (few, many) =
        (smallest_source(listing, named.iter()), named.iter().filter(|condition| condition.is_hashed(listing)));
    if let Some((share, source)) = few
        && share <= 1.0
    {
        return ListPlan { first: source, then: None };
    }
    let hashed_conditions = many.clone().map(|condition| condition.condition).collect();
    let then = smallest_source(listing, many).map(|(_, source)| source);
    let then = then.unwrap_or_else(|| RowSource::Scan(RowFilter::hashing_all(listing)));
    ListPlan { first: RowSource::Scan(RowFilter { hashed: hashed_conditions }), then: Some(then) }
}

/// Returns the source with the smallest count relative to its limit, and the quotient of count and limit. `None`
/// if no condition has a source.
fn smallest_source<'n>(
    listing: &Listing,
    named: impl Iterator<Item = &'n MatchCount>,
) -> Option<(f64, RowSource)> {
    let share = |named_rows: &MatchCount| {
        let (source, most) = named_rows.gathering_source(listing)?;
        Some((named_rows.count as f64 / most as f64, source))
    };
    named.filter_map(share).min_by(|(one, _), (other, _)| one.total_cmp(other))
}

impl RowFilter {
    /// Returns a filter that hashes all conditions, which is best for a long scan.
    #[must_use]
    pub fn hashing_all(listing: &Listing) -> Self {
        let all = listing.conditions.iter().enumerate().filter(|(_, condition)| is_elsewhere(condition));
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

    /// Returns a list with a filter on manager and tag, ordered by day or creation time.
    fn observations(by: SortBy) -> Listing {
        let filter = Filter {
            manager_id: Some(EmployeeId::from_bytes([1; 16])),
            attribute_ids: vec![AttributeId::from_bytes([2; 16])],
            ..Filter::default()
        };
        rows::observations::list(&filter, Viewer::Everything, Sort::descending_by(by), &PAGE).parts()[0].clone()
    }

    fn objectives(query: &[(&str, &str)], by: SortBy) -> Listing {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let filter = Params::new(pairs)
            .parse(|params| candor_domain::objective::Filter::read(Family::Managers, params))
            .unwrap()
            .filter;
        rows::objectives::list(&filter, Viewer::Everything, Sort::descending_by(by), &PAGE).parts()[0].clone()
    }

    const fn people(count: usize) -> MatchCount {
        MatchCount { condition: 0, count }
    }

    const fn tagged_rows(count: usize) -> MatchCount {
        MatchCount { condition: 1, count }
    }

    fn scan(hashed: &[usize]) -> RowSource {
        RowSource::Scan(RowFilter { hashed: hashed.to_vec() })
    }

    fn first_source(by: SortBy, named: &[MatchCount]) -> RowSource {
        choose(&observations(by), named).first
    }

    #[test]
    fn number_of_people_selects_the_row_source() {
        for (by, count, wanted) in [
            (SortBy::ObservationDate, 0, RowSource::GatherFirsts(0)),
            (SortBy::ObservationDate, 300, RowSource::GatherFirsts(0)),
            (SortBy::ObservationDate, 301, scan(&[0])),
            (SortBy::CreatedAt, 200, RowSource::Gather(0)),
            (SortBy::CreatedAt, 201, scan(&[0])),
            (SortBy::CreatedAt, 4_000, scan(&[0])),
            (SortBy::CreatedAt, 4_001, scan(&[])),
        ] {
            assert_eq!(first_source(by, &[people(count)]), wanted, "{count} by {by:?}");
        }
    }

    #[test]
    fn number_of_tagged_rows_selects_the_row_source() {
        let sources =
            [0, 2_000, 2_001, 8_000, 8_001].map(|count| first_source(SortBy::CreatedAt, &[tagged_rows(count)]));
        let gather = RowSource::Gather(1);
        assert_eq!(sources, [gather.clone(), gather, scan(&[1]), scan(&[1]), scan(&[])]);
    }

    #[test]
    fn smaller_of_two_conditions_is_gathered() {
        let source = |count, rows| first_source(SortBy::CreatedAt, &[people(count), tagged_rows(rows)]);
        assert_eq!(source(100, 1_900), RowSource::Gather(0));
        assert_eq!(source(190, 100), RowSource::Gather(1));
        assert_eq!(source(3_000, 1_900), RowSource::Gather(1));
        assert_eq!(source(3_000, 3_500), scan(&[0, 1]));
        assert_eq!(source(20_000, 3_000), scan(&[1]), "the many people are looked up row by row");
    }

    #[test]
    fn unfilled_scan_is_followed_by_a_bounded_source() {
        let then = |by, named: &[MatchCount]| choose(&observations(by), named).then;
        assert_eq!(then(SortBy::CreatedAt, &[people(4_000)]), Some(RowSource::Gather(0)));
        assert_eq!(then(SortBy::ObservationDate, &[people(4_000)]), Some(RowSource::GatherFirsts(0)));
        assert_eq!(then(SortBy::CreatedAt, &[tagged_rows(4_001)]), Some(RowSource::Gather(1)));
        assert_eq!(
            then(SortBy::CreatedAt, &[people(4_001)]),
            Some(scan(&[0, 1])),
            "a scan to its end, with hashes"
        );
        assert_eq!(then(SortBy::CreatedAt, &[]), Some(scan(&[0, 1])));
        assert_eq!(then(SortBy::CreatedAt, &[people(10)]), None);
    }

    #[test]
    fn small_count_ends_the_counting_early() {
        let listing = observations(SortBy::CreatedAt);
        let counts_until_end = |counts: &[usize]| {
            let (mut planner, mut counts, mut asked) = (ListPlanner::new(&listing), counts.iter(), 0);
            while planner.next_to_count().is_some() {
                planner.add_count(*counts.next().unwrap());
                asked += 1;
            }
            (asked, planner.plan())
        };
        assert_eq!(counts_until_end(&[200]), (1, choose(&listing, &[people(200)])));
        assert_eq!(counts_until_end(&[201, 2_001]), (2, choose(&listing, &[people(201), tagged_rows(2_001)])));
        let plain = Listing { conditions: vec![], ..listing.clone() };
        assert_eq!(ListPlanner::new(&plain).plan(), ListPlan { first: scan(&[]), then: None });
    }

    #[test]
    fn counting_stops_at_the_deciding_number() {
        let all = observations(SortBy::CreatedAt).conditions;
        assert_eq!(all.iter().map(counted_to).collect::<Vec<_>>(), [4_001, 8_001]);
    }

    #[test]
    fn covered_and_small_lists_follow_from_the_indexes() {
        assert!(is_covered(&observations(SortBy::ObservationDate)));
        let owner_filter = [("filter[owner_id]", "emp_01ARZ3NDEKTSV4RRFFQ69G5FAV")];
        assert!(!is_covered(&objectives(&owner_filter, SortBy::PeriodEnd)));
        assert!(is_of_few(&objectives(&owner_filter, SortBy::CreatedAt)));
        assert!(!is_of_few(&objectives(&owner_filter, SortBy::PeriodEnd)), "the index by owner has the order");
        assert!(!is_of_few(&objectives(&[], SortBy::CreatedAt)));
    }
}
