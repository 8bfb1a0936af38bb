//! Mapping of assignments, and their lists.

use candor_domain::assignment::{Assignment, Filter, Status, Submission, SubmissionStatus};
use candor_domain::fields::StringEnum;
use candor_domain::id::{AssignmentId, AssignmentKind, EmployeeId};
use candor_domain::keyed::KeyedMap;
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::time::Timestamp;
use candor_domain::visibility::{Readers, Viewer};
use serde::{Deserialize, Serialize};

use super::{EXTERNAL_ID, METADATA_FILTER, column};
use crate::error::CorruptRowError;
use crate::flat::{Index, MemberTable, SqlValue, Table, Type};
use crate::listing::{Listing, STATUS, TypedListing, UPDATED_AT, sort_column};
use crate::read::LookupColumn;
use crate::stored::{columns_read, stored};

/// Side table of an assignment's reviewers and requester.
const PEOPLE: MemberTable = MemberTable { name: "assignment_people", owner: "assignment_id", member: "person" };

/// Side table of the metadata of assignments, as digests.
const METADATA: MemberTable =
    MemberTable { name: "assignment_metadata_values", owner: "assignment_id", member: "digest" };

stored! {
    Assignment, id: AssignmentKind, row: assignment;
    columns {
        id: IdColumn,
        employee_id: IdColumn,
        requester_id: Option<IdColumn>,
        title: TextColumn,
        instructions: Option<TextColumn>,
        due_date: Option<DateColumn>,
        reviewer_ids: IdsColumn,
        required_submissions: Int,
        status: OneOfColumn,
        submissions: Json = submitted_columns(&assignment.submissions),
        created_at: Time,
        updated_at: Time,
        metadata: Json,
        external_id: Option<TextColumn>,
    }
    derived { due_by: DateColumn = assignment.due_by() }
    let submissions = join_submissions(submissions, &reviewer_ids)?;
    fields {
        submitted_count: submissions.iter().filter(|one| one.status == SubmissionStatus::Submitted).count(),
        submissions,
    }
    table Table {
        members: &[PEOPLE, METADATA],
        indexes: &[
            Index::of_columns(&["created_at", "id"]),
            Index::of_columns(&["status", "created_at", "id"]),
            Index::of_columns(&["status", "due_by", "id"]),
            Index::of_columns(&["status", "updated_at", "id"]),
            Index::of_columns(&["employee_id", "status", "created_at", "id"]).to_few(),
            Index::of_columns(&["requester_id", "status", "created_at", "id"]).to_few(),
            Index::unique(&["external_id"]),
        ],
        parameters: &[("due_by", "due_date"), ("person", "reviewer_id"), METADATA_FILTER],
        shares_commits: true,
        ..Table::with_name("assignments")
    };
    also {
        fn members(&self) -> Vec<Vec<[u8; 16]>> {
            let reviewers = self.reviewer_ids.iter().map(|id| id.to_bytes());
            vec![reviewers.chain(self.requester_id.map(as_requester)).collect(), self.metadata.digests()]
        }
    }
}

columns_read! {
    const READER_COLUMNS;
    fn read_readers -> (AssignmentId, Readers);
    id: IdColumn,
    requester_id: Option<IdColumn>,
    reviewer_ids: IdsColumn,
    => (id, Readers::for_assignment(requester_id, &reviewer_ids))
}

readers!(Assignment);

/// Lookup by id in another system.
pub const BY_EXTERNAL_ID: LookupColumn<Assignment> = LookupColumn::column("external_id", Type::Text);

/// Returns the form in which the side table contains a requester: the id with its highest bit set. This bit of an
/// id is clear until the year 6429, so a requester cannot be mistaken for a reviewer.
fn as_requester(person: EmployeeId) -> [u8; 16] {
    let mut bytes = person.to_bytes();
    bytes[0] |= 0x80;
    bytes
}

/// JSON form of a submission in the column `submissions`. Pending submissions are not stored.
#[derive(Serialize, Deserialize)]
struct SubmittedColumn {
    reviewer: String,
    observations: Vec<String>,
    at: i64,
}

fn submitted_columns(all: &[Submission]) -> Vec<SubmittedColumn> {
    let one = |submission: &Submission| {
        Some(SubmittedColumn {
            reviewer: submission.reviewer_id.to_string(),
            observations: submission.observation_ids.iter().map(ToString::to_string).collect(),
            at: submission.submitted_at?.millis(),
        })
    };
    all.iter().filter_map(one).collect()
}

/// Returns one submission per reviewer: the stored one, or else a pending one.
fn join_submissions(
    stored: Vec<SubmittedColumn>,
    reviewers: &[EmployeeId],
) -> Result<Vec<Submission>, CorruptRowError> {
    let corrupt = || CorruptRowError {
        table: "assignments",
        column: "submissions",
        reason: "contains an invalid id, or a person who is not a reviewer".to_owned(),
    };
    submissions(stored, reviewers).ok_or_else(corrupt)
}

fn submissions(stored: Vec<SubmittedColumn>, reviewers: &[EmployeeId]) -> Option<Vec<Submission>> {
    let mut all: Vec<_> = reviewers.iter().map(|reviewer| Submission::pending(*reviewer)).collect();
    for it in stored {
        let reviewer: EmployeeId = it.reviewer.parse().ok()?;
        let place = all.iter_mut().find(|submission| submission.reviewer_id == reviewer)?;
        place.status = SubmissionStatus::Submitted;
        place.observation_ids =
            it.observations.iter().map(|observation| observation.parse().ok()).collect::<Option<_>>()?;
        place.submitted_at = Some(Timestamp::from_millis(it.at));
    }
    Some(all)
}

/// List of the assignments that the viewer may see, for `GET /assignments` (decisions G, B5).
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Assignment> {
    let mut it = Listing::new::<Assignment>(sort, page);
    // Without a filter on status, subject or requester, the order by creation time is one run of an index. Every
    // other list has one run per status.
    let is_of_somebody = filter.employee_id.or(filter.requester_id).is_some();
    if !filter.statuses.is_empty() || is_of_somebody || sort.by != SortBy::CreatedAt {
        let statuses = if filter.statuses.is_empty() { Status::ALL } else { &filter.statuses };
        it.runs(STATUS, statuses.iter().map(|status| status.word()));
    }
    it.is(column("employee_id", Type::Id), filter.employee_id);
    it.is(column("requester_id", Type::Id), filter.requester_id);
    it.restrict_to_tags(PEOPLE, filter.reviewer_id.map(|reviewer_id| reviewer_id.to_bytes()));
    it.restrict_to_tags(
        PEOPLE,
        viewer.person().into_iter().flat_map(|person| [person.to_bytes(), as_requester(person)]),
    );
    it.restrict_to_bounds(sort_column(SortBy::DueBy), Assignment::due_within(filter.due_date), SqlValue::Date);
    it.restrict_to_bounds(UPDATED_AT, filter.updated_at, SqlValue::Time);
    it.restrict_to_digests(METADATA, &filter.metadata);
    it.is(EXTERNAL_ID, filter.external_id.clone());
    it.into_list()
}
