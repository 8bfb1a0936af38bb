//! Mapping of summaries, and their lists.

use candor_domain::fields::Word;
use candor_domain::id::{EmployeeId, Id, SummaryKind};
use candor_domain::page::{PageRequest, Sort};
use candor_domain::search::Searchable;
use candor_domain::summary::{EmployeeFeedback, Filter, Status, Summary};
use candor_domain::visibility::{Readers, Viewer};

use super::column;
use crate::error::Corrupt;
use crate::flat::{Cell, Cells, Index, MemberTable, Reader, Related, Stored, Table, Type};
use crate::listing::{Condition, Listing, TypedListing, UPDATED_AT};
use crate::read::StoredReaders;

/// Side table of the included objectives and observations. Their ids are distinct.
pub(super) const INCLUDES: MemberTable =
    MemberTable { name: "summary_includes", owner: "summary_id", member: "included_id" };

const TABLE: Table = Table {
    columns: &[
        column("id", Type::Id),
        column("employee_id", Type::Id),
        column("author_id", Type::Id),
        column("title", Type::Text),
        column("body", Type::Text),
        column("period_start", Type::Date),
        column("period_end", Type::Date),
        column("status", Type::Text),
        column("included_objective_ids", Type::Ids),
        column("included_observation_ids", Type::Ids),
        column("feedback_comment", Type::Text),
        column("feedback_acknowledged", Type::Flag),
        column("feedback_at", Type::Time),
        column("submitted_at", Type::Time),
        column("approved_at", Type::Time),
        column("shared_at", Type::Time),
        column("archived_at", Type::Time),
        column("created_at", Type::Time),
        column("updated_at", Type::Time),
    ],
    derived: &[column("archived", Type::Flag), column("stage", Type::Text)],
    related: &[Related {
        name: "archived_observation_ids",
        members: INCLUDES,
        by: INCLUDES.owner,
        ids: INCLUDES.member,
        column: Some("included_observation_ids"),
        table: "observations",
        archived: true,
    }],
    members: Some(INCLUDES),
    indexes: &[
        Index::on(&["archived", "created_at", "id", "employee_id"]),
        Index::on(&["archived", "updated_at", "id", "employee_id"]),
        Index::on(&["stage", "created_at", "id"]),
        Index::on(&["stage", "updated_at", "id"]),
        Index::on(&["employee_id", "stage", "created_at", "id"]),
        Index::on(&["employee_id", "stage", "updated_at", "id"]),
        Index::on(&["author_id", "stage", "created_at", "id"]),
        Index::on(&["author_id", "stage", "updated_at", "id"]),
    ],
    parameters: &[("archived", "status"), ("stage", "status"), ("included_id", "included_objective_id")],
    shares_commits: true,
    ..Table::named("summaries")
};

/// Returns the index value for the status. It distinguishes summaries that their subject sees only because
/// they were shared, so that these are a run of the index, and so is every status.
fn stage(status: Status, is_shared_with_reader: bool) -> String {
    if is_shared_with_reader { format!("{}/reader", status.word()) } else { status.word().to_owned() }
}

impl Stored for Summary {
    type Kind = SummaryKind;

    const TABLE: &'static Table = &TABLE;

    fn key(&self) -> Id<Self::Kind> {
        self.id
    }

    fn write(&self, out: &mut Cells) {
        out.id(self.id);
        out.id(self.employee_id);
        out.opt_id(self.author_id);
        out.text(&self.title);
        out.text(&self.body);
        out.put(self.period_start.map_or(Cell::Null(Type::Date), Cell::Date));
        out.put(self.period_end.map_or(Cell::Null(Type::Date), Cell::Date));
        out.word(self.status);
        out.ids(&self.included_objective_ids);
        out.ids(&self.given_observation_ids());
        let feedback = self.employee_feedback.as_ref();
        out.opt_text(feedback.and_then(|it| it.comment.as_ref()));
        out.put(Cell::Flag(feedback.is_some_and(|it| it.acknowledged)));
        out.opt_time(feedback.map(|it| it.submitted_at));
        out.opt_time(self.submitted_at);
        out.opt_time(self.approved_at);
        out.opt_time(self.shared_at);
        out.opt_time(self.archived_at);
        out.time(self.created_at);
        out.time(self.updated_at);
        out.put(Cell::Flag(self.status == Status::Archived));
        out.text(stage(self.status, self.is_shared_with_reader()));
    }

    fn read(row: &mut Reader<'_>) -> Result<Self, Corrupt> {
        let stored = Self {
            id: row.id()?,
            employee_id: row.id()?,
            author_id: row.opt_id()?,
            title: row.text()?,
            body: row.text()?,
            period_start: row.opt_date()?,
            period_end: row.opt_date()?,
            status: row.word()?,
            included_objective_ids: row.ids()?,
            included_observation_ids: row.ids()?,
            employee_feedback: feedback(row)?,
            submitted_at: row.opt_time()?,
            approved_at: row.opt_time()?,
            shared_at: row.opt_time()?,
            archived_at: row.opt_time()?,
            created_at: row.time()?,
            updated_at: row.time()?,
            archived_observation_ids: vec![],
        };
        Ok(stored.showing(row.related_ids()?))
    }

    fn is_searched(&self) -> bool {
        Searchable::is_found(self)
    }

    fn members(&self) -> Vec<[u8; 16]> {
        let objectives = self.included_objective_ids.iter().map(|it| it.to_bytes());
        objectives.chain(self.given_observation_ids().iter().map(|it| it.to_bytes())).collect()
    }
}

impl StoredReaders for Summary {
    const READERS: &'static Table = &Table {
        columns: &[
            column("id", Type::Id),
            column("employee_id", Type::Id),
            column("author_id", Type::Id),
            column("shared_at", Type::Time),
        ],
        versioned: false,
        ..Table::named("summaries")
    };

    fn read_readers(row: &mut Reader<'_>) -> Result<Readers, Corrupt> {
        Ok(Readers::for_summary(row.id()?, row.opt_id()?, row.opt_time()?.is_some()))
    }
}

fn feedback(row: &mut Reader<'_>) -> Result<Option<EmployeeFeedback>, Corrupt> {
    let (comment, acknowledged) = (row.opt_text()?, row.flag()?);
    Ok(row.opt_time()?.map(|submitted_at| EmployeeFeedback { comment, acknowledged, submitted_at }))
}

/// Part of the visible summaries that one list contains.
#[derive(Debug, Clone, Copy)]
enum Part {
    Everything,
    /// Summaries about people who report to this person.
    OfReports(EmployeeId),
    /// Summaries by other authors that were shared with this person.
    SharedWith(EmployeeId),
    /// Summaries by this person about people who do not report to them.
    WrittenBy(EmployeeId),
}

/// Lists of `GET /summaries` that together contain what the viewer may see (decision B5). No summary is in
/// two of them.
#[must_use]
pub fn list(filter: &Filter, viewer: Viewer, sort: Sort, page: &PageRequest) -> TypedListing<Summary> {
    let parts = viewer.person().map_or(vec![Part::Everything], |person| {
        vec![Part::OfReports(person), Part::SharedWith(person), Part::WrittenBy(person)]
    });
    TypedListing::of(parts.into_iter().filter_map(|it| part(filter, it, sort, page)).collect())
}

/// Returns the list of one part, or `None` if it is empty.
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
        it.runs = Some((column("archived", Type::Flag), vec![Cell::Flag(false)]));
    } else {
        it.runs(column("stage", Type::Text), stages.iter().map(String::as_str));
    }
    it.is(about, employee);
    it.is(by, author);
    it.conditions.extend(filter.manager_id.map(|it| Condition::Within(about, it)));
    it.tagged(INCLUDES, filter.included_objective_id.iter().map(|it| it.to_bytes()));
    it.tagged(INCLUDES, filter.included_observation_id.iter().map(|it| it.to_bytes()));
    it.within(UPDATED_AT, filter.updated_at, Cell::Time);
    Some(it)
}

/// Returns the stages that a part contains.
fn stages(filter: &Filter, part: Part) -> Vec<String> {
    let is_wanted = |it: &Status| {
        if filter.statuses.is_empty() { *it != Status::Archived } else { filter.statuses.contains(it) }
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
