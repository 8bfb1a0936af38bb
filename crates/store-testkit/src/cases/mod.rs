//! The rules of the port, by area.

mod commits;
mod filters;
mod lists;
mod population;
mod reporting;
mod requires;
mod twins;
mod uniques;

use crate::Case;

/// Every rule, those first that are most often got wrong.
pub(crate) fn all() -> Vec<Case> {
    let areas =
        [commits::cases(), twins::cases(), uniques::cases(), requires::cases(), reporting::cases(), filters::cases()];
    areas.into_iter().flatten().collect()
}
