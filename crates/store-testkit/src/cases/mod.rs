//! The rules of the port, by area.

mod commits;

use crate::Case;

/// Every rule, those first that are most often got wrong.
pub(crate) fn all() -> Vec<Case> {
    [commits::cases()].into_iter().flatten().collect()
}
