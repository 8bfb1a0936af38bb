//! The delivery log over all subscriptions, and its statistics (§4.4).

use candor_domain::id::WebhookId;
use candor_domain::params::Params;
use candor_domain::request_stats::StatsWindow;
use candor_port_storage::StorageExt;
use candor_subscriptions::{AllDeliveriesFilter, DeliveryStats, Subscription};
use candor_tables::listing::TypedListing;
use candor_tables::rows;

use crate::context::error::Error;
use crate::context::list;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, render};

/// `GET /deliveries`: lists the attempts of all existing subscriptions.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn all_deliveries(
    services: &Services,
    context: &RequestContext,
    params: Params,
) -> Result<Reply, Error> {
    let request = params.parse(AllDeliveriesFilter::read)?;
    let tenant = context.caller.tenant;
    let existing: Vec<WebhookId> = match request.filter.webhook_id {
        Some(id) => services.store.row::<Subscription>(tenant, id).await?.map(|_| id).into_iter().collect(),
        None => {
            let every = TypedListing::<Subscription>::after_id([0; 16], u16::MAX);
            services.store.page(tenant, every).await?.items.iter().map(|webhook| webhook.id).collect()
        }
    };
    let listing = rows::deliveries::list_all(&request.filter, &existing, request.sort, &request.page);
    let listing = rows::deliveries::hide_types(listing, &context.caller.types_hidden_in_log());
    let page = services.store.page(tenant, listing).await?;
    list::page(services, context, &request, page, |entry, out| list::write(out, entry)).await
}

/// `GET /webhooks/{id}/stats`: returns statistics of the attempts of an existing subscription.
///
/// # Errors
/// Not found, invalid parameters, too slow; see [`Error`].
pub async fn stats(
    services: &Services,
    context: &RequestContext,
    id: WebhookId,
    params: Params,
) -> Result<Reply, Error> {
    services.find_stored::<Subscription>(context, id).await?;
    let window = params.parse(StatsWindow::read)?;
    let now = services.clock.now();
    let (range, hidden_types) = ((window.start(now), now), context.caller.types_hidden_in_log());
    let figures = services.store.log_figures(context.caller.tenant, id, range, &hidden_types).await?;
    Ok(Reply::ok(render(&DeliveryStats::new(id, window, now, &figures))?, None))
}
