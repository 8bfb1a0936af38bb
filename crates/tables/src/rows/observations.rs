//! Mapping of observations, and their lists.

use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeId, ObservationId, ObservationKind};
use candor_domain::keyed::KeyedMap;
use candor_domain::observation::{Filter, Observation, ObservationGroup, Visibility};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::search::Searchable;
use candor_domain::visibility::{Readers, Viewer};

use super::{EXTERNAL_ID, METADATA_FILTER, column};
use crate::counts::GroupKey;
use crate::flat::{Index, MemberTable, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, OBSERVATION_DATE, TypedListing, UPDATED_AT, sort_column};
use crate::read::LookupColumn;
use crate::stored::{columns_read, stored};

/// Side table of the attributes of observations.
const TAGS: MemberTable =
    MemberTable { name: "observation_attributes", owner: "observation_id", member: "attribute_id" };
/// Side table of the metadata of observations, as digests.
const METADATA: MemberTable =
    MemberTable { name: "observation_metadata_values", owner: "observation_id", member: "digest" };

stored! {
    Observation, id: ObservationKind, row: observation;
    columns {
        id: IdColumn,
        employee_id: IdColumn,
        author_id: Option<IdColumn>,
        type as kind: OneOfColumn,
        observation: TextColumn,
        impact: Option<TextColumn>,
        recommended_action: Option<TextColumn>,
        attribute_ids: IdsColumn,
        observation_date: DateColumn,
        visibility: OneOfColumn,
        requester_id: Option<IdColumn>,
        created_at: Time,
        updated_at: Time,
        archived_at: Option<Time>,
        metadata: Json,
        external_id: Option<TextColumn>,
    }
    derived { archived: FlagColumn = observation.archived_at.is_some() }
    table Table {
        members: &[TAGS, METADATA],
        indexes: &[
            Index::of_columns(&["archived", "observation_date", "id", "employee_id"]),
            Index::of_columns(&["archived", "type", "observation_date", "id", "employee_id"]),
            Index::of_columns(&["archived", "created_at", "id", "employee_id"]),
            Index::of_columns(&["archived", "updated_at", "id", "employee_id"]),
            Index::of_columns(&["employee_id", "archived", "observation_date", "id"]).to_firsts().to_few(),
            Index::of_columns(&["author_id", "archived", "observation_date", "id"]).to_few(),
            Index::of_columns(&["requester_id", "archived", "observation_date", "id"]).to_few(),
            Index::unique(&["external_id"]),
        ],
        parameters: &[METADATA_FILTER],
        looked_at: &["requester_id", "visibility"],
        shares_commits: true,
        ..Table::with_name("observations")
    };
    also {
        fn is_searched(&self) -> bool {
            Searchable::is_found(self)
        }

        fn members(&self) -> Vec<Vec<[u8; 16]>> {
            vec![self.attribute_ids.iter().map(|id| id.to_bytes()).collect(), self.metadata.digests()]
        }
    }
}

columns_read! {
    const READER_COLUMNS;
    fn read_readers -> (ObservationId, Readers);
    id: IdColumn,
    employee_id: IdColumn,
    author_id: Option<IdColumn>,
    requester_id: Option<IdColumn>,
    visibility: OneOfColumn,
    => (id, Readers::for_observation(employee_id, author_id, requester_id, visibility))
}

readers!(Observation);

/// Lookup by id in another system.
pub const BY_EXTERNAL_ID: LookupColumn<Observation> = LookupColumn::column("external_id", Type::Text);

/// Returns the column or side table by which rows are counted for this grouping of observations.
#[must_use]
pub const fn group_key(group: ObservationGroup) -> GroupKey {
    match group {
        ObservationGroup::Type => GroupKey::Column(column("type", Type::Text)),
        ObservationGroup::AttributeId => GroupKey::Tag(TAGS),
        ObservationGroup::Month => GroupKey::Month(OBSERVATION_DATE),
        ObservationGroup::DepartmentId => {
            GroupKey::Related { by: column("employee_id", Type::Id), table: "employees", column: "department_id" }
        }
    }
}

/// A part of the observations, which one list returns.
#[derive(Debug, Clone, Copy)]
enum Part {
    Everything,
    /// Observations about people who report to this person.
    AboutReports(EmployeeId),
    /// Observations by this person about people who do not report to them.
    WrittenBy(EmployeeId),
    /// Observations about this person that other people wrote and that are visible to the subject.
    ShownTo(EmployeeId),
    /// Observations submitted to an assignment requested by this person and visible to the subject. Other people
    /// wrote them, about people who do not report to the requester.
    RequestedBy(EmployeeId),
}

/// List of the observations that the viewer may see, for `GET /observations` (§4.1, decision B5). Its parts have
/// no observation in common.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Observation> {
    let parts = viewer.person().map_or(vec![Part::Everything], |person| {
        vec![Part::AboutReports(person), Part::WrittenBy(person), Part::ShownTo(person), Part::RequestedBy(person)]
    });
    TypedListing::from_parts(parts.into_iter().filter_map(|part| list_part(filter, part, sort, page)).collect())
}

/// Returns the list of one part; `None` if the filter excludes all of it.
fn list_part(filter: &Filter, part: Part, sort: Sort, page: &PageRequest) -> Option<Listing> {
    let (about, by) = (column("employee_id", Type::Id), column("author_id", Type::Id));
    let (requester, visibility) = (column("requester_id", Type::Id), column("visibility", Type::Text));
    let mut list = Listing::new::<Observation>(sort, page);
    let mut employee = filter.employee_id;
    list.restrict_to_archived(filter.archived);
    match part {
        Part::Everything => {}
        Part::AboutReports(person) => list.conditions.push(Condition::Within(about, person)),
        Part::WrittenBy(person) => {
            list.is(by, Some(person));
            list.conditions.push(Condition::Without(about, person));
        }
        Part::ShownTo(person) => {
            if *employee.get_or_insert(person) != person {
                return None;
            }
            list.is_not(by, person);
            list.is(visibility, Some(Visibility::Person.word().to_owned()));
        }
        Part::RequestedBy(person) if employee == Some(person) => return None,
        Part::RequestedBy(person) => {
            list.is(requester, Some(person));
            list.is(visibility, Some(Visibility::Person.word().to_owned()));
            list.is_not(by, person);
            list.is_not(about, person);
            list.conditions.push(Condition::Without(about, person));
        }
    }
    list.is(about, employee);
    list.conditions.extend(filter.manager_id.map(|manager| Condition::Within(about, manager)));
    list.words(column("type", Type::Text), filter.kind.iter().map(|kind| kind.word()));
    list.restrict_to_tags(TAGS, filter.attribute_ids.iter().map(|attribute| attribute.to_bytes()));
    list.restrict_to_digests(METADATA, &filter.metadata);
    list.is(EXTERNAL_ID, filter.external_id.clone());
    list.restrict_to_bounds(OBSERVATION_DATE, filter.observation_date, SqlValue::Date);
    list.restrict_to_bounds(sort_column(SortBy::CreatedAt), filter.created_at, SqlValue::Time);
    list.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    Some(list)
}
