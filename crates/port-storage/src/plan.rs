//! Which way leads to the rows of a page where another table has a say: one choice for all stores, without a database.
//!
//! A list can be walked in its own order, and each row that is met looked up in the other table; or the few rows that
//! the other table names are gathered and put in order. A database cannot know which is shorter, so a store counts what
//! the conditions name, and asks here. What each way costs is measured for each store: see [`PlanLimits`].

use crate::access_path::AccessPath;
use crate::flat::Column;
use crate::listing::{Condition, Listing};

/// What a store has found out about a condition that another table answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// Which one of the list's conditions.
    pub condition: usize,
    /// How many people or rows it names; `None` if more than are counted.
    pub count: Option<usize>,
    /// Whether a walk past the rows of others has lately ended before it had met enough.
    pub is_sparse: bool,
}

/// Up to how many people or rows each way is the shortest, as measured with a store.
#[derive(Debug, Clone, Copy)]
pub struct PlanLimits {
    /// People whose rows are all gathered.
    pub people: usize,
    /// People of whom only the first rows are gathered, because an index leads to them.
    pub firsts: usize,
    /// People who can be told from others while their rows are walked past.
    pub told: usize,
    /// People who are gathered after all, if a walk did not fill the page.
    pub after_a_walk: usize,
    /// Rows with a tag that are gathered.
    pub tagged: usize,
    /// Rows with a tag that are hashed, and gathered if that walk did not fill the page.
    pub hashed: usize,
    /// Whether what is few is gathered even where a walk could tell people from others.
    pub gathers_first: bool,
    /// Whether the rows of a walk can be looked up in a hash of everything that matches.
    pub hashes: bool,
}

/// A way to the rows of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Along the order of the list; each row that is met is looked up by an index.
    Order,
    /// Along the order of the list; each row that is met is looked up in a hash of what matches.
    Hashed,
    /// Along the order of the list, past the rows of everybody but the people whom this condition names.
    Past(usize),
    /// From the people or rows that this condition names: all their rows are put in order.
    Gather(usize),
    /// From the people whom this condition names: the first row of each shows whose rows can be on the page.
    Firsts(usize),
}

/// The way to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlan {
    /// The way that is taken first.
    pub first: Way,
    /// The way that is taken if that one did not fill the page before it had gone too far.
    pub then: Option<Way>,
}

/// Whether another table has a say in which rows a condition wants.
#[must_use]
pub const fn is_elsewhere(condition: &Condition) -> bool {
    match condition {
        Condition::Within(..) | Condition::Reach(..) | Condition::Tagged(..) => true,
        // What is left out says nothing about where the others are.
        Condition::Is(..)
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
    few.any(|it| !it.columns.contains(&listing.sort.name))
}

/// Whether the index along the list holds what conditions ask besides, so that rows need not be read to pass them by.
#[must_use]
pub fn is_covered(listing: &Listing) -> bool {
    AccessPath::of(listing).index.is_some_and(|it| it.columns.last() != Some(&"id"))
}

impl Fact {
    /// The way that leads from the condition, and how much of what it is good for is asked of it.
    fn way(&self, listing: &Listing, limits: &PlanLimits) -> Option<(f64, Way)> {
        let (at, count) = (self.condition, self.count?);
        let share = |most: usize, way: Way| (count <= most).then_some((count as f64 / most as f64, way));
        match listing.conditions.get(at)? {
            Condition::Within(column, _) | Condition::Reach(column, _) if leads_to_firsts(listing, column) => {
                let firsts = share(limits.firsts, Way::Firsts(at));
                let sparse = || share(limits.told, Way::Firsts(at)).filter(|_| self.is_sparse);
                firsts.or_else(sparse).or_else(|| share(limits.told, Way::Past(at)))
            }
            Condition::Within(..) | Condition::Reach(..) => {
                share(limits.people, Way::Gather(at)).or_else(|| share(limits.told, Way::Past(at)))
            }
            Condition::Tagged(..) => {
                share(limits.tagged, Way::Gather(at)).or_else(|| share(limits.hashed, Way::Hashed))
            }
            Condition::Is(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..) => None,
        }
    }
}

impl Way {
    /// Whether it begins with what a condition names, so that nothing has to be walked past.
    #[must_use]
    pub const fn is_gathered(self) -> bool {
        match self {
            Self::Gather(_) | Self::Firsts(_) => true,
            Self::Order | Self::Hashed | Self::Past(_) => false,
        }
    }
}

/// Chooses the way to a page of a list by what was found out about its conditions.
#[must_use]
pub fn choose(listing: &Listing, facts: &[Fact], limits: &PlanLimits) -> ListPlan {
    let mut best: Option<(f64, Way, &Fact)> = None;
    for fact in facts {
        let Some((share, way)) = fact.way(listing, limits) else { continue };
        let is_better = best.is_none_or(|(least, before, _)| {
            let order = (rank(way, limits), share).partial_cmp(&(rank(before, limits), least));
            order.is_none_or(std::cmp::Ordering::is_le)
        });
        if is_better {
            best = Some((share, way, fact));
        }
    }
    let hashed = limits.hashes.then_some(Way::Hashed);
    let Some((_, first, fact)) = best else { return ListPlan { first: Way::Order, then: hashed } };
    let then = match first {
        Way::Order | Way::Gather(_) | Way::Firsts(_) => None,
        Way::Hashed => Some(Way::Gather(fact.condition)),
        Way::Past(at) if fact.count.is_some_and(|it| it <= limits.after_a_walk) => {
            Some(if has_firsts(listing, at) { Way::Firsts(at) } else { Way::Gather(at) })
        }
        Way::Past(_) => hashed,
    };
    ListPlan { first, then }
}

/// Ways of a lower rank are taken whatever they cost.
const fn rank(way: Way, limits: &PlanLimits) -> u8 {
    match way {
        Way::Gather(_) | Way::Firsts(_) => 0,
        Way::Past(_) => limits.gathers_first as u8,
        Way::Hashed | Way::Order => 2,
    }
}

fn has_firsts(listing: &Listing, at: usize) -> bool {
    match listing.conditions.get(at) {
        Some(Condition::Within(column, _) | Condition::Reach(column, _)) => leads_to_firsts(listing, column),
        Some(
            Condition::Tagged(..)
            | Condition::Is(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..),
        )
        | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::{AttributeId, EmployeeId};
    use candor_domain::objective::{Family, Sight};
    use candor_domain::observation::Filter;
    use candor_domain::page::{PageRequest, Sort, SortBy};
    use candor_domain::params::Params;

    use crate::rows;

    const PAGE: PageRequest = PageRequest { limit: 10, after: None };
    /// A store that hashes, and gathers whatever is few.
    const HASHING: PlanLimits = PlanLimits {
        people: 200,
        firsts: 300,
        told: 16_000,
        after_a_walk: 4_000,
        tagged: 2_000,
        hashed: 8_000,
        gathers_first: true,
        hashes: true,
    };
    /// A store that knows teams exactly, and hashes nothing.
    const KNOWING: PlanLimits = PlanLimits {
        people: 300,
        firsts: 600,
        told: 4_000,
        after_a_walk: usize::MAX,
        tagged: 4_000,
        hashed: 0,
        gathers_first: false,
        hashes: false,
    };

    /// What somebody's people were tagged with, by day or by time of creation.
    fn observations(by: SortBy) -> Listing {
        let filter = Filter {
            manager_id: Some(EmployeeId::from_bytes([1; 16])),
            attribute_ids: vec![AttributeId::from_bytes([2; 16])],
            ..Filter::default()
        };
        rows::observations::list(&filter, Sort::down(by), &PAGE).parts()[0].clone()
    }

    fn objectives(query: &[(&str, &str)], by: SortBy) -> Listing {
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let filter = candor_domain::objective::Filter::parse(Family::Managers, Params::new(pairs)).unwrap().filter;
        rows::objectives::list(&filter, Sight::All, Sort::down(by), &PAGE).parts()[0].clone()
    }

    const fn fact(condition: usize, count: usize) -> Fact {
        Fact { condition, count: Some(count), is_sparse: false }
    }

    fn first(by: SortBy, facts: &[Fact], limits: &PlanLimits) -> Way {
        choose(&observations(by), facts, limits).first
    }

    #[test]
    fn the_number_of_people_decides_between_gathering_and_walking() {
        let by_day = |count, limits| first(SortBy::ObservationDate, &[fact(0, count)], limits);
        let by_time = |count, limits| first(SortBy::CreatedAt, &[fact(0, count)], limits);
        for (limits, people, firsts, told) in [(&HASHING, 200, 300, 16_000), (&KNOWING, 300, 600, 4_000)] {
            assert_eq!([0, firsts].map(|it| by_day(it, limits)), [Way::Firsts(0); 2]);
            assert_eq!([0, people].map(|it| by_time(it, limits)), [Way::Gather(0); 2]);
            assert_eq!([firsts + 1, told].map(|it| by_day(it, limits)), [Way::Past(0); 2]);
            assert_eq!([people + 1, told].map(|it| by_time(it, limits)), [Way::Past(0); 2]);
            assert_eq!([by_day(told + 1, limits), by_time(told + 1, limits)], [Way::Order; 2]);
        }
    }

    #[test]
    fn who_has_been_silent_is_asked_for_their_first_rows() {
        let silent = Fact { is_sparse: true, ..fact(0, 3_000) };
        assert_eq!(first(SortBy::ObservationDate, &[silent], &KNOWING), Way::Firsts(0));
        assert_eq!(first(SortBy::CreatedAt, &[silent], &KNOWING), Way::Past(0), "no index leads to these");
    }

    #[test]
    fn the_number_of_tagged_rows_decides_between_gathering_hashing_and_walking() {
        let ways = |limits| [0, 2_000, 2_001, 4_001, 8_001].map(|it| first(SortBy::CreatedAt, &[fact(1, it)], limits));
        let (gather, order) = (Way::Gather(1), Way::Order);
        assert_eq!(ways(&HASHING), [gather, gather, Way::Hashed, Way::Hashed, order]);
        assert_eq!(ways(&KNOWING), [gather, gather, gather, order, order]);
    }

    #[test]
    fn of_two_conditions_the_one_leads_that_names_less() {
        let ways = |limits| {
            [(100, 1_900), (190, 100), (3_000, 1_900), (3_000, 3_500), (20_000, 3_000)]
                .map(|(people, tagged)| first(SortBy::CreatedAt, &[fact(0, people), fact(1, tagged)], limits))
        };
        let [people, tags, past] = [Way::Gather(0), Way::Gather(1), Way::Past(0)];
        assert_eq!(ways(&HASHING), [people, tags, tags, past, Way::Hashed]);
        assert_eq!(ways(&KNOWING), [people, tags, tags, past, tags]);
    }

    #[test]
    fn a_walk_that_did_not_fill_the_page_is_followed_by_what_has_a_bound() {
        let then = |by, facts: &[Fact], limits| choose(&observations(by), facts, limits).then;
        assert_eq!(then(SortBy::CreatedAt, &[fact(0, 4_000)], &HASHING), Some(Way::Gather(0)));
        assert_eq!(then(SortBy::ObservationDate, &[fact(0, 4_000)], &HASHING), Some(Way::Firsts(0)));
        assert_eq!(then(SortBy::CreatedAt, &[fact(0, 4_001)], &HASHING), Some(Way::Hashed));
        assert_eq!(then(SortBy::CreatedAt, &[fact(1, 4_001)], &HASHING), Some(Way::Gather(1)));
        assert_eq!(then(SortBy::CreatedAt, &[], &HASHING), Some(Way::Hashed));
        assert_eq!(then(SortBy::CreatedAt, &[fact(0, 10)], &HASHING), None);
        assert_eq!(then(SortBy::ObservationDate, &[fact(0, 4_000)], &KNOWING), Some(Way::Firsts(0)));
        assert_eq!(then(SortBy::CreatedAt, &[], &KNOWING), None);
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
