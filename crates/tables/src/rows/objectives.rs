//! Mapping of objectives, and their lists.

use candor_domain::fields::Word;
use candor_domain::id::{Id, ObjectiveKind};
use candor_domain::objective::{Family, Filter, Objective, Scope, Status};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::search::Searchable;
use candor_domain::visibility::{Readers, Viewer};

use super::column;
use super::summaries::INCLUDES;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Column, Index, Reader, Related, Stored, Table, Type};
use crate::listing::{Condition, Listing, TypedListing, UPDATED_AT, sort_column};
use crate::read::By;
use crate::read::StoredReaders;

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("scope", Type::Text),
        column("owner_id", Type::Id),
        column("title", Type::Text),
        column("description", Type::Text),
        column("status", Type::Text),
        column("period_start", Type::Date),
        column("period_end", Type::Date),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("submitted_at", Type::Time),
        column("approved_at", Type::Time),
        column("completed_at", Type::Time),
        column("reviewed", Type::Text),
        column("held_back", Type::Flag),
    ],
    derived: &[column("shelf", Type::Text), column("scope_status", Type::Text), column("due_on", Type::Date)],
    related: &[Related {
        name: "linked_summary_ids",
        members: INCLUDES,
        by: INCLUDES.member,
        ids: INCLUDES.owner,
        column: None,
        table: "summaries",
        archived: false,
    }],
    indexes: &[
        Index::on(&["shelf", "period_end", "id"]),
        Index::on(&["scope_status", "period_end", "id"]),
        Index::on(&["shelf", "created_at", "id"]),
        Index::on(&["scope_status", "created_at", "id"]),
        Index::on(&["shelf", "updated_at", "id"]),
        Index::on(&["scope_status", "updated_at", "id"]),
        Index::on(&["owner_id", "scope_status", "period_end", "id"]).to_few(),
    ],
    parameters: &[("shelf", "status"), ("scope_status", "status")],
    shares_commits: true,
    ..Table::named("objectives")
};

/// Lookup of the objectives that start automatically (decision C3).
pub const STARTS_ON: By<Objective> = By::column("due_on", Type::Date);

/// Returns the index value that makes the default list of a family, its unarchived objectives, a single run.
fn shelf(scope: Scope, archived: bool) -> String {
    let family = if scope == Scope::Employee { "employee" } else { "manager" };
    if archived { format!("{family}/archived") } else { family.to_owned() }
}

/// Returns the index value for all other lists, which have one run per scope and status.
fn scope_status(scope: Scope, status: Status) -> String {
    format!("{}/{}", scope.word(), status.word())
}

impl Stored for Objective {
    type Kind = ObjectiveKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.word(self.scope);
        out.id(self.owner_id);
        out.text(&self.title);
        out.opt_text(self.description.as_ref());
        out.word(self.status);
        out.put(Cell::Date(self.period_start));
        out.put(Cell::Date(self.period_end));
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.submitted_at);
        out.opt_time(self.approved_at);
        out.opt_time(self.completed_at);
        out.opt_json(self.reviewed.as_ref());
        out.put(Cell::Flag(self.held_back));
        out.text(shelf(self.scope, self.status == Status::Archived));
        out.text(scope_status(self.scope, self.status));
        out.put(self.starts_on().map_or(Cell::Null(Type::Date), Cell::Date));
    }

    fn is_searched(&self) -> bool {
        Searchable::is_found(self)
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let mut it = Self {
            id: row.id()?,
            scope: row.word()?,
            owner_id: row.id()?,
            title: row.text()?,
            description: row.opt_text()?,
            status: row.word()?,
            period_start: row.date()?,
            period_end: row.date()?,
            linked_summary_ids: vec![],
            created_at: row.time()?,
            updated_at: row.time()?,
            submitted_at: row.opt_time()?,
            approved_at: row.opt_time()?,
            completed_at: row.opt_time()?,
            reviewed: row.opt_parse(|text| serde_json::from_str(text).ok())?,
            held_back: row.flag()?,
        };
        it.linked_summary_ids = row.related_ids()?;
        Ok(it)
    }
}

impl StoredReaders for Objective {
    const READERS: &'static Table = &Table {
        columns: &[column("id", Type::Id), column("scope", Type::Text), column("owner_id", Type::Id)],
        versioned: false,
        ..Table::named("objectives")
    };

    fn read_readers(row: &mut Reader<'_>) -> Result<Readers, Corrupt> {
        Ok(Readers::for_objective(row.word()?, row.id()?))
    }
}

/// Lists of `GET /employee-objectives` and `GET /manager-objectives` that together contain what the caller
/// may see (§4.2, decision B5).
///
/// A person sees the objectives of themselves, of the people below them, and of the whole organization. No
/// objective is in both lists.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Objective> {
    let owner = column("owner_id", Type::Id);
    let list = |scopes: &[Scope]| {
        let mut it = Listing::new::<Objective>(sort, page);
        it.runs = Some(runs(filter, scopes, filter.owner_id.is_some()));
        it.is(owner, filter.owner_id);
        it.within(column("period_start", Type::Date), filter.period_start, Cell::Date);
        it.within(sort_column(SortBy::PeriodEnd), filter.period_end, Cell::Date);
        it.within(UPDATED_AT, filter.updated_at, Cell::Time);
        it
    };
    let Viewer::Person(person) = viewer else {
        return TypedListing::of(if filter.scopes.is_empty() { vec![] } else { vec![list(&filter.scopes)] });
    };
    let (everyones, personal): (Vec<_>, Vec<_>) = filter.scopes.iter().partition(|it| **it == Scope::Org);
    let mut lists = vec![];
    if !personal.is_empty() {
        let mut theirs = list(&personal);
        // Rows of a scan are looked up one by one, so a single run is better, even if it includes those of
        // the organization.
        if let Some(shelves) = shelves(filter, filter.scopes.as_slice()).filter(|_| filter.owner_id.is_none()) {
            theirs.runs = Some(shelves);
            if !everyones.is_empty() {
                theirs.words(column("scope", Type::Text), personal.iter().map(|it| it.word()));
            }
        }
        theirs.conditions.push(Condition::Reach(owner, person));
        lists.push(theirs);
    }
    if !everyones.is_empty() {
        lists.push(list(&everyones));
    }
    TypedListing::of(lists)
}

/// Returns the runs of a list: one for all unarchived objectives of a family, otherwise one per scope and
/// status. The index by owner is ordered by scope and status, so lists of one person always have several
/// runs.
fn runs(filter: &Filter, scopes: &[Scope], of_one_person: bool) -> (Column, Vec<Cell>) {
    if let Some(shelves) = shelves(filter, scopes).filter(|_| !of_one_person) {
        return shelves;
    }
    let pairs = scopes.iter().flat_map(|scope| filter.statuses.iter().map(|status| scope_status(*scope, *status)));
    (column("scope_status", Type::Text), pairs.map(Cell::Text).collect())
}

/// Returns the runs of a whole family, or `None` if the list is restricted to a part of it.
fn shelves(filter: &Filter, scopes: &[Scope]) -> Option<(Column, Vec<Cell>)> {
    let open = Status::ALL.iter().filter(|it| **it != Status::Archived).all(|it| filter.statuses.contains(it));
    let family = Family::ALL.into_iter().find(|it| open && it.scopes() == scopes)?;
    let archived = filter.statuses.contains(&Status::Archived);
    let shelves = [false, true].into_iter().filter(|it| !*it || archived);
    let cells = shelves.map(|it| Cell::Text(shelf(family.default_scope(), it))).collect();
    Some((column("shelf", Type::Text), cells))
}
