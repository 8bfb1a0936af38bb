//! The rows of the table, resource by resource.

use super::Route;
use crate::openapi;
use crate::routes::{
    assignments, attributes, connectors, conversations, departments, employees, events, keys, notifications,
    objectives, observations, organization, search, summaries, webhooks,
};

/// What describes the others.
const DOCUMENT: &[Route] =
    &[Route::file("/openapi.json", openapi::rendered).named("getDocument", "Get this document").answers("Document")];

/// All of them, in the order of the document.
const FAMILIES: [&[Route]; 16] = [
    observations::ROUTES,
    objectives::ROUTES,
    assignments::ROUTES,
    conversations::ROUTES,
    notifications::ROUTES,
    summaries::ROUTES,
    search::ROUTES,
    employees::ROUTES,
    departments::ROUTES,
    attributes::ROUTES,
    keys::ROUTES,
    organization::ROUTES,
    connectors::ROUTES,
    webhooks::ROUTES,
    events::ROUTES,
    DOCUMENT,
];

const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// Every route there is.
pub static ROUTES: &[Route] = &joined();

const fn joined() -> [Route; COUNT] {
    let mut all = [FAMILIES[0][0]; COUNT];
    let (mut at, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            all[at] = FAMILIES[family][row];
            (at, row) = (at + 1, row + 1);
        }
        family += 1;
    }
    all
}
