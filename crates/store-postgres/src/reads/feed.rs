//! Reads of the event feed, in commit order.
//!
//! An event becomes visible once all transactions that began before its own have ended: an earlier transaction
//! could still commit an event with a lower position. Transactions are short, so a read waits briefly for events
//! that are held back. A transaction left open anywhere on the server holds back the feed until it ends.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::event::{Event, FeedFilter, FeedStart, MOST_COMMIT_DELAY_SECONDS, first_id_at};
use candor_domain::fields::StringEnum;
use candor_domain::page::{Key, Position};
use candor_domain::time::Timestamp;
use candor_port_storage::error::Read;
use candor_port_storage::store::FeedPage;
use candor_tables::flat::{CellReader, SqlValue, Stored, Type};
use tokio::time::sleep;

use crate::failure::Failure;
use crate::layout::SharedLayout;
use crate::sql::Sql;
use crate::sql::row::{columns, flag, id, int, read_versioned};
use crate::store::PostgresStore;

/// Pauses between reads while events are held back. Most transactions end within the first pause; growing pauses
/// limit the load of readers that wait for a long transaction.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(5), Duration::from_millis(10), Duration::from_millis(20), Duration::from_millis(40)];

/// Maximum number of events read without a filter. It exceeds every page size, and is a literal that the planner
/// knows.
const LOOKED_AT: u32 = 128;

/// Parameters of a read of the feed.
pub(super) struct FeedRead<'w> {
    pub(super) layout: SharedLayout,
    pub(super) filter: &'w FeedFilter,
    pub(super) oldest: Timestamp,
    pub(super) start: &'w FeedStart,
    pub(super) limit: u16,
}

/// Result of one read of the feed.
struct FeedLook {
    page: FeedPage,
    /// `true` if the feed has events that are not settled yet.
    is_held_back: bool,
}

/// A row of the result: an event, or the summary row in front of the events.
enum Row {
    Event(i64, Box<Event>),
    End { last: Option<Position>, looked_at: i64, is_held_back: bool },
}

impl PostgresStore {
    /// Returns the next events that match the filter, with the position to continue after.
    pub(super) async fn piece(&self, tenant: Tenant, wanted: &FeedRead<'_>) -> Read<FeedPage> {
        let mut position = match wanted.start {
            FeedStart::Oldest => None,
            FeedStart::After(place) => Some(place.clone()),
            FeedStart::Since(at) => self.find(&last_before(tenant, *at), place).await?,
            FeedStart::Newest => self.find_before_newest(tenant, wanted).await?,
            FeedStart::Now => {
                let next = self.find(&last_settled(self.layout, tenant), place).await?;
                return Ok(FeedPage { events: vec![], next, more: false });
            }
        };
        for pause in PAUSES {
            let FeedLook { page, is_held_back } = self.look(tenant, wanted, position.as_ref()).await?;
            if page.more || !is_held_back {
                return Ok(page);
            }
            if page.events.is_empty() {
                position = page.next;
            }
            sleep(pause).await;
        }
        Ok(self.look(tenant, wanted, position.as_ref()).await?.page)
    }

    /// Returns the position before the newest matching events that fit into a page. With a filter, the position is at
    /// most as many events before the end as one read scans. `None` if the page has room for all of them.
    async fn find_before_newest(&self, tenant: Tenant, wanted: &FeedRead<'_>) -> Read<Option<Position>> {
        let conditions = wanted.filter.conditions(wanted.start);
        if conditions.is_empty() {
            return self.find(&before_newest(tenant, wanted, LOOKED_AT), place).await;
        }
        let sql = before_newest(tenant, wanted, self.slow.limits.feed_scan);
        Ok(self.slowly(tenant, &conditions, &sql, place).await?.into_iter().next())
    }

    async fn look(&self, tenant: Tenant, wanted: &FeedRead<'_>, after: Option<&Position>) -> Read<FeedLook> {
        let conditions = wanted.filter.conditions(wanted.start);
        let rows = if conditions.is_empty() {
            let sql = sql(tenant, wanted, after, LOOKED_AT);
            match self.row_sizes.are_large(tenant, Event::TABLE, wanted.limit.into()) {
                false => self.run_exclusive(&sql, row).await?,
                true => self.read_large(tenant, sql, row).await?,
            }
        } else {
            let most = self.slow.limits.feed_scan;
            self.slowly(tenant, &conditions, &sql(tenant, wanted, after, most), row).await?
        };
        let most = if conditions.is_empty() { LOOKED_AT } else { self.slow.limits.feed_scan };
        let mut look =
            FeedLook { page: FeedPage { events: vec![], next: after.cloned(), more: false }, is_held_back: false };
        let mut end = None;
        for row in rows {
            match row {
                Row::End { last, looked_at, is_held_back } => {
                    look.page.more = looked_at >= i64::from(most);
                    (end, look.is_held_back) = (last, is_held_back);
                }
                Row::Event(..) if look.page.events.len() == usize::from(wanted.limit) => {
                    (end, look.page.more) = (None, true);
                }
                Row::Event(rank, event) => {
                    look.page.next = Some(Position { key: Key::Rank(rank), id: event.id.to_bytes() });
                    look.page.events.push(*event);
                }
            }
        }
        let bytes = look.page.events.iter().map(|event| event.data.len()).sum();
        self.row_sizes.note(tenant, Event::TABLE, look.page.events.len(), bytes);
        // Continue after the last scanned event, whether or not it matched.
        look.page.next = end.or(look.page.next);
        Ok(look)
    }
}

/// Query for a position before all events since a time. It takes the position of an event that is old enough to be
/// committed before all of them.
fn last_before(tenant: Tenant, at: Timestamp) -> Sql {
    let mut sql = Sql::default();
    let long_before = first_id_at(at.plus_seconds(-MOST_COMMIT_DELAY_SECONDS));
    let (tenant, id) = (sql.tenant(tenant), sql.id(long_before.to_bytes()));
    sql.push(&format!(
        "SELECT position, id FROM events WHERE tenant_id = {tenant} AND id < {id} ORDER BY id DESC LIMIT 1"
    ));
    sql
}

fn last_settled(layout: SharedLayout, tenant: Tenant) -> Sql {
    let mut sql = Sql::default();
    let tenant = sql.tenant(tenant);
    sql.push(&format!(
        "SELECT position, id FROM events WHERE tenant_id = {tenant} AND position < ({}) \
         ORDER BY position DESC, id DESC LIMIT 1",
        layout.feed_horizon()
    ));
    sql
}

/// Query for the position before the newest settled events that match and fit into a page, among the newest `most`; else
/// the position of the oldest of these `most`.
fn before_newest(tenant: Tenant, wanted: &FeedRead<'_>, most: u32) -> Sql {
    let mut sql = Sql::default();
    let (tenant, oldest) = (sql.tenant(tenant), sql.bind(SqlValue::Time(wanted.oldest)));
    let (limit, last) = (sql.bind(SqlValue::Int(wanted.limit.into())), most.max(1) - 1);
    let is_wanted = match &*wanted.filter.kinds {
        [] => "true".to_owned(),
        kinds => {
            let words = kinds.iter().map(|kind| SqlValue::Text(kind.word().to_owned()));
            format!("type = ANY({})", sql.many(Type::Text, words))
        }
    };
    sql.push(&format!(
        "WITH looked_at AS MATERIALIZED (SELECT position, id, {is_wanted} AS wanted FROM events \
         WHERE tenant_id = {tenant} AND created_at >= {oldest} AND position < ({horizon}) \
         ORDER BY position DESC, id DESC LIMIT {most}), \
         before_page AS (SELECT position, id FROM looked_at WHERE wanted ORDER BY position DESC, id DESC \
         LIMIT 1 OFFSET {limit}), \
         oldest AS (SELECT position, id FROM looked_at ORDER BY position DESC, id DESC LIMIT 1 OFFSET {last}) \
         SELECT position, id FROM (SELECT * FROM before_page UNION ALL SELECT * FROM oldest) AS starts \
         ORDER BY position DESC, id DESC LIMIT 1",
        horizon = wanted.layout.feed_horizon(),
    ));
    sql
}

/// Query for the next settled events, at most `most`, and for those among them that match. Only the returned
/// events are read in full.
fn sql(tenant: Tenant, wanted: &FeedRead<'_>, after: Option<&Position>, most: u32) -> Sql {
    let mut sql = Sql::default();
    let (tenant, oldest) = (sql.tenant(tenant), sql.bind(SqlValue::Time(wanted.oldest)));
    let rows = sql.bind(SqlValue::Int(i64::from(wanted.limit) + 1));
    let start_condition = match after {
        Some(Position { key: Key::Rank(rank), id }) => {
            format!(" AND (position, id) > ({}, {})", sql.bind(SqlValue::Int(*rank)), sql.id(*id))
        }
        Some(_) | None => String::new(),
    };
    let mut is_wanted = vec![];
    if !wanted.filter.kinds.is_empty() {
        let kinds =
            sql.many(Type::Text, wanted.filter.kinds.iter().map(|kind| SqlValue::Text(kind.word().to_owned())));
        is_wanted.push(format!("type = ANY({kinds})"));
    }
    if let FeedStart::Since(at) = wanted.start {
        is_wanted.push(format!("created_at >= {}", sql.bind(SqlValue::Time(*at))));
    }
    let is_wanted = if is_wanted.is_empty() { "true".to_owned() } else { is_wanted.join(" AND ") };
    sql.push(&format!(
        "WITH horizon AS MATERIALIZED ({horizon} AS place), \
         looked_at AS MATERIALIZED (SELECT position, id, {is_wanted} AS wanted FROM events \
         WHERE tenant_id = {tenant} \
         AND created_at >= {oldest} AND position < (SELECT place FROM horizon){start_condition} ORDER BY position, id \
         LIMIT {most}), \
         wanted AS (SELECT position, id FROM looked_at WHERE wanted ORDER BY position, id LIMIT {rows}), \
         last AS (SELECT position, id FROM looked_at ORDER BY position DESC, id DESC LIMIT 1), \
         found AS (SELECT true AS is_event, position, id, 0::bigint AS looked_at, false AS held_back FROM wanted \
         UNION ALL SELECT false, (SELECT position FROM last), (SELECT id FROM last), \
         (SELECT count(*) FROM looked_at), \
         EXISTS (SELECT 1 FROM events WHERE tenant_id = {tenant} AND position >= (SELECT place FROM horizon))) \
         SELECT f.is_event, f.position, f.id, f.looked_at, f.held_back, {} FROM found AS f LEFT JOIN LATERAL \
         (SELECT * FROM events WHERE f.is_event AND tenant_id = {tenant} AND id = f.id OFFSET 0) AS e ON true \
         ORDER BY f.is_event, f.position, f.id",
        columns(Event::TABLE, "e."),
        horizon = wanted.layout.feed_horizon(),
    ));
    sql
}

fn row(row: &mut dyn CellReader) -> Result<Row, Failure> {
    let (is_event, rank, id) = (flag(row)?, int(row)?, row.id().map_err(Failure::Other)?);
    let (looked_at, is_held_back) = (int(row)?, flag(row)?);
    if is_event {
        return Ok(Row::Event(rank, Box::new(read_versioned::<Event>(row)?.value)));
    }
    let last = id.map(|id| Position { key: Key::Rank(rank), id });
    Ok(Row::End { last, looked_at, is_held_back })
}

fn place(row: &mut dyn CellReader) -> Result<Position, Failure> {
    Ok(Position { key: Key::Rank(int(row)?), id: id(row)? })
}
