//! Mapping of assignments, and their lists.

use candor_domain::assignment::{Assignment, Filter, Status, Submission, SubmissionStatus};
use candor_domain::fields::Word;
use candor_domain::id::{AssignmentKind, EmployeeId, Id};
use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::time::Timestamp;
use candor_domain::visibility::{Readers, Viewer};
use serde::{Deserialize, Serialize};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, MemberTable, Reader, Stored, Table, Type};
use crate::listing::{Listing, STATUS, TypedListing, UPDATED_AT, sort_column};
use crate::read::StoredReaders;

/// People of an assignment: its reviewers and its requester.
const PEOPLE: MemberTable = MemberTable { name: "assignment_people", owner: "assignment_id", member: "person" };

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("employee_id", Type::Id),
        column("requester_id", Type::Id),
        column("title", Type::Text),
        column("instructions", Type::Text),
        column("due_date", Type::Date),
        column("reviewer_ids", Type::Ids),
        column("required_submissions", Type::Int),
        column("status", Type::Text),
        column("submissions", Type::Text),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    derived: &[column("due_by", Type::Date)],
    members: Some(PEOPLE),
    indexes: &[
        Index::on(&["created_at", "id"]),
        Index::on(&["status", "created_at", "id"]),
        Index::on(&["status", "due_by", "id"]),
        Index::on(&["status", "updated_at", "id"]),
        Index::on(&["employee_id", "status", "created_at", "id"]).to_few(),
        Index::on(&["requester_id", "status", "created_at", "id"]).to_few(),
    ],
    parameters: &[("due_by", "due_date"), ("person", "reviewer_id")],
    shares_commits: true,
    ..Table::named("assignments")
};

/// Marks a requester in the side table with the highest bit of the id, which is clear until the year 6429.
fn as_requester(person: EmployeeId) -> [u8; 16] {
    let mut bytes = person.to_bytes();
    bytes[0] |= 0x80;
    bytes
}

/// A submission in its stored form. Pending submissions are not stored.
#[derive(Serialize, Deserialize)]
struct Submitted {
    reviewer: String,
    observations: Vec<String>,
    at: i64,
}

fn submitted(all: &[Submission]) -> Vec<Submitted> {
    let one = |it: &Submission| {
        Some(Submitted {
            reviewer: it.reviewer_id.to_string(),
            observations: it.observation_ids.iter().map(ToString::to_string).collect(),
            at: it.submitted_at?.millis(),
        })
    };
    all.iter().filter_map(one).collect()
}

/// Decodes the submissions of these reviewers.
fn submissions(text: &str, reviewers: &[EmployeeId]) -> Option<Vec<Submission>> {
    let mut all: Vec<_> = reviewers.iter().map(|it| Submission::pending(*it)).collect();
    for it in serde_json::from_str::<Vec<Submitted>>(text).ok()? {
        let reviewer: EmployeeId = it.reviewer.parse().ok()?;
        let place = all.iter_mut().find(|it| it.reviewer_id == reviewer)?;
        place.status = SubmissionStatus::Submitted;
        place.observation_ids = it.observations.iter().map(|it| it.parse().ok()).collect::<Option<_>>()?;
        place.submitted_at = Some(Timestamp::from_millis(it.at));
    }
    Some(all)
}

impl Stored for Assignment {
    type Kind = AssignmentKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        let date = |it| Cell::Date(it);
        out.id(self.id);
        out.id(self.employee_id);
        out.opt_id(self.requester_id);
        out.text(&self.title);
        out.opt_text(self.instructions.as_ref());
        out.put(self.due_date.map_or(Cell::Null(Type::Date), date));
        out.ids(&self.reviewer_ids);
        out.put(Cell::Int(self.required_submissions.try_into().unwrap_or(i64::MAX)));
        out.word(self.status);
        out.json(&submitted(&self.submissions));
        out.time(self.created_at);
        out.time(self.updated_at);
        out.put(date(self.due_by()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let mut it = Self {
            id: row.id()?,
            employee_id: row.id()?,
            requester_id: row.opt_id()?,
            title: row.text()?,
            instructions: row.opt_text()?,
            due_date: row.opt_date()?,
            reviewer_ids: row.ids()?,
            required_submissions: row.number()?,
            status: row.word()?,
            submissions: vec![],
            submitted_count: 0,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        };
        it.submissions = row.parse(|text| submissions(text, &it.reviewer_ids))?;
        it.submitted_count = it.submissions.iter().filter(|it| it.status == SubmissionStatus::Submitted).count();
        (it.created_at, it.updated_at) = (row.time()?, row.time()?);
        Ok(it)
    }

    fn members(&self) -> Vec<[u8; 16]> {
        let reviewers = self.reviewer_ids.iter().map(|it| it.to_bytes());
        reviewers.chain(self.requester_id.map(as_requester)).collect()
    }
}

impl StoredReaders for Assignment {
    const READERS: &'static Table = &Table {
        columns: &[column("id", Type::Id), column("requester_id", Type::Id), column("reviewer_ids", Type::Ids)],
        versioned: false,
        ..Table::named("assignments")
    };

    fn read_readers(row: &mut Reader<'_>) -> Result<Readers, Corrupt> {
        Ok(Readers::for_assignment(row.opt_id()?, &row.ids()?))
    }
}

/// List of `GET /assignments` that the viewer may see (decisions G, B5).
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Assignment> {
    let mut it = Listing::new::<Assignment>(sort, page);
    // The default list is one run of an index; all others have one run per status.
    let is_of_somebody = filter.employee_id.or(filter.requester_id).is_some();
    if !filter.statuses.is_empty() || is_of_somebody || sort.by != SortBy::CreatedAt {
        let statuses = if filter.statuses.is_empty() { Status::ALL } else { &filter.statuses };
        it.runs(STATUS, statuses.iter().map(|it| it.word()));
    }
    it.is(column("employee_id", Type::Id), filter.employee_id);
    it.is(column("requester_id", Type::Id), filter.requester_id);
    it.tagged(PEOPLE, filter.reviewer_id.map(|it| it.to_bytes()));
    it.tagged(PEOPLE, viewer.person().into_iter().flat_map(|person| [person.to_bytes(), as_requester(person)]));
    it.within(sort_column(SortBy::DueBy), Assignment::due_within(filter.due_date), Cell::Date);
    it.within(UPDATED_AT, filter.updated_at, Cell::Time);
    it.alone()
}
