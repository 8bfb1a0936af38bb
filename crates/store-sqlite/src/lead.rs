//! What leads the way through a list: its own order, or the few rows that a side table names.
//!
//! SQLite cannot know which is shorter, so a look at how many rows the side table names, or people are below a manager,
//! comes first.

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::StorageError;
use candor_port_storage::flat::MemberTable;
use candor_port_storage::listing::{Condition, Listing};

use crate::sql::Db;
use crate::team::{self, MOST_PEOPLE, Team};
use crate::text::Draft;

/// The order in which each person's rows have an index of their own: table, person, order.
const BY_PERSON: (&str, &str, &str) = ("observations", "employee_id", "observation_date");
/// At most so many people lead where each person's first row is found by an index: at 1.5 µs each, they then cost as much
/// as the walk past everybody's rows,
const FEW_BY_INDEX: usize = 600;
/// in so much of which each of them costs as much as so many rows of others that are walked past. Who has not met enough
/// of theirs by then looks for each person's first row after all.
const WALKED_FOR_ONE: usize = 6;
/// and so many where each of their rows has to be looked at.
const FEW_PEOPLE: usize = 300;
/// At most so many tagged rows lead by themselves.
const FEW_TAGGED: usize = 4_000;

/// What leads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lead<'l> {
    /// The list's own order.
    Order,
    /// The list's own order, past the rows of everybody but the people below a manager, who are known by heart.
    Crowd(Below<'l>),
    /// The people below a manager.
    People(Below<'l>),
    /// The people below a manager, by the first row of each.
    Newest(Below<'l>),
    /// The rows with a tag.
    Tagged(Tags<'l>),
}

/// A condition that names the people below a manager.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Below<'l> {
    pub(crate) condition: &'l Condition,
    pub(crate) column: &'static str,
    pub(crate) manager: EmployeeId,
    /// Whether the manager counts as one of them.
    pub(crate) itself: bool,
}

/// A condition that names the rows with a tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tags<'l> {
    pub(crate) condition: &'l Condition,
    pub(crate) side: MemberTable,
    pub(crate) tags: &'l [[u8; 16]],
}

/// Chooses the shortest way. Where it leads past a crowd, the connection's statements can ask who belongs to it.
pub(crate) fn choose<'l>(db: &mut Db, tenant: Tenant, listing: &'l Listing) -> Result<Lead<'l>, StorageError> {
    let (mut best, mut asked) = ((1.0, Lead::Order), None);
    for condition in &listing.conditions {
        let (part, lead, question) = match condition {
            Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                let team = team::of(db, tenant, *manager)?;
                let by_index = BY_PERSON == (listing.table().name, column.name, listing.sort.name);
                let (part, lead) = among(&team, Below::of(condition, column.name, *manager), by_index);
                let most = team.size().filter(|_| by_index).map_or(usize::MAX, |it| it * WALKED_FOR_ONE);
                (part, lead, Some((team, most)))
            }
            Condition::Tagged(side, tags) => {
                let count = tagged(db, tenant, *side, tags, FEW_TAGGED + 1)?;
                (share(count, FEW_TAGGED), Lead::Tagged(Tags { condition, side: *side, tags }), None)
            }
            Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => continue,
        };
        if part <= best.0 {
            (best, asked) = ((part, lead), question);
        }
    }
    // Only now: what the statement asks is about the people of the way that it takes.
    if let ((_, Lead::Crowd(_)), Some((team, most))) = (&best, asked) {
        db.question().ask(team, most);
    }
    Ok(best.1)
}

/// The way among the people of a team, and how much of what it is good for they are.
fn among<'l>(team: &Team, below: Below<'l>, by_index: bool) -> (f64, Lead<'l>) {
    match team.size() {
        None => (1.0, Lead::Order),
        Some(size) if by_index && size <= FEW_BY_INDEX => (share(size, FEW_BY_INDEX), Lead::Newest(below)),
        Some(size) if by_index && team.is_sparse() => (share(size, MOST_PEOPLE), Lead::Newest(below)),
        Some(size) if !by_index && size <= FEW_PEOPLE => (share(size, FEW_PEOPLE), Lead::People(below)),
        Some(size) => (share(size, MOST_PEOPLE), Lead::Crowd(below)),
    }
}

fn share(count: usize, few: usize) -> f64 {
    count as f64 / few as f64
}

fn tagged(
    db: &mut Db,
    tenant: Tenant,
    side: MemberTable,
    tags: &[[u8; 16]],
    most: usize,
) -> Result<usize, StorageError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut draft = Draft::default();
    draft.with(&format!("SELECT count(*) FROM (SELECT 1 FROM {} WHERE tenant_id = ", side.name), tenant);
    draft.any_of(&format!(" AND {}", side.member), tags.iter().copied()).with(" LIMIT ", most).add(")");
    Ok(usize::try_from(db.number(draft.finish())?).unwrap_or_default())
}

/// The column names someone below a manager: looked up for every row, or known by heart.
///
/// The plus keeps SQLite from turning the question round and walking through the people instead.
pub(crate) fn is_below<'d>(draft: &'d mut Draft, tenant: Tenant, below: Below<'_>, is_known: bool) -> &'d mut Draft {
    let Below { column, manager, itself, .. } = below;
    draft.add(" AND (");
    if itself {
        draft.with(&format!("+t.{column} = "), manager).add(" OR ");
    }
    if is_known {
        return draft.add(&format!("is_in_team(t.{column}))"));
    }
    draft.with("EXISTS (SELECT 1 FROM reporting_lines l WHERE l.tenant_id = ", tenant);
    draft.with(" AND l.ancestor_id = ", manager).add(&format!(" AND l.descendant_id = +t.{column}))"))
}

/// The row has one of the tags.
pub(crate) fn is_tagged<'d>(
    draft: &'d mut Draft,
    tenant: Tenant,
    side: MemberTable,
    tags: &[[u8; 16]],
) -> &'d mut Draft {
    draft.with(&format!(" AND EXISTS (SELECT 1 FROM {} m WHERE m.tenant_id = ", side.name), tenant);
    draft
        .any_of(&format!(" AND m.{}", side.member), tags.iter().copied())
        .add(&format!(" AND m.{} = +t.id)", side.owner))
}

impl Lead<'_> {
    /// Whether the condition holds for every row that is led to.
    pub(crate) fn covers(&self, condition: &Condition) -> bool {
        match self {
            Self::Order | Self::Crowd(_) => false,
            Self::People(it) | Self::Newest(it) => std::ptr::eq(it.condition, condition),
            Self::Tagged(it) => std::ptr::eq(it.condition, condition),
        }
    }

    /// Whether the condition is the one whose people are known by heart.
    pub(crate) fn is_crowd(&self, condition: &Condition) -> bool {
        matches!(self, Self::Crowd(it) if std::ptr::eq(it.condition, condition))
    }
}

impl<'l> Below<'l> {
    /// The people that a condition names.
    pub(crate) const fn of(condition: &'l Condition, column: &'static str, manager: EmployeeId) -> Self {
        Self { condition, column, manager, itself: matches!(condition, Condition::Reach(..)) }
    }

    /// The people, as `l.person`.
    pub(crate) fn people(&self, draft: &mut Draft, tenant: Tenant) {
        draft.with("(SELECT descendant_id AS person FROM reporting_lines WHERE tenant_id = ", tenant);
        draft.with(" AND ancestor_id = ", self.manager);
        if self.itself {
            draft.with(" UNION ALL SELECT ", self.manager);
        }
        draft.add(") l");
    }

    /// Ties the rows to the people, behind other conditions.
    pub(crate) fn tie(&self, draft: &mut Draft) {
        draft.add(&format!(" AND t.{} = l.person", self.column));
    }
}

impl Tags<'_> {
    /// The rows that have any of the tags, each once.
    pub(crate) fn owners(&self, draft: &mut Draft, tenant: Tenant) {
        let MemberTable { name, owner, member } = self.side;
        draft.with(&format!("(SELECT DISTINCT {owner} AS id FROM {name} WHERE tenant_id = "), tenant);
        draft.any_of(&format!(" AND {member}"), self.tags.iter().copied()).add(") m");
    }
}
