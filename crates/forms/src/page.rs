//! Cursor pages: the start and order of a page, and the opaque text that leads to the next one (§1, A10, A11).

mod sort;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::time::{Date, Timestamp};

pub use sort::{Key, Score, Sort, SortBy, SortKey, Sortable};

/// Default number of entries of a page (§8).
pub const DEFAULT_LIMIT: u16 = 50;
/// Largest number of entries of a page (§8).
pub const MAX_LIMIT: u16 = 100;

/// The position of an entry in a list; the next page starts behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The value by which the entry is ordered.
    pub key: Key,
    /// The id of the entry as bytes.
    pub id: [u8; 16],
}

/// The page that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Largest number of entries.
    pub limit: u16,
    /// The position behind which the page starts; `None` for the first page.
    pub after: Option<Position>,
}

impl PageRequest {
    /// The first page of the maximum size: for lists that fit into one page, and as the start of a loop over all pages.
    pub const ALL: Self = Self { limit: MAX_LIMIT, after: None };
}

/// A page of entries, with a flag that tells if another page follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries in order.
    pub items: Vec<T>,
    /// `true` if another page follows.
    pub more: bool,
}

impl<T> Page<T> {
    /// Creates a page from up to `limit` + 1 entries; the additional one only shows that another page follows.
    #[must_use]
    pub fn from_items(mut items: Vec<T>, limit: u16) -> Self {
        let more = items.len() > usize::from(limit);
        items.truncate(usize::from(limit));
        Self { items, more }
    }
}

/// A digest of a list with its filters and order, which binds a cursor to exactly one list (decision A10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListDigest([u8; 8]);

impl ListDigest {
    /// Returns the digest of a text that states list, filters and order.
    #[must_use]
    pub fn new(list: &str) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, list.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_ref()[..8]);
        Self(first)
    }

    /// Returns the digest as bytes.
    pub const fn to_bytes(self) -> [u8; 8] {
        self.0
    }
}

/// Version of the cursor layout; cursors of other versions are refused.
const CURSOR_VERSION: u8 = 1;

/// Returns the cursor that leads to the entries behind a position.
#[must_use]
pub fn cursor(list: ListDigest, position: &Position) -> String {
    let mut bytes = vec![CURSOR_VERSION];
    bytes.extend(list.0);
    bytes.extend(position.id);
    match &position.key {
        Key::Time(at) => push_tagged(&mut bytes, b't', &at.millis().to_be_bytes()),
        Key::Date(date) => push_tagged(&mut bytes, b'd', &date.epoch_days().to_be_bytes()),
        Key::Text(text) => push_tagged(&mut bytes, b's', text.as_bytes()),
        Key::Rank(rank) => push_tagged(&mut bytes, b'r', &rank.to_be_bytes()),
        Key::Scored(Score::Whole, at) => push_tagged(&mut bytes, b'w', &at.millis().to_be_bytes()),
        Key::Scored(Score::Begun, at) => push_tagged(&mut bytes, b'b', &at.millis().to_be_bytes()),
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

fn push_tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend(bytes);
}

/// Parses a cursor; `None` unless it was created for the same list in the same order.
#[must_use]
pub fn read_cursor(list: ListDigest, by: SortBy, text: &str) -> Option<Position> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let rest = bytes.strip_prefix(&[CURSOR_VERSION])?.strip_prefix(&list.0)?;
    let (id, rest) = rest.split_first_chunk::<16>()?;
    let (tag, value) = rest.split_first()?;
    let time = || Timestamp::from_millis(i64::from_be_bytes(value.try_into().ok()?)).printable();
    let key = match tag {
        b't' => Key::Time(time()?),
        b'w' => Key::Scored(Score::Whole, time()?),
        b'b' => Key::Scored(Score::Begun, time()?),
        b'd' => Key::Date(Date::from_epoch_days(i32::from_be_bytes(value.try_into().ok()?)).printable()?),
        b's' => Key::Text(std::str::from_utf8(value).ok().filter(|text| !text.contains('\0'))?.to_owned()),
        b'r' => Key::Rank(i64::from_be_bytes(value.try_into().ok()?)),
        _ => return None,
    };
    by.accepts(&key).then_some(Position { key, id: *id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys() -> impl Strategy<Value = (SortBy, Key)> {
        let millis = -62_135_596_800_000_i64..=253_402_300_799_999;
        prop_oneof![
            millis.prop_map(|millis| (SortBy::CreatedAt, Key::Time(Timestamp::from_millis(millis)))),
            (-700_000..2_900_000)
                .prop_map(|days| (SortBy::ObservationDate, Key::Date(Date::from_epoch_days(days)))),
            "[^\0]{0,80}".prop_map(|text| (SortBy::Name, Key::Text(text))),
            any::<i64>().prop_map(|rank| (SortBy::Commit, Key::Rank(rank))),
            (0..9_i64)
                .prop_map(|millis| (SortBy::Score, Key::Scored(Score::Begun, Timestamp::from_millis(millis)))),
        ]
    }

    proptest! {
        #[test]
        fn cursor_is_read_back_in_its_own_list_only((by, key) in keys(), id: [u8; 16]) {
            let (list, other) = (ListDigest::new("a"), ListDigest::new("b"));
            let position = Position { key, id };
            let text = cursor(list, &position);
            prop_assert_eq!(read_cursor(list, by, &text), Some(position));
            prop_assert_eq!(read_cursor(other, by, &text), None);
            let another = if by == SortBy::Name { SortBy::Commit } else { SortBy::Name };
            prop_assert_eq!(read_cursor(list, another, &text), None);
        }

        #[test]
        fn any_text_that_parses_is_a_valid_cursor(text in ".{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let list = ListDigest::new("a");
            let mut forged_cursor = vec![CURSOR_VERSION];
            forged_cursor.extend(list.0);
            forged_cursor.extend(bytes);
            for cursor_text in [text, URL_SAFE_NO_PAD.encode(forged_cursor)] {
                for by in [SortBy::UpdatedAt, SortBy::ObservationDate, SortBy::LastName, SortBy::Commit, SortBy::Score] {
                    if let Some(position) = read_cursor(list, by, &cursor_text) {
                        prop_assert_eq!(cursor(list, &position), cursor_text.clone());
                    }
                }
            }
        }
    }

    /// Returns a page as a store does: the entries behind a position, one more than requested.
    fn page(entries: &[(i64, u8)], descending: bool, request: &PageRequest) -> Page<(i64, u8)> {
        let place = |entry: &(i64, u8)| (Key::Rank(entry.0), [entry.1; 16]);
        let mut sorted_entries = entries.to_vec();
        sorted_entries.sort_by(|a, b| if descending { place(b).cmp(&place(a)) } else { place(a).cmp(&place(b)) });
        let start = request.after.as_ref().map(|position| (position.key.clone(), position.id));
        let is_later = |entry: &(i64, u8)| {
            start
                .as_ref()
                .is_none_or(|start| if descending { place(entry) < *start } else { place(entry) > *start })
        };
        let page_entries =
            sorted_entries.into_iter().filter(is_later).take(usize::from(request.limit) + 1).collect();
        Page::from_items(page_entries, request.limit)
    }

    proptest! {
        #[test]
        fn following_cursors_returns_every_entry_once(
            entries in proptest::collection::btree_set((0..4_i64, any::<u8>()), 0..40),
            inserted in proptest::collection::vec((0..4_i64, any::<u8>()), 0..20),
            limit in 1..12_u16,
            descending: bool,
        ) {
            let list = ListDigest::new("a");
            let unread_entries: Vec<_> = entries.into_iter().collect();
            let (mut all, mut inserted) = (unread_entries.clone(), inserted.into_iter());
            let (mut shown, mut next) = (Vec::new(), None::<String>);
            loop {
                let position = next.take().and_then(|text| read_cursor(list, SortBy::Commit, &text));
                let page_result = page(&all, descending, &PageRequest { limit, after: position });
                shown.extend(page_result.items);
                if !page_result.more {
                    break;
                }
                let last = shown.last().copied().unwrap();
                next = Some(cursor(list, &Position { key: Key::Rank(last.0), id: [last.1; 16] }));
                all.extend(inserted.next().filter(|entry| !all.contains(entry)));
            }
            let in_order = |pair: &[(i64, u8)]| if descending { pair[0] > pair[1] } else { pair[0] < pair[1] };
            prop_assert!(shown.windows(2).all(in_order));
            shown.retain(|entry| unread_entries.contains(entry));
            shown.sort_unstable();
            prop_assert_eq!(shown, unread_entries);
        }
    }

    #[test]
    fn page_with_an_additional_entry_has_a_next_page() {
        assert_eq!(Page::from_items(vec![1, 2, 3], 2), Page { items: vec![1, 2], more: true });
        assert_eq!(Page::from_items(vec![1, 2], 2), Page { items: vec![1, 2], more: false });
    }
}
