//! Lists of what has certain words: in the order of the index of words, which is that of creation.

use candor_domain::access::Tenant;
use candor_domain::page::Key;
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::flat::{Cell, Column};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::plan::RowFilter;
use candor_port_storage::read::Found;
use candor_port_storage::search_index::IndexQuery;

use super::{List, key};
use crate::search::{self, first_place};
use crate::sql::{Db, Sql};
use crate::table::columns;
use crate::text::Draft;

/// Rows that are read beyond the page, because those of one millisecond have no order in the index.
const TIES: i64 = 8;

/// What a row is ordered by, and the row.
pub(super) type Placed = ((Key, [u8; 16]), Found);

/// The rows of a page and one more, if there is one, and maybe others behind them; in no certain order where they were
/// created in one millisecond.
pub(super) fn rows(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    query: &IndexQuery,
) -> Result<Vec<Placed>, StorageError> {
    let wanted = usize::from(listing.limit) + 1;
    let mut most = i64::from(listing.limit) + 1 + TIES;
    loop {
        let rows = db.rows(statement(tenant, listing, query, most), |row| {
            let found = listing.kind.read(row)?;
            Ok(((key(row, listing)?, found.id), found))
        })?;
        let time = |at: usize| rows.get(at).map(|((key, _), _)| key);
        let is_all = i64::try_from(rows.len()).is_ok_and(|it| it < most);
        if is_all || time(wanted - 1) != time(rows.len() - 1) {
            return Ok(rows);
        }
        most = most.saturating_mul(4);
    }
}

/// The statement that reads so many of them.
pub(crate) fn statement(tenant: Tenant, listing: &Listing, query: &IndexQuery, most: i64) -> Sql {
    let (table, filter) = (listing.table(), RowFilter::default());
    let list = List { tenant, listing, columns: columns(table, "t."), source: &super::RowSource::Scan(filter.clone()) };
    let mut draft = Draft::default();
    draft.add(&format!(
        "SELECT {}, t.{} FROM search_tokens CROSS JOIN search_documents d CROSS JOIN {} t",
        list.columns, listing.sort.name, table.name
    ));
    list.conditions(&mut draft, None, &filter, None);
    if let Some((column, values)) = &listing.runs {
        draft.any_of(&format!(" AND +t.{}", column.name), values);
    }
    let tokens = search::query(&query.tokens(tenant, table));
    draft.with(" AND search_tokens MATCH ", tokens.as_str());
    draft.with(" AND search_tokens.rowid >= ", from(listing)).with(" AND search_tokens.rowid < ", to(listing));
    draft.add(" AND d.place = search_tokens.rowid").with(" AND d.tenant_id = ", tenant);
    draft.with(" AND d.table_name = ", table.name).add(" AND t.id = d.id");
    draft.with(" ORDER BY search_tokens.rowid DESC LIMIT ", most);
    draft.finish()
}

/// The first place that can be on the page.
fn from(listing: &Listing) -> i64 {
    let bounds = listing.conditions.iter().filter_map(|it| {
        let Condition::AtLeast(column, cell) = it else { return None };
        first_of(listing, column, cell, 0)
    });
    bounds.max().unwrap_or(i64::MIN)
}

/// The place behind the last one that can be on the page.
fn to(listing: &Listing) -> i64 {
    let bounds = listing.conditions.iter().filter_map(|it| {
        let Condition::AtMost(column, cell) = it else { return None };
        first_of(listing, column, cell, 1)
    });
    let after = listing.after.as_ref().and_then(|(cell, _)| first_of(listing, &listing.sort, cell, 1));
    bounds.chain(after).min().unwrap_or(i64::MAX)
}

/// The first place of so many milliseconds after the time in a cell, if the column is what orders the list.
fn first_of(listing: &Listing, column: &Column, cell: &Cell, later: i64) -> Option<i64> {
    let Cell::Time(it) = cell else { return None };
    let at = Timestamp::from_millis(it.millis().saturating_add(later));
    (*column == listing.sort).then(|| first_place(at))
}
