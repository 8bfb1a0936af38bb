//! The event feed in commit order, page by page.

use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType, FeedStart, MOST_COMMIT_DELAY_SECONDS, first_id_at};
use candor_domain::fields::StringEnum;
use candor_domain::page::{Key, Position};
use candor_domain::time::Timestamp;
use candor_port_storage::StorageError;
use candor_port_storage::error::Read;
use candor_port_storage::store::FeedPage;
use candor_tables::flat::{CellReader, Reader, Stored};

use crate::sql::{Db, Sql};
use crate::text::Draft;

const LAST: &str = "SELECT position, id FROM events WHERE tenant_id = ? ORDER BY position DESC LIMIT 1";

const LAST_BEFORE: &str =
    "SELECT position, id FROM events WHERE tenant_id = ? AND id < ? ORDER BY id DESC LIMIT 1";

const POSITION: &str = "SELECT position FROM events WHERE tenant_id = ? AND id = ?";

const THE_NTH: &str =
    "SELECT position, id FROM events WHERE tenant_id = ? AND position > ? ORDER BY position LIMIT 1 OFFSET ?";

const THE_NTH_LAST: &str =
    "SELECT position, id FROM events WHERE tenant_id = ? ORDER BY position DESC LIMIT 1 OFFSET ?";

/// Parameters of a feed read.
pub(super) struct FeedRead {
    pub(super) tenant: Tenant,
    /// Selected event types; empty selects all.
    pub(super) kinds: Vec<EventType>,
    pub(super) oldest: Timestamp,
    pub(super) start: FeedStart,
    pub(super) limit: u16,
    /// Maximum number of scanned events when only some types are selected.
    pub(super) most: Option<u32>,
}

/// Returns the next selected events and the cursor behind them.
pub(super) fn piece(db: &mut Db, wanted: &FeedRead) -> Read<FeedPage> {
    // One read transaction, so that the bounds match the events.
    let moment = db.moment()?;
    let (db, FeedRead { tenant, limit, .. }) = (&mut *moment.0, wanted);
    let position = match &wanted.start {
        FeedStart::Oldest => None,
        FeedStart::After(place) => Some(current_position(db, *tenant, place)?),
        FeedStart::Since(at) => last_before(db, *tenant, *at)?,
        FeedStart::Now => {
            let next = db.first(Sql::new(LAST).bind(*tenant), place)?;
            return Ok(FeedPage { events: vec![], next, more: false });
        }
        FeedStart::Newest => before_newest(db, wanted)?,
    };
    let end = match wanted.most {
        Some(most) => {
            let sql = Sql::new(THE_NTH).bind(*tenant).bind(rank(position.as_ref()));
            db.first(sql.bind(i64::from(most.max(1)) - 1), place)?
        }
        None => None,
    };
    let sql = statement(db, wanted, position.as_ref(), end.as_ref());
    let mut events = db.rows(sql, read_placed)?;
    let is_full = events.len() > usize::from(*limit);
    events.truncate((*limit).into());
    let last_position =
        events.last().map(|(event, rank)| Position { key: Key::Rank(*rank), id: event.id.to_bytes() });
    let more = is_full || end.is_some();
    let next = match wanted.most {
        Some(_) if !is_full => {
            end.map_or_else(|| db.first(Sql::new(LAST).bind(*tenant), place), |row| Ok(Some(row)))?
        }
        _ => last_position,
    };
    Ok(FeedPage { events: events.into_iter().map(|(event, _)| event).collect(), next: next.or(position), more })
}

/// Returns the position of the event that a cursor names. It differs from the cursor after `candor copy` if the
/// event shared its position with other events in the source; see [`candor_tables::copy::DistinctPositions`].
fn current_position(db: &mut Db, tenant: Tenant, place: &Position) -> Read<Position> {
    let sql = Sql::new(POSITION).bind(tenant).bind(place.id);
    let rank = db.first(sql, |row| row.int().map_err(StorageError::Failed))?.flatten();
    Ok(rank.map_or_else(|| place.clone(), |number| Position { key: Key::Rank(number), id: place.id }))
}

/// Returns a position before all events from `at` or later. The position belongs to an event that is so much older
/// than `at` that it was committed before all of them. `None` if there is no such event.
fn last_before(db: &mut Db, tenant: Tenant, at: Timestamp) -> Read<Option<Position>> {
    let long_before = first_id_at(at.plus_seconds(-MOST_COMMIT_DELAY_SECONDS));
    db.first(Sql::new(LAST_BEFORE).bind(tenant).bind(long_before), place)
}

/// Returns the position before the newest selected events that fit into a page. With selected types, the position is at
/// most `most` events before the end. `None` if the page has room for all of them.
fn before_newest(db: &mut Db, wanted: &FeedRead) -> Read<Option<Position>> {
    let mut draft = Draft::default();
    draft.add("SELECT position, id FROM (SELECT position, id, type FROM events");
    draft.with(" WHERE tenant_id = ", wanted.tenant).with(" AND created_at >= ", wanted.oldest);
    draft.with(" ORDER BY position DESC LIMIT ", wanted.most.map_or(i64::from(wanted.limit) + 1, i64::from));
    draft.add(")");
    if !wanted.kinds.is_empty() {
        draft.any_of(" WHERE type", wanted.kinds.iter().map(|kind| kind.word()));
    }
    draft.with(" ORDER BY position DESC LIMIT 1 OFFSET ", i64::from(wanted.limit));
    let before_page = db.first(draft.finish(), place)?;
    match (before_page, wanted.most) {
        (None, Some(most)) => {
            db.first(Sql::new(THE_NTH_LAST).bind(wanted.tenant).bind(i64::from(most.max(1)) - 1), place)
        }
        (before_page, _) => Ok(before_page),
    }
}

fn statement(db: &mut Db, wanted: &FeedRead, after: Option<&Position>, end: Option<&Position>) -> Sql {
    let mut draft = Draft::default();
    draft.add("SELECT ").add(&db.statements(Event::TABLE).columns).add(", position FROM events");
    draft.with(" WHERE tenant_id = ", wanted.tenant).with(" AND position > ", rank(after));
    if end.is_some() {
        draft.with(" AND position <= ", rank(end));
    }
    let start_time = if let FeedStart::Since(at) = wanted.start { at.max(wanted.oldest) } else { wanted.oldest };
    draft.with(" AND created_at >= ", start_time);
    if !wanted.kinds.is_empty() {
        draft.any_of(" AND type", wanted.kinds.iter().map(|kind| kind.word()));
    }
    draft.with(" ORDER BY position LIMIT ", i64::from(wanted.limit) + 1);
    draft.finish()
}

fn rank(place: Option<&Position>) -> i64 {
    match place.map(|position| &position.key) {
        Some(Key::Rank(rank)) => *rank,
        Some(Key::Time(_) | Key::Date(_) | Key::Text(_) | Key::Scored(..)) | None => 0,
    }
}

fn place(row: &mut dyn CellReader) -> Read<Position> {
    let corrupt = |column| move |reason| StorageError::Corrupt { table: Event::TABLE.name, column, reason };
    let rank = row.int().map_err(corrupt("position"))?.unwrap_or_default();
    let id = row.id().and_then(|id| id.ok_or_else(|| "null".to_owned())).map_err(corrupt("id"))?;
    Ok(Position { key: Key::Rank(rank), id })
}

fn read_placed(row: &mut dyn CellReader) -> Read<(Event, i64)> {
    let mut reader = Reader::new(row, Event::TABLE);
    Ok((Event::read(&mut reader)?, reader.int()?))
}
