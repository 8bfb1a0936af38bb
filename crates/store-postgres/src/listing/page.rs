//! Statement of a page of a list.

use candor_domain::access::Tenant;
use candor_tables::access_path::has_one_row;
use candor_tables::flat::{Column, SqlValue};
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::{RowFilter, RowSource, is_covered, is_elsewhere};

use crate::sql::Sql;
use crate::sql::row::columns_of;

/// Row limits as literals. A generic plan does not know the value of a parameter, and would prepare to read a
/// tenth of the table. The usual page sizes have limits of their own, because a scan continues until it has found
/// as many rows as its literal allows.
const BOUNDS: [u32; 7] = [27, 52, 103, 1001, 2001, 10_001, 65_537];
/// Maximum number of rows that a bounded scan reads with hashed lookups. A list of a team without recent rows
/// must not read all other rows. A hashed lookup of a row costs some 0.1 µs, an indexed one 0.8 µs.
const HASHED_STRIDE: u32 = 50_000;
/// Maximum number of rows that a bounded scan reads with indexed lookups.
const INDEXED_STRIDE: u32 = 5_000;

/// One of the lists of a page, with the source of its rows.
pub(super) struct Part<'l> {
    listing: &'l Listing,
    source: &'l RowSource,
    /// Number of rows after which the scan ends, even if the page is not full; `None` for no bound.
    stride: Option<u32>,
}

impl<'l> Part<'l> {
    /// Creates a part whose scan has no bound.
    pub(super) const fn whole(listing: &'l Listing, source: &'l RowSource) -> Self {
        Self { listing, source, stride: None }
    }

    /// Creates a part whose scan reads at most `stride` rows.
    pub(super) const fn with_stride(listing: &'l Listing, source: &'l RowSource, stride: u32) -> Self {
        Self { listing, source, stride: Some(stride) }
    }

    /// Returns `true` if the first pass selects only ids, and the rows are fetched for the page alone. This is so
    /// if an index covers a list with conditions on another table, or if the rows come from another table.
    fn finds_ids(&self) -> bool {
        match self.source {
            RowSource::Gather(_) | RowSource::GatherFirsts(_) => true,
            RowSource::Scan(_) => is_covered(self.listing) && self.listing.conditions.iter().any(is_elsewhere),
        }
    }
}

/// Maximum number of rows that the first, bounded scan reads.
pub(super) const fn first_stride(source: &RowSource) -> u32 {
    match source {
        RowSource::Scan(filter) if !filter.hashed.is_empty() => HASHED_STRIDE,
        RowSource::Scan(_) | RowSource::Gather(_) | RowSource::GatherFirsts(_) => INDEXED_STRIDE,
    }
}

/// Builds the statement for a page of several lists together. The lists must be of one table in one order and have
/// no row in common.
pub(super) fn sql(own: Tenant, parts: &[Part<'_>]) -> Sql {
    let Some(Part { listing, .. }) = parts.first() else { return Sql::default() };
    let mut sql = Sql::default();
    let tenant = sql.tenant(own);
    let rows = u32::from(listing.limit) + 1;
    let limit = sql.bind(SqlValue::Int(i64::from(rows)));
    let start = listing.after.as_ref().map(|(place, id)| (sql.bind(place.clone()), sql.id(*id)));
    let row_limit = BOUNDS.into_iter().find(|limit| rows <= *limit).unwrap_or(u32::MAX);
    let ids_first = parts.iter().any(Part::finds_ids);
    let mut page = PageSql { sql, tenant, limit, after: start, bound: row_limit, ids_first };
    page.write(listing, parts);
    page.sql
}

pub(super) struct PageSql {
    pub(super) sql: Sql,
    /// Placeholder of the tenant.
    pub(super) tenant: String,
    limit: String,
    after: Option<(String, String)>,
    bound: u32,
    ids_first: bool,
}

impl PageSql {
    /// Creates a statement that reads all rows of its lists, in any order.
    pub(super) fn of_all_rows(own: Tenant) -> Self {
        let mut sql = Sql::default();
        let tenant = sql.tenant(own);
        Self { sql, tenant, limit: String::new(), after: None, bound: 0, ids_first: false }
    }

    /// Conditions of all rows of a run.
    pub(super) fn conditions(&mut self, listing: &Listing, run: Option<(Column, SqlValue)>) -> String {
        let run = run.map(|(column, value)| format!("r.{} = {}", column.name, self.sql.bind(value)));
        let plain_conditions = self.plain(listing, run);
        [plain_conditions, self.looks(listing, &RowFilter::hashing_all(listing), None)].concat().join(" AND ")
    }

    fn write(&mut self, first: &Listing, parts: &[Part<'_>]) {
        let mut runs = vec![];
        for part in parts {
            for run in runs_of(part.listing) {
                let run = run.map(|(column, value)| format!("r.{} = {}", column.name, self.sql.bind(value)));
                runs.push(self.run(part, run));
            }
        }
        let (runs, limit, tenant, name) =
            (runs.join(" UNION ALL "), &self.limit, &self.tenant, first.table().name);
        let columns = columns_of(first.table(), "r.", tenant);
        let text = if self.ids_first {
            // The page's rows are fetched one by one by key: `OFFSET 0` keeps the planner from other joins.
            let order = order(first, "p.place", "p.id");
            format!(
                "SELECT {columns} FROM (SELECT * FROM ({runs}) AS p ORDER BY {order} LIMIT {limit}) AS p \
                 CROSS JOIN LATERAL (SELECT * FROM {name} WHERE tenant_id = {tenant} AND id = p.id OFFSET 0) AS r \
                 ORDER BY {order}"
            )
        } else {
            let order = order(first, &format!("r.{}", first.sort.name), "r.id");
            format!("SELECT {columns} FROM ({runs}) AS r ORDER BY {order} LIMIT {limit}")
        };
        self.sql.push(&text);
    }

    /// SQL of one run: the first rows of a part, in the order of the list, that meet the condition `run`, if any.
    fn run(&mut self, part: &Part<'_>, run: Option<String>) -> String {
        let (listing, bound, name) = (part.listing, self.bound, part.listing.table().name);
        let place = format!("r.{}", listing.sort.name);
        let order = order(listing, &place, "r.id");
        let columns = if self.ids_first { format!("r.id, {place} AS place") } else { "r.*".to_owned() };
        let plain_conditions = self.plain(listing, run);
        let filter = match part.source {
            RowSource::Scan(filter) => filter,
            RowSource::Gather(from) => return self.gather(listing, *from, &plain_conditions, false),
            RowSource::GatherFirsts(from) => return self.gather(listing, *from, &plain_conditions, true),
        };
        let looks = self.looks(listing, filter, None);
        if has_one_row(listing) {
            // Unique values have no statistics (decision H4). Without an `ORDER BY`, the planner cannot walk the
            // index of the order to find the few hundred rows that it expects.
            let all = [vec!["TRUE".to_owned()], looks].concat().join(" AND ");
            let plain_conditions = plain_conditions.join(" AND ");
            return format!(
                "(SELECT {columns} FROM (SELECT * FROM {name} AS r WHERE {plain_conditions} OFFSET 0) AS r WHERE {all})"
            );
        }
        let Some(stride) = part.stride else {
            let all = [plain_conditions, looks].concat().join(" AND ");
            return format!("(SELECT {columns} FROM {name} AS r WHERE {all} ORDER BY {order} LIMIT {bound})");
        };
        let (plain_conditions, looks) = (plain_conditions.join(" AND "), looks.join(" AND "));
        if !self.ids_first {
            return format!(
                "(SELECT r.* FROM (SELECT * FROM {name} AS r WHERE {plain_conditions} ORDER BY {order} LIMIT {stride}) AS r \
                 WHERE {looks} ORDER BY {order} LIMIT {bound})"
            );
        }
        // The lookup is in the select list of the scan, which saves one plan step for each row.
        let outer = self::order(listing, "r.place", "r.id");
        format!(
            "(SELECT r.id, r.place FROM (SELECT {columns}, {looks} AS hit FROM {name} AS r WHERE {plain_conditions} \
             ORDER BY {order} LIMIT {stride}) AS r WHERE r.hit ORDER BY {outer} LIMIT {bound})"
        )
    }

    /// SQL of a run that starts from another table: from the rows that a condition names, or from people ranked by
    /// their first row.
    fn gather(&mut self, listing: &Listing, from: usize, met: &[String], by_firsts: bool) -> String {
        let (bound, name) = (self.bound, listing.table().name);
        let place = format!("r.{}", listing.sort.name);
        let order = order(listing, &place, "r.id");
        let all = [met, &self.looks(listing, &RowFilter::default(), Some(from))].concat().join(" AND ");
        let outer = self::order(listing, "g.place", "g.id");
        match listing.conditions.get(from) {
            Some(Condition::Within(column, manager) | Condition::Reach(column, manager)) => {
                let manager = self.sql.id(manager.to_bytes());
                let includes_manager = matches!(listing.conditions.get(from), Some(Condition::Reach(..)));
                let people = self.people(&manager, includes_manager);
                if by_firsts {
                    return self.newest(listing, &people, column.name, &all);
                }
                format!(
                    "(SELECT g.id, g.place FROM ({people}) AS l CROSS JOIN LATERAL \
                     (SELECT r.id, {place} AS place FROM {name} AS r WHERE r.{} = l.person AND {all} \
                     ORDER BY {order} LIMIT {bound}) AS g ORDER BY {outer} LIMIT {bound})",
                    column.name
                )
            }
            Some(Condition::Tagged(members, tags)) => {
                let (tags, tenant) = (self.sql.ids(tags.iter().copied()), &self.tenant);
                format!(
                    "(SELECT g.id, g.place FROM (SELECT DISTINCT {owner} AS id FROM {} WHERE tenant_id = {tenant} \
                     AND {} = ANY({tags})) AS m CROSS JOIN LATERAL \
                     (SELECT r.id, {place} AS place FROM {name} AS r WHERE r.id = m.id AND {all} OFFSET 0) AS g \
                     ORDER BY {outer} LIMIT {bound})",
                    members.name,
                    members.member,
                    owner = members.owner,
                )
            }
            Some(Condition::Among(ids)) => {
                let ids = self.sql.ids(ids.iter().copied());
                // `OFFSET 0`: otherwise the planner scans the index of the order until it meets these ids.
                format!(
                    "(SELECT g.id, g.place FROM (SELECT r.id, {place} AS place FROM {name} AS r \
                     WHERE r.id = ANY({ids}) AND {all} OFFSET 0) AS g ORDER BY {outer} LIMIT {bound})"
                )
            }
            _ => format!(
                "(SELECT r.id, {place} AS place FROM {name} AS r WHERE {all} ORDER BY {order} LIMIT {bound})"
            ),
        }
    }

    /// Query for the people below a manager, and for the manager if `itself` is `true`.
    fn people(&self, manager: &str, itself: bool) -> String {
        let tenant = &self.tenant;
        let and = if itself { format!(" UNION ALL SELECT {manager}::uuid") } else { String::new() };
        format!(
            "SELECT descendant_id AS person FROM reporting_lines WHERE tenant_id = {tenant} \
             AND ancestor_id = {manager}{and}"
        )
    }

    /// SQL of a run that ranks people by their first row. Rows of a page of 50 can only be about the first 50 people,
    /// and about people tied with the last of these. So the cost does not depend on the number of rows for each
    /// person.
    fn newest(&self, listing: &Listing, people: &str, column: &str, all: &str) -> String {
        let (bound, limit, name) = (self.bound, &self.limit, listing.table().name);
        let place = format!("r.{}", listing.sort.name);
        let order = order(listing, &place, "r.id");
        let outer = self::order(listing, "g.place", "g.id");
        let (than, beyond, way) =
            if listing.descending { (">=", "-infinity", " DESC") } else { ("<=", "infinity", "") };
        format!(
            "(WITH firsts AS MATERIALIZED (SELECT l.person, (SELECT {place} FROM {name} AS r \
             WHERE r.{column} = l.person \
             AND {all} ORDER BY {order} LIMIT 1) AS first FROM ({people}) AS l), \
             cut AS MATERIALIZED (SELECT coalesce((SELECT first FROM firsts WHERE first IS NOT NULL \
             ORDER BY first{way} LIMIT 1 OFFSET {limit} - 1), '{beyond}') AS last) \
             SELECT g.id, g.place FROM firsts AS f CROSS JOIN LATERAL (SELECT r.id, {place} AS place \
             FROM {name} AS r WHERE r.{column} = f.person AND {all} AND {place} {than} (SELECT last FROM cut) \
             ORDER BY {order} LIMIT {bound}) AS g WHERE f.first {than} (SELECT last FROM cut) \
             ORDER BY {outer} LIMIT {bound})"
        )
    }

    /// Conditions that the scan itself checks: on the row's own columns, on excluded teams, and the cursor.
    fn plain(&mut self, listing: &Listing, run: Option<String>) -> Vec<String> {
        let mut all = vec![format!("r.tenant_id = {}", self.tenant)];
        all.extend(run);
        let comparison = |sql: &mut Sql, column: &Column, sign: &str, cell: &SqlValue| {
            format!("r.{} {sign} {}", column.name, sql.bind(cell.clone()))
        };
        for condition in &listing.conditions {
            all.push(match condition {
                Condition::Is(column, cell) => comparison(&mut self.sql, column, "=", cell),
                Condition::IsNot(column, cell) => comparison(&mut self.sql, column, "IS DISTINCT FROM", cell),
                Condition::AtLeast(column, cell) => comparison(&mut self.sql, column, ">=", cell),
                Condition::AtMost(column, cell) => comparison(&mut self.sql, column, "<=", cell),
                Condition::OneOf(column, cells) => {
                    format!("r.{} = ANY({})", column.name, self.sql.many(column.kind, cells.iter().cloned()))
                }
                Condition::Without(column, manager) => {
                    let (tenant, manager) = (&self.tenant, self.sql.id(manager.to_bytes()));
                    format!(
                        "NOT EXISTS (SELECT 1 FROM reporting_lines AS l WHERE l.tenant_id = {tenant} \
                         AND l.ancestor_id = {manager} AND l.descendant_id = r.{} OFFSET 0)",
                        column.name
                    )
                }
                Condition::Within(..) | Condition::Reach(..) | Condition::Tagged(..) | Condition::Among(..) => {
                    continue;
                }
            });
        }
        if let Some((place, id)) = &self.after {
            let sign = if listing.descending { "<" } else { ">" };
            all.push(match listing.sort.name {
                "id" => format!("r.id {sign} {id}"),
                sort => format!("(r.{sort}, r.id) {sign} ({place}, {id})"),
            });
        }
        all
    }

    /// Conditions that another table decides, except the one that supplies the rows. Their forms keep the planner
    /// from joins, whose cost it cannot estimate: an `EXISTS` with `OFFSET` is one index lookup, and an `IN` with
    /// `IS TRUE` builds a hash on first use.
    fn looks(&mut self, listing: &Listing, filter: &RowFilter, without: Option<usize>) -> Vec<String> {
        let (tenant, mut looks) = (self.tenant.clone(), vec![]);
        for (at, condition) in listing.conditions.iter().enumerate() {
            if Some(at) == without {
                continue;
            }
            let (rows, owner, of, itself) = match condition {
                Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                    let manager = self.sql.id(manager.to_bytes());
                    let rows =
                        format!("reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.ancestor_id = {manager}");
                    let own_id = matches!(condition, Condition::Reach(..)).then_some(manager);
                    (rows, "descendant_id", column.name, own_id)
                }
                Condition::Tagged(members, tags) => {
                    let (tags, member) = (self.sql.ids(tags.iter().copied()), members.member);
                    let rows =
                        format!("{} AS l WHERE l.tenant_id = {tenant} AND l.{member} = ANY({tags})", members.name);
                    (rows, members.owner, "id", None)
                }
                Condition::Is(..)
                | Condition::IsNot(..)
                | Condition::OneOf(..)
                | Condition::AtLeast(..)
                | Condition::AtMost(..)
                | Condition::Without(..)
                | Condition::Among(..) => continue,
            };
            let membership = if filter.hashed.contains(&at) {
                format!("(r.{of} IN (SELECT l.{owner} FROM {rows})) IS TRUE")
            } else {
                format!("EXISTS (SELECT 1 FROM {rows} AND l.{owner} = r.{of} OFFSET 0)")
            };
            looks.push(match itself {
                Some(person) => format!("(r.{of} = {person} OR {membership})"),
                None => membership,
            });
        }
        looks
    }
}

/// Returns the column and value of each run of a list. A list without runs has the single run `None`.
pub(super) fn runs_of(listing: &Listing) -> Vec<Option<(Column, SqlValue)>> {
    match &listing.runs {
        Some((column, values)) => values.iter().map(|value| Some((*column, value.clone()))).collect(),
        None => vec![None],
    }
}

fn order(listing: &Listing, place: &str, id: &str) -> String {
    let direction = if listing.descending { " DESC" } else { "" };
    format!("{place}{direction}, {id}{direction}")
}

#[cfg(test)]
mod tests {
    use candor_domain::id::OrganizationId;
    use candor_domain::page::{PageRequest, Sortable};
    use candor_domain::people::{Employee, Filter};
    use candor_tables::rows;

    use super::*;

    /// Returns the statement of a list of people by some filter.
    fn statement(filter: &Filter) -> String {
        let list = rows::employees::list(filter, Employee::DEFAULT, &PageRequest { limit: 50, after: None });
        let source = RowSource::Scan(RowFilter::default());
        let parts: Vec<_> = list.parts().iter().map(|listing| Part::whole(listing, &source)).collect();
        sql(Tenant::live(OrganizationId::from_bytes([1; 16])), &parts).text().to_owned()
    }

    #[test]
    fn row_of_a_unique_value_is_read_before_its_order() {
        let email = Some("ada@example.com".to_owned());
        let by_email = statement(&Filter { email, ..Filter::default() });
        let Some((found_row, rest)) = by_email.split_once(" OFFSET 0) AS r WHERE TRUE)") else {
            panic!("the planner may walk an index of the order: {by_email}")
        };
        assert!(found_row.contains("r.email_key = ") && !found_row.contains("ORDER BY"), "{by_email}");
        assert!(rest.contains("ORDER BY"), "{by_email}");
        let all = statement(&Filter::default());
        assert!(!all.contains("OFFSET 0) AS r WHERE TRUE"), "an order without an index: {all}");
    }
}
