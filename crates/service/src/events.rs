//! The event feed: everything that happened in the last 30 days, in commit order and without gaps (decision F9).

use candor_domain::event::{FEED_DAYS, FeedFilter};
use candor_domain::page::{Key, Position, cursor};
use candor_domain::params::Params;

use crate::reply::Reply;
use crate::{Call, Error, Shell};

const DAY_SECONDS: i64 = 86_400;

/// Where a feed starts that nothing was ever read of.
const START: Position = Position { key: Key::Rank(0), id: [0; 16] };

/// `GET /events`
///
/// It always answers a cursor, also at the end, so that a poller can go on from there.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn feed(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = FeedFilter::parse(params)?;
    let tenant = call.caller.tenant;
    let since = shell.clock.now().plus_seconds(-FEED_DAYS * DAY_SECONDS);
    let page =
        shell.store.feed(tenant, &request.filter, since, request.page.after.as_ref(), request.page.limit).await?;
    let next = cursor(request.digest, page.next.as_ref().or(request.page.after.as_ref()).unwrap_or(&START));
    let bodies: Vec<_> = page.events.iter().map(|it| it.body(tenant)).collect();
    let body = format!(r#"{{"data":[{}],"next_cursor":"{next}","has_more":{}}}"#, bodies.join(","), page.more);
    Ok(Reply::done(body.into(), None))
}
