//! Reads lists page by page, and sorts the entries that tests expect on the pages.

use std::future::Future;

use candor_domain::page::{Page, PageRequest, Position, Sort, Sortable};
use candor_port_storage::error::Read;

/// A number of entries that no test reaches.
const ENDLESS: usize = 1_000_000;

/// Reads a list from start to end in pages of `limit` entries. `id` returns the id of an entry.
///
/// # Panics
/// When the store fails, a page is longer than `limit`, a page before the last one is shorter, or pages never end.
#[expect(clippy::expect_used, reason = "a list that cannot be read ends the test")]
pub async fn walk<T: Sortable, F: Future<Output = Read<Page<T>>>>(
    sort: Sort,
    limit: u16,
    id: impl Fn(&T) -> [u8; 16],
    read: impl Fn(PageRequest) -> F,
) -> Vec<T> {
    let (mut entries, mut after) = (Vec::new(), None);
    loop {
        let page = read(PageRequest { limit, after: after.clone() }).await.expect("a page");
        let page_size = usize::from(limit);
        assert!(page.items.len() <= page_size, "{} entries on a page of {limit}", page.items.len());
        assert!(!page.more || page.items.len() == page_size, "{} entries and yet more to come", page.items.len());
        let more = page.more;
        entries.extend(page.items);
        if !more {
            return entries;
        }
        let next = entries.last().map(|entry| place(entry, sort, id(entry)));
        assert!(next != after && entries.len() < ENDLESS, "the list has no end: {next:?} repeats");
        after = next;
    }
}

/// Returns the position of an entry in a list.
///
/// # Panics
/// When the list does not have this order.
#[expect(clippy::expect_used, reason = "an order that the list does not have ends the test")]
pub fn place<T: Sortable>(entry: &T, sort: Sort, id: [u8; 16]) -> Position {
    Position { key: entry.key(sort.by).expect("an order of the list"), id }
}

/// Sorts entries by the value of `sort`, then by id in the same direction.
#[must_use]
pub fn sort_entries<T: Sortable>(mut entries: Vec<T>, sort: Sort, id: impl Fn(&T) -> [u8; 16]) -> Vec<T> {
    let place = |entry: &T| (entry.key(sort.by), id(entry));
    entries.sort_by(|a, b| if sort.descending { place(b).cmp(&place(a)) } else { place(a).cmp(&place(b)) });
    entries
}
