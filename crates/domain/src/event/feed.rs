//! The event feed: its conditions, positions and retention (decision F9).

use super::EventType;
use crate::id::EventId;
use crate::page::{ListDigest, Position, Sort, SortBy, cursor};
use crate::params::{self, Param, Params, ValueForm};
use crate::problem::{Code, ValueError};
use crate::time::Timestamp;

/// The conditions of the event feed (decision F9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedFilter {
    /// Any of these types; empty for all.
    pub kinds: Vec<EventType>,
}

impl FeedFilter {
    /// Returns the names of the parameters that can make a piece of the feed slow to find: `filter[event]` and
    /// `since`, if the request has them.
    #[must_use]
    pub fn conditions(&self, start: &FeedStart) -> Vec<String> {
        let event = (!self.kinds.is_empty()).then_some("filter[event]");
        let since_filter = matches!(start, FeedStart::Since(_)).then_some("since");
        event.into_iter().chain(since_filter).map(str::to_owned).collect()
    }
}

/// The start of a piece of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedStart {
    /// The oldest event that is kept.
    Oldest,
    /// The first event behind this position.
    After(Position),
    /// The first event, in the order of the feed, with this time or a later one.
    Since(Timestamp),
    /// The first event after those that exist now.
    Now,
    /// The newest events, as many as the piece may have. With a filter, events beyond the newest that one read scans are
    /// left out.
    Newest,
}

impl From<Option<Position>> for FeedStart {
    /// Starts behind a position, or at the oldest event.
    fn from(after: Option<Position>) -> Self {
        after.map_or(Self::Oldest, Self::After)
    }
}

const SINCE: Param<String> = params::param(
    "since",
    "Start at the first event at or after this time, at most 30 days ago. `now` starts after all existing \
     events, `newest` at the newest `limit` events. The response has the cursor for the next request. Cannot be combined with `cursor`.",
    ValueForm::Beginning,
    |text| Ok(text.to_owned()),
);

/// A request for a piece of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRequest {
    /// The conditions of the list.
    pub filter: FeedFilter,
    /// The start of the piece.
    pub start: FeedStart,
    /// The largest number of events to return.
    pub limit: u16,
    /// Digest that binds the next cursor to this list and its filters.
    pub digest: ListDigest,
}

impl FeedRequest {
    /// The only order of the feed: the order of commits.
    const SORT: Sort = Sort::ascending_by(SortBy::Commit);

    /// Declares and reads the parameters of `GET /events`.
    pub fn read(params: &mut Params, now: Timestamp) -> Self {
        let filter =
            FeedFilter { kinds: params.many(&params::word("filter[event]", "Only events of this type.")) };
        let has_cursor = params.has("cursor");
        let start = params.one_and(&SINCE, |text| parse_start(&text, has_cursor, now));
        let list = params.read_sorted_list::<_, ()>(
            "events",
            Self::SORT,
            [("created_at", Self::SORT)].into_iter(),
            filter,
            vec![],
        );
        let start = start.unwrap_or_else(|| list.page.after.into());
        Self { filter: list.filter, start, limit: list.page.limit, digest: list.digest }
    }

    /// Returns the cursor of `GET /events` without filters that leads to the events behind a position.
    #[must_use]
    pub fn unfiltered_cursor(after: &Position) -> String {
        let full_feed = Self::read(&mut Params::new(vec![]), Timestamp::from_millis(0));
        cursor(full_feed.digest, after)
    }
}

/// Reads `since`, the time from which a new client follows the feed. A time before the start of the feed is
/// refused: a client that was away for longer has missed events and must read the lists again.
fn parse_start(text: &str, has_cursor: bool, now: Timestamp) -> Result<FeedStart, ValueError> {
    if has_cursor {
        return Err(ValueError::format("omitted when `cursor` is given"));
    }
    match text {
        "now" => return Ok(FeedStart::Now),
        "newest" => return Ok(FeedStart::Newest),
        _ => {}
    }
    let form_error =
        |_| ValueError::format("`now`, `newest`, or an ISO 8601 datetime with an offset, such as Z or %2B02:00");
    let start_time = params::instant(text).map_err(form_error)?;
    if start_time < oldest_in_feed(now) {
        let message = format!("must be within the last {FEED_DAYS} days; read the lists again to catch up");
        return Err(ValueError::new(Code::OutOfRange, message));
    }
    if start_time > now.plus_seconds(MOST_COMMIT_DELAY_SECONDS) {
        return Err(ValueError::new(Code::OutOfRange, "must not be in the future"));
    }
    Ok(FeedStart::Since(start_time))
}

/// Age of the oldest event in the feed, in days (decision F9).
pub const FEED_DAYS: i64 = 30;

const DAY_SECONDS: i64 = 86_400;

/// Returns the time of the oldest event that the feed shows.
#[must_use]
pub fn oldest_in_feed(now: Timestamp) -> Timestamp {
    now.plus_seconds(-FEED_DAYS * DAY_SECONDS)
}

/// Longest delay between the time of a change and its commit, in seconds. A change gets its time first, then waits
/// for locks and retries, and the clocks of instances differ. Clients that poll by `updated_at` need the same
/// overlap.
pub const MOST_COMMIT_DELAY_SECONDS: i64 = 5 * 60;

/// Returns the lowest id that an event of this time can have. Event ids start with the time.
#[must_use]
pub fn first_id_at(at: Timestamp) -> EventId {
    const RANDOM_BITS: u32 = 80;
    const LAST_MILLIS: u128 = u128::MAX >> RANDOM_BITS;
    let millis = u128::try_from(at.millis()).unwrap_or_default().min(LAST_MILLIS);
    EventId::from_bytes((millis << RANDOM_BITS).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::ValidationErrors;
    use ulid::Ulid;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn start(pairs: &[(&str, &str)]) -> Result<FeedStart, Vec<(String, Code)>> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let codes = |problems: ValidationErrors| {
            problems.as_slice().iter().map(|problem| (problem.field.clone(), problem.code)).collect()
        };
        Params::new(pairs)
            .parse(|params| FeedRequest::read(params, NOW))
            .map(|request| request.start)
            .map_err(codes)
    }

    #[test]
    fn feed_starts_at_the_requested_position() {
        let early = NOW.plus_seconds(-60);
        assert_eq!(start(&[]), Ok(FeedStart::Oldest));
        assert_eq!(start(&[("since", "now")]), Ok(FeedStart::Now));
        assert_eq!(start(&[("since", "newest")]), Ok(FeedStart::Newest));
        for time in [oldest_in_feed(NOW), early, NOW.plus_seconds(MOST_COMMIT_DELAY_SECONDS)] {
            assert_eq!(start(&[("since", &time.to_string())]), Ok(FeedStart::Since(time)));
        }
        let digest = Params::new(vec![]).parse(|params| FeedRequest::read(params, NOW)).unwrap().digest;
        let place = Position { key: crate::page::Key::Rank(7), id: [1; 16] };
        let cursor = crate::page::cursor(digest, &place);
        assert_eq!(start(&[("cursor", &cursor)]), Ok(FeedStart::After(place)));
        let case_of = |text: &str, code| (start(&[("since", text)]), Err(vec![("since".to_owned(), code)]));
        for (found, wanted) in [
            case_of("yesterday", Code::InvalidFormat),
            case_of("2026-01-01", Code::InvalidFormat),
            case_of(&NOW.plus_seconds(-FEED_DAYS * DAY_SECONDS - 1).to_string(), Code::OutOfRange),
            case_of(&NOW.plus_seconds(MOST_COMMIT_DELAY_SECONDS + 1).to_string(), Code::OutOfRange),
        ] {
            assert_eq!(found, wanted);
        }
        let both = start(&[("since", "now"), ("cursor", &cursor)]);
        assert_eq!(both, Err(vec![("since".to_owned(), Code::InvalidFormat)]));
    }

    #[test]
    fn first_id_at_is_the_lowest_id_of_its_millisecond() {
        let time = Timestamp::from_millis(1_234_567);
        assert_eq!(first_id_at(time).ulid().timestamp_ms(), 1_234_567);
        assert!(first_id_at(time) <= EventId::from_ulid(Ulid::from_parts(1_234_567, 0)));
        assert!(first_id_at(time) > EventId::from_ulid(Ulid::from_parts(1_234_566, u128::MAX)));
    }
}
