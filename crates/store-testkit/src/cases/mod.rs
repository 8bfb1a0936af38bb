//! The rules of the port, by area.

mod batches;
mod commits;
mod dropped;
mod faults;
mod feed;
mod filters;
mod keys;
mod lists;
mod objectives;
mod pages;
mod population;
mod reporting;
mod requires;
mod rows;
mod tenants;
mod twins;
mod uniques;
mod upkeep;

use crate::Case;

/// Every rule, those first that are most often got wrong.
pub(crate) fn all() -> Vec<Case> {
    let areas = [
        commits::cases(),
        twins::cases(),
        uniques::cases(),
        requires::cases(),
        reporting::cases(),
        dropped::cases(),
        feed::cases(),
        pages::cases(),
        filters::cases(),
        tenants::cases(),
        rows::cases(),
        keys::cases(),
        upkeep::cases(),
        objectives::cases(),
        faults::cases(),
        batches::cases(),
    ];
    areas.into_iter().flatten().collect()
}
