//! How the rows of a page are found where another table has a say.

use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::flat::{Cell, MemberTable};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::plan::{self, Fact, ListPlan, PlanLimits, is_elsewhere};
use candor_port_storage::store::Read;

use super::team::{BloomFilter, MOST_PEOPLE, Team};
use crate::PostgresStore;
use crate::select::int;
use crate::sql::Sql;

/// How the rows of a page are found.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Along the index that has the order of the list, as far as so many rows; each row met is looked up.
    Walk(Look, Option<u32>),
    /// From the condition of this number, whose rows are few: all of them are gathered and put in order.
    Gather(usize),
}

/// How a row is looked up in the other table.
#[derive(Debug, Clone)]
pub(super) enum Look {
    /// By its index: best where many rows match and few are met.
    Index,
    /// In a hash of all that match, read beforehand: best where many rows are met.
    Hash,
    /// By its index, if it passes the Bloom filter of the condition of this number.
    BloomFilter(usize, Arc<BloomFilter>),
    /// By the same bloom alone: whoever reads the rows knows the team by its ids.
    Known(usize, Arc<BloomFilter>),
}

/// The way to a page.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) first: Way,
    /// What to do if that did not fill the page.
    pub(super) then: Option<Way>,
    /// Whose team was looked up from memory.
    pub(super) manager: Option<EmployeeId>,
    /// That team.
    pub(super) team: Option<Arc<Team>>,
}

/// What decides between the ways. Measured with 100,000 people and 1,000,000 observations: gathering costs 2 µs a person
/// or row, meeting a row 0.1 µs with a hash, 0.05 µs past a Bloom filter and 0.8 µs without, hashing 0.15 µs an entry.
pub(super) const LIMITS: PlanLimits = PlanLimits {
    people: 200,
    firsts: 300,
    told: MOST_PEOPLE,
    after_a_walk: 4000,
    tagged: 2000,
    hashed: 8000,
    gathers_first: true,
    hashes: true,
};
/// Rows that are met before another way is taken: whoever looks for a team that has long been silent must not read
/// everyone else's rows.
const STRIDE: u32 = 50_000;
const STRIDE_INDEXED: u32 = 5000;

impl Way {
    /// The same way without a bound.
    pub(super) fn to_its_end(&self) -> Self {
        match self {
            Self::Walk(look, Some(_)) => Self::Walk(look.clone(), None),
            Self::Walk(..) | Self::Gather(_) => self.clone(),
        }
    }

    /// The same way for a reader who knows nobody.
    pub(super) fn without_ids(&self) -> Self {
        match self {
            Self::Walk(Look::Known(at, bloom), stride) => {
                Self::Walk(Look::BloomFilter(*at, Arc::clone(bloom)), *stride)
            }
            Self::Walk(..) | Self::Gather(_) => self.clone(),
        }
    }

    /// The team that the reader of the rows has to know.
    pub(super) fn known(&self) -> Option<&BloomFilter> {
        match self {
            Self::Walk(Look::Known(_, bloom), _) => Some(bloom),
            Self::Walk(Look::Index | Look::Hash | Look::BloomFilter(..), _) | Self::Gather(_) => None,
        }
    }
}

impl Route {
    /// Along the index, with nothing to look up.
    const fn straight() -> Self {
        Self { first: Way::Walk(Look::Index, None), then: None, manager: None, team: None }
    }

    /// Remembers with the team whether the first page of a list was filled.
    pub(super) fn note(&self, listing: &Listing, filled: bool) {
        if let (Some(team), None) = (&self.team, &listing.after) {
            team.note(listing, filled);
        }
    }

    pub(super) const fn is_straight(&self) -> bool {
        matches!(self.first, Way::Walk(Look::Index, None))
    }
}

impl Route {
    /// A way that a plan says, where this team was looked up.
    fn of(plan: ListPlan, listing: &Listing, team: Option<(EmployeeId, Arc<Team>)>) -> Self {
        let last = |way| match way {
            plan::Way::Gather(at) | plan::Way::Firsts(at) => Way::Gather(at),
            plan::Way::Hashed => Way::Walk(Look::Hash, None),
            plan::Way::Order | plan::Way::Past(_) => Way::Walk(Look::Index, None),
        };
        let route = |first| Self { first, then: plan.then.map(last), manager: None, team: None };
        let walk = || route(Way::Walk(Look::Index, Some(STRIDE_INDEXED)));
        match plan.first {
            plan::Way::Gather(at) | plan::Way::Firsts(at) => route(Way::Gather(at)),
            plan::Way::Hashed => route(Way::Walk(Look::Hash, Some(STRIDE))),
            plan::Way::Order => walk(),
            plan::Way::Past(at) => {
                let Some((manager, team)) = team else { return walk() };
                let Some(bloom) = &team.bloom else { return walk() };
                // The bound costs a step for each row met: it is left out where it lately was not needed.
                let is_needed = listing.after.is_some() || !team.was_filled(listing);
                let known = team.is_known() && !listing.is_several_runs();
                let look = if known { Look::Known } else { Look::BloomFilter };
                let first = Way::Walk(look(at, Arc::clone(bloom)), is_needed.then_some(STRIDE));
                Self { manager: Some(manager), team: Some(team), ..route(first) }
            }
        }
    }
}

impl PostgresStore {
    /// The way to a page of a list.
    pub(super) async fn route(&self, tenant: Tenant, listing: &Listing) -> Read<Route> {
        if !listing.conditions.iter().any(is_elsewhere) {
            return Ok(Route::straight());
        }
        let (mut facts, mut below) = (vec![], None);
        for (condition, it) in listing.conditions.iter().enumerate() {
            let count = match it {
                Condition::Within(_, manager) | Condition::Reach(_, manager) => {
                    let (_, team) = below.insert((*manager, self.team(tenant, *manager).await?));
                    usize::try_from(team.people).ok().filter(|it| *it <= LIMITS.told)
                }
                Condition::Tagged(members, tags) => {
                    let count = self.tagged(tenant, *members, tags).await?;
                    usize::try_from(count).ok().filter(|it| *it <= LIMITS.hashed)
                }
                Condition::Is(..)
                | Condition::OneOf(..)
                | Condition::AtLeast(..)
                | Condition::AtMost(..)
                | Condition::Without(..) => continue,
            };
            facts.push(Fact { condition, count, is_sparse: false });
            // What is few needs no look at the others.
            if plan::choose(listing, &facts, &LIMITS).first.is_gathered() {
                break;
            }
        }
        Ok(Route::of(plan::choose(listing, &facts, &LIMITS), listing, below))
    }

    /// How many rows have one of the tags, counted to one more than are of interest.
    async fn tagged(&self, tenant: Tenant, members: MemberTable, tags: &[[u8; 16]]) -> Read<i64> {
        let mut sql = Sql::default();
        let (tenant, most) =
            (sql.id(tenant.to_bytes()), sql.bind(Cell::Int(i64::try_from(LIMITS.hashed + 1).unwrap_or(i64::MAX))));
        let (tags, MemberTable { name, member, .. }) = (sql.ids(tags.iter().copied()), members);
        sql.push(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM {name} WHERE tenant_id = {tenant} AND {member} = ANY({tags}) \
             LIMIT {most}) AS counted"
        ));
        Ok(self.find(&sql, int).await?.unwrap_or_default())
    }
}
