//! Pages of lists: one ordered run per index range, starting after the cursor, merged into one order.

pub(crate) mod counts;
pub(crate) mod plan;
pub(crate) mod slow;
pub(crate) mod teams;

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_domain::page::Key;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_tables::flat::{CellReader, Column, MemberTable, SqlValue, Type};
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::{RowFilter, RowSource, is_of_few};
use candor_tables::read::AnyStored;

use crate::sql::limit::{self, Limit};
use crate::sql::{Db, Sql, Value};
use crate::statements::columns;
use crate::text::Draft;
use teams::{PeopleBelow, TeamSource};

/// Number of progress calls after which a scan over other people's rows is interrupted: about 10 ms. A list of a
/// long inactive team must not read the rows of the whole tenant.
const LOOKS_OF_A_SCAN: u32 = 100;

/// Returns the rows of a page of several lists together, and the row after the page, if any. The lists have the
/// same order and no row in common. The merge happens here, because SQLite would put whole rows into a sorter,
/// which costs as much as reading them.
pub(crate) fn read_merged(db: &mut Db, tenant: Tenant, listings: &[Listing]) -> Read<Vec<AnyStored>> {
    if let [only] = listings
        && !only.has_several_runs()
    {
        return rows(db, tenant, only, |row| Ok(only.kind.read(row)?));
    }
    // One read transaction. Otherwise a row that a change moves from one list to another could appear twice or not
    // at all.
    let (moment, mut all) = (db.moment()?, vec![]);
    for it in listings {
        all.extend(rows(moment.0, tenant, it, |row| {
            let row_value = it.kind.read(row)?;
            Ok(((key(row, it)?, row_value.id), row_value))
        })?);
    }
    let is_descending = listings.iter().any(|listing| listing.descending);
    all.sort_by(|(a, _), (b, _)| if is_descending { b.cmp(a) } else { a.cmp(b) });
    all.truncate(listings.first().map_or(0, |listing| usize::from(listing.limit) + 1));
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// Reads the sort value of a row, which follows the columns of its table.
fn key(row: &mut dyn CellReader, listing: &Listing) -> Read<Key> {
    let Column { name, kind, .. } = listing.sort;
    let key = match kind {
        Type::Time => row.time().map(|time| time.map(Key::Time)),
        Type::Date => row.date().map(|date| date.map(Key::Date)),
        Type::Text => row.text().map(|text| text.map(Key::Text)),
        Type::Int => row.int().map(|number| number.map(Key::Rank)),
        // The id, which breaks ties, alone orders the rows.
        Type::Id => return Ok(Key::Rank(0)),
        Type::Flag | Type::Ids | Type::Bytes => Err(format!("nothing is ordered by {kind:?}")),
    };
    let corrupt = |reason| StorageError::Corrupt { table: listing.table().name, column: name, reason };
    key.and_then(|key| key.ok_or_else(|| "null".to_owned())).map_err(corrupt)
}

/// Returns the first rows of each run, one run after the other: at most as many for each run as a page has, and
/// the row after them.
pub(crate) fn rows<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    mut read: impl FnMut(&mut dyn CellReader) -> Read<T>,
) -> Read<Vec<T>> {
    let teams = TeamSource::for_lists(db, tenant, std::slice::from_ref(listing))?;
    let plan = plan::plan_list(db, tenant, listing, teams)?;
    let Some(then) = plan.then else { return rows_from(db, tenant, listing, (&plan.first, teams), read) };
    let scan = || rows_from(db, tenant, listing, (&plan.first, teams), &mut read);
    if let Some(limited_rows) = limit::run_within(Limit::Looks(LOOKS_OF_A_SCAN), scan) {
        return limited_rows;
    }
    rows_from(db, tenant, listing, (&then, teams), read)
}

/// Variant of [`rows`] for a given row source.
pub(crate) fn rows_from<T>(
    db: &mut Db,
    tenant: Tenant,
    listing: &Listing,
    source: (&RowSource, TeamSource),
    mut read: impl FnMut(&mut dyn CellReader) -> Read<T>,
) -> Read<Vec<T>> {
    let mut runs = runs(listing);
    let Some(first) = runs.next() else { return Ok(vec![]) };
    let mut all = db.rows(statement(tenant, listing, source, first), &mut read)?;
    for run in runs {
        all.extend(db.rows(statement(tenant, listing, source, run), &mut read)?);
    }
    Ok(all)
}

/// The column and the value that all rows of a run share.
pub(crate) type Run<'l> = Option<(&'static str, &'l SqlValue)>;

/// Returns the runs of a list.
pub(crate) fn runs(listing: &Listing) -> impl Iterator<Item = Run<'_>> {
    let of_values =
        listing.runs.iter().flat_map(|(column, values)| values.iter().map(|value| Some((column.name, value))));
    listing.runs.is_none().then_some(None).into_iter().chain(of_values)
}

/// Builds the statement that reads a run. The sort value follows the columns of the table.
pub(crate) fn statement(
    tenant: Tenant,
    listing: &Listing,
    (source, teams): (&RowSource, TeamSource),
    run: Run<'_>,
) -> Sql {
    let columns = columns(listing.table(), "t.");
    let mut draft = Draft::default();
    List { tenant, listing, columns, source, teams }.run(&mut draft, run);
    draft.finish()
}

struct List<'l> {
    tenant: Tenant,
    listing: &'l Listing,
    columns: String,
    source: &'l RowSource,
    teams: TeamSource,
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
                let people = self.people_below(condition, *manager);
                if by_firsts {
                    self.firsts(draft, run, from, (column.name, people));
                } else {
                    draft.add("(SELECT t.rowid AS place FROM (");
                    people.select(draft, self.tenant);
                    draft.add(&format!(") l CROSS JOIN {} t", table.name));
                    self.conditions(draft, run, &RowFilter::default(), Some(from));
                    draft.add(&format!(" AND t.{} = l.person", column.name));
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
        // Only row ids are sorted; the rows are fetched for the ones that remain.
        self.order(draft).with(" LIMIT ", self.most());
        draft.add(&format!(") p CROSS JOIN {} t ON t.rowid = p.place", table.name));
        self.order(draft);
    }

    /// Adds the row source that begins with the first row of each person. These rows determine the people whose
    /// rows can be on the page: as many as the page has rows, plus ties with the last of them. Therefore the
    /// number of rows per person does not matter.
    fn firsts(&self, draft: &mut Draft, run: Run<'_>, from: usize, (column, people): (&str, PeopleBelow)) {
        let filter = RowFilter::default();
        let (name, sort, way) = (self.listing.table().name, self.listing.sort.name, self.way());
        let (than, beyond) = if self.listing.descending { (">=", i64::MIN) } else { ("<=", i64::MAX) };
        draft.add(&format!("(WITH firsts AS MATERIALIZED (SELECT l.person, (SELECT t.{sort} FROM {name} t"));
        self.conditions(draft, run, &filter, Some(from));
        draft.add(&format!(" AND t.{column} = l.person"));
        self.order(draft).add(" LIMIT 1) AS first FROM (");
        people.select(draft, self.tenant);
        draft.add(") l), cut AS MATERIALIZED (SELECT coalesce((SELECT first FROM firsts WHERE first IS NOT NULL");
        draft.with(&format!(" ORDER BY first {way} LIMIT 1 OFFSET "), self.most() - 1).with("), ", beyond);
        draft.add(&format!(") AS last) SELECT t.rowid AS place FROM cut CROSS JOIN firsts CROSS JOIN {name} t"));
        self.conditions(draft, run, &filter, Some(from));
        draft.add(&format!(" AND firsts.first {than} cut.last AND t.{column} = firsts.person"));
        draft.add(&format!(" AND t.{sort} {than} cut.last"));
    }

    /// Adds all conditions except the one that is the row source. The unary pluses keep SQLite from driving
    /// the query by the people or the tags instead.
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
                    self.people_below(condition, *manager).is_met(draft, self.tenant, column.name, is_hashed)
                }
                Condition::Without(column, manager) => {
                    self.people_below(condition, *manager).is_unmet(draft, self.tenant, column.name)
                }
                Condition::Tagged(side, tags) => is_tagged(draft, self.tenant, *side, tags, is_hashed),
                // Nothing to add: the statement starts from the rows of this condition.
                Condition::Among(_) => draft,
            };
        }
        self.restrict_to_start(draft);
    }

    const fn people_below(&self, condition: &Condition, manager: EmployeeId) -> PeopleBelow {
        PeopleBelow { source: self.teams, manager, itself: includes_manager(condition) }
    }

    fn restrict_to_start(&self, draft: &mut Draft) {
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

    /// Returns the sort column. If an index leads to the few rows of one person, the column gets a unary plus:
    /// without the plus, SQLite might scan all rows in the order of another index.
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

/// Encodes ids as a JSON list of texts, so that lists of any length share one statement.
fn hex(ids: &[[u8; 16]]) -> Value {
    let digits = |id: &[u8; 16]| format!("\"{:032x}\"", u128::from_be_bytes(*id));
    Value::Text(format!("[{}]", ids.iter().map(digits).collect::<Vec<_>>().join(",")))
}

const fn includes_manager(condition: &Condition) -> bool {
    matches!(condition, Condition::Reach(..))
}

/// Adds a query for the ids of the rows with any of the tags; a row with several of them appears several
/// times.
fn owners<'d>(draft: &'d mut Draft, tenant: Tenant, side: MemberTable, tags: &[[u8; 16]]) -> &'d mut Draft {
    let MemberTable { name, owner, member } = side;
    draft.with(&format!("{owner} FROM {name} WHERE tenant_id = "), tenant);
    draft.any_of(&format!(" AND {member}"), tags.iter().copied())
}

/// Adds the condition that the row has one of the tags.
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
