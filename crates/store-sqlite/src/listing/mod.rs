//! Pages of lists: ordered runs along an index, each from behind the last place, and put in one order.

pub(crate) mod plan;
pub(crate) mod slow;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::page::Key;
use candor_port_storage::StorageError;
use candor_tables::flat::{Cell, Column, Fetch, MemberTable, Type};
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::{RowFilter, RowSource, is_of_few};
use candor_tables::read::Found;

use crate::connection::limit::{self, Limit};
use crate::sql::{Db, Sql, Value};
use crate::statements::columns;
use crate::text::Draft;

/// A scan past the rows of others is given up after so many looks at its limit, some 10 ms: whoever looks for a team that
/// has long been silent must not read everyone else's rows.
const LOOKS_OF_A_SCAN: u32 = 100;

/// The first rows of what some lists hold together, and one more if there is one. The lists are in one order and have no
/// row in common. SQLite would put whole rows into a sorter to merge their runs, which costs as much as reading them.
pub(crate) fn merged(db: &mut Db, tenant: Tenant, listings: &[Listing]) -> Result<Vec<Found>, StorageError> {
    if let [only] = listings
        && !only.is_several_runs()
    {
        return rows(db, tenant, only, |row| Ok(only.kind.read(row)?));
    }
    // Of one moment: what moves from one of them to another meanwhile would be there twice, or not at all.
    let (moment, mut all) = (db.moment()?, vec![]);
    for it in listings {
        all.extend(rows(moment.0, tenant, it, |row| {
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

/// The first rows of each run of a list, one run after the other: as many as a page has, and one more if there is one.
pub(crate) fn rows<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    mut read: impl FnMut(&mut dyn Fetch) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let plan = plan::of(db, tenant, listing)?;
    let Some(then) = plan.then else { return rows_from(db, tenant, listing, &plan.first, read) };
    let scan = || rows_from(db, tenant, listing, &plan.first, &mut read);
    if let Some(found) = limit::within(Limit::Looks(LOOKS_OF_A_SCAN), scan) {
        return found;
    }
    rows_from(db, tenant, listing, &then, read)
}

/// The same rows, wherever they come from.
pub(crate) fn rows_from<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    source: &RowSource,
    mut read: impl FnMut(&mut dyn Fetch) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let mut runs = runs(listing);
    let Some(first) = runs.next() else { return Ok(vec![]) };
    let mut all = db.rows(statement(tenant, listing, source, first), &mut read)?;
    for run in runs {
        all.extend(db.rows(statement(tenant, listing, source, run), &mut read)?);
    }
    Ok(all)
}

/// A column and the value of it that all rows of a run have.
pub(crate) type Run<'l> = Option<(&'static str, &'l Cell)>;

/// The runs of a list.
pub(crate) fn runs(listing: &Listing) -> impl Iterator<Item = Run<'_>> {
    let of_values = listing.runs.iter().flat_map(|(column, values)| values.iter().map(|it| Some((column.name, it))));
    listing.runs.is_none().then_some(None).into_iter().chain(of_values)
}

/// The statement that reads a run; the sort value is the column behind those of the table.
pub(crate) fn statement(tenant: Tenant, listing: &Listing, source: &RowSource, run: Run<'_>) -> Sql {
    let columns = columns(listing.table(), "t.");
    let mut draft = Draft::default();
    List { tenant, listing, columns, source }.run(&mut draft, run);
    draft.finish()
}

struct List<'l> {
    tenant: Tenant,
    listing: &'l Listing,
    columns: String,
    source: &'l RowSource,
}

impl List<'_> {
    fn run(&self, draft: &mut Draft, run: Run<'_>) {
        let (table, sort) = (self.listing.table(), self.listing.sort);
        draft.add(&format!("SELECT {}, t.{} FROM ", self.columns, sort.name));
        let from = match self.source {
            RowSource::Scan(filter) => {
                draft.add(table.name).add(" t");
                self.conditions(draft, run, filter, None);
                self.order(draft).with(" LIMIT ", self.most());
                return;
            }
            RowSource::Gather(from) | RowSource::GatherFirsts(from) => *from,
        };
        let by_firsts = matches!(self.source, RowSource::GatherFirsts(_));
        match self.listing.conditions.get(from) {
            Some(condition @ (Condition::Within(column, manager) | Condition::Reach(column, manager))) => {
                let people = Below { column: column.name, manager: *manager, itself: itself(condition) };
                if by_firsts {
                    self.firsts(draft, run, from, people);
                } else {
                    draft.add("(SELECT t.rowid AS place FROM ");
                    people.list(draft, self.tenant);
                    draft.add(&format!(" CROSS JOIN {} t", table.name));
                    self.conditions(draft, run, &RowFilter::default(), Some(from));
                    draft.add(&format!(" AND t.{} = l.person", people.column));
                }
            }
            Some(Condition::Tagged(side, tags)) => {
                draft.add("(SELECT t.rowid AS place FROM (SELECT DISTINCT ");
                owners(draft, self.tenant, *side, tags);
                draft.add(&format!(") m CROSS JOIN {} t", table.name));
                self.conditions(draft, run, &RowFilter::default(), Some(from));
                draft.add(&format!(" AND t.id = m.{}", side.owner));
            }
            Some(Condition::Among(ids)) => {
                draft.with("(SELECT t.rowid AS place FROM (SELECT unhex(value) AS id FROM json_each(", hex(ids));
                draft.add(&format!(")) m CROSS JOIN {} t", table.name));
                self.conditions(draft, run, &RowFilter::default(), Some(from));
                draft.add(" AND t.id = m.id");
            }
            Some(
                Condition::Is(..)
                | Condition::IsNot(..)
                | Condition::OneOf(..)
                | Condition::AtLeast(..)
                | Condition::AtMost(..)
                | Condition::Without(..),
            )
            | None => {
                draft.add(&format!("(SELECT t.rowid AS place FROM {} t", table.name));
                self.conditions(draft, run, &RowFilter::default(), None);
            }
        }
        // Only the places are sorted; the rows are fetched for those that are left.
        self.order(draft).with(" LIMIT ", self.most());
        draft.add(&format!(") p CROSS JOIN {} t ON t.rowid = p.place", table.name));
        self.order(draft);
    }

    /// Each person's first row gives the people whose rows can be on the page at all: as many people as the page has
    /// rows, and whoever ties with the last of them. So it does not matter how many rows a person has.
    fn firsts(&self, draft: &mut Draft, run: Run<'_>, from: usize, people: Below) {
        let (column, filter) = (people.column, RowFilter::default());
        let (name, sort, way) = (self.listing.table().name, self.listing.sort.name, self.way());
        let (than, beyond) = if self.listing.descending { (">=", i64::MIN) } else { ("<=", i64::MAX) };
        draft.add(&format!("(WITH firsts AS MATERIALIZED (SELECT l.person, (SELECT t.{sort} FROM {name} t"));
        self.conditions(draft, run, &filter, Some(from));
        draft.add(&format!(" AND t.{column} = l.person"));
        self.order(draft).add(" LIMIT 1) AS first FROM ");
        people.list(draft, self.tenant);
        draft.add("), cut AS MATERIALIZED (SELECT coalesce((SELECT first FROM firsts WHERE first IS NOT NULL");
        draft.with(&format!(" ORDER BY first {way} LIMIT 1 OFFSET "), self.most() - 1).with("), ", beyond);
        draft.add(&format!(") AS last) SELECT t.rowid AS place FROM cut CROSS JOIN firsts CROSS JOIN {name} t"));
        self.conditions(draft, run, &filter, Some(from));
        draft.add(&format!(" AND firsts.first {than} cut.last AND t.{column} = firsts.person"));
        draft.add(&format!(" AND t.{sort} {than} cut.last"));
    }

    /// All conditions but the one that the rows come from. The pluses keep SQLite from turning a question round and walking
    /// through the people or tags instead.
    fn conditions(&self, draft: &mut Draft, run: Run<'_>, filter: &RowFilter, without: Option<usize>) {
        draft.with(" WHERE t.tenant_id = ", self.tenant);
        if let Some((column, value)) = run {
            draft.with(&format!(" AND t.{column} = "), value);
        }
        for (at, condition) in self.listing.conditions.iter().enumerate().filter(|(at, _)| Some(*at) != without) {
            let is_hashed = filter.hashed.contains(&at);
            match condition {
                Condition::Is(column, value) => draft.with(&format!(" AND t.{} = ", column.name), value),
                Condition::IsNot(column, value) => draft.with(&format!(" AND t.{} IS NOT ", column.name), value),
                Condition::OneOf(column, values) => draft.any_of(&format!(" AND t.{}", column.name), values),
                Condition::AtLeast(column, value) => draft.with(&format!(" AND t.{} >= ", column.name), value),
                Condition::AtMost(column, value) => draft.with(&format!(" AND t.{} <= ", column.name), value),
                Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                    let below = Below { column: column.name, manager: *manager, itself: itself(condition) };
                    below.is_met(draft, self.tenant, is_hashed)
                }
                Condition::Without(column, manager) => is_not_below(draft, self.tenant, column.name, *manager),
                Condition::Tagged(side, tags) => is_tagged(draft, self.tenant, *side, tags, is_hashed),
                // The rows come from these.
                Condition::Among(_) => draft,
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

/// Ids as a list of texts in JSON, so that any number of them makes one statement.
fn hex(ids: &[[u8; 16]]) -> Value {
    let digits = |id: &[u8; 16]| format!("\"{:032x}\"", u128::from_be_bytes(*id));
    Value::Text(format!("[{}]", ids.iter().map(digits).collect::<Vec<_>>().join(",")))
}

/// The people below a manager.
#[derive(Clone, Copy)]
struct Below {
    column: &'static str,
    manager: EmployeeId,
    /// Whether the manager counts as one of them.
    itself: bool,
}

const fn itself(condition: &Condition) -> bool {
    matches!(condition, Condition::Reach(..))
}

impl Below {
    /// The people, as `l.person`.
    fn list(&self, draft: &mut Draft, tenant: Tenant) {
        draft.with("(SELECT descendant_id AS person FROM reporting_lines WHERE tenant_id = ", tenant);
        draft.with(" AND ancestor_id = ", self.manager);
        if self.itself {
            draft.with(" UNION ALL SELECT ", self.manager);
        }
        draft.add(") l");
    }

    /// The column names one of them: looked up by an index for every row, or in a hash of all of them.
    fn is_met<'d>(&self, draft: &'d mut Draft, tenant: Tenant, is_hashed: bool) -> &'d mut Draft {
        let column = self.column;
        draft.add(" AND (");
        if self.itself {
            draft.with(&format!("+t.{column} = "), self.manager).add(" OR ");
        }
        let (before, behind) = if is_hashed {
            (format!("+t.{column} IN (SELECT l.descendant_id"), String::new())
        } else {
            ("EXISTS (SELECT 1".to_owned(), format!(" AND l.descendant_id = +t.{column}"))
        };
        draft.with(&format!("{before} FROM reporting_lines l WHERE l.tenant_id = "), tenant);
        draft.with(" AND l.ancestor_id = ", self.manager).add(&behind).add("))")
    }
}

/// The column names nobody below a manager.
fn is_not_below<'d>(draft: &'d mut Draft, tenant: Tenant, column: &str, manager: EmployeeId) -> &'d mut Draft {
    draft.with(" AND NOT EXISTS (SELECT 1 FROM reporting_lines l WHERE l.tenant_id = ", tenant);
    draft.with(" AND l.ancestor_id = ", manager).add(&format!(" AND l.descendant_id = +t.{column})"))
}

/// The ids of the rows with any of the tags; a row with several of them is named as often.
fn owners<'d>(draft: &'d mut Draft, tenant: Tenant, side: MemberTable, tags: &[[u8; 16]]) -> &'d mut Draft {
    let MemberTable { name, owner, member } = side;
    draft.with(&format!("{owner} FROM {name} WHERE tenant_id = "), tenant);
    draft.any_of(&format!(" AND {member}"), tags.iter().copied())
}

/// The row has one of the tags.
fn is_tagged<'d>(
    draft: &'d mut Draft,
    tenant: Tenant,
    side: MemberTable,
    tags: &[[u8; 16]],
    is_hashed: bool,
) -> &'d mut Draft {
    if is_hashed {
        draft.add(" AND +t.id IN (SELECT ");
        return owners(draft, tenant, side, tags).add(")");
    }
    draft.with(&format!(" AND EXISTS (SELECT 1 FROM {} m WHERE m.tenant_id = ", side.name), tenant);
    draft
        .any_of(&format!(" AND m.{}", side.member), tags.iter().copied())
        .add(&format!(" AND m.{} = +t.id)", side.owner))
}
