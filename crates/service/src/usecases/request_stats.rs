//! Statistics of the requests of a data set (decision A20).

use candor_domain::params::Params;
use candor_domain::request_stats::RequestStats;
use candor_domain::request_stats::StatsWindow;

use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// `GET /request-stats`: returns the numbers of requests of the caller's data set. They include the requests that
/// this instance has not stored yet.
///
/// # Errors
/// An invalid parameter, no admin-level key; see [`Error`].
pub async fn get(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let window = params.parse(StatsWindow::read)?;
    context.authorize()?;
    let (tenant, now) = (context.caller.tenant, context.services.clock.now());
    let mut counts = context.services.store.request_counts(tenant, RequestStats::first_hour(window, now)).await?;
    counts.extend(context.services.request_counters.of_tenant(tenant));
    Ok(Reply::ok(render(&RequestStats::new(window, now, &counts))?, None))
}
