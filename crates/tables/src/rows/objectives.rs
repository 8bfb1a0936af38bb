//! Mapping of objectives, and their lists.

use candor_domain::fields::StringEnum;
use candor_domain::id::{ObjectiveId, ObjectiveKind};
use candor_domain::keyed::KeyedMap;
use candor_domain::objective::{
    ConfidenceFilter, Family, Filter, KeyResult, MAX_LINKED_SUMMARIES, Objective, ObjectiveGroup, Scope, Status,
    key_result,
};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::search::Searchable;
use candor_domain::time::Timestamp;
use candor_domain::visibility::{Readers, Viewer};

use super::summaries::INCLUDES;
use super::{EXTERNAL_ID, METADATA_FILTER, column};
use crate::codec::{Codec, Layout};
use crate::counts::GroupKey;
use crate::error::CorruptRowError;
use crate::flat::{Cells, Column, Index, MemberTable, Reader, Related, SqlValue, Table, Type};
use crate::listing::{CHECKED_IN_AT, Condition, Listing, STATUS, TypedListing, UPDATED_AT, sort_column};
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
    newest: Some(MAX_LINKED_SUMMARIES),
};

/// Side table of the metadata of objectives, as digests.
const METADATA: MemberTable =
    MemberTable { name: "objective_metadata_values", owner: "objective_id", member: "digest" };

/// Column of the confidence, in the words of its filter.
const CONFIDENCE: Column = column("confidence_key", Type::Text);
/// Column of the objective that an objective supports.
const PARENT: Column = column("parent_id", Type::Id);

/// Codec of key results. Null if there are none.
#[derive(Debug)]
struct KeyResultsColumn;

impl Layout for KeyResultsColumn {
    const KIND: Type = Type::Text;
}

impl Codec<Vec<KeyResult>> for KeyResultsColumn {
    fn write(value: &Vec<KeyResult>, out: &mut Cells) {
        out.put(SqlValue::Text(key_result::text(value)));
    }

    fn read_nullable(row: &mut Reader<'_>) -> Result<Option<Vec<KeyResult>>, CorruptRowError> {
        row.opt_parse(key_result::parse)
    }
}

fn stored_key_results(results: &[KeyResult]) -> Option<Vec<KeyResult>> {
    (!results.is_empty()).then(|| results.to_vec())
}

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
        key_results: Option<KeyResultsColumn> = stored_key_results(&objective.key_results),
        stated_progress: Option<Int>,
        confidence: Option<OneOfColumn>,
        last_check_in_at: Option<Time>,
        parent_id: Option<IdColumn>,
    }
    derived {
        shelf: TextColumn = shelf(objective.scope, objective.status == Status::Archived),
        scope_status: TextColumn = scope_status(objective.scope, objective.status),
        due_on: Option<DateColumn> = objective.starts_on(),
        confidence_key: OneOfColumn = ConfidenceFilter::from(objective.confidence),
        checked_in_at: Time = objective.checked_in_at(),
    }
    related { linked_summary_ids = LINKED_SUMMARIES }
    fields {
        linked_summary_ids,
        changed_since_approval: changed_since_approval.unwrap_or_default(),
        key_results: key_results.unwrap_or_default(),
        progress: None,
    }
    finish with_figures();
    table Table {
        members: &[METADATA],
        indexes: &[
            Index::of_columns(&["shelf", "period_end", "id"]),
            Index::of_columns(&["scope_status", "period_end", "id"]),
            Index::of_columns(&["shelf", "created_at", "id"]),
            Index::of_columns(&["scope_status", "created_at", "id"]),
            Index::of_columns(&["shelf", "updated_at", "id"]),
            Index::of_columns(&["scope_status", "updated_at", "id"]),
            Index::of_columns(&["owner_id", "scope_status", "period_end", "id"]).to_few(),
            Index::of_columns(&["parent_id", "scope_status", "period_end", "id"]).to_few(),
            Index::of_columns(&["shelf", "confidence_key", "period_end", "id"]),
            Index::of_columns(&["scope_status", "confidence_key", "period_end", "id"]),
            Index::of_columns(&["shelf", "checked_in_at", "id"]),
            Index::of_columns(&["scope_status", "checked_in_at", "id"]),
            Index::unique(&["external_id"]),
        ],
        parameters: &[
            ("shelf", "status"),
            ("scope_status", "status"),
            ("checked_in_at", "last_check_in_at"),
            METADATA_FILTER,
        ],
        shares_commits: true,
        ..Table::with_name("objectives")
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

/// Returns the column by which rows are counted for this grouping of objectives.
#[must_use]
pub const fn group_key(group: ObjectiveGroup) -> GroupKey {
    match group {
        ObjectiveGroup::Status => GroupKey::Column(STATUS),
        ObjectiveGroup::Scope => GroupKey::Column(column("scope", Type::Text)),
        ObjectiveGroup::Month => GroupKey::Month(sort_column(SortBy::PeriodEnd)),
        ObjectiveGroup::Confidence => GroupKey::Column(CONFIDENCE),
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
/// A person sees the objectives owned by themselves and by people below them, and the objectives of the whole
/// organization: two parts without an objective in common. With several confidences, each has its own parts: an index
/// has the order only within the rows of one confidence.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Objective> {
    let confidences = filter.confidences.iter().copied().map(Some);
    let confidences: Vec<_> = if filter.confidences.is_empty() { vec![None] } else { confidences.collect() };
    let parts = confidences.into_iter().flat_map(|confidence| {
        let base = |scopes: &[Scope]| {
            let mut part = part(filter, scopes, sort, page);
            part.is(CONFIDENCE, confidence.map(|confidence| confidence.word().to_owned()));
            part
        };
        seen_parts(filter, viewer, base)
    });
    TypedListing::from_parts(parts.collect())
}

/// Returns the list of the objectives of these scopes.
fn part(filter: &Filter, scopes: &[Scope], sort: Sort, page: &PageRequest) -> Listing {
    let mut it = Listing::new::<Objective>(sort, page);
    it.runs = Some(runs(filter, scopes, filter.owner_id.is_some() || filter.parent_id.is_some()));
    it.is(column("owner_id", Type::Id), filter.owner_id);
    it.is(PARENT, filter.parent_id);
    if filter.in_review {
        it.conditions.push(Condition::AtLeast(
            column("submitted_at", Type::Time),
            SqlValue::Time(Timestamp::from_millis(0)),
        ));
    }
    it.restrict_to_bounds(column("period_start", Type::Date), filter.period_start, SqlValue::Date);
    it.restrict_to_bounds(sort_column(SortBy::PeriodEnd), filter.period_end, SqlValue::Date);
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.restrict_to_bounds(CHECKED_IN_AT, filter.last_check_in_at, SqlValue::Time);
    it.restrict_to_digests(METADATA, &filter.metadata);
    it.is(EXTERNAL_ID, filter.external_id.clone());
    it
}

/// Returns the parts of a list that the viewer may see. `list` returns the part for the given scopes.
fn seen_parts(filter: &Filter, viewer: Viewer, list: impl Fn(&[Scope]) -> Listing) -> Vec<Listing> {
    let Viewer::Person(person) = viewer else {
        return if filter.scopes.is_empty() { vec![] } else { vec![list(&filter.scopes)] };
    };
    let (everyones, personal): (Vec<Scope>, Vec<Scope>) =
        filter.scopes.iter().partition(|scope| **scope == Scope::Org);
    let mut lists = vec![];
    if !personal.is_empty() {
        let mut theirs = list(&personal);
        // The shelves are fewer runs than the scopes with their statuses, so it is faster to scan the index and
        // look up the owner of each row. A shelf includes objectives of the organization, so a condition on the
        // scope excludes these.
        let is_of_few = filter.owner_id.is_some() || filter.parent_id.is_some();
        if let Some(shelves) = shelves(filter, filter.scopes.as_slice()).filter(|_| !is_of_few) {
            theirs.runs = Some(shelves);
            if !everyones.is_empty() {
                theirs.words(column("scope", Type::Text), personal.iter().map(|scope| scope.word()));
            }
        }
        theirs.conditions.push(Condition::Reach(column("owner_id", Type::Id), person));
        lists.push(theirs);
    }
    if !everyones.is_empty() {
        lists.push(list(&everyones));
    }
    lists
}

/// List of the objectives of any status that support this one.
#[must_use]
pub fn list_supporting(parent: ObjectiveId, limit: u16) -> TypedListing<Objective> {
    let mut children = Listing::new_ordered::<Objective>(sort_column(SortBy::PeriodEnd), false, limit);
    let pairs = Scope::ALL.iter().flat_map(|scope| Status::ALL.iter().map(|status| scope_status(*scope, *status)));
    children.runs = Some((column("scope_status", Type::Text), pairs.map(SqlValue::Text).collect()));
    children.is(PARENT, Some(parent));
    children.into_list()
}

/// Returns the runs of a list of objectives, see [`Listing::runs`]. If the list contains all objectives of a
/// family that are not archived, they are one run. Other lists have one run per scope and status. Lists of one
/// owner or one parent have these runs too, because their indexes are ordered by scope and status.
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
    let includes_archived = filter.statuses.contains(&Status::Archived);
    let shelves = [false, true].into_iter().filter(|is_archived| !*is_archived || includes_archived);
    let cells = shelves.map(|shelve| SqlValue::Text(shelf(family.default_scope(), shelve))).collect();
    Some((column("shelf", Type::Text), cells))
}
