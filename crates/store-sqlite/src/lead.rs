//! What leads the way through a list: its own order, or the few rows that a side table names.
//!
//! SQLite cannot know which is shorter, so a look at how many rows the side table names comes first.

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::StorageError;
use candor_port_storage::flat::MemberTable;
use candor_port_storage::listing::{Condition, Listing};

use crate::sql::Db;
use crate::text::Draft;

/// The order in which each person's rows have an index of their own: table, person, order.
const BY_PERSON: (&str, &str, &str) = ("observations", "employee_id", "observation_date");
/// At most so many people lead where each person's first row is found by an index: at 1.5 µs each, they then cost as much
/// as the walk past everybody's rows,
const FEW_BY_INDEX: i64 = 600;
/// and so many where each of their rows has to be looked at.
const FEW_PEOPLE: i64 = 300;
/// So many people are put into a list before the walk; among more, the walk ends sooner than the list is made.
const CROWD: i64 = 4_000;
/// Of objectives there are fewer than of observations, so the walk past those of others is shorter.
const CROWD_OF_OBJECTIVES: i64 = 1_000;
/// At most so many tagged rows lead by themselves.
const FEW_TAGGED: i64 = 4_000;

/// What leads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lead<'l> {
    /// The list's own order.
    Order,
    /// The list's own order, past a list of the people below a manager.
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

/// Chooses the shortest way.
pub(crate) fn choose<'l>(db: &mut Db, tenant: Tenant, listing: &'l Listing) -> Result<Lead<'l>, StorageError> {
    let mut best = (1.0, Lead::Order);
    for condition in &listing.conditions {
        let (part, lead) = match condition {
            Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                let below = Below::of(condition, column.name, *manager);
                let crowd = if listing.table.name == "objectives" { CROWD_OF_OBJECTIVES } else { CROWD };
                let count = people_below(db, tenant, *manager, crowd + 1)?;
                among(count, below, crowd, BY_PERSON == (listing.table.name, column.name, listing.sort.name))
            }
            Condition::Tagged(side, tags) => {
                let count = tagged(db, tenant, *side, tags, FEW_TAGGED + 1)?;
                (share(count, FEW_TAGGED), Lead::Tagged(Tags { condition, side: *side, tags }))
            }
            Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => continue,
        };
        if part <= best.0 {
            best = (part, lead);
        }
    }
    Ok(best.1)
}

/// The way among so many people, and how much of what it is good for they are.
fn among(count: i64, below: Below<'_>, crowd: i64, by_index: bool) -> (f64, Lead<'_>) {
    match by_index {
        true if count <= FEW_BY_INDEX => (share(count, FEW_BY_INDEX), Lead::Newest(below)),
        false if count <= FEW_PEOPLE => (share(count, FEW_PEOPLE), Lead::People(below)),
        true | false => (share(count, crowd), Lead::Crowd(below)),
    }
}

fn share(count: i64, few: i64) -> f64 {
    count as f64 / few as f64
}

fn people_below(db: &mut Db, tenant: Tenant, manager: EmployeeId, most: i64) -> Result<i64, StorageError> {
    let mut draft = Draft::default();
    draft.with("SELECT count(*) FROM (SELECT 1 FROM reporting_lines WHERE tenant_id = ", tenant);
    draft.with(" AND ancestor_id = ", manager).with(" LIMIT ", most).add(")");
    db.number(draft.finish())
}

fn tagged(db: &mut Db, tenant: Tenant, side: MemberTable, tags: &[[u8; 16]], most: i64) -> Result<i64, StorageError> {
    let mut draft = Draft::default();
    draft.with(&format!("SELECT count(*) FROM (SELECT 1 FROM {} WHERE tenant_id = ", side.name), tenant);
    draft.any_of(&format!(" AND {}", side.member), tags.iter().copied()).with(" LIMIT ", most).add(")");
    db.number(draft.finish())
}

/// The column names someone below a manager: looked up for every row, or in a list that is made once.
///
/// The plus keeps SQLite from turning the question round and walking through the people instead.
pub(crate) fn is_below<'d>(draft: &'d mut Draft, tenant: Tenant, below: Below<'_>, listed: bool) -> &'d mut Draft {
    let Below { column, manager, itself, .. } = below;
    draft.add(" AND (");
    if itself {
        draft.with(&format!("+t.{column} = "), manager).add(" OR ");
    }
    if listed {
        draft.add(&format!("+t.{column} IN (SELECT l.descendant_id FROM reporting_lines l"));
        return draft.with(" WHERE l.tenant_id = ", tenant).with(" AND l.ancestor_id = ", manager).add("))");
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

    /// Whether the condition is the one whose people are put into a list.
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
