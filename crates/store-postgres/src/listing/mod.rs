//! Lists: a page of any resource, by any conditions, at a cost that does not depend on how far the page is.

mod page;
mod team;
mod ways;

use std::sync::atomic::{AtomicBool, Ordering};

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::page::Page;
use candor_port_storage::Versioned;
use candor_port_storage::flat::{Cell, Fetch, Stored};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::store::Read;
use futures_util::future::try_join_all;

use crate::PostgresStore;
use crate::failure::Failure;
use crate::select::{flag, id, versioned};
use crate::sql::Sql;
use ways::{Route, Way};

pub(crate) use team::Teams;

impl PostgresStore {
    /// A page of a list.
    pub(crate) async fn list<T: Stored>(&self, tenant: Tenant, listing: Listing) -> Read<Page<T>> {
        let rows = self.rows(tenant, std::slice::from_ref(&listing)).await?;
        Ok(Page::of(rows.into_iter().map(|it| it.value).collect(), listing.limit))
    }

    /// The rows of a page of what some lists hold together, and one more if there is one. The lists are of one table in
    /// one order and have no row in common.
    pub(crate) async fn rows<T: Stored>(&self, tenant: Tenant, listings: &[Listing]) -> Read<Vec<Versioned<T>>> {
        let listings: Vec<_> = listings.iter().filter(|it| !it.conditions.iter().any(is_unanswerable)).collect();
        let Some(limit) = listings.first().map(|it| usize::from(it.limit)) else { return Ok(vec![]) };
        let routes = try_join_all(listings.iter().map(|it| self.route(tenant, it))).await?;
        let parts: Vec<_> = listings.iter().copied().zip(&routes).collect();
        let [(listing, route)] = parts.as_slice() else {
            return self.merged(tenant, &parts).await;
        };
        if route.is_straight() {
            return self.read(&page::sql(tenant, &[(listing, &route.first)]), versioned).await;
        }
        if listing.is_several_runs() {
            return self.merged(tenant, &parts).await;
        }
        let mut rows = self.of_one_run(tenant, listing, route).await?;
        route.note(listing, rows.len() > limit);
        match &route.then {
            Some(then) if rows.len() <= limit => self.apart(&page::sql(tenant, &[(listing, then)]), versioned).await,
            _ => {
                rows.truncate(limit + 1);
                Ok(rows)
            }
        }
    }

    /// The rows that the first way leads to, for a list that is one run.
    async fn of_one_run<T: Stored>(&self, tenant: Tenant, listing: &Listing, route: &Route) -> Read<Vec<Versioned<T>>> {
        let managers: Vec<_> = route.manager.into_iter().collect();
        let sql = |way: &Way| page::sql(tenant, &[(listing, way)]);
        let Some(team) = route.first.known() else {
            return self.checked(tenant, &managers, &sql(&route.first), false, |_| Ok(true)).await.map(whole);
        };
        let themselves = listing.conditions.iter().find_map(reaching);
        // As long as no line has changed since the team was remembered, it is the same.
        let theirs = |row: &mut dyn Fetch| {
            let about = id(row)?;
            Ok(team.has(about) || themselves == Some(about))
        };
        let met = self.checked(tenant, &managers, &sql(&route.first), false, theirs).await?;
        let is_cut_off = met.len() > usize::from(listing.limit + page::SPARE);
        let rows = whole(met);
        if rows.len() > usize::from(listing.limit) || !is_cut_off {
            return Ok(rows);
        }
        route.team.iter().for_each(|it| it.note_crowded());
        self.checked(tenant, &managers, &sql(&route.first.without_ids()), false, |_| Ok(true)).await.map(whole)
    }

    /// The rows of several runs. All go as far as they must: rows that one of them did not come to may belong before those
    /// of another.
    async fn merged<T: Stored>(&self, tenant: Tenant, parts: &[(&Listing, &Route)]) -> Read<Vec<Versioned<T>>> {
        let ways: Vec<_> = parts.iter().map(|(_, it)| it.first.without_ids().to_its_end()).collect();
        let sql = page::sql(tenant, &parts.iter().map(|(it, _)| *it).zip(&ways).collect::<Vec<_>>());
        let managers: Vec<_> = parts.iter().filter_map(|(_, it)| it.manager).collect();
        let is_unbounded = parts.iter().any(|(_, it)| it.then.is_some());
        self.checked(tenant, &managers, &sql, is_unbounded, |_| Ok(true)).await.map(whole)
    }

    /// Reads rows behind which it says whether what is remembered of some people's teams was up to date. If so, those stay
    /// of which that holds.
    async fn checked<T: Stored>(
        &self,
        tenant: Tenant,
        managers: &[EmployeeId],
        sql: &Sql,
        is_unbounded: bool,
        holds: impl Fn(&mut dyn Fetch) -> Result<bool, Failure> + Send + Sync,
    ) -> Read<Vec<Option<Versioned<T>>>> {
        let is_fresh = AtomicBool::new(true);
        let read = |row: &mut dyn Fetch| {
            let it = versioned(row)?;
            if managers.is_empty() {
                return Ok(Some(it));
            }
            if !flag(row)? {
                is_fresh.store(false, Ordering::Relaxed);
                return Ok(Some(it));
            }
            Ok(holds(row)?.then_some(it))
        };
        let rows = if is_unbounded { self.apart(sql, read).await? } else { self.read(sql, read).await? };
        if !is_fresh.into_inner() {
            managers.iter().for_each(|it| self.teams().forget(tenant, *it));
        }
        Ok(rows)
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
        | Condition::Tagged(..) => None,
    }
}

/// The server refuses texts with a zero, and no stored one has it: nothing is equal to it.
fn is_unanswerable(condition: &Condition) -> bool {
    let zero = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
    match condition {
        Condition::Is(_, cell) => zero(cell),
        Condition::OneOf(_, cells) => cells.iter().all(zero),
        Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Within(..)
        | Condition::Reach(..)
        | Condition::Tagged(..) => false,
    }
}
