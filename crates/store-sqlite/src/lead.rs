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

/// A subtree of at most so many people leads by itself; among more, the list's own order meets enough of them soon.
const FEW_PEOPLE: i64 = 500;
/// At most so many tagged rows lead by themselves.
const FEW_TAGGED: i64 = 4_000;

/// What leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lead<'l> {
    /// The list's own order.
    Order,
    /// The people below a manager, by the column that names a person.
    People(&'l Condition),
    /// The rows with a tag.
    Tagged(&'l Condition),
}

/// Chooses the shortest way.
pub(crate) fn choose<'l>(db: &mut Db, tenant: Tenant, listing: &'l Listing) -> Result<Lead<'l>, StorageError> {
    let mut best = (f64::INFINITY, Lead::Order);
    for condition in &listing.conditions {
        let (count, few, lead) = match condition {
            Condition::Within(_, manager) => {
                (people_below(db, tenant, *manager, FEW_PEOPLE + 1)?, FEW_PEOPLE, Lead::People(condition))
            }
            Condition::Tagged(side, tags) => {
                (tagged(db, tenant, *side, tags, FEW_TAGGED + 1)?, FEW_TAGGED, Lead::Tagged(condition))
            }
            Condition::Is(..) | Condition::OneOf(..) | Condition::AtLeast(..) | Condition::AtMost(..) => continue,
        };
        let part = count as f64 / few as f64;
        if part <= 1.0 && part < best.0 {
            best = (part, lead);
        }
    }
    Ok(best.1)
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

/// The column names someone below a manager.
pub(crate) fn is_below<'d>(draft: &'d mut Draft, tenant: Tenant, column: &str, manager: EmployeeId) -> &'d mut Draft {
    draft.with(" AND EXISTS (SELECT 1 FROM reporting_lines l WHERE l.tenant_id = ", tenant);
    // The plus keeps SQLite from turning the question round and walking through the people instead.
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

impl Lead<'_> {
    /// Whether the list's own order leads.
    pub(crate) const fn walks(&self) -> bool {
        matches!(self, Self::Order)
    }

    /// Whether the condition holds for every row that is led to.
    pub(crate) fn covers(&self, condition: &Condition) -> bool {
        match self {
            Self::Order => false,
            Self::People(it) | Self::Tagged(it) => std::ptr::eq(*it, condition),
        }
    }

    /// The tables, the leading one first.
    pub(crate) fn tables(&self, draft: &mut Draft, tenant: Tenant, table: &str) {
        match self {
            Self::People(Condition::Within(..)) => {
                draft.add(&format!("reporting_lines l CROSS JOIN {table} t"));
            }
            Self::Tagged(Condition::Tagged(side, tags)) => {
                let MemberTable { name, owner, member } = side;
                // A row may have several of the tags.
                draft.with(&format!("(SELECT DISTINCT {owner} FROM {name} WHERE tenant_id = "), tenant);
                draft.any_of(&format!(" AND {member}"), tags.iter().copied());
                draft.add(&format!(") m CROSS JOIN {table} t"));
            }
            Self::Order | Self::People(_) | Self::Tagged(_) => {
                draft.add(table).add(" t");
            }
        }
    }

    /// What ties the two together.
    pub(crate) fn conditions(&self, draft: &mut Draft, tenant: Tenant) {
        match self {
            Self::People(Condition::Within(column, manager)) => {
                draft.with(" AND l.tenant_id = ", tenant).with(" AND l.ancestor_id = ", *manager);
                draft.add(&format!(" AND t.{} = l.descendant_id", column.name));
            }
            Self::Tagged(Condition::Tagged(side, _)) => {
                draft.add(&format!(" AND t.id = m.{}", side.owner));
            }
            Self::Order | Self::People(_) | Self::Tagged(_) => {}
        }
    }
}
