//! Cursor pages: where a page starts, how it is ordered, and the opaque text that leads to the next (§1, A10, A11).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::search::Score;
use crate::time::{Date, Timestamp};

/// Entries of a page unless asked otherwise (§8).
pub const DEFAULT_LIMIT: u16 = 50;
/// The most entries of a page (§8).
pub const MAX_LIMIT: u16 = 100;

/// What a list is ordered by; the id breaks ties in the same direction (decision A11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortBy {
    /// When it was created.
    CreatedAt,
    /// When it last changed.
    UpdatedAt,
    /// The day an observation is about.
    ObservationDate,
    /// The last day of a period.
    PeriodEnd,
    /// A person's last name, without case.
    LastName,
    /// A person's first name, without case.
    FirstName,
    /// A name, without case.
    Name,
    /// When it happened.
    OccurredAt,
    /// The day by which it is wanted.
    DueBy,
    /// When something was last said in it.
    ActiveAt,
    /// When it was committed.
    Commit,
    /// How well it matches what is searched for, then when it was created.
    Score,
}

impl SortBy {
    /// Whether entries in this order have keys like this one.
    const fn has(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt | Self::UpdatedAt | Self::OccurredAt | Self::ActiveAt => matches!(key, Key::Time(_)),
            Self::ObservationDate | Self::PeriodEnd | Self::DueBy => matches!(key, Key::Date(_)),
            Self::LastName | Self::FirstName | Self::Name => matches!(key, Key::Text(_)),
            Self::Commit => matches!(key, Key::Rank(_)),
            Self::Score => matches!(key, Key::Scored(..)),
        }
    }
}

/// An order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sort {
    /// By what.
    pub by: SortBy,
    /// Largest first.
    pub descending: bool,
}

impl Sort {
    /// Smallest first.
    #[must_use]
    pub const fn up(by: SortBy) -> Self {
        Self { by, descending: false }
    }

    /// Largest first.
    #[must_use]
    pub const fn down(by: SortBy) -> Self {
        Self { by, descending: true }
    }
}

/// The value an entry is ordered by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// An instant.
    Time(Timestamp),
    /// A day.
    Date(Date),
    /// A folded text.
    Text(String),
    /// A place in commit order.
    Rank(i64),
    /// How well something matches, and when it was created.
    Scored(Score, Timestamp),
}

/// An entry's place in a list: the next page starts behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The value it is ordered by.
    pub key: Key,
    /// Its id's bytes.
    pub id: [u8; 16],
}

/// Which page is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// At most so many entries.
    pub limit: u16,
    /// Behind this place; from the start if absent.
    pub after: Option<Position>,
}

/// Entries of a list, and whether there are more behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Whether another page follows.
    pub more: bool,
}

impl<T> Page<T> {
    /// A page of entries that were read with one more than `limit`, to see whether there are more.
    #[must_use]
    pub fn of(mut items: Vec<T>, limit: u16) -> Self {
        let more = items.len() > usize::from(limit);
        items.truncate(usize::from(limit));
        Self { items, more }
    }
}

/// A value that a list can be ordered by: what entries have of it, and the words that ask for it.
pub struct Order<T> {
    /// Which value.
    pub by: SortBy,
    /// The value of an entry.
    pub key: fn(&T) -> Key,
    /// The words; one with a leading `-` puts the largest first.
    pub words: &'static [&'static str],
}

impl<T> Order<T> {
    const fn sort(&self, word: &str) -> Sort {
        Sort { by: self.by, descending: word.as_bytes()[0] == b'-' }
    }
}

/// A resource that is listed: it knows its place in every order it has.
pub trait Listed: Sized + 'static {
    /// What documents call the words for its orders.
    const ORDERS_NAME: &'static str;
    /// What it can be ordered by; the first word of the first one is the default.
    const ORDERS: &'static [Order<Self>];
    /// The order of a list that asks for none.
    const DEFAULT: Sort = Self::ORDERS[0].sort(Self::ORDERS[0].words[0]);

    /// The orders, by word.
    #[must_use]
    fn sorts() -> impl Iterator<Item = (&'static str, Sort)> + Clone {
        Self::ORDERS.iter().flat_map(|it| it.words.iter().map(|word| (*word, it.sort(word))))
    }

    /// The value this entry is ordered by; none if it has no such order.
    #[must_use]
    fn key(&self, by: SortBy) -> Option<Key> {
        Self::ORDERS.iter().find(|it| it.by == by).map(|it| (it.key)(self))
    }
}

/// Tells one list, with its filters and its order, from another: a cursor belongs to exactly one (decision A10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListDigest([u8; 8]);

impl ListDigest {
    /// The digest of a text that says which list, filters and order are meant.
    #[must_use]
    pub fn of(list: &str) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, list.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_ref()[..8]);
        Self(first)
    }
}

/// The layout of a cursor; a cursor of another layout is refused.
const CURSOR_VERSION: u8 = 1;

/// Writes the cursor that leads behind a position.
#[must_use]
pub fn cursor(list: ListDigest, position: &Position) -> String {
    let mut bytes = vec![CURSOR_VERSION];
    bytes.extend(list.0);
    bytes.extend(position.id);
    match &position.key {
        Key::Time(it) => tagged(&mut bytes, b't', &it.millis().to_be_bytes()),
        Key::Date(it) => tagged(&mut bytes, b'd', &it.epoch_days().to_be_bytes()),
        Key::Text(it) => tagged(&mut bytes, b's', it.as_bytes()),
        Key::Rank(it) => tagged(&mut bytes, b'r', &it.to_be_bytes()),
        Key::Scored(Score::Whole, it) => tagged(&mut bytes, b'w', &it.millis().to_be_bytes()),
        Key::Scored(Score::Begun, it) => tagged(&mut bytes, b'b', &it.millis().to_be_bytes()),
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

fn tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend(bytes);
}

/// Reads a cursor back; `None` unless it was made for this very list, in this order.
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
        b's' => Key::Text(std::str::from_utf8(value).ok().filter(|it| !it.contains('\0'))?.to_owned()),
        b'r' => Key::Rank(i64::from_be_bytes(value.try_into().ok()?)),
        _ => return None,
    };
    by.has(&key).then_some(Position { key, id: *id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys() -> impl Strategy<Value = (SortBy, Key)> {
        let millis = -62_135_596_800_000_i64..=253_402_300_799_999;
        prop_oneof![
            millis.prop_map(|it| (SortBy::CreatedAt, Key::Time(Timestamp::from_millis(it)))),
            (-700_000..2_900_000).prop_map(|it| (SortBy::ObservationDate, Key::Date(Date::from_epoch_days(it)))),
            "[^\0]{0,80}".prop_map(|it| (SortBy::Name, Key::Text(it))),
            any::<i64>().prop_map(|it| (SortBy::Commit, Key::Rank(it))),
            (0..9_i64).prop_map(|it| (SortBy::Score, Key::Scored(Score::Begun, Timestamp::from_millis(it)))),
        ]
    }

    proptest! {
        #[test]
        fn a_cursor_leads_back_to_its_position_in_its_own_list_only((by, key) in keys(), id: [u8; 16]) {
            let (list, other) = (ListDigest::of("a"), ListDigest::of("b"));
            let position = Position { key, id };
            let text = cursor(list, &position);
            prop_assert_eq!(read_cursor(list, by, &text), Some(position));
            prop_assert_eq!(read_cursor(other, by, &text), None);
            let another = if by == SortBy::Name { SortBy::Commit } else { SortBy::Name };
            prop_assert_eq!(read_cursor(list, another, &text), None);
        }

        #[test]
        fn no_text_breaks_the_reader(text in ".{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let list = ListDigest::of("a");
            let mut forged = vec![CURSOR_VERSION];
            forged.extend(list.0);
            forged.extend(bytes);
            for it in [text, URL_SAFE_NO_PAD.encode(forged)] {
                for by in [SortBy::UpdatedAt, SortBy::ObservationDate, SortBy::LastName, SortBy::Commit, SortBy::Score] {
                    if let Some(position) = read_cursor(list, by, &it) {
                        prop_assert_eq!(cursor(list, &position), it.clone());
                    }
                }
            }
        }
    }

    /// What a store does: the entries behind a place, one more than wanted.
    fn page(entries: &[(i64, u8)], descending: bool, request: &PageRequest) -> Page<(i64, u8)> {
        let place = |it: &(i64, u8)| (Key::Rank(it.0), [it.1; 16]);
        let mut ordered = entries.to_vec();
        ordered.sort_by(|a, b| if descending { place(b).cmp(&place(a)) } else { place(a).cmp(&place(b)) });
        let after = request.after.as_ref().map(|it| (it.key.clone(), it.id));
        let behind = |it: &(i64, u8)| {
            after.as_ref().is_none_or(|after| if descending { place(it) < *after } else { place(it) > *after })
        };
        let found = ordered.into_iter().filter(behind).take(usize::from(request.limit) + 1).collect();
        Page::of(found, request.limit)
    }

    proptest! {
        #[test]
        fn a_walk_by_cursors_shows_every_entry_once(
            entries in proptest::collection::btree_set((0..4_i64, any::<u8>()), 0..40),
            inserted in proptest::collection::vec((0..4_i64, any::<u8>()), 0..20),
            limit in 1..12_u16,
            descending: bool,
        ) {
            let list = ListDigest::of("a");
            let before: Vec<_> = entries.into_iter().collect();
            let (mut all, mut inserted) = (before.clone(), inserted.into_iter());
            let (mut shown, mut next) = (Vec::new(), None::<String>);
            loop {
                let after = next.take().and_then(|text| read_cursor(list, SortBy::Commit, &text));
                let found = page(&all, descending, &PageRequest { limit, after });
                shown.extend(found.items);
                if !found.more {
                    break;
                }
                let last = shown.last().copied().unwrap();
                next = Some(cursor(list, &Position { key: Key::Rank(last.0), id: [last.1; 16] }));
                all.extend(inserted.next().filter(|it| !all.contains(it)));
            }
            let in_order = |pair: &[(i64, u8)]| if descending { pair[0] > pair[1] } else { pair[0] < pair[1] };
            prop_assert!(shown.windows(2).all(in_order));
            shown.retain(|it| before.contains(it));
            shown.sort_unstable();
            prop_assert_eq!(shown, before);
        }
    }

    #[test]
    fn a_page_read_with_one_more_says_that_there_is_more() {
        assert_eq!(Page::of(vec![1, 2, 3], 2), Page { items: vec![1, 2], more: true });
        assert_eq!(Page::of(vec![1, 2], 2), Page { items: vec![1, 2], more: false });
    }
}
