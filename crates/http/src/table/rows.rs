//! The rows of the table, family by family.

mod feedback;
mod people;
mod settings;
mod summaries;
mod webhooks;

use super::Route;

const FAMILIES: [&[Route]; 5] =
    [feedback::ROUTES, summaries::ROUTES, people::ROUTES, settings::ROUTES, webhooks::ROUTES];

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
