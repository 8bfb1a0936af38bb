//! Counts of the rows of lists by group (decision A17).

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_tables::counts::{CountedGroups, GROUP_BY, GroupKey, read_count};
use candor_tables::flat::{CellReader, MemberTable, SqlValue};
use candor_tables::listing::Listing;

use super::may_match;
use super::page::{PageSql, runs_of};
use crate::sql::Sql;
use crate::store::PostgresStore;

impl PostgresStore {
    /// Counts the rows of several lists by group: at most `most` groups, the largest ones.
    pub(crate) async fn counts_of(
        &self,
        tenant: Tenant,
        lists: &[Listing],
        keys: &[GroupKey],
        most: usize,
    ) -> Read<CountedGroups> {
        let lists: Vec<_> = lists.iter().filter(|list| may_match(list)).collect();
        let Some(table) = lists.first().map(|list| list.table().name) else { return Ok(CountedGroups::default()) };
        let sql = sql(tenant, &lists, keys, most).planned_anew();
        let read = |row: &mut dyn CellReader| Ok(read_count(row, table, keys)?);
        let rows = self.slowly(tenant, &[GROUP_BY.to_owned()], &sql, read).await?;
        Ok(CountedGroups::from_rows(rows))
    }
}

/// Builds the statement of the counts. The inner query groups rows by their own values. The outer query then looks up
/// the value of another table once for each of these groups instead of once for each row.
fn sql(tenant: Tenant, lists: &[&Listing], keys: &[GroupKey], most: usize) -> Sql {
    let mut page = PageSql::of_all_rows(tenant);
    let group_columns = (1..=keys.len()).map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
    let (grouped, order) = if keys.is_empty() {
        Default::default()
    } else {
        (format!(" GROUP BY {group_columns}"), format!(", {group_columns}"))
    };
    let (columns, joins) = inner_groups(keys, &page.tenant);
    let mut parts = vec![];
    for list in lists {
        for run in runs_of(list) {
            let (all, name) = (page.conditions(list, run), list.table().name);
            parts.push(format!("SELECT {columns}count(*) AS n FROM {name} AS r{joins} WHERE {all}{grouped}"));
        }
    }
    let (values, joins) = outer_groups(keys, &page.tenant);
    let total = if keys.is_empty() { "sum(c.n)" } else { "sum(sum(c.n)) OVER ()" };
    let most = page.sql.bind(SqlValue::Int(i64::try_from(most).unwrap_or(i64::MAX)));
    page.sql.push(&format!(
        "SELECT {values}sum(c.n)::bigint, ({total})::bigint FROM ({}) AS c{joins}{grouped} \
         ORDER BY {} DESC{order} LIMIT {most}",
        parts.join(" UNION ALL "),
        keys.len() + 1,
    ));
    page.sql
}

/// Columns and joins of the groups of each run. If all keys are columns of the row itself, a month key stands for
/// days here; the final groups are by month.
fn inner_groups(keys: &[GroupKey], tenant: &str) -> (String, String) {
    let is_own = keys.iter().all(GroupKey::is_own);
    let (mut columns, mut joins) = (String::new(), String::new());
    for (at, key) in keys.iter().enumerate() {
        let value = match key {
            GroupKey::Month(column) if !is_own => month(&format!("r.{}", column.name)),
            GroupKey::Column(column) | GroupKey::Month(column) => format!("r.{}", column.name),
            GroupKey::Related { by, .. } => format!("r.{}", by.name),
            GroupKey::Tag(MemberTable { name, owner, member }) => {
                joins.push_str(&format!(" LEFT JOIN {name} AS m ON m.tenant_id = {tenant} AND m.{owner} = r.id"));
                format!("m.{member}")
            }
        };
        columns.push_str(&format!("{value} AS k{at}, "));
    }
    (columns, joins)
}

/// Columns and joins of the final groups.
fn outer_groups(keys: &[GroupKey], tenant: &str) -> (String, String) {
    let is_own = keys.iter().all(GroupKey::is_own);
    let (mut values, mut joins) = (String::new(), String::new());
    for (at, key) in keys.iter().enumerate() {
        let value = match key {
            GroupKey::Month(_) if is_own => month(&format!("c.k{at}")),
            GroupKey::Column(_) | GroupKey::Month(_) | GroupKey::Tag(_) => format!("c.k{at}"),
            GroupKey::Related { table, column, .. } => {
                joins.push_str(&format!(" LEFT JOIN {table} AS o ON o.tenant_id = {tenant} AND o.id = c.k{at}"));
                format!("o.{column}")
            }
        };
        values.push_str(&format!("{value}, "));
    }
    (values, joins)
}

fn month(day: &str) -> String {
    format!("to_char({day}, 'YYYY-MM')")
}
