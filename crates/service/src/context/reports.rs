//! Finds the people who report to the person that a caller acts for (decision B5).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::id::EmployeeId;

use crate::context::error::Error;
use crate::context::request::RequestContext;

/// Returns those of `people` who report to the caller's person, directly or indirectly. Empty if the caller does
/// not act for a person. Makes one read for any number of people.
pub(crate) async fn find_reports_among(
    context: &RequestContext,
    people: impl IntoIterator<Item = EmployeeId>,
) -> Result<BTreeSet<EmployeeId>, Error> {
    let Some(person) = context.caller.acts_for() else { return Ok(BTreeSet::new()) };
    let people: BTreeSet<_> = people.into_iter().filter(|id| *id != person).collect();
    if people.is_empty() {
        return Ok(people);
    }
    let ids: Vec<_> = people.iter().copied().collect();
    let lines_by_person: BTreeMap<_, _> =
        context.services.store.lines_above(context.caller.tenant, &ids).await?.lines.into_iter().collect();
    let managers = |employee_id: EmployeeId| {
        std::iter::successors(lines_by_person.get(&employee_id).copied(), |employee_id| {
            lines_by_person.get(employee_id).copied()
        })
    };
    Ok(people.into_iter().filter(|id| managers(*id).any(|manager| manager == person)).collect())
}
