//! Mapping of summaries, and their lists.

use candor_domain::fields::StringEnum;
use candor_domain::id::{EmployeeId, SummaryId, SummaryKind};
use candor_domain::keyed::KeyedMap;
use candor_domain::page::{PageRequest, Sort, Sortable};
use candor_domain::search::Searchable;
use candor_domain::summary::{EmployeeFeedback, Filter, Status, Summary};
use candor_domain::time::Timestamp;
use candor_domain::visibility::{Readers, Viewer};

use super::{EXTERNAL_ID, METADATA_FILTER, column};
use crate::flat::{Index, MemberTable, Related, SqlValue, Table, Type};
use crate::listing::{Condition, Listing, TypedListing, UPDATED_AT};
use crate::read::LookupColumn;
use crate::stored::{columns_read, stored};

/// Side table of the objectives and observations that summaries include. The two kinds have no id in common.
pub const INCLUDES: MemberTable =
    MemberTable { name: "summary_includes", owner: "summary_id", member: "included_id" };

/// Relation to the archived observations that a summary includes.
const ARCHIVED_OBSERVATIONS: Related = Related {
    name: "archived_observation_ids",
    members: INCLUDES,
    by: INCLUDES.owner,
    ids: INCLUDES.member,
    column: Some("included_observation_ids"),
    table: "observations",
    archived: true,
    newest: None,
};

/// Side table of the metadata of summaries, as digests.
const METADATA: MemberTable =
    MemberTable { name: "summary_metadata_values", owner: "summary_id", member: "digest" };

stored! {
    Summary, id: SummaryKind, row: summary;
    columns {
        id: IdColumn,
        employee_id: IdColumn,
        author_id: Option<IdColumn>,
        title: TextColumn,
        body: TextColumn,
        period_start: Option<DateColumn>,
        period_end: Option<DateColumn>,
        status: OneOfColumn,
        included_objective_ids: IdsColumn,
        included_observation_ids: IdsColumn = summary.given_observation_ids(),
        feedback_comment: Option<TextColumn> = summary.employee_feedback.as_ref().and_then(|given| given.comment.clone()),
        feedback_acknowledged: FlagColumn = summary.employee_feedback.as_ref().is_some_and(|given| given.acknowledged),
        feedback_at: Option<Time> = summary.employee_feedback.as_ref().map(|given| given.submitted_at),
        submitted_at: Option<Time>,
        approved_at: Option<Time>,
        shared_at: Option<Time>,
        archived_at: Option<Time>,
        created_at: Time,
        updated_at: Time,
        metadata: Json,
        external_id: Option<TextColumn>,
        edited_by: Option<IdColumn>,
        editor_ids: Option<IdsColumn> = Some(summary.editor_ids.clone()),
        past_editor_ids: Option<IdsColumn> = Some(summary.past_editor_ids.clone()),
    }
    derived {
        archived: FlagColumn = summary.status == Status::Archived,
        stage: TextColumn = stage(summary.status, summary.is_shared_with_reader()),
    }
    related { archived_observation_ids = ARCHIVED_OBSERVATIONS }
    fields {
        included_observation_ids,
        archived_observation_ids: vec![],
        kept_archived_ids: vec![],
        editor_ids: editor_ids.unwrap_or_default(),
        past_editor_ids: past_editor_ids.unwrap_or_default(),
        employee_feedback: feedback_at.map(|submitted_at| EmployeeFeedback {
            comment: feedback_comment,
            acknowledged: feedback_acknowledged,
            submitted_at,
        }),
    }
    finish with_archived_observations(archived_observation_ids);
    table Table {
        members: &[INCLUDES, METADATA],
        indexes: &[
            Index::of_columns(&["archived", "created_at", "id", "employee_id"]),
            Index::of_columns(&["archived", "updated_at", "id", "employee_id"]),
            Index::of_columns(&["stage", "created_at", "id"]),
            Index::of_columns(&["stage", "updated_at", "id"]),
            Index::of_columns(&["employee_id", "stage", "created_at", "id"]),
            Index::of_columns(&["employee_id", "stage", "updated_at", "id"]),
            Index::of_columns(&["author_id", "stage", "created_at", "id"]),
            Index::of_columns(&["author_id", "stage", "updated_at", "id"]),
            Index::unique(&["external_id"]),
        ],
        parameters: &[
            ("archived", "status"),
            ("stage", "status"),
            ("included_id", "included_objective_id"),
            METADATA_FILTER,
        ],
        shares_commits: true,
        ..Table::with_name("summaries")
    };
    also {
        fn is_searched(&self) -> bool {
            Searchable::is_found(self)
        }

        fn members(&self) -> Vec<Vec<[u8; 16]>> {
            let objectives = self.included_objective_ids.iter().map(|id| id.to_bytes());
            let included_ids = objectives.chain(self.given_observation_ids().iter().map(|id| id.to_bytes())).collect();
            vec![included_ids, self.metadata.digests()]
        }
    }
}

columns_read! {
    const READER_COLUMNS;
    fn read_readers -> (SummaryId, Readers);
    id: IdColumn,
    employee_id: IdColumn,
    author_id: Option<IdColumn>,
    shared_at: Option<Time>,
    => (id, Readers::for_summary(employee_id, author_id, is_shared(shared_at)))
}

readers!(Summary);

/// Lookup by id in another system.
pub const BY_EXTERNAL_ID: LookupColumn<Summary> = LookupColumn::column("external_id", Type::Text);

const fn is_shared(at: Option<Timestamp>) -> bool {
    at.is_some()
}

/// Value of the column `stage`: the status, with a suffix if sharing is the only reason why the subject may see
/// the summary. Lists of such summaries and lists by status are both runs of an index on this column.
fn stage(status: Status, is_shared_with_reader: bool) -> String {
    if is_shared_with_reader { format!("{}/reader", status.word()) } else { status.word().to_owned() }
}

/// A part of the summaries, which one list returns.
#[derive(Debug, Clone, Copy)]
enum Part {
    Everything,
    /// Summaries about people who report to this person.
    OfReports(EmployeeId),
    /// Summaries shared with this person, who did not write them.
    SharedWith(EmployeeId),
    /// Summaries by this person about people who do not report to them.
    WrittenBy(EmployeeId),
}

/// List of the summaries that the viewer may see, for `GET /summaries` (decision B5). Its parts have no summary in
/// common.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Summary> {
    let parts = viewer.person().map_or(vec![Part::Everything], |person| {
        vec![Part::OfReports(person), Part::SharedWith(person), Part::WrittenBy(person)]
    });
    TypedListing::from_parts(parts.into_iter().filter_map(|visible| part(filter, visible, sort, page)).collect())
}

/// List of the summaries of any status that include an observation or objective.
#[must_use]
pub fn list_including(included: [u8; 16], page: &PageRequest) -> TypedListing<Summary> {
    let filter = Filter { statuses: Status::ALL.to_vec(), ..Filter::default() };
    let mut parts = list(&filter, Viewer::Everything, Summary::DEFAULT, page).into_parts();
    parts.iter_mut().for_each(|part| part.restrict_to_tags(INCLUDES, [included]));
    TypedListing::from_parts(parts)
}

/// Returns the list of one part; `None` if the filter excludes all of it.
fn part(filter: &Filter, part: Part, sort: Sort, page: &PageRequest) -> Option<Listing> {
    let (about, by) = (column("employee_id", Type::Id), column("author_id", Type::Id));
    let (mut employee, mut author) = (filter.employee_id, filter.author_id);
    let mut it = Listing::new::<Summary>(sort, page);
    match part {
        Part::Everything => {}
        Part::OfReports(person) => it.conditions.push(Condition::Within(about, person)),
        Part::SharedWith(person) if *employee.get_or_insert(person) != person => return None,
        Part::SharedWith(_) => {}
        Part::WrittenBy(person) if *author.get_or_insert(person) != person => return None,
        Part::WrittenBy(person) => it.conditions.push(Condition::Without(about, person)),
    }
    let stages = stages(filter, part);
    if stages.is_empty() {
        return None;
    }
    if filter.statuses.is_empty() && employee.is_none() && author.is_none() {
        it.runs = Some((column("archived", Type::Flag), vec![SqlValue::Flag(false)]));
    } else {
        it.runs(column("stage", Type::Text), stages.iter().map(String::as_str));
    }
    it.is(about, employee);
    it.is(by, author);
    it.conditions.extend(filter.manager_id.map(|manager_id| Condition::Within(about, manager_id)));
    it.restrict_to_tags(
        INCLUDES,
        filter.included_objective_id.iter().map(|included_objective_id| included_objective_id.to_bytes()),
    );
    it.restrict_to_tags(
        INCLUDES,
        filter.included_observation_id.iter().map(|included_observation_id| included_observation_id.to_bytes()),
    );
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.restrict_to_digests(METADATA, &filter.metadata);
    it.is(EXTERNAL_ID, filter.external_id.clone());
    Some(it)
}

/// Returns the values of the column `stage` in a part of the list under the filter.
fn stages(filter: &Filter, part: Part) -> Vec<String> {
    let is_wanted = |status: &Status| {
        if filter.statuses.is_empty() { *status != Status::Archived } else { filter.statuses.contains(status) }
    };
    let mut stages = vec![];
    for status in Status::ALL.iter().copied().filter(is_wanted) {
        if !matches!(part, Part::SharedWith(_)) {
            stages.push(stage(status, false));
        }
        if matches!(status, Status::Shared | Status::Archived) {
            stages.push(stage(status, true));
        }
    }
    stages
}
