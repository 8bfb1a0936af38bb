//! The route table, as one module for each resource with its routes, handlers, schemas and examples.
//!
//! A handler calls one use case. A module also has the enumerations and the events of its resource.

pub(crate) mod assignments;
pub(crate) mod attention;
pub(crate) mod attributes;
pub(crate) mod check_ins;
pub(crate) mod connectors;
pub(crate) mod conversations;
pub(crate) mod departments;
pub(crate) mod document;
pub(crate) mod employees;
pub(crate) mod erasures;
pub(crate) mod events;
pub(crate) mod exports;
pub(crate) mod identity_providers;
pub(crate) mod invitations;
pub(crate) mod keys;
pub(crate) mod legal_holds;
pub(crate) mod notifications;
pub(crate) mod objectives;
pub(crate) mod observations;
pub(crate) mod organization;
pub(crate) mod portal_links;
pub(crate) mod retention;
pub(crate) mod scim;
pub(crate) mod search;
pub(crate) mod sign_in;
pub(crate) mod summaries;
pub(crate) mod webhooks;

use crate::contract::route::{Route, RouteGroup};

/// Route groups, in the order of the document's tags.
pub(crate) const GROUPS: [RouteGroup; 31] = [
    observations::GROUP,
    objectives::EMPLOYEES,
    objectives::MANAGERS,
    check_ins::OF_EMPLOYEES,
    check_ins::OF_MANAGERS,
    assignments::GROUP,
    conversations::GROUP,
    summaries::GROUP,
    search::GROUP,
    notifications::GROUP,
    attention::GROUP,
    employees::GROUP,
    legal_holds::GROUP,
    erasures::PEOPLE,
    erasures::GROUP,
    invitations::GROUP,
    departments::GROUP,
    attributes::GROUP,
    keys::GROUP,
    portal_links::GROUP,
    sign_in::GROUP,
    organization::GROUP,
    retention::GROUP,
    connectors::GROUP,
    identity_providers::GROUP,
    webhooks::GROUP,
    events::GROUP,
    exports::GROUP,
    document::GROUP,
    scim::USERS,
    scim::DISCOVERY,
];

const COUNT: usize = {
    let (mut count, mut group) = (0, 0);
    while group < GROUPS.len() {
        count += GROUPS[group].routes.len();
        group += 1;
    }
    count
};

/// All routes of the API.
pub static ROUTES: &[Route] = &join_routes();

const fn join_routes() -> [Route; COUNT] {
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
