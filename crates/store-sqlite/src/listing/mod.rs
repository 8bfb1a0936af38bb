//! Pages of lists: ordered runs along an index, each from behind the last place, merged by the database.

pub(crate) mod slow;
pub(crate) mod team;
pub(crate) mod ways;

use candor_domain::access::Tenant;
use candor_domain::page::Key;
use candor_port_storage::StorageError;
use candor_port_storage::flat::{Cell, Column, Fetch, Type};
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::plan::{is_elsewhere, is_of_few};
use candor_port_storage::read::Found;

use self::ways::{Below, Lead};
use crate::sql::{Db, Sql};
use crate::table::{columns, read_of};
use crate::text::Draft;

/// The first rows of what some lists hold together, and one more if there is one. The lists are in one order and have no
/// row in common.
pub(crate) fn merged(db: &mut Db, tenant: Tenant, listings: &[Listing]) -> Result<Vec<Found>, StorageError> {
    if let [only] = listings {
        return rows(db, tenant, only, |row| only.kind.read(row));
    }
    // Of one moment: what moves from one of them to another meanwhile would be there twice, or not at all.
    let (moment, mut all) = (db.moment()?, vec![]);
    for it in listings {
        all.extend(rows_now(moment.0, tenant, it, |row| {
            let found = it.kind.read(row)?;
            Ok(((key(row, it)?, found.id), found))
        })?);
    }
    let is_descending = listings.iter().any(|it| it.descending);
    all.sort_by(|(a, _), (b, _)| if is_descending { b.cmp(a) } else { a.cmp(b) });
    all.truncate(listings.first().map_or(0, |it| usize::from(it.limit) + 1));
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// Reads what a row is ordered by, which stands behind the columns of its table.
fn key(row: &mut dyn Fetch, listing: &Listing) -> Result<Key, StorageError> {
    let Column { name, kind } = listing.sort;
    let key = match kind {
        Type::Time => row.time().map(|it| it.map(Key::Time)),
        Type::Date => row.date().map(|it| it.map(Key::Date)),
        Type::Text => row.text().map(|it| it.map(Key::Text)),
        Type::Int => row.int().map(|it| it.map(Key::Rank)),
        Type::Id | Type::Flag | Type::Ids | Type::Bytes => Err(format!("nothing is ordered by {kind:?}")),
    };
    let corrupt = |reason| StorageError::Corrupt { table: listing.table().name, column: name, reason };
    key.and_then(|it| it.ok_or_else(|| "null".to_owned())).map_err(corrupt)
}

/// The rows of a page, and one more if there is one.
pub(crate) fn rows<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    read: impl FnMut(&mut dyn Fetch) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    if !listing.conditions.iter().any(is_elsewhere) {
        return led(db, tenant, listing, Lead::Order, read);
    }
    // What was found out about the people must still hold for the rows.
    let moment = db.moment()?;
    rows_now(moment.0, tenant, listing, read)
}

/// The same, within a transaction.
fn rows_now<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    mut read: impl FnMut(&mut dyn Fetch) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let lead = ways::choose(db, tenant, listing)?;
    let rows = led(db, tenant, listing, lead, &mut read);
    match lead {
        Lead::Crowd(below) if !db.question().settle() => led(db, tenant, listing, Lead::Newest(below), read),
        Lead::Order | Lead::Crowd(_) | Lead::People(_) | Lead::Newest(_) | Lead::Tagged(_) => rows,
    }
}

/// The same rows, whatever leads to them.
pub(crate) fn led<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    lead: Lead<'_>,
    read: impl FnMut(&mut dyn Fetch) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let sql = statement(tenant, listing, lead);
    db.rows(sql, read)
}

/// The statement that reads them.
pub(crate) fn statement(tenant: Tenant, listing: &Listing, lead: Lead<'_>) -> Sql {
    let columns = columns(listing.table(), "t.");
    List { tenant, listing, columns, lead }.statement().finish()
}

struct List<'l> {
    tenant: Tenant,
    listing: &'l Listing,
    columns: String,
    lead: Lead<'l>,
}

impl List<'_> {
    fn statement(&self) -> Draft {
        let mut draft = Draft::default();
        match &self.listing.runs {
            None => self.run(&mut draft, None),
            Some((column, values)) => match values.as_slice() {
                [only] => self.run(&mut draft, Some((column.name, only))),
                many => self.merged(&mut draft, column.name, many),
            },
        }
        draft
    }

    /// One ordered and limited run per value; the sort value is the column behind those of the table.
    fn merged(&self, draft: &mut Draft, column: &str, values: &[Cell]) {
        for (index, value) in values.iter().enumerate() {
            draft.add(if index == 0 { "SELECT * FROM (" } else { ") UNION ALL SELECT * FROM (" });
            self.run(draft, Some((column, value)));
        }
        let by = read_of(self.listing.table()) + 1;
        let way = self.way();
        draft.add(&format!(") ORDER BY {by} {way}, 1 {way}")).with(" LIMIT ", self.most());
    }

    fn run(&self, draft: &mut Draft, run: Option<(&str, &Cell)>) {
        let (table, sort) = (self.listing.table(), self.listing.sort);
        draft.add(&format!("SELECT {}, t.{} FROM ", self.columns, sort.name));
        match self.lead {
            Lead::Order | Lead::Crowd(_) => {
                draft.add(table.name).add(" t");
                self.conditions(draft, run);
                self.order(draft).with(" LIMIT ", self.most());
                return;
            }
            Lead::People(below) => {
                draft.add("(SELECT t.rowid AS place FROM ");
                below.people(draft, self.tenant);
                draft.add(&format!(" CROSS JOIN {} t", table.name));
                self.conditions(draft, run);
                below.tie(draft);
            }
            Lead::Tagged(tags) => {
                draft.add("(SELECT t.rowid AS place FROM ");
                tags.owners(draft, self.tenant);
                draft.add(&format!(" CROSS JOIN {} t", table.name));
                self.conditions(draft, run);
                draft.add(" AND t.id = m.id");
            }
            Lead::Newest(below) => self.newest(draft, run, below),
        }
        // Only the places are sorted; the rows are fetched for those that are left.
        self.order(draft).with(" LIMIT ", self.most());
        draft.add(&format!(") p CROSS JOIN {} t ON t.rowid = p.place", table.name));
        self.order(draft);
    }

    /// Each person's first row gives the people whose rows can be on the page at all: as many people as the page has
    /// rows, and whoever ties with the last of them. So it does not matter how many rows a person has.
    fn newest(&self, draft: &mut Draft, run: Option<(&str, &Cell)>, below: Below<'_>) {
        let Below { column, .. } = below;
        let (name, sort, way) = (self.listing.table().name, self.listing.sort.name, self.way());
        let (than, beyond) = if self.listing.descending { (">=", i64::MIN) } else { ("<=", i64::MAX) };
        draft.add(&format!("(WITH firsts AS MATERIALIZED (SELECT l.person, (SELECT t.{sort} FROM {name} t"));
        self.conditions(draft, run);
        draft.add(&format!(" AND t.{column} = l.person"));
        self.order(draft).add(" LIMIT 1) AS first FROM ");
        below.people(draft, self.tenant);
        draft.add("), cut AS MATERIALIZED (SELECT coalesce((SELECT first FROM firsts WHERE first IS NOT NULL");
        draft.with(&format!(" ORDER BY first {way} LIMIT 1 OFFSET "), self.most() - 1).with("), ", beyond);
        draft.add(&format!(") AS last) SELECT t.rowid AS place FROM cut CROSS JOIN firsts CROSS JOIN {name} t"));
        self.conditions(draft, run);
        draft.add(&format!(" AND firsts.first {than} cut.last AND t.{column} = firsts.person"));
        draft.add(&format!(" AND t.{sort} {than} cut.last"));
    }

    fn conditions(&self, draft: &mut Draft, run: Option<(&str, &Cell)>) {
        draft.with(" WHERE t.tenant_id = ", self.tenant);
        if let Some((column, value)) = run {
            draft.with(&format!(" AND t.{column} = "), value);
        }
        for condition in &self.listing.conditions {
            if self.lead.covers(condition) {
                continue;
            }
            match condition {
                Condition::Is(column, value) => draft.with(&format!(" AND t.{} = ", column.name), value),
                Condition::OneOf(column, values) => draft.any_of(&format!(" AND t.{}", column.name), values),
                Condition::AtLeast(column, value) => draft.with(&format!(" AND t.{} >= ", column.name), value),
                Condition::AtMost(column, value) => draft.with(&format!(" AND t.{} <= ", column.name), value),
                Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                    let below = Below::of(condition, column.name, *manager);
                    ways::is_below(draft, self.tenant, below, self.lead.is_crowd(condition))
                }
                Condition::Without(column, manager) => ways::is_not_below(draft, self.tenant, column.name, *manager),
                Condition::Tagged(side, tags) => ways::is_tagged(draft, self.tenant, *side, tags),
            };
        }
        self.behind(draft);
    }

    fn behind(&self, draft: &mut Draft) {
        let Some((key, id)) = &self.listing.after else { return };
        let than = if self.listing.descending { "<" } else { ">" };
        if self.by_id() {
            draft.with(&format!(" AND t.id {than} "), *id);
        } else {
            draft.with(&format!(" AND ({}, t.id) {than} (", self.place()), key).with(", ", *id).add(")");
        }
    }

    fn order<'d>(&self, draft: &'d mut Draft) -> &'d mut Draft {
        let way = self.way();
        if self.by_id() {
            return draft.add(&format!(" ORDER BY t.id {way}"));
        }
        draft.add(&format!(" ORDER BY {} {way}, t.id {way}", self.place()))
    }

    /// What the list is sorted by. The rows of one person are few and led to by an index; the plus keeps SQLite from
    /// walking through everybody's because another index has the order.
    fn place(&self) -> String {
        let (sort, plus) = (self.listing.sort, if is_of_few(self.listing) { "+" } else { "" });
        format!("{plus}t.{}", sort.name)
    }

    fn by_id(&self) -> bool {
        self.listing.sort.name == "id"
    }

    const fn way(&self) -> &'static str {
        if self.listing.descending { "DESC" } else { "ASC" }
    }

    fn most(&self) -> i64 {
        i64::from(self.listing.limit) + 1
    }
}
