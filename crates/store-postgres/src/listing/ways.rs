//! How the rows of a page are found where another table has a say, and what decides that.

use std::sync::Arc;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::flat::{Cell, MemberTable};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::store::Read;

use super::team::{Sieve, Team};
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
    /// By its index, if it passes the sieve of the condition of this number.
    Sieve(usize, Arc<Sieve>),
    /// By the same sieve alone: whoever reads the rows knows the team by its ids.
    Known(usize, Arc<Sieve>),
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
/// or row, meeting a row 0.1 µs with a hash, 0.05 µs past a sieve and 0.8 µs without, hashing 0.15 µs an entry.
pub(super) struct Limits {
    /// Up to so many people or tagged rows are gathered.
    pub(super) few: i64,
    /// Up to so many are gathered when a walk did not fill the page.
    some: i64,
}

/// People of a subtree, where an index leads from each to their rows in the order of the list.
pub(super) const PEOPLE: Limits = Limits { few: 300, some: 4000 };
/// The same where no index has the order, so that all of their rows are read.
const PEOPLE_UNORDERED: Limits = Limits { few: 200, some: 4000 };
/// Rows with a tag; up to `some` they are hashed.
const TAGGED: Limits = Limits { few: 2000, some: 8000 };
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
            Self::Walk(Look::Known(at, sieve), stride) => Self::Walk(Look::Sieve(*at, Arc::clone(sieve)), *stride),
            Self::Walk(..) | Self::Gather(_) => self.clone(),
        }
    }

    /// The team that the reader of the rows has to know.
    pub(super) fn known(&self) -> Option<&Sieve> {
        match self {
            Self::Walk(Look::Known(_, sieve), _) => Some(sieve),
            Self::Walk(Look::Index | Look::Hash | Look::Sieve(..), _) | Self::Gather(_) => None,
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

impl PostgresStore {
    /// The way to a page of a list.
    pub(super) async fn route(&self, tenant: Tenant, listing: &Listing) -> Read<Route> {
        if !listing.conditions.iter().any(needs_choice) {
            return Ok(Route::straight());
        }
        let mut found = None;
        for (at, condition) in listing.conditions.iter().enumerate() {
            match condition {
                Condition::Within(_, manager) | Condition::Reach(_, manager) => {
                    let Limits { few, some } = if is_by_person(listing) { PEOPLE } else { PEOPLE_UNORDERED };
                    let team = self.team(tenant, *manager).await?;
                    if team.people <= few {
                        return Ok(Route { first: Way::Gather(at), then: None, manager: None, team: None });
                    }
                    if let Some(sieve) = &team.sieve {
                        let then = if team.people <= some { Way::Gather(at) } else { Way::Walk(Look::Hash, None) };
                        // The bound costs a step for each row met: it is left out where it lately was not needed.
                        let is_needed = listing.after.is_some() || !team.was_filled(listing);
                        let stride = is_needed.then_some(STRIDE);
                        let known = team.is_known() && !listing.is_several_runs();
                        let look = if known { Look::Known } else { Look::Sieve };
                        let first = Way::Walk(look(at, Arc::clone(sieve)), stride);
                        found = Some(Route { first, then: Some(then), manager: Some(*manager), team: Some(team) });
                    }
                }
                Condition::Tagged(members, tags) => {
                    let count = self.tagged(tenant, *members, tags).await?;
                    if count <= TAGGED.few {
                        return Ok(Route { first: Way::Gather(at), then: None, manager: None, team: None });
                    }
                    if count <= TAGGED.some && found.is_none() {
                        let first = Way::Walk(Look::Hash, Some(STRIDE));
                        found = Some(Route { first, then: Some(Way::Gather(at)), manager: None, team: None });
                    }
                }
                Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => {}
            }
        }
        Ok(found.unwrap_or(Route {
            first: Way::Walk(Look::Index, Some(STRIDE_INDEXED)),
            then: Some(Way::Walk(Look::Hash, None)),
            manager: None,
            team: None,
        }))
    }

    /// How many rows have one of the tags, counted to one more than are of interest.
    async fn tagged(&self, tenant: Tenant, members: MemberTable, tags: &[[u8; 16]]) -> Read<i64> {
        let mut sql = Sql::default();
        let (tenant, most) = (sql.id(tenant.to_bytes()), sql.bind(Cell::Int(TAGGED.some + 1)));
        let (tags, MemberTable { name, member, .. }) = (sql.ids(tags.iter().copied()), members);
        sql.push(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM {name} WHERE tenant_id = {tenant} AND {member} = ANY({tags}) \
             LIMIT {most}) AS counted"
        ));
        Ok(self.find(&sql, int).await?.unwrap_or_default())
    }
}

/// Whether an index leads from a person to their rows in the order of the list.
pub(super) fn is_by_person(listing: &Listing) -> bool {
    (listing.table().name, listing.sort.name) == ("observations", "observation_date")
}

pub(super) const fn needs_choice(condition: &Condition) -> bool {
    matches!(condition, Condition::Within(..) | Condition::Reach(..) | Condition::Tagged(..))
}
