//! Lists: a page of any resource, by any conditions, at a cost that does not depend on how far the page is.

mod page;
mod plan;
pub(crate) mod slow;

use candor_domain::access::Tenant;
use candor_port_storage::access_path::{AccessPath, unanswered_parameters};
use candor_port_storage::flat::Cell;
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::plan::{ListPlan, RowSource};
use candor_port_storage::read::Found;
use candor_port_storage::search_index::{self, MANY, SAMPLE};
use candor_port_storage::store::Read;
use futures_util::future::try_join_all;

use crate::PostgresStore;
use crate::sql::Sql;
use page::Part;

impl PostgresStore {
    /// The rows of a page of what some lists hold together, and one more if there is one. The lists are of one table in
    /// one order and have no row in common.
    pub(crate) async fn rows_of(&self, tenant: Tenant, listings: &[Listing]) -> Read<Vec<Found>> {
        let listings: Vec<_> = listings.iter().filter(|it| !it.conditions.iter().any(is_unanswerable)).collect();
        let Some(limit) = listings.first().map(|it| usize::from(it.limit)) else { return Ok(vec![]) };
        let asked = Asked { tenant, listings: &listings };
        let plans = try_join_all(listings.iter().map(|it| self.plan(tenant, it))).await?;
        let parts: Vec<_> = listings.iter().copied().zip(&plans).collect();
        let [(listing, plan)] = parts.as_slice() else {
            return self.merged(&asked, &parts).await;
        };
        let Some(then) = &plan.then else {
            return self
                .answer(&asked, &page::sql(self.layout, tenant, &[Part::whole(listing, &plan.first)]), false)
                .await;
        };
        if listing.is_several_runs() {
            return self.merged(&asked, &parts).await;
        }
        let mut stride = page::first_stride(listing, &plan.first);
        let mut goes_far = false;
        loop {
            let part = Part::met(listing, &plan.first, stride);
            let rows = self.answer(&asked, &page::sql(self.layout, tenant, &[part]), goes_far).await?;
            if rows.len() > limit {
                return Ok(rows);
            }
            let next = listing.index_query().and_then(|_| search_index::goes_on(stride, rows.len()));
            let Some(next) = next else { break };
            (stride, goes_far) = (next, true);
        }
        if let Some((by_whole, from)) = self.by_whole_words(&asked, listing, &plan.first).await? {
            return self.answer(&asked, &page::sql(self.layout, tenant, &[Part::whole(&by_whole, &from)]), true).await;
        }
        self.answer(&asked, &page::sql(self.layout, tenant, &[Part::whole(listing, then)]), true).await
    }

    /// The list as its rare whole words lead to it: each row of these is looked at for the others, of which only the
    /// beginning is known. The index would gather everything that begins so.
    async fn by_whole_words(
        &self,
        asked: &Asked<'_>,
        listing: &Listing,
        walk: &RowSource,
    ) -> Read<Option<(Listing, RowSource)>> {
        let Some((at, (whole, begun))) = listing.index_query().and_then(|(at, it)| Some((at, it.parts()?))) else {
            return Ok(None);
        };
        let mut sample = Listing { limit: 1, ..listing.clone() };
        for (query, is_many) in [(begun, true), (whole.clone(), false)] {
            sample.conditions[at] = Condition::Words(query);
            let part = Part::met(&sample, walk, SAMPLE);
            let found = self.answer(asked, &page::sql(self.layout, asked.tenant, &[part]), false).await?;
            if (found.len() >= MANY) != is_many {
                return Ok(None);
            }
        }
        let mut by_whole = listing.clone();
        by_whole.conditions.push(Condition::Words(whole));
        let from = RowSource::Gather(by_whole.conditions.len() - 1);
        Ok(Some((by_whole, from)))
    }

    /// The rows of several runs. All go as far as they must: rows that one of them did not come to may belong before those
    /// of another.
    async fn merged(&self, asked: &Asked<'_>, parts: &[(&Listing, &ListPlan)]) -> Read<Vec<Found>> {
        let goes_far = parts.iter().any(|(_, it)| it.then.is_some());
        let parts: Vec<_> = parts.iter().map(|(listing, plan)| Part::whole(listing, in_one(listing, plan))).collect();
        self.answer(asked, &page::sql(self.layout, asked.tenant, &parts), goes_far).await
    }

    /// Runs the statement of a page: where others wait if its cost has a bound, else apart from them.
    async fn answer(&self, asked: &Asked<'_>, sql: &Sql, goes_far: bool) -> Read<Vec<Found>> {
        let Some(kind) = asked.listings.first().map(|it| it.kind) else { return Ok(vec![]) };
        if !goes_far && !asked.is_walk() {
            return self.read(sql, |row| Ok(kind.read(row)?)).await;
        }
        let conditions = unanswered_parameters(asked.listings.iter().copied());
        self.slowly(asked.tenant, &conditions, sql, |row| Ok(kind.read(row)?)).await
    }
}

/// Where the rows of a list come from that is read in one go.
fn in_one<'p>(listing: &Listing, plan: &'p ListPlan) -> &'p RowSource {
    match &plan.then {
        Some(then) if listing.index_query().is_some() => then,
        Some(_) | None => &plan.first,
    }
}

/// The lists that a page is made of.
struct Asked<'l> {
    tenant: Tenant,
    listings: &'l [&'l Listing],
}

impl Asked<'_> {
    /// Whether any of them has to walk past rows that are not wanted, for all that their indexes say.
    fn is_walk(&self) -> bool {
        !self.listings.iter().all(|it| AccessPath::of(it).is_answered())
    }
}

/// The server refuses such a text.
fn zero(cell: &Cell) -> bool {
    matches!(cell, Cell::Text(text) if text.contains('\0'))
}

/// The server refuses texts with a zero, and no stored one has it: nothing is equal to it.
fn is_unanswerable(condition: &Condition) -> bool {
    match condition {
        Condition::Is(_, cell) => zero(cell),
        Condition::OneOf(_, cells) => cells.iter().all(zero),
        Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Within(..)
        | Condition::Reach(..)
        | Condition::Without(..)
        | Condition::Words(..)
        | Condition::Tagged(..) => false,
    }
}
