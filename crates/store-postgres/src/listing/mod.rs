//! Lists: a page of any resource under any conditions. The cost does not depend on the position of the page.

mod counts;
mod page;
mod plan;

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_tables::access_path::{AccessPath, unanswered_parameters};
use candor_tables::flat::{CellReader, SqlValue};
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::ListPlan;
use candor_tables::read::{AnyStored, RowKind};
use futures_util::future::try_join_all;

use crate::sql::Sql;
use crate::store::PostgresStore;
use page::Part;

impl PostgresStore {
    /// Reads the rows of a page of several lists together, and the row after the page, if any. The lists must be of
    /// one table in one order and have no row in common.
    pub(crate) async fn rows_of(&self, tenant: Tenant, listings: &[Listing]) -> Read<Vec<AnyStored>> {
        let listings: Vec<_> = listings.iter().filter(|listing| may_match(listing)).collect();
        let Some(limit) = listings.first().map(|listing| usize::from(listing.limit)) else { return Ok(vec![]) };
        let page_lists = PageLists { tenant, listings: &listings };
        let plans = try_join_all(listings.iter().map(|listing| self.plan(tenant, listing))).await?;
        let parts: Vec<_> = listings.iter().copied().zip(&plans).collect();
        let [(listing, plan)] = parts.as_slice() else {
            return self.merge_rows(&page_lists, &parts).await;
        };
        let Some(then) = &plan.then else {
            return self
                .read_page(&page_lists, page::sql(tenant, &[Part::whole(listing, &plan.first)]), false)
                .await;
        };
        if listing.has_several_runs() {
            return self.merge_rows(&page_lists, &parts).await;
        }
        let stride = page::first_stride(&plan.first);
        let plain_conditions = Part::with_stride(listing, &plan.first, stride);
        let rows = self.read_page(&page_lists, page::sql(tenant, &[plain_conditions]), false).await?;
        if rows.len() > limit {
            return Ok(rows);
        }
        self.read_page(&page_lists, page::sql(tenant, &[Part::whole(listing, then)]), true).await
    }

    /// Reads the merged rows of several lists. No scan is bounded: a row beyond the bound of one list may precede
    /// the rows of another list.
    async fn merge_rows(&self, asked: &PageLists<'_>, parts: &[(&Listing, &ListPlan)]) -> Read<Vec<AnyStored>> {
        let goes_far = parts.iter().any(|(_, part)| part.then.is_some());
        let parts: Vec<_> = parts.iter().map(|(listing, plan)| Part::whole(listing, &plan.first)).collect();
        self.read_page(asked, page::sql(asked.tenant, &parts), goes_far).await
    }

    /// Runs the statement of a page. If its cost is bounded, [`Self::read_sized`] runs the statement, else it runs on
    /// a connection for slow reads.
    async fn read_page(&self, asked: &PageLists<'_>, sql: Sql, goes_far: bool) -> Read<Vec<AnyStored>> {
        let Some(first) = asked.listings.first() else { return Ok(vec![]) };
        let (tenant, kind, count) = (asked.tenant, first.kind, usize::from(first.limit) + 1);
        let sql = self.kept_statements.limit(sql);
        if !goes_far && !asked.is_walk() {
            return self.read_sized(tenant, kind, count, sql).await;
        }
        let conditions = unanswered_parameters(asked.listings.iter().copied());
        self.slowly(tenant, &conditions, &sql, |row| Ok(kind.read(row)?)).await
    }

    /// Reads rows on a shared connection, or on a pooled one if `count` rows are probably large.
    pub(crate) async fn read_sized(
        &self,
        tenant: Tenant,
        kind: RowKind,
        count: usize,
        sql: Sql,
    ) -> Read<Vec<AnyStored>> {
        let read = move |row: &mut dyn CellReader| Ok(kind.read(row)?);
        let rows = match self.row_sizes.are_large(tenant, kind.table(), count) {
            false => self.read(&sql, read).await?,
            true => self.read_large(tenant, sql, read).await?,
        };
        self.row_sizes.note_found(tenant, kind.table(), &rows);
        Ok(rows)
    }
}

/// The lists that make up a page.
struct PageLists<'l> {
    tenant: Tenant,
    listings: &'l [&'l Listing],
}

impl PageLists<'_> {
    /// Returns `true` if a list has to scan rows that its index cannot exclude.
    fn is_walk(&self) -> bool {
        !self.listings.iter().all(|listing| AccessPath::new(listing).is_answered())
    }
}

/// Returns `true` for a text with NUL, which PostgreSQL rejects.
fn has_nul(cell: &SqlValue) -> bool {
    matches!(cell, SqlValue::Text(text) if text.contains('\0'))
}

/// Returns `true` if a list may have rows.
fn may_match(listing: &Listing) -> bool {
    listing.has_runs() && !listing.conditions.iter().any(is_unanswerable)
}

/// Returns `true` if no row can match. PostgreSQL rejects texts with NUL, so no stored text contains one.
fn is_unanswerable(condition: &Condition) -> bool {
    match condition {
        Condition::Is(_, cell) => has_nul(cell),
        Condition::OneOf(_, cells) => cells.iter().all(has_nul),
        Condition::IsNot(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Within(..)
        | Condition::Reach(..)
        | Condition::Without(..)
        | Condition::Among(..)
        | Condition::Tagged(..) => false,
    }
}
