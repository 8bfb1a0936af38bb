//! The event feed: all events of the last 30 days, in commit order and without gaps (decision F9).

use candor_domain::access::Tenant;
use candor_domain::event::{Event, EventType, FeedRequest, FeedStart, oldest_in_feed};
use candor_domain::fields::StringEnum;
use candor_domain::id::EventId;
use candor_domain::page::{Key, Position, cursor};
use candor_domain::params::Params;
use candor_fair_share::large_work::PIECE_BYTES;
use candor_port_storage::Version;
use tokio::task::yield_now;

use crate::context::error::Error;
use crate::context::list::MAX_PAGE_BYTES;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::or_not_found;

/// Returns `true` if the caller may read the event, which needs the same access as GET of its resource.
fn is_shown(context: &RequestContext, event: &Event) -> bool {
    context.caller.may_read_events_of(event.kind).is_ok()
}

/// Position before the first event of a feed.
pub(crate) const START: Position = Position { key: Key::Rank(0), id: [0; 16] };

/// `GET /events/{id}`: returns an event for as long as the feed keeps it.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(context: &RequestContext, id: EventId) -> Result<Reply, Error> {
    let tenant = context.caller.tenant;
    let oldest_time = oldest_in_feed(context.services.clock.now());
    let event = context
        .services
        .store
        .events_by_id(&[(tenant, id)])
        .await?
        .pop()
        .filter(|(_, event)| event.created_at >= oldest_time);
    let (_, event) = or_not_found(event.filter(|(_, event)| is_shown(context, event)))?;
    // Events are immutable.
    Ok(Reply::ok(event.body(tenant).into(), Some(Version::FIRST)))
}

/// `GET /events`: returns a page of the event feed.
///
/// Always returns a cursor, also at the end of the feed, so that a poller can continue from there.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn feed(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let now = context.services.clock.now();
    let FeedRequest { mut filter, start, limit, digest } =
        params.parse(|params| FeedRequest::read(params, now))?;
    filter.kinds = readable_types(context, filter.kinds)?;
    let tenant = context.caller.tenant;
    let oldest = oldest_in_feed(now);
    // A client that starts at `now` reads lists from the primary next, so the position comes from there as well.
    let store =
        if matches!(start, FeedStart::Now) { &*context.services.store } else { context.services.store.replica() };
    let mut page = store.feed(tenant, &filter, oldest, &start, limit).await?;
    let mut body = render_page(context, &page.events).await?;
    if matches!(start, FeedStart::Newest) {
        // The page ends with the newest event, so the oldest ones of it are left out.
        while body.taken < page.events.len() {
            page.events.drain(..page.events.len() - body.taken.div_ceil(2));
            body = render_page(context, &page.events).await?;
        }
    }
    if body.taken < page.events.len() {
        // Not all events fit. Only the store knows the position behind the last event that fits, so a page of
        // exactly these events is read. It has the same events, because the feed only grows at its end.
        let fitting = u16::try_from(body.taken).unwrap_or(limit);
        page = store.feed(tenant, &filter, oldest, &start, fitting).await?;
        body = render_page(context, &page.events).await?;
    }
    let start_place = if let FeedStart::After(place) = &start { place } else { &START };
    let next = cursor(digest, page.next.as_ref().unwrap_or(start_place));
    let mut body = body.text;
    body.push_str(&format!(r#"],"next_cursor":"{next}","has_more":{}}}"#, page.more));
    Ok(Reply::ok(body.into(), None))
}

/// Returns the types of a filter that the caller may read; empty for all types. The store selects only these, so that
/// neither positions nor `has_more` reveal events of other types.
///
/// # Errors
/// The access that the caller lacks, if the caller may read none of the types.
fn readable_types(context: &RequestContext, kinds: Vec<EventType>) -> Result<Vec<EventType>, Error> {
    let denial_of = |kind: &EventType| context.caller.may_read_events_of(*kind).err();
    let requested_kinds = if kinds.is_empty() { EventType::ALL.to_vec() } else { kinds.clone() };
    let readable: Vec<_> = requested_kinds.iter().copied().filter(|kind| denial_of(kind).is_none()).collect();
    if readable.len() == requested_kinds.len() {
        return Ok(kinds);
    }
    match requested_kinds.iter().find_map(denial_of) {
        Some(denial_of) if readable.is_empty() => Err(denial_of.into()),
        _ => Ok(readable),
    }
}

/// Response body of a feed page, up to the end of its entries.
struct FeedBody {
    text: String,
    /// Number of events that the page covers, including those that the caller may not read.
    taken: usize,
}

/// Renders as many of these events as fit into a page, at least one. Large pages are rendered with a
/// permit for large work, and other requests of the thread run between their pieces.
async fn render_page(context: &RequestContext, events: &[Event]) -> Result<FeedBody, Error> {
    let tenant: Tenant = context.caller.tenant;
    let (mut text, mut taken, mut is_first) = (r#"{"data":["#.to_owned(), 0, true);
    let (mut piece_begins, mut turn) = (0, None);
    for event in events {
        if !is_shown(context, event) {
            taken += 1;
            continue;
        }
        let body = event.body(tenant);
        if !is_first {
            if text.len() + body.len() >= MAX_PAGE_BYTES {
                break;
            }
            text.push(',');
        }
        text.push_str(&body);
        (taken, is_first) = (taken + 1, false);
        if text.len() - piece_begins >= PIECE_BYTES {
            piece_begins = text.len();
            if turn.is_none() {
                let held_bytes = text.len() / taken.max(1) * events.len();
                turn = Some(context.services.large_work.turn_with(tenant, held_bytes).await?);
            }
            yield_now().await;
        }
    }
    Ok(FeedBody { text, taken })
}
