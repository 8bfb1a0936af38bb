//! Lists: a page of any resource, by any conditions, at a cost that does not depend on how far the page is.

mod page;
pub(crate) mod slow;
mod team;
mod ways;

use std::sync::atomic::{AtomicBool, Ordering};

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::access_path::{AccessPath, unanswered_parameters};
use candor_port_storage::flat::{Cell, Fetch};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::read::Found;
use candor_port_storage::store::Read;
use futures_util::future::try_join_all;

use crate::PostgresStore;
use crate::failure::Failure;
use crate::select::{flag, id};
use crate::sql::Sql;
use ways::{Route, Way};

pub(crate) use team::Teams;

impl PostgresStore {
    /// The rows of a page of what some lists hold together, and one more if there is one. The lists are of one table in
    /// one order and have no row in common.
    pub(crate) async fn rows_of(&self, tenant: Tenant, listings: &[Listing]) -> Read<Vec<Found>> {
        let listings: Vec<_> = listings.iter().filter(|it| !it.conditions.iter().any(is_unanswerable)).collect();
        let Some(limit) = listings.first().map(|it| usize::from(it.limit)) else { return Ok(vec![]) };
        let asked = Asked { tenant, listings: &listings };
        let routes = try_join_all(listings.iter().map(|it| self.route(tenant, it))).await?;
        let parts: Vec<_> = listings.iter().copied().zip(&routes).collect();
        let [(listing, route)] = parts.as_slice() else {
            return self.merged(&asked, &parts).await;
        };
        if route.is_straight() {
            let sql = page::sql(tenant, &[(listing, &route.first)]);
            return self.answer(&asked, &sql, asked.is_walk(), |row| Ok(listing.kind.read(row)?)).await;
        }
        if listing.is_several_runs() {
            return self.merged(&asked, &parts).await;
        }
        let mut rows = self.of_one_run(&asked, listing, route).await?;
        route.note(listing, rows.len() > limit);
        match &route.then {
            Some(then) if rows.len() <= limit => {
                self.answer(&asked, &page::sql(tenant, &[(listing, then)]), true, |row| Ok(listing.kind.read(row)?))
                    .await
            }
            _ => {
                rows.truncate(limit + 1);
                Ok(rows)
            }
        }
    }

    /// The rows that the first way leads to, for a list that is one run.
    async fn of_one_run(&self, asked: &Asked<'_>, listing: &Listing, route: &Route) -> Read<Vec<Found>> {
        let managers: Vec<_> = route.manager.into_iter().collect();
        let sql = |way: &Way| page::sql(asked.tenant, &[(listing, way)]);
        let is_walk = asked.is_walk();
        let Some(team) = route.first.known() else {
            return self.checked(asked, &managers, &sql(&route.first), is_walk, |_| Ok(true)).await.map(whole);
        };
        let themselves = listing.conditions.iter().find_map(reaching);
        // As long as no line has changed since the team was remembered, it is the same.
        let theirs = |row: &mut dyn Fetch| {
            let about = id(row)?;
            Ok(team.has(about) || themselves == Some(about))
        };
        let met = self.checked(asked, &managers, &sql(&route.first), is_walk, theirs).await?;
        let is_cut_off = met.len() > usize::from(listing.limit + page::SPARE);
        let rows = whole(met);
        if rows.len() > usize::from(listing.limit) || !is_cut_off {
            return Ok(rows);
        }
        route.team.iter().for_each(|it| it.note_crowded());
        self.checked(asked, &managers, &sql(&route.first.without_ids()), is_walk, |_| Ok(true)).await.map(whole)
    }

    /// The rows of several runs. All go as far as they must: rows that one of them did not come to may belong before those
    /// of another.
    async fn merged(&self, asked: &Asked<'_>, parts: &[(&Listing, &Route)]) -> Read<Vec<Found>> {
        let ways: Vec<_> = parts.iter().map(|(_, it)| it.first.without_ids().to_its_end()).collect();
        let sql = page::sql(asked.tenant, &parts.iter().map(|(it, _)| *it).zip(&ways).collect::<Vec<_>>());
        let managers: Vec<_> = parts.iter().filter_map(|(_, it)| it.manager).collect();
        let is_unbounded = asked.is_walk() || parts.iter().any(|(_, it)| it.then.is_some());
        self.checked(asked, &managers, &sql, is_unbounded, |_| Ok(true)).await.map(whole)
    }

    /// Reads rows behind which it says whether what is remembered of some people's teams was up to date. If so, those stay
    /// of which that holds.
    async fn checked(
        &self,
        asked: &Asked<'_>,
        managers: &[EmployeeId],
        sql: &Sql,
        is_unbounded: bool,
        holds: impl Fn(&mut dyn Fetch) -> Result<bool, Failure> + Send + Sync,
    ) -> Read<Vec<Option<Found>>> {
        let Some(kind) = asked.listings.first().map(|it| it.kind) else { return Ok(vec![]) };
        let is_fresh = AtomicBool::new(true);
        let read = |row: &mut dyn Fetch| {
            let it = kind.read(row)?;
            if managers.is_empty() {
                return Ok(Some(it));
            }
            if !flag(row)? {
                is_fresh.store(false, Ordering::Relaxed);
                return Ok(Some(it));
            }
            Ok(holds(row)?.then_some(it))
        };
        let rows = self.answer(asked, sql, is_unbounded, read).await?;
        if !is_fresh.into_inner() {
            managers.iter().for_each(|it| self.teams().forget(asked.tenant, *it));
        }
        Ok(rows)
    }

    /// Runs the statement of a page: where others wait if its cost has a bound, else apart from them.
    async fn answer<T>(
        &self,
        asked: &Asked<'_>,
        sql: &Sql,
        is_unbounded: bool,
        read: impl Fn(&mut dyn Fetch) -> Result<T, Failure> + Send + Sync,
    ) -> Read<Vec<T>> {
        if !is_unbounded {
            return self.read(sql, read).await;
        }
        let conditions = unanswered_parameters(asked.listings.iter().copied());
        self.slowly(asked.tenant, &conditions, sql, read).await
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

/// Those that have stayed.
fn whole<T>(rows: Vec<Option<T>>) -> Vec<T> {
    rows.into_iter().flatten().collect()
}

/// Who is counted among their own reports.
fn reaching(condition: &Condition) -> Option<[u8; 16]> {
    match condition {
        Condition::Reach(_, person) => Some(person.to_bytes()),
        Condition::Is(..)
        | Condition::OneOf(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Within(..)
        | Condition::Without(..)
        | Condition::Tagged(..) => None,
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
        | Condition::Tagged(..) => false,
    }
}
