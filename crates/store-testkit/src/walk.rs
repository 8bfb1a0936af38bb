//! Lists, walked page by page and compared with what they should be.

use std::future::Future;

use candor_domain::page::{Listed, Page, PageRequest, Position, Sort};
use candor_port_storage::error::Read;

/// More entries than any test has.
const ENDLESS: usize = 1_000_000;

/// Reads a list from start to end, in pages of `limit`. `id` gives an entry's id.
///
/// # Panics
/// When the store fails, a page is longer than wanted, or one that more should follow is shorter, or pages never end.
#[expect(clippy::expect_used, reason = "a list that cannot be read ends the test")]
pub async fn walk<T: Listed, F: Future<Output = Read<Page<T>>>>(
    sort: Sort,
    limit: u16,
    id: impl Fn(&T) -> [u8; 16],
    read: impl Fn(PageRequest) -> F,
) -> Vec<T> {
    let (mut entries, mut after) = (Vec::new(), None);
    loop {
        let page = read(PageRequest { limit, after: after.clone() }).await.expect("a page");
        let wanted = usize::from(limit);
        assert!(page.items.len() <= wanted, "{} entries on a page of {limit}", page.items.len());
        assert!(!page.more || page.items.len() == wanted, "{} entries and yet more to come", page.items.len());
        let more = page.more;
        entries.extend(page.items);
        if !more {
            return entries;
        }
        let next = entries.last().map(|it| place(it, sort, id(it)));
        assert!(next != after && entries.len() < ENDLESS, "the walk comes to no end: {next:?} again and again");
        after = next;
    }
}

/// The place of an entry in a list.
///
/// # Panics
/// When the list has no such order.
#[expect(clippy::expect_used, reason = "an order that the list does not have ends the test")]
pub fn place<T: Listed>(entry: &T, sort: Sort, id: [u8; 16]) -> Position {
    Position { key: entry.key(sort.by).expect("an order of the list"), id }
}

/// The entries in the order of a list: by the sort's value, then by id in the same direction.
#[must_use]
pub fn sorted<T: Listed>(mut entries: Vec<T>, sort: Sort, id: impl Fn(&T) -> [u8; 16]) -> Vec<T> {
    let place = |it: &T| (it.key(sort.by), id(it));
    entries.sort_by(|a, b| if sort.descending { place(b).cmp(&place(a)) } else { place(a).cmp(&place(b)) });
    entries
}
