//! The delivery log over all subscriptions, and its statistics (§4.4).

use std::collections::HashMap;
use std::time::Duration;

use candor_domain::access::Access;
use candor_domain::id::WebhookId;
use candor_domain::params::Params;
use candor_domain::request_stats::StatsWindow;
use candor_port_storage::StorageExt;
use candor_subscriptions::{AllDeliveriesFilter, DeliveryStats, Expand, Subscription};
use candor_tables::listing::TypedListing;
use candor_tables::rows;
use tokio::time::{Instant, timeout_at};

use crate::context::error::Error;
use crate::context::expand::Expandable;
use crate::context::list::{self, JsonObjectWriter};
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::render;

/// Time for the statistics of a page of subscriptions.
const STATS_TIME: Duration = Duration::from_secs(3);

/// `GET /deliveries`: lists the attempts of all existing subscriptions.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn all_deliveries(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(AllDeliveriesFilter::read)?;
    let tenant = context.caller.tenant;
    let existing: Vec<WebhookId> = match request.filter.webhook_id {
        Some(id) => {
            context.services.store.row::<Subscription>(tenant, id).await?.map(|_| id).into_iter().collect()
        }
        None => {
            let every = TypedListing::<Subscription>::after_id([0; 16], u16::MAX);
            context.services.store.page(tenant, every).await?.items.iter().map(|webhook| webhook.id).collect()
        }
    };
    let listing = rows::deliveries::list_all(&request.filter, &existing, request.sort, &request.page);
    let listing = rows::deliveries::hide_types(listing, &context.caller.types_hidden_in_log());
    let page = context.services.store.page(tenant, listing).await?;
    list::page(context, &request, page, |entry, out| list::write(out, entry)).await
}

/// `GET /webhooks/{id}/stats`: returns statistics of the attempts of an existing subscription.
///
/// # Errors
/// Not found, invalid parameters, too slow; see [`Error`].
pub async fn stats(context: &RequestContext, id: WebhookId, params: Params) -> Result<Reply, Error> {
    context.find_stored::<Subscription>(id).await?;
    let window = params.parse(StatsWindow::read)?;
    Ok(Reply::ok(render(&read_stats(context, id, window).await?)?, None))
}

/// Returns statistics of the attempts that the log shows the caller.
async fn read_stats(context: &RequestContext, id: WebhookId, window: StatsWindow) -> Result<DeliveryStats, Error> {
    let now = context.services.clock.now();
    let (range, hidden_types) = ((window.start(now), now), context.caller.types_hidden_in_log());
    let figures = context.services.store.log_figures(context.caller.tenant, id, range, &hidden_types).await?;
    Ok(DeliveryStats::new(id, window, now, &figures))
}

impl Expandable for Subscription {
    type Path = Expand;
    type Included = HashMap<WebhookId, DeliveryStats>;

    fn access(_: Expand) -> Option<Access> {
        None
    }

    /// Reads the statistics one after the other: each is a slow read, of which a tenant has few at once. After
    /// [`STATS_TIME`], or once one of them is too slow, the others are left out.
    async fn find(context: &RequestContext, _: &[Expand], items: &[Self]) -> Result<Self::Included, Error> {
        let deadline = Instant::now() + STATS_TIME;
        let mut stats = HashMap::new();
        for subscription in items {
            let id = subscription.id;
            match timeout_at(deadline, read_stats(context, id, StatsWindow::Day)).await {
                Ok(Ok(of_one)) => _ = stats.insert(id, of_one),
                Ok(Err(Error::TooSlow(_))) | Err(_) => break,
                Ok(Err(error)) => return Err(error),
            }
        }
        Ok(stats)
    }

    fn inline(&self, found: &Self::Included, shown: &mut JsonObjectWriter<'_>) -> Result<(), Error> {
        shown.member("stats", Some(found.get(&self.id)))
    }
}
