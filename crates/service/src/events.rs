//! The event feed: everything that happened in the last 30 days, in commit order and without gaps (decision F9).

use candor_domain::event::{FeedRequest, FeedStart, oldest_in_feed};
use candor_domain::id::EventId;
use candor_domain::page::{Key, Position, cursor};
use candor_domain::params::Params;
use candor_port_storage::Version;

use crate::list::MAX_PAGE_BYTES;
use crate::reply::Reply;
use crate::shell::or_not_found;
use crate::{Call, Error, Shell};

/// Where a feed starts that nothing was ever read of.
const START: Position = Position { key: Key::Rank(0), id: [0; 16] };

/// `GET /events/{id}`: for as long as the feed has it.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: EventId) -> Result<Reply, Error> {
    let tenant = call.caller.tenant;
    let since = oldest_in_feed(shell.clock.now());
    let event = shell.store.events_by_id(&[(tenant, id)]).await?.pop().filter(|(_, it)| it.created_at >= since);
    let (_, event) = or_not_found(event)?;
    // An event never changes.
    Ok(Reply::done(event.body(tenant).into(), Some(Version::FIRST)))
}

/// `GET /events`
///
/// It always answers a cursor, also at the end, so that a poller can go on from there.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn feed(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let now = shell.clock.now();
    let FeedRequest { filter, start, limit, digest } = FeedRequest::parse(params, now)?;
    let tenant = call.caller.tenant;
    let oldest = oldest_in_feed(now);
    // Whoever begins now reads lists next, which show everything that stands before this place.
    let store = if matches!(start, FeedStart::Now) { &*shell.store } else { shell.store.replica() };
    let mut page = store.feed(tenant, &filter, oldest, &start, limit).await?;
    let mut bodies: Vec<_> = page.events.iter().map(|it| it.body(tenant)).collect();
    let fitting = fitting(&bodies);
    if usize::from(fitting) < bodies.len() {
        // The store knows where each piece ends, so it is asked for the shorter one; the feed only grows at its end.
        page = store.feed(tenant, &filter, oldest, &start, fitting).await?;
        bodies = page.events.iter().map(|it| it.body(tenant)).collect();
    }
    let before = if let FeedStart::After(place) = &start { place } else { &START };
    let next = cursor(digest, page.next.as_ref().unwrap_or(before));
    let body = format!(r#"{{"data":[{}],"next_cursor":"{next}","has_more":{}}}"#, bodies.join(","), page.more);
    Ok(Reply::done(body.into(), None))
}

/// How many of these entries have room in a page; one always has.
fn fitting(bodies: &[String]) -> u16 {
    let mut bytes = 0;
    let fits = |it: &&String| {
        bytes += it.len() + 1;
        bytes <= MAX_PAGE_BYTES
    };
    u16::try_from(bodies.iter().take_while(fits).count()).unwrap_or(u16::MAX).max(1)
}
