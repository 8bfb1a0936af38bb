//! The statement behind a page.

use candor_domain::access::Tenant;
use candor_port_storage::flat::{Cell, Column};
use candor_port_storage::listing::{Condition, Listing};

use super::{Look, Way, needs_choice};
use crate::select::columns;
use crate::sql::Sql;

/// Bounds that the planner knows beforehand: a plan is made once for all values of a parameter, and without a known
/// bound it would prepare to read a tenth of the table.
const BOUNDS: [u32; 4] = [101, 1001, 10_001, 65_537];

/// Writes the statement for a page.
pub(super) fn sql(tenant: Tenant, listing: &Listing, way: Way) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.id(tenant.to_bytes());
    let rows = u32::from(listing.limit) + 1;
    let limit = sql.bind(Cell::Int(i64::from(rows)));
    let after = listing.after.as_ref().map(|(place, id)| (sql.bind(place.clone()), sql.id(*id)));
    let bound = BOUNDS.into_iter().find(|it| rows <= *it).unwrap_or(u32::MAX);
    let mut page = PageSql { sql, listing, tenant, limit, after, bound };
    page.write(way);
    page.sql
}

struct PageSql<'a> {
    sql: Sql,
    listing: &'a Listing,
    tenant: String,
    limit: String,
    after: Option<(String, String)>,
    bound: u32,
}

impl PageSql<'_> {
    fn write(&mut self, way: Way) {
        let ids_first = self.listing.conditions.iter().any(needs_choice);
        let values = match &self.listing.runs {
            Some((column, values)) => values.iter().map(|it| Some((*column, it.clone()))).collect(),
            None => vec![None],
        };
        let runs: Vec<_> = values
            .into_iter()
            .map(|run| {
                let run = run.map(|(column, value)| format!("r.{} = {}", column.name, self.sql.bind(value)));
                self.run(run, way, ids_first)
            })
            .collect();
        let (table, limit, tenant) = (self.listing.table, &self.limit, &self.tenant);
        let columns = columns(table, "r.");
        let runs = runs.join(" UNION ALL ");
        let text = if ids_first {
            // The rows themselves are fetched for the page alone, one by one by their keys (OFFSET 0 keeps the planner
            // from joining in any other way).
            format!(
                "WITH page AS MATERIALIZED (SELECT * FROM ({runs}) AS p ORDER BY {order} LIMIT {limit}) \
                 SELECT {columns} FROM page AS p CROSS JOIN LATERAL \
                 (SELECT * FROM {name} WHERE tenant_id = {tenant} AND id = p.id OFFSET 0) AS r ORDER BY {order}",
                order = self.order("p.place", "p.id"),
                name = table.name,
            )
        } else {
            let order = self.order(&format!("r.{}", self.listing.sort.name), "r.id");
            format!("SELECT {columns} FROM ({runs}) AS r ORDER BY {order} LIMIT {limit}")
        };
        self.sql.push(&text);
    }

    fn order(&self, place: &str, id: &str) -> String {
        let direction = if self.listing.descending { " DESC" } else { "" };
        format!("{place}{direction}, {id}{direction}")
    }

    /// One ordered, bounded run.
    fn run(&mut self, run: Option<String>, way: Way, ids_first: bool) -> String {
        let (bound, name) = (self.bound, self.listing.table.name);
        let place = format!("r.{}", self.listing.sort.name);
        let order = self.order(&place, "r.id");
        let wanted = if ids_first { format!("r.id, {place} AS place") } else { "r.*".to_owned() };
        let plain = self.plain(run);
        match way {
            Way::Walk(look, None) => {
                let all = [plain, self.looks(look, None)].concat().join(" AND ");
                format!("(SELECT {wanted} FROM {name} AS r WHERE {all} ORDER BY {order} LIMIT {bound})")
            }
            Way::Walk(look, Some(stride)) => {
                let (met, looks) = (plain.join(" AND "), self.looks(look, None).join(" AND "));
                format!(
                    "(SELECT {wanted} FROM (SELECT * FROM {name} AS r WHERE {met} ORDER BY {order} LIMIT {stride}) AS r \
                     WHERE {looks} ORDER BY {order} LIMIT {bound})"
                )
            }
            Way::Gather(from) => self.gather(from, plain, &order),
        }
    }

    fn gather(&mut self, from: usize, plain: Vec<String>, order: &str) -> String {
        let (bound, name, tenant) = (self.bound, self.listing.table.name, self.tenant.clone());
        let place = format!("r.{}", self.listing.sort.name);
        let all = [plain, self.looks(Look::Index, Some(from))].concat().join(" AND ");
        let outer = self.order("g.place", "g.id");
        match self.listing.conditions.get(from) {
            Some(Condition::Within(column, manager)) => {
                let manager = self.sql.id(manager.to_bytes());
                format!(
                    "(SELECT g.id, g.place FROM reporting_lines AS l CROSS JOIN LATERAL \
                     (SELECT r.id, {place} AS place FROM {name} AS r WHERE r.{} = l.descendant_id AND {all} \
                     ORDER BY {order} LIMIT {bound}) AS g \
                     WHERE l.tenant_id = {tenant} AND l.ancestor_id = {manager} ORDER BY {outer} LIMIT {bound})",
                    column.name
                )
            }
            Some(Condition::Tagged(members, tags)) => {
                let tags = self.sql.ids(tags.iter().copied());
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
            _ => format!("(SELECT r.id, {place} AS place FROM {name} AS r WHERE {all} ORDER BY {order} LIMIT {bound})"),
        }
    }

    /// The conditions that a row answers by itself.
    fn plain(&mut self, run: Option<String>) -> Vec<String> {
        let mut all = vec![format!("r.tenant_id = {}", self.tenant)];
        all.extend(run);
        let compared = |sql: &mut Sql, column: &Column, sign: &str, cell: &Cell| {
            format!("r.{} {sign} {}", column.name, sql.bind(cell.clone()))
        };
        for condition in &self.listing.conditions {
            all.push(match condition {
                Condition::Is(column, cell) => compared(&mut self.sql, column, "=", cell),
                Condition::AtLeast(column, cell) => compared(&mut self.sql, column, ">=", cell),
                Condition::AtMost(column, cell) => compared(&mut self.sql, column, "<=", cell),
                Condition::OneOf(column, cells) => {
                    format!("r.{} = ANY({})", column.name, self.sql.many(column.kind, cells.iter().cloned()))
                }
                Condition::Within(..) | Condition::Tagged(..) => continue,
            });
        }
        if let Some((place, id)) = &self.after {
            let sign = if self.listing.descending { "<" } else { ">" };
            all.push(match self.listing.sort.name {
                "id" => format!("r.id {sign} {id}"),
                sort => format!("(r.{sort}, r.id) {sign} ({place}, {id})"),
            });
        }
        all
    }

    /// The conditions that another table answers, but for the one the rows come from. Their forms keep the planner from
    /// joining, whose cost it cannot know: a scalar sub-select is one look by the index, and an IN that is compared is
    /// hashed.
    fn looks(&mut self, look: Look, without: Option<usize>) -> Vec<String> {
        let (tenant, mut looks) = (self.tenant.clone(), vec![]);
        for (at, condition) in self.listing.conditions.iter().enumerate() {
            if Some(at) == without {
                continue;
            }
            let (rows, owner, of) = match condition {
                Condition::Within(column, manager) => {
                    let manager = self.sql.id(manager.to_bytes());
                    let rows =
                        format!("reporting_lines AS l WHERE l.tenant_id = {tenant} AND l.ancestor_id = {manager}");
                    (rows, "descendant_id", column.name)
                }
                Condition::Tagged(members, tags) => {
                    let (tags, member) = (self.sql.ids(tags.iter().copied()), members.member);
                    let rows =
                        format!("{} AS l WHERE l.tenant_id = {tenant} AND l.{member} = ANY({tags})", members.name);
                    (rows, members.owner, "id")
                }
                Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => continue,
            };
            looks.push(match look {
                Look::Index => format!("(SELECT true FROM {rows} AND l.{owner} = r.{of} LIMIT 1)"),
                Look::Hash => format!("(r.{of} IN (SELECT l.{owner} FROM {rows})) IS TRUE"),
            });
        }
        looks
    }
}
