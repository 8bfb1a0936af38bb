//! Orders of lists: the values that lists are ordered by, and the orders that a request can choose.

use schemars::json_schema;

use crate::schema::inline_schema;
use crate::time::{Date, Timestamp};

/// The value that a list is ordered by; the id breaks ties in the same direction (decision A11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortBy {
    /// Time of the creation.
    CreatedAt,
    /// Time of the last change.
    UpdatedAt,
    /// The day that an observation is about.
    ObservationDate,
    /// Last day of a period.
    PeriodEnd,
    /// Last name of a person, case-insensitive.
    LastName,
    /// First name of a person, case-insensitive.
    FirstName,
    /// Name of a resource, case-insensitive.
    Name,
    /// Time at which an action or event happened.
    OccurredAt,
    /// Time at which an attempt began.
    AttemptedAt,
    /// Due date of an assignment.
    DueBy,
    /// Time of the last message in a conversation.
    ActiveAt,
    /// Time of the last check-in of an objective. Null counts as the earliest time.
    CheckedInAt,
    /// Time of the request.
    RequestedAt,
    /// Beginning of a run.
    StartedAt,
    /// Position in the order of commits.
    Commit,
    /// Quality of a search match, then time of the creation.
    Score,
}

impl SortBy {
    /// Returns `true` if `key` has the type of keys in this order.
    pub(super) const fn accepts(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt
            | Self::UpdatedAt
            | Self::OccurredAt
            | Self::AttemptedAt
            | Self::ActiveAt
            | Self::CheckedInAt
            | Self::RequestedAt
            | Self::StartedAt => {
                matches!(key, Key::Time(_))
            }
            Self::ObservationDate | Self::PeriodEnd | Self::DueBy => matches!(key, Key::Date(_)),
            Self::LastName | Self::FirstName | Self::Name => matches!(key, Key::Text(_)),
            Self::Commit => matches!(key, Key::Rank(_)),
            Self::Score => matches!(key, Key::Scored(..)),
        }
    }
}

/// The order of a list: a value and a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sort {
    /// The value to order by.
    pub by: SortBy,
    /// `true` if the largest value comes first.
    pub descending: bool,
}

impl Sort {
    /// Creates an ascending order.
    #[must_use]
    pub const fn ascending_by(by: SortBy) -> Self {
        Self { by, descending: false }
    }

    /// Creates a descending order.
    #[must_use]
    pub const fn descending_by(by: SortBy) -> Self {
        Self { by, descending: true }
    }

    /// Returns the word of the `sort` parameter for this order.
    #[must_use]
    pub const fn word(self) -> &'static str {
        let [ascending, descending] = match self.by {
            SortBy::CreatedAt => ["created_at", "-created_at"],
            SortBy::UpdatedAt => ["updated_at", "-updated_at"],
            SortBy::ObservationDate => ["observation_date", "-observation_date"],
            SortBy::PeriodEnd => ["period_end", "-period_end"],
            SortBy::LastName => ["last_name", "-last_name"],
            SortBy::FirstName => ["first_name", "-first_name"],
            SortBy::Name => ["name", "-name"],
            SortBy::OccurredAt => ["occurred_at", "-occurred_at"],
            SortBy::AttemptedAt => ["attempted_at", "-attempted_at"],
            SortBy::DueBy => ["due_date", "-due_date"],
            SortBy::ActiveAt => ["last_message_at", "-last_message_at"],
            SortBy::CheckedInAt => ["last_check_in_at", "-last_check_in_at"],
            SortBy::RequestedAt => ["requested_at", "-requested_at"],
            SortBy::StartedAt => ["started_at", "-started_at"],
            SortBy::Commit => ["commit", "-commit"],
            SortBy::Score => ["score", "-score"],
        };
        if self.descending { descending } else { ascending }
    }
}

/// The value by which one entry is ordered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A time, in milliseconds.
    Time(Timestamp),
    /// A calendar day without a time zone.
    Date(Date),
    /// A text, folded for the comparison without case.
    Text(String),
    /// A position in the order of commits.
    Rank(i64),
    /// Quality of a search match, and the time of the creation.
    Scored(Score, Timestamp),
}

/// A value that a list can be ordered by, and the directions that a request can choose.
pub struct SortKey<T> {
    /// The value to order by.
    pub by: SortBy,
    /// Function that returns the value by which an entry is ordered.
    pub key: fn(&T) -> Key,
    /// The possible directions, `true` if the largest value comes first. The first direction is the default.
    is_descending: &'static [bool],
}

impl<T> SortKey<T> {
    /// Creates an order in both directions, ascending by default.
    pub const fn ascending_by(by: SortBy, key: fn(&T) -> Key) -> Self {
        Self { by, key, is_descending: &[false, true] }
    }

    /// Creates an order in both directions, descending by default.
    pub const fn descending_by(by: SortBy, key: fn(&T) -> Key) -> Self {
        Self { by, key, is_descending: &[true, false] }
    }

    /// Creates an order in one direction.
    pub const fn only_ascending(by: SortBy, key: fn(&T) -> Key) -> Self {
        Self { by, key, is_descending: &[false] }
    }

    /// Creates an order in one direction, with the largest value first.
    pub const fn only_descending(by: SortBy, key: fn(&T) -> Key) -> Self {
        Self { by, key, is_descending: &[true] }
    }

    const fn default(&self) -> Sort {
        Sort { by: self.by, descending: self.is_descending[0] }
    }

    fn sorts(&self) -> impl Iterator<Item = Sort> + Clone {
        self.is_descending.iter().map(|descending| Sort { by: self.by, descending: *descending })
    }
}

/// A resource that can be listed in one or more orders.
pub trait Sortable: Sized + 'static {
    /// Name of the set of `sort` words in the OpenAPI document.
    const ORDERS_NAME: &'static str;
    /// The possible orders. The first one is the default.
    const ORDERS: &'static [SortKey<Self>];
    /// The order of a list without the `sort` parameter.
    const DEFAULT: Sort = Self::ORDERS[0].default();

    /// Returns every `sort` word with its order.
    #[must_use]
    fn sorts() -> impl Iterator<Item = (&'static str, Sort)> + Clone {
        Self::ORDERS.iter().flat_map(SortKey::sorts).map(|sort| (sort.word(), sort))
    }

    /// Returns the value by which this entry is ordered; `None` if the resource has no order by `by`.
    #[must_use]
    fn key(&self, by: SortBy) -> Option<Key> {
        Self::ORDERS.iter().find(|order| order.by == by).map(|order| (order.key)(self))
    }
}

/// The quality of a match of a search, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Score {
    /// The last word matches only the beginning of a longer word.
    Begun,
    /// All words match entire words.
    Whole,
}

inline_schema!(Score, "Score", |_| json_schema!({
    "type": "number", "minimum": 0, "maximum": Score::ALL[0].value(),
}));

impl Score {
    /// All scores, the best one first.
    pub const ALL: [Self; 2] = [Self::Whole, Self::Begun];

    /// Returns the number that responses show.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Whole => 1.0,
            Self::Begun => 0.5,
        }
    }
}
