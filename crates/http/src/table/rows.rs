//! All routes, resource by resource.

use super::{Route, RouteGroup};
use crate::routes::{
    assignments, attributes, connectors, conversations, departments, document, employees, events, invitations, keys,
    notifications, objectives, observations, organization, search, summaries, webhooks,
};

/// The groups, in the order of the document's tags.
pub(crate) const GROUPS: [RouteGroup; 18] = [
    observations::GROUP,
    objectives::EMPLOYEES,
    objectives::MANAGERS,
    assignments::GROUP,
    conversations::GROUP,
    summaries::GROUP,
    search::GROUP,
    notifications::GROUP,
    employees::GROUP,
    invitations::GROUP,
    departments::GROUP,
    attributes::GROUP,
    keys::GROUP,
    organization::GROUP,
    connectors::GROUP,
    webhooks::GROUP,
    events::GROUP,
    document::GROUP,
];

const COUNT: usize = {
    let (mut count, mut group) = (0, 0);
    while group < GROUPS.len() {
        count += GROUPS[group].routes.len();
        group += 1;
    }
    count
};

/// Every route there is.
pub static ROUTES: &[Route] = &joined();

const fn joined() -> [Route; COUNT] {
    let mut all = [GROUPS[0].routes[0]; COUNT];
    let (mut at, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut row = 0;
        while row < GROUPS[group].routes.len() {
            all[at] = GROUPS[group].routes[row];
            (at, row) = (at + 1, row + 1);
        }
        group += 1;
    }
    all
}
