//! Mapping of observations, and their lists.

use candor_domain::fields::Word;
use candor_domain::id::{EmployeeId, Id, ObservationKind};
use candor_domain::observation::{Filter, Observation, Visibility};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::search::Searchable;
use candor_domain::visibility::{Readers, Viewer};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, MemberTable, Reader, Stored, Table, Type};
use crate::listing::{Condition, Listing, OBSERVATION_DATE, TypedListing, UPDATED_AT, sort_column};
use crate::read::StoredReaders;

/// Side table of the attributes.
const TAGS: MemberTable =
    MemberTable { name: "observation_attributes", owner: "observation_id", member: "attribute_id" };

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("employee_id", Type::Id),
        column("author_id", Type::Id),
        column("type", Type::Text),
        column("observation", Type::Text),
        column("impact", Type::Text),
        column("recommended_action", Type::Text),
        column("attribute_ids", Type::Ids),
        column("observation_date", Type::Date),
        column("visibility", Type::Text),
        column("requester_id", Type::Id),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
        column("archived_at", Type::Time),
    ],
    derived: &[column("archived", Type::Flag)],
    members: Some(TAGS),
    indexes: &[
        Index::on(&["archived", "observation_date", "id", "employee_id"]),
        Index::on(&["archived", "created_at", "id", "employee_id"]),
        Index::on(&["archived", "updated_at", "id", "employee_id"]),
        Index::on(&["employee_id", "archived", "observation_date", "id"]).to_firsts().to_few(),
        Index::on(&["author_id", "archived", "observation_date", "id"]).to_few(),
        Index::on(&["requester_id", "archived", "observation_date", "id"]).to_few(),
    ],
    looked_at: &["requester_id", "visibility"],
    shares_commits: true,
    ..Table::named("observations")
};

impl Stored for Observation {
    type Kind = ObservationKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.employee_id);
        out.opt_id(self.author_id);
        out.word(self.kind);
        out.text(&self.observation);
        out.opt_text(self.impact.as_ref());
        out.opt_text(self.recommended_action.as_ref());
        out.ids(&self.attribute_ids);
        out.put(Cell::Date(self.observation_date));
        out.word(self.visibility);
        out.opt_id(self.requester_id);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.opt_time(self.archived_at);
        out.put(Cell::Flag(self.archived_at.is_some()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        Ok(Self {
            id: row.id()?,
            employee_id: row.id()?,
            author_id: row.opt_id()?,
            kind: row.word()?,
            observation: row.text()?,
            impact: row.opt_text()?,
            recommended_action: row.opt_text()?,
            attribute_ids: row.ids()?,
            observation_date: row.date()?,
            visibility: row.word()?,
            requester_id: row.opt_id()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_at: row.opt_time()?,
        })
    }

    fn is_searched(&self) -> bool {
        Searchable::is_found(self)
    }

    fn members(&self) -> Vec<[u8; 16]> {
        self.attribute_ids.iter().map(|it| it.to_bytes()).collect()
    }
}

impl StoredReaders for Observation {
    const READERS: &'static Table = &Table {
        columns: &[
            column("id", Type::Id),
            column("employee_id", Type::Id),
            column("author_id", Type::Id),
            column("requester_id", Type::Id),
            column("visibility", Type::Text),
        ],
        versioned: false,
        ..Table::named("observations")
    };

    fn read_readers(row: &mut Reader<'_>) -> Result<Readers, Corrupt> {
        Ok(Readers::for_observation(row.id()?, row.opt_id()?, row.opt_id()?, row.word()?))
    }
}

/// Part of the visible observations that one list contains.
#[derive(Debug, Clone, Copy)]
enum Part {
    Everything,
    /// Observations about people who report to this person.
    AboutReports(EmployeeId),
    /// Observations by this person about people who do not report to them.
    WrittenBy(EmployeeId),
    /// Observations about this person by other authors that the person may see.
    ShownTo(EmployeeId),
    /// Observations by other authors, submitted to an assignment of this person, about people who do not
    /// report to them.
    RequestedBy(EmployeeId),
    /// Observations about this person by other authors, submitted to an assignment of the same person and
    /// visible to managers only.
    RequestedAboutOneself(EmployeeId),
}

/// Lists of `GET /observations` that together contain what the viewer may see (§4.1, decision B5). No
/// observation is in two of them.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Observation> {
    let parts = viewer.person().map_or(vec![Part::Everything], |person| {
        vec![
            Part::AboutReports(person),
            Part::WrittenBy(person),
            Part::ShownTo(person),
            Part::RequestedBy(person),
            Part::RequestedAboutOneself(person),
        ]
    });
    TypedListing::of(parts.into_iter().filter_map(|part| list_part(filter, part, sort, page)).collect())
}

/// Returns the list of one part, or `None` if the filter excludes all of it.
fn list_part(filter: &Filter, part: Part, sort: Sort, page: &PageRequest) -> Option<Listing> {
    let (about, by) = (column("employee_id", Type::Id), column("author_id", Type::Id));
    let (requester, visibility) = (column("requester_id", Type::Id), column("visibility", Type::Text));
    let mut list = Listing::new::<Observation>(sort, page);
    let mut employee = filter.employee_id;
    list.archived(filter.archived);
    match part {
        Part::Everything => {}
        Part::AboutReports(person) => list.conditions.push(Condition::Within(about, person)),
        Part::WrittenBy(person) => {
            list.is(by, Some(person));
            list.conditions.push(Condition::Without(about, person));
        }
        Part::ShownTo(person) | Part::RequestedAboutOneself(person) => {
            if *employee.get_or_insert(person) != person {
                return None;
            }
            list.is_not(by, person);
            let is_shown = matches!(part, Part::ShownTo(_));
            if !is_shown {
                list.is(requester, Some(person));
            }
            let wanted = if is_shown { Visibility::Person } else { Visibility::Managers };
            list.is(visibility, Some(wanted.word().to_owned()));
        }
        Part::RequestedBy(person) if employee == Some(person) => return None,
        Part::RequestedBy(person) => {
            list.is(requester, Some(person));
            list.is_not(by, person);
            list.is_not(about, person);
            list.conditions.push(Condition::Without(about, person));
        }
    }
    list.is(about, employee);
    list.conditions.extend(filter.manager_id.map(|manager| Condition::Within(about, manager)));
    list.words(column("type", Type::Text), filter.kind.iter().map(|kind| kind.word()));
    list.tagged(TAGS, filter.attribute_ids.iter().map(|attribute| attribute.to_bytes()));
    list.within(OBSERVATION_DATE, filter.observation_date, Cell::Date);
    list.within(sort_column(SortBy::CreatedAt), filter.created_at, Cell::Time);
    list.within(UPDATED_AT, filter.updated_at, Cell::Time);
    Some(list)
}
