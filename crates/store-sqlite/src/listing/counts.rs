//! Counts of the rows of lists by group (decision A17).

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_tables::counts::{CountedGroups, GroupKey, read_count};
use candor_tables::listing::Listing;
use candor_tables::plan::{RowFilter, RowSource};

use super::teams::TeamSource;
use super::{List, runs};
use crate::sql::{Db, Sql};
use crate::text::Draft;

/// Counts the rows of several lists by group: at most `most` groups, the largest ones.
pub(crate) fn read(
    db: &mut Db,
    tenant: Tenant,
    lists: &[Listing],
    keys: &[GroupKey],
    most: usize,
) -> Read<CountedGroups> {
    let Some(table) = lists.first().map(|list| list.table().name) else { return Ok(CountedGroups::default()) };
    let teams = TeamSource::for_lists(db, tenant, lists)?;
    let rows = db.rows(statement(tenant, (lists, teams), keys, most), |row| Ok(read_count(row, table, keys)?))?;
    Ok(CountedGroups::from_rows(rows))
}

/// Builds the statement of the counts. The inner query groups rows by their own values, in the order of an index if
/// there is one. The outer query then computes the month of a day, or looks up the value of another table, once for
/// each of these groups instead of once for each row.
pub(crate) fn statement(
    tenant: Tenant,
    (lists, teams): (&[Listing], TeamSource),
    keys: &[GroupKey],
    most: usize,
) -> Sql {
    let mut draft = Draft::default();
    let is_own = keys.iter().all(GroupKey::is_own);
    let group_columns = (1..=keys.len()).map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
    let group_clause = if keys.is_empty() { String::new() } else { format!(" GROUP BY {group_columns}") };
    draft.add("SELECT ");
    for (at, key) in keys.iter().enumerate() {
        draft.add(&match key {
            GroupKey::Month(_) if is_own => format!("{}, ", month(&format!("c.k{at}"))),
            GroupKey::Column(_) | GroupKey::Month(_) | GroupKey::Tag(_) => format!("c.k{at}, "),
            GroupKey::Related { column, .. } => format!("o.{column}, "),
        });
    }
    let total = if keys.is_empty() { "sum(c.n)" } else { "sum(sum(c.n)) OVER ()" };
    draft.add(&format!("sum(c.n), {total} FROM ("));
    let mut separator = "";
    for list in lists {
        for run in runs(list) {
            draft.add(separator);
            separator = " UNION ALL ";
            select(&mut draft, (tenant, list), keys, is_own);
            let source = RowSource::Scan(RowFilter::default());
            let list = List { tenant, listing: list, columns: String::new(), source: &source, teams };
            list.conditions(&mut draft, run, &RowFilter::hashing_all(list.listing), None);
            draft.add(&group_clause);
        }
    }
    draft.add(") c");
    for (at, key) in keys.iter().enumerate() {
        if let GroupKey::Related { table, .. } = key {
            draft.with(&format!(" LEFT JOIN {table} o ON o.tenant_id = "), tenant);
            draft.add(&format!(" AND o.id = c.k{at}"));
        }
    }
    draft.add(&group_clause).add(&format!(" ORDER BY {} DESC", keys.len() + 1));
    if !keys.is_empty() {
        draft.add(&format!(", {group_columns}"));
    }
    draft.with(" LIMIT ", i64::try_from(most).unwrap_or(i64::MAX));
    draft.finish()
}

/// Adds the start of the query for the groups of a run, up to its conditions.
fn select(draft: &mut Draft, (tenant, list): (Tenant, &Listing), keys: &[GroupKey], is_own: bool) {
    draft.add("SELECT ");
    for (at, key) in keys.iter().enumerate() {
        let value = match key {
            GroupKey::Column(column) => format!("t.{}", column.name),
            GroupKey::Month(column) if is_own => format!("t.{}", column.name),
            GroupKey::Month(column) => month(&format!("t.{}", column.name)),
            GroupKey::Related { by, .. } => format!("t.{}", by.name),
            GroupKey::Tag(members) => format!("tag.{}", members.member),
        };
        draft.add(&format!("{value} AS k{at}, "));
    }
    draft.add(&format!("count(*) AS n FROM {} t", list.table().name));
    for key in keys {
        if let GroupKey::Tag(members) = key {
            draft.with(&format!(" LEFT JOIN {} tag ON tag.tenant_id = ", members.name), tenant);
            draft.add(&format!(" AND tag.{} = t.id", members.owner));
        }
    }
}

fn month(day: &str) -> String {
    format!("strftime('%Y-%m', {day} * 86400, 'unixepoch')")
}
