//! Lists: a page of any resource, by any conditions, at a cost that does not depend on how far the page is.

mod page;
mod team;
mod ways;

use std::sync::atomic::{AtomicBool, Ordering};

use candor_domain::access::Tenant;
use candor_domain::page::Page;
use candor_port_storage::Versioned;
use candor_port_storage::flat::{Cell, Fetch, Stored};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::store::Read;
use futures_util::future::try_join_all;

use crate::PostgresStore;
use crate::select::{flag, versioned};
use ways::Route;

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
            return self.found(tenant, &parts, true).await;
        };
        if route.is_straight() {
            return self.read(&page::sql(tenant, &[(listing, &route.first)]), versioned).await;
        }
        let rows = self.found(tenant, &parts, listing.is_several_runs()).await?;
        match &route.then {
            Some(then) if rows.len() <= limit && !listing.is_several_runs() => {
                self.apart(&page::sql(tenant, &[(listing, then)]), versioned).await
            }
            _ => Ok(rows),
        }
    }

    /// The rows that the first ways lead to. Where several runs are merged, all go as far as they must: rows that one of
    /// them did not come to may belong before those of another.
    async fn found<T: Stored>(
        &self,
        tenant: Tenant,
        parts: &[(&Listing, &Route)],
        merged: bool,
    ) -> Read<Vec<Versioned<T>>> {
        let ways: Vec<_> = parts.iter().map(|(_, it)| it.first.to_its_end_if(merged)).collect();
        let sql = page::sql(tenant, &parts.iter().map(|(it, _)| *it).zip(&ways).collect::<Vec<_>>());
        let managers: Vec<_> = parts.iter().filter_map(|(_, it)| it.manager).collect();
        let is_fresh = AtomicBool::new(true);
        let read = |row: &mut dyn Fetch| {
            let it = versioned(row)?;
            if !managers.is_empty() && !flag(row)? {
                is_fresh.store(false, Ordering::Relaxed);
            }
            Ok(it)
        };
        let unbounded = merged && parts.iter().any(|(_, it)| it.then.is_some());
        let rows = if unbounded { self.apart(&sql, read).await? } else { self.read(&sql, read).await? };
        if !is_fresh.into_inner() {
            managers.iter().for_each(|it| self.teams().forget(tenant, *it));
        }
        Ok(rows)
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
