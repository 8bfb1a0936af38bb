//! The index of words: what is written to it with every row of a searched table, and what it is asked.
//!
//! A store keeps the tokens of each row that can be found in the best index for texts that it has, and answers lists with
//! [`Condition::Words`] from there. Each token begins with a few characters for tenant and table, so that nobody's search
//! meets the rows of others, and an index of tokens leads as other indexes do.

use std::collections::BTreeSet;

use candor_domain::access::{Environment, Tenant};
use candor_domain::id::EmployeeId;
use candor_domain::objective::Objective;
use candor_domain::observation::Observation;
use candor_domain::people::Employee;
use candor_domain::search::{Searchable, WantedWord, WantedWords};
use candor_domain::summary::Summary;
use candor_domain::time::Timestamp;

use crate::access_path::AccessPath;
use crate::flat::{Stored, Table};
use crate::listing::{Condition, Listing};
use crate::plan::{ListPlan, RowFilter, RowSource};

/// What the index has of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    words: BTreeSet<String>,
    subject: EmployeeId,
    /// When the resource was created, by which what is found is ordered.
    pub created_at: Timestamp,
}

impl IndexEntry {
    /// The entry of a resource.
    #[must_use]
    pub fn of<T: Searchable>(it: &T) -> Self {
        Self { words: it.found_by(), subject: it.subject(), created_at: it.created_at() }
    }

    /// What the index has for it; nothing if it is not found by any word.
    #[must_use]
    pub fn tokens(&self, tenant: Tenant, table: &Table) -> Vec<String> {
        if self.words.is_empty() {
            return vec![];
        }
        let start = start(tenant, table);
        let words = self.words.iter().map(|it| format!("{start}{it}"));
        words.chain([subject_token(&start, self.subject)]).collect()
    }
}

/// The tables whose rows are searched.
pub const TABLES: [&Table; 4] = [Observation::TABLE, Objective::TABLE, Employee::TABLE, Summary::TABLE];

/// What is looked up in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexQuery {
    /// The words.
    pub words: WantedWords,
    /// Only rows about this person.
    pub subject: Option<EmployeeId>,
}

impl IndexQuery {
    /// What is wanted whole, and what only begun, each by itself; none unless there is both.
    #[must_use]
    pub fn parts(&self) -> Option<(Self, Self)> {
        let (whole, begun) = self.words.by_kind();
        let of = |all, subject| Self { words: WantedWords { all, without: None }, subject };
        let has_both = !begun.is_empty() && (!whole.is_empty() || self.subject.is_some());
        has_both.then(|| (of(whole, self.subject), of(begun, None)))
    }

    /// The same in tokens. They are made of letters, digits and characters beyond ASCII, so that nothing in them has a
    /// meaning in the query language of a store.
    #[must_use]
    pub fn tokens(&self, tenant: Tenant, table: &Table) -> WantedWords {
        let start = start(tenant, table);
        let token = |it: &WantedWord| match it {
            WantedWord::Whole(word) => WantedWord::Whole(format!("{start}{word}")),
            WantedWord::Beginning(word) => WantedWord::Beginning(format!("{start}{word}")),
        };
        let mut all: Vec<_> = self.words.all.iter().map(token).collect();
        all.extend(self.subject.map(|it| WantedWord::Whole(subject_token(&start, it))));
        WantedWords { all, without: self.words.without.as_ref().map(|it| format!("{start}{it}")) }
    }
}

/// The characters of a tenant.
const TENANT_CHARS: u32 = 5;
/// What stands in no word, so that no text passes for the token of a person.
const SUBJECT: char = '\u{a7}';

/// What the tokens of a tenant's rows in a table begin with. Tenants that share it only share a part of the index: each
/// row that is found there is looked at.
fn start(tenant: Tenant, table: &Table) -> String {
    let digits = b"abcdefghijklmnopqrstuvwxyz234567";
    // The end of an id is random.
    let bits = (tenant.organization.ulid().0 << 1) | u128::from(tenant.environment == Environment::Test);
    let digit = |at: u32| char::from(digits[usize::try_from(bits >> (5 * at) & 31).unwrap_or_default()]);
    (0..TENANT_CHARS).map(digit).chain(table.search).collect()
}

fn subject_token(start: &str, subject: EmployeeId) -> String {
    format!("{start}{SUBJECT}{}", subject.ulid().to_string().to_ascii_lowercase())
}

/// Rows that are met first where no index of words has an order: as many as take about as long as a look into it.
pub const SAMPLE: u32 = 100;
/// Rows that are met where so few say nothing, and where there are many to be found.
const LONGER_SAMPLE: u32 = 500;
const LONG_WALK: u32 = 10_000;

/// So many rows of a sample show that a great many have the words.
pub const MANY: usize = 2;

/// How far a walk goes on that has found so many rows among so many without filling the page; none where it is shorter to
/// gather all that have the words.
///
/// What a fiftieth has fills a page on the way. What is in one row of a hundred is in a twentieth of all, or in a
/// thousandth.
#[must_use]
pub const fn goes_on(met: u32, found: usize) -> Option<u32> {
    match (met, found) {
        (..=SAMPLE, 1) => Some(LONGER_SAMPLE),
        (..=SAMPLE, MANY..) | (..=LONGER_SAMPLE, 5..) => Some(LONG_WALK),
        _ => None,
    }
}

/// The plan of a list of words for a store whose index of words has no order; none of any other list.
///
/// The list is walked where an index has its order, until it shows how many rows have the words. What is rare is
/// gathered from the index of words, all of it.
#[must_use]
pub fn plan(listing: &Listing) -> Option<ListPlan> {
    let (at, _) = listing.index_query()?;
    let gather = RowSource::Gather(at);
    let is_in_order = AccessPath::of(listing).index.is_some() && !listing.is_several_runs();
    Some(if is_in_order {
        ListPlan { first: RowSource::Scan(RowFilter::default()), then: Some(gather) }
    } else {
        ListPlan { first: gather, then: None }
    })
}

impl Listing {
    /// The words that are wanted, and which condition it is that wants them.
    #[must_use]
    pub fn index_query(&self) -> Option<(usize, &IndexQuery)> {
        self.conditions.iter().enumerate().find_map(|(at, it)| match it {
            Condition::Words(query) => Some((at, query)),
            Condition::Is(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Within(..)
            | Condition::Reach(..)
            | Condition::Without(..)
            | Condition::Tagged(..) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_domain::id::OrganizationId;
    use candor_domain::page::PageRequest;
    use candor_domain::search::{Filter, Score, SearchQuery};

    use crate::rows::search;

    fn tenant(number: u8) -> Tenant {
        Tenant::live(OrganizationId::from_bytes([number; 16]))
    }

    #[test]
    fn tokens_of_another_tenant_or_table_are_others() {
        let test = Tenant { environment: Environment::Test, ..tenant(1) };
        let starts = [
            start(tenant(1), Observation::TABLE),
            start(tenant(2), Observation::TABLE),
            start(test, Observation::TABLE),
            start(tenant(1), Employee::TABLE),
        ];
        assert!(starts.iter().all(|it| it.len() == 6), "{starts:?}");
        assert_eq!(starts.iter().collect::<BTreeSet<_>>().len(), 4, "{starts:?}");
    }

    #[test]
    fn whole_words_and_beginnings_are_told_apart() {
        let of = |text: &str, subject| {
            let words = SearchQuery::parse(text).unwrap().wanted(Score::Begun).unwrap();
            IndexQuery { words, subject }.parts().map(|(whole, begun)| (whole.words.all.len(), begun.words.all.len()))
        };
        assert_eq!(of("stays calm und", None), Some((2, 1)));
        assert_eq!(of("und", None), None);
        assert_eq!(of("und", Some(EmployeeId::from_bytes([1; 16]))), Some((0, 1)));
    }

    #[test]
    fn a_walk_goes_on_where_it_shows_many() {
        for (met, found, next) in [
            (SAMPLE, 0, None),
            (SAMPLE, 1, Some(LONGER_SAMPLE)),
            (SAMPLE, 2, Some(LONG_WALK)),
            (LONGER_SAMPLE, 4, None),
            (LONGER_SAMPLE, 5, Some(LONG_WALK)),
            (LONG_WALK, 49, None),
        ] {
            assert_eq!(goes_on(met, found), next, "{found} of {met}");
        }
    }

    #[test]
    fn only_lists_with_an_index_in_their_order_are_walked() {
        let words = SearchQuery::parse("calm").unwrap().wanted(Score::Whole).unwrap();
        let page = PageRequest { limit: 50, after: None };
        let of = |list: &[Listing]| list.iter().map(|it| plan(it).unwrap()).collect::<Vec<_>>();
        let observations = search::observations(&Filter::default(), &words, &page);
        let walked = of(observations.parts());
        assert!(
            matches!(walked[..], [ListPlan { first: RowSource::Scan(_), then: Some(RowSource::Gather(_)) }]),
            "{walked:?}"
        );
        let people = search::employees(&Filter::default(), &words, &page);
        let gathered = of(people.parts());
        assert!(matches!(gathered[..], [ListPlan { first: RowSource::Gather(_), then: None }]), "{gathered:?}");
    }
}
