//! Mapping of objectives, and their lists.

use candor_domain::fields::StringEnum;
use candor_domain::id::{ObjectiveId, ObjectiveKind};
use candor_domain::keyed::KeyedMap;
use candor_domain::objective::{Family, Filter, Objective, ObjectiveGroup, Scope, Status};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::search::Searchable;
use candor_domain::time::Timestamp;
use candor_domain::visibility::{Readers, Viewer};

use super::summaries::INCLUDES;
use super::{EXTERNAL_ID, METADATA_FILTER, column};
use crate::counts::GroupKey;
use crate::flat::{Column, Index, MemberTable, Related, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, STATUS, TypedListing, UPDATED_AT, sort_column};
use crate::read::LookupColumn;
use crate::stored::{columns_read, stored};

/// Relation to the summaries that include an objective.
const LINKED_SUMMARIES: Related = Related {
    name: "linked_summary_ids",
    members: INCLUDES,
    by: INCLUDES.member,
    ids: INCLUDES.owner,
    column: None,
    table: "summaries",
    archived: false,
};

/// Side table of the metadata of objectives, as digests.
const METADATA: MemberTable =
    MemberTable { name: "objective_metadata_values", owner: "objective_id", member: "digest" };

stored! {
    Objective, id: ObjectiveKind, row: objective;
    columns {
        id: IdColumn,
        scope: OneOfColumn,
        owner_id: IdColumn,
        title: TextColumn,
        description: Option<TextColumn>,
        status: OneOfColumn,
        period_start: DateColumn,
        period_end: DateColumn,
        created_at: Time,
        updated_at: Time,
        submitted_at: Option<Time>,
        approved_at: Option<Time>,
        completed_at: Option<Time>,
        reviewed: Option<Json>,
        held_back: FlagColumn,
        metadata: Json,
        external_id: Option<TextColumn>,
        changed_since_approval: Option<FlagColumn> = Some(objective.changed_since_approval),
    }
    derived {
        shelf: TextColumn = shelf(objective.scope, objective.status == Status::Archived),
        scope_status: TextColumn = scope_status(objective.scope, objective.status),
        due_on: Option<DateColumn> = objective.starts_on(),
    }
    related { linked_summary_ids = LINKED_SUMMARIES }
    fields { linked_summary_ids, changed_since_approval: changed_since_approval.unwrap_or_default() }
    table Table {
        members: &[METADATA],
        indexes: &[
            Index::on(&["shelf", "period_end", "id"]),
            Index::on(&["scope_status", "period_end", "id"]),
            Index::on(&["shelf", "created_at", "id"]),
            Index::on(&["scope_status", "created_at", "id"]),
            Index::on(&["shelf", "updated_at", "id"]),
            Index::on(&["scope_status", "updated_at", "id"]),
            Index::on(&["owner_id", "scope_status", "period_end", "id"]).to_few(),
            Index::unique(&["external_id"]),
        ],
        parameters: &[("shelf", "status"), ("scope_status", "status"), METADATA_FILTER],
        shares_commits: true,
        ..Table::named("objectives")
    };
    also {
        fn is_searched(&self) -> bool {
            Searchable::is_found(self)
        }

        fn members(&self) -> Vec<Vec<[u8; 16]>> {
            vec![self.metadata.digests()]
        }
    }
}

columns_read! {
    const READER_COLUMNS;
    fn read_readers -> (ObjectiveId, Readers);
    id: IdColumn,
    scope: OneOfColumn,
    owner_id: IdColumn,
    => (id, Readers::for_objective(scope, owner_id))
}

readers!(Objective);

/// Lookup by the day on which objectives start automatically (decision C3).
pub const STARTS_ON: LookupColumn<Objective> = LookupColumn::column("due_on", Type::Date);

/// Lookup by id in another system.
pub const BY_EXTERNAL_ID: LookupColumn<Objective> = LookupColumn::column("external_id", Type::Text);

/// Returns the key of a group of objectives.
#[must_use]
pub const fn group_key(group: ObjectiveGroup) -> GroupKey {
    match group {
        ObjectiveGroup::Status => GroupKey::Column(STATUS),
        ObjectiveGroup::Scope => GroupKey::Column(column("scope", Type::Text)),
        ObjectiveGroup::Month => GroupKey::Month(sort_column(SortBy::PeriodEnd)),
    }
}

/// Value of the column `shelf`: the family of the scope, with a suffix for archived objectives. The default list
/// of a family, all objectives that are not archived, is one run of an index on this column.
fn shelf(scope: Scope, archived: bool) -> String {
    let family = if scope == Scope::Employee { "employee" } else { "manager" };
    if archived { format!("{family}/archived") } else { family.to_owned() }
}

/// Value of the column `scope_status`. Lists by status are one run per scope and status.
fn scope_status(scope: Scope, status: Status) -> String {
    format!("{}/{}", scope.word(), status.word())
}

/// List of the objectives that the viewer may see, for `GET /employee-objectives` and `GET /manager-objectives`
/// (§4.2, decision B5).
///
/// A person sees the objectives owned by themselves and by people below them, and those of the whole organization.
/// The two parts have no objective in common.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Objective> {
    let owner = column("owner_id", Type::Id);
    let list = |scopes: &[Scope]| {
        let mut it = Listing::new::<Objective>(sort, page);
        it.runs = Some(runs(filter, scopes, filter.owner_id.is_some()));
        it.is(owner, filter.owner_id);
        if filter.in_review {
            it.conditions.push(Condition::AtLeast(
                column("submitted_at", Type::Time),
                SqlValue::Time(Timestamp::from_millis(0)),
            ));
        }
        it.within(column("period_start", Type::Date), filter.period_start, SqlValue::Date);
        it.within(sort_column(SortBy::PeriodEnd), filter.period_end, SqlValue::Date);
        it.within(UPDATED_AT, filter.updated_at, SqlValue::Time);
        it.keyed(METADATA, &filter.metadata);
        it.is(EXTERNAL_ID, filter.external_id.clone());
        it
    };
    let Viewer::Person(person) = viewer else {
        return TypedListing::from_parts(if filter.scopes.is_empty() {
            vec![]
        } else {
            vec![list(&filter.scopes)]
        });
    };
    let (everyones, personal): (Vec<_>, Vec<_>) = filter.scopes.iter().partition(|scope| **scope == Scope::Org);
    let mut lists = vec![];
    if !personal.is_empty() {
        let mut theirs = list(&personal);
        // Fewer runs make it faster to scan the index and look up the owner of each row. The runs of a family
        // include objectives of the organization, so another condition excludes them.
        if let Some(shelves) = shelves(filter, filter.scopes.as_slice()).filter(|_| filter.owner_id.is_none()) {
            theirs.runs = Some(shelves);
            if !everyones.is_empty() {
                theirs.words(column("scope", Type::Text), personal.iter().map(|status| status.word()));
            }
        }
        theirs.conditions.push(Condition::Reach(owner, person));
        lists.push(theirs);
    }
    if !everyones.is_empty() {
        lists.push(list(&everyones));
    }
    TypedListing::from_parts(lists)
}

/// Returns the runs of a list of objectives, see [`Listing::runs`]. If the list contains all objectives of a
/// family that are not archived, they are one run. Other lists have one run per scope and status. So do lists of
/// one owner, because the index by owner is ordered by scope and status.
fn runs(filter: &Filter, scopes: &[Scope], of_one_person: bool) -> (Column, Vec<SqlValue>) {
    if let Some(shelves) = shelves(filter, scopes).filter(|_| !of_one_person) {
        return shelves;
    }
    let pairs = scopes.iter().flat_map(|scope| filter.statuses.iter().map(|status| scope_status(*scope, *status)));
    (column("scope_status", Type::Text), pairs.map(SqlValue::Text).collect())
}

/// Returns one run for all objectives of a family that are not archived, and one for the archived ones if the
/// filter selects them. Returns `None` if the filter excludes another scope or status of the family.
fn shelves(filter: &Filter, scopes: &[Scope]) -> Option<(Column, Vec<SqlValue>)> {
    let open = Status::ALL
        .iter()
        .filter(|status| **status != Status::Archived)
        .all(|status| filter.statuses.contains(status));
    let family = Family::ALL.into_iter().find(|family| open && family.scopes() == scopes)?;
    let archived = filter.statuses.contains(&Status::Archived);
    let shelves = [false, true].into_iter().filter(|is_archived| !*is_archived || archived);
    let cells = shelves.map(|shelve| SqlValue::Text(shelf(family.default_scope(), shelve))).collect();
    Some((column("shelf", Type::Text), cells))
}
