//! Lists: a page of any resource, by any conditions, at a cost that does not depend on how far the page is.

mod page;

use candor_domain::access::Tenant;
use candor_domain::page::Page;
use candor_port_storage::Versioned;
use candor_port_storage::flat::{Cell, Stored};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::store::Read;

use crate::PostgresStore;
use crate::select::{int, versioned};
use crate::sql::Sql;

/// How the rows of a page are found where another table has a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Along the index that has the order of the list, as far as so many rows; each row met is looked up.
    Walk(Look, Option<u32>),
    /// From the condition of this number, whose rows are few: all of them are gathered and put in order.
    Gather(usize),
}

/// How a row is looked up in the other table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// By its index: best where many rows match and few are met.
    Index,
    /// In a hash of all that match, read beforehand: best where many rows are met.
    Hash,
}

/// What decides between the ways. Measured with 100,000 people and 1,000,000 observations: gathering costs 3 µs a person
/// or row, meeting a row 0.1 µs with a hash and 1 µs without, hashing 0.1 µs an entry.
struct Limits {
    /// Up to so many people or tagged rows are gathered.
    few: i64,
    /// Up to so many are hashed.
    some: i64,
}

/// People of a subtree, where an index leads from each to their rows in the order of the list.
const PEOPLE: Limits = Limits { few: 400, some: 4000 };
/// The same where no index has the order, so that all of their rows are read.
const PEOPLE_UNORDERED: Limits = Limits { few: 200, some: 4000 };
/// Of objectives there are fewer than of observations, so fewer are met before a page is full.
const SOME_OWNERS: i64 = 1000;
/// Rows with a tag.
const TAGGED: Limits = Limits { few: 2000, some: 8000 };
/// Rows that are met before another way is taken: whoever looks for a team that has long been silent must not read
/// everyone else's rows.
const STRIDE_HASHED: u32 = 50_000;
const STRIDE_INDEXED: u32 = 5000;

impl PostgresStore {
    /// A page of a list.
    pub(crate) async fn list<T: Stored>(&self, tenant: Tenant, listing: Listing) -> Read<Page<T>> {
        let rows = self.rows(tenant, &listing).await?;
        Ok(Page::of(rows.into_iter().map(|it| it.value).collect(), listing.limit))
    }

    /// The rows of a page and one more, if there are so many.
    pub(crate) async fn rows<T: Stored>(&self, tenant: Tenant, listing: &Listing) -> Read<Vec<Versioned<T>>> {
        if listing.conditions.iter().any(is_unanswerable) {
            return Ok(vec![]);
        }
        if !listing.conditions.iter().any(needs_choice) {
            return self.read(&page::sql(tenant, listing, Way::Walk(Look::Index, None)), versioned).await;
        }
        let (first, then) = self.ways(tenant, listing).await?;
        let rows = self.apart(&page::sql(tenant, listing, first), versioned).await?;
        match then {
            Some(way) if rows.len() <= usize::from(listing.limit) => {
                self.apart(&page::sql(tenant, listing, way), versioned).await
            }
            _ => Ok(rows),
        }
    }

    /// The way to a page, and the one to take if that did not fill it.
    async fn ways(&self, tenant: Tenant, listing: &Listing) -> Read<(Way, Option<Way>)> {
        let mut middling = None;
        for (at, condition) in listing.conditions.iter().enumerate() {
            let Limits { few, some } = match condition {
                Condition::Within(..) => people(listing),
                Condition::Tagged(..) => TAGGED,
                Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => continue,
            };
            let count = self.count(tenant, condition, some).await?;
            if count <= few {
                return Ok((Way::Gather(at), None));
            }
            if count <= some {
                middling = Some(at);
            }
        }
        Ok(match middling {
            Some(at) => (Way::Walk(Look::Hash, Some(STRIDE_HASHED)), Some(Way::Gather(at))),
            None => (Way::Walk(Look::Index, Some(STRIDE_INDEXED)), Some(Way::Walk(Look::Hash, None))),
        })
    }

    /// How many people or rows a condition lets through, counted to one more than `most`.
    async fn count(&self, tenant: Tenant, condition: &Condition, most: i64) -> Read<i64> {
        let mut sql = Sql::default();
        let (tenant, most) = (sql.id(tenant.to_bytes()), sql.bind(Cell::Int(most + 1)));
        let rows = match condition {
            Condition::Within(_, manager) => {
                let manager = sql.id(manager.to_bytes());
                format!("reporting_lines WHERE tenant_id = {tenant} AND ancestor_id = {manager}")
            }
            Condition::Tagged(members, tags) => {
                let tags = sql.ids(tags.iter().copied());
                format!("{} WHERE tenant_id = {tenant} AND {} = ANY({tags})", members.name, members.member)
            }
            Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => return Ok(0),
        };
        sql.push(&format!("SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT {most}) AS counted"));
        Ok(self.find(&sql, int).await?.unwrap_or_default())
    }
}

fn people(listing: &Listing) -> Limits {
    let limits = if is_by_person(listing) { PEOPLE } else { PEOPLE_UNORDERED };
    if listing.table.name == "objectives" { Limits { some: SOME_OWNERS, ..limits } } else { limits }
}

/// Whether an index leads from a person to their rows in the order of the list.
fn is_by_person(listing: &Listing) -> bool {
    matches!(listing.sort.name, "observation_date" | "period_end")
}

const fn needs_choice(condition: &Condition) -> bool {
    matches!(condition, Condition::Within(..) | Condition::Tagged(..))
}

/// The server refuses texts with a zero, and no stored one has it: nothing is equal to it.
fn is_unanswerable(condition: &Condition) -> bool {
    let zero = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
    match condition {
        Condition::Is(_, cell) => zero(cell),
        Condition::OneOf(_, cells) => cells.iter().all(zero),
        Condition::AtLeast(..) | Condition::AtMost(..) | Condition::Within(..) | Condition::Tagged(..) => false,
    }
}
