//! Who reports to the person whom a caller acts for (decision B5).

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::id::EmployeeId;

use crate::context::error::Error;
use crate::context::request::RequestContext;
use crate::context::services::Services;

/// Those of these people who report to the caller's person, directly or through others; nobody where the caller acts for
/// nobody in particular. One read, however many people there are.
pub(crate) async fn among(
    services: &Services,
    context: &RequestContext,
    people: impl IntoIterator<Item = EmployeeId>,
) -> Result<BTreeSet<EmployeeId>, Error> {
    let Some(person) = context.caller.acts_for() else { return Ok(BTreeSet::new()) };
    let people: BTreeSet<_> = people.into_iter().filter(|it| *it != person).collect();
    if people.is_empty() {
        return Ok(people);
    }
    let ids: Vec<_> = people.iter().copied().collect();
    let above: BTreeMap<_, _> =
        services.store.lines_above(context.caller.tenant, &ids).await?.lines.into_iter().collect();
    let managers = |it: EmployeeId| std::iter::successors(above.get(&it).copied(), |it| above.get(it).copied());
    Ok(people.into_iter().filter(|it| managers(*it).any(|it| it == person)).collect())
}
