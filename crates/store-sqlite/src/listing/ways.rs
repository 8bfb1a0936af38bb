//! What leads the way through a list: its own order, or the few rows that a side table names.
//!
//! Which of them is shorter is chosen by the planner of all stores, from how many rows the side table names or people are
//! below a manager.

use candor_domain::access::Tenant;
use candor_domain::id::EmployeeId;
use candor_port_storage::StorageError;
use candor_port_storage::flat::MemberTable;
use candor_port_storage::listing::{Condition, Listing};
use candor_port_storage::plan::{self, Fact, PlanLimits, Way, leads_to_firsts};

use crate::listing::team::{self, MOST_PEOPLE};
use crate::sql::Db;
use crate::text::Draft;

/// What decides between the ways. By an index, a person's first row costs 1.5 µs.
const LIMITS: PlanLimits = PlanLimits {
    people: 300,
    firsts: 600,
    told: MOST_PEOPLE,
    after_a_walk: MOST_PEOPLE,
    tagged: 4_000,
    hashed: 0,
    gathers_first: false,
    hashes: false,
};
/// Rows of others that are walked past for each person of a team: they cost as much as a look for the person's first row.
/// Who has not met enough rows of theirs by then looks for those after all.
const WALKED_FOR_ONE: usize = 6;

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
    let (mut facts, mut teams) = (vec![], vec![]);
    for (at, condition) in listing.conditions.iter().enumerate() {
        let (count, is_sparse) = match condition {
            Condition::Within(column, manager) | Condition::Reach(column, manager) => {
                let team = team::of(db, tenant, *manager)?;
                let found = (team.size(), team.is_sparse());
                let most = team.size().filter(|_| leads_to_firsts(listing, column));
                teams.push((at, team, most.map_or(usize::MAX, |it| it * WALKED_FOR_ONE)));
                found
            }
            Condition::Tagged(side, tags) => (Some(tagged(db, tenant, *side, tags, LIMITS.tagged + 1)?), false),
            Condition::Is(..)
            | Condition::OneOf(..)
            | Condition::AtLeast(..)
            | Condition::AtMost(..)
            | Condition::Without(..) => continue,
        };
        facts.push(Fact { condition: at, count, is_sparse });
    }
    let way = plan::choose(listing, &facts, &LIMITS).first;
    // Only now: what the statement asks is about the people of the way that it takes.
    let asked = teams.into_iter().find(|(at, ..)| way == Way::Past(*at));
    asked.into_iter().for_each(|(_, team, most)| db.question().ask(team, most));
    Ok(Lead::of(way, listing))
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

/// The column names nobody below a manager.
pub(crate) fn is_not_below<'d>(
    draft: &'d mut Draft,
    tenant: Tenant,
    column: &str,
    manager: EmployeeId,
) -> &'d mut Draft {
    draft.with(" AND NOT EXISTS (SELECT 1 FROM reporting_lines l WHERE l.tenant_id = ", tenant);
    draft.with(" AND l.ancestor_id = ", manager).add(&format!(" AND l.descendant_id = +t.{column})"))
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

impl<'l> Lead<'l> {
    /// What leads along a way.
    fn of(way: Way, listing: &'l Listing) -> Self {
        let (at, is_past, is_firsts) = match way {
            Way::Order | Way::Hashed => return Self::Order,
            Way::Past(at) => (at, true, false),
            Way::Gather(at) => (at, false, false),
            Way::Firsts(at) => (at, false, true),
        };
        match listing.conditions.get(at) {
            Some(condition @ (Condition::Within(column, manager) | Condition::Reach(column, manager))) => {
                let below = Below::of(condition, column.name, *manager);
                if is_past {
                    Self::Crowd(below)
                } else if is_firsts {
                    Self::Newest(below)
                } else {
                    Self::People(below)
                }
            }
            Some(condition @ Condition::Tagged(side, tags)) => Self::Tagged(Tags { condition, side: *side, tags }),
            Some(
                Condition::Is(..)
                | Condition::OneOf(..)
                | Condition::AtLeast(..)
                | Condition::AtMost(..)
                | Condition::Without(..),
            )
            | None => Self::Order,
        }
    }
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
