//! Row counts that choose the cheapest plan for a page of a list.

use candor_domain::access::Tenant;
use candor_port_storage::error::Read;
use candor_tables::listing::{Condition, Listing};
use candor_tables::plan::{ListPlan, ListPlanner, counted_to};

use super::teams::{PeopleBelow, TeamSource};
use crate::sql::Db;
use crate::text::Draft;

/// Returns the plan for a page of a list.
pub(crate) fn plan_list(db: &mut Db, tenant: Tenant, listing: &Listing, teams: TeamSource) -> Read<ListPlan> {
    let mut planner = ListPlanner::new(listing);
    while let Some(condition) = planner.next_to_count() {
        planner.add_count(count(db, tenant, condition, teams)?);
    }
    Ok(planner.plan())
}

/// Counts the people or rows that match a condition, up to the number that affects the plan.
fn count(db: &mut Db, tenant: Tenant, condition: &Condition, source: TeamSource) -> Read<usize> {
    let mut draft = Draft::default();
    draft.add("SELECT count(*) FROM (SELECT 1 FROM ");
    match condition {
        Condition::Within(_, manager) | Condition::Reach(_, manager) => {
            draft.add("(");
            PeopleBelow { source, manager: *manager, itself: false }.select(&mut draft, tenant);
            draft.add(")")
        }
        Condition::Tagged(side, tags) => draft
            .with(&format!("{} WHERE tenant_id = ", side.name), tenant)
            .any_of(&format!(" AND {}", side.member), tags.iter().copied()),
        Condition::Is(..)
        | Condition::IsNot(..)
        | Condition::OneOf(..)
        | Condition::AtLeast(..)
        | Condition::AtMost(..)
        | Condition::Without(..)
        | Condition::Among(..) => return Ok(0),
    };
    let most = i64::try_from(counted_to(condition)).unwrap_or(i64::MAX);
    draft.with(" LIMIT ", most).add(")");
    Ok(usize::try_from(db.number(draft.finish())?).unwrap_or_default())
}
