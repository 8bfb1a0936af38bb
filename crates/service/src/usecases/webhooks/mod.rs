//! Webhook subscriptions, their delivery log, tests and redeliveries (§4.4, decisions F).

mod log;
mod redelivery;
mod rekey;

use candor_domain::id::{DeliveryId, WebhookId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_port_storage::{ChangeSet, Require, StorageExt, Version, Write};
use candor_subscriptions::{CustomHeaders, Delivery, DeliveryFilter, Draft, Filter, Patch, Subscription};
use candor_tables::rows;
use tokio::sync::OnceCell;

use crate::change::ChangePlan;
use crate::change::resource::PendingChange;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, or_not_found, render};
use crate::context::{expand, list, sealed_secrets, webhook_secrets};

pub use log::{all_deliveries, stats};
pub use redelivery::{EventReplayReply, RedeliveryReply, redeliver, replay, test};
pub use rekey::{RekeyCounts, UnsealableError, rekey, rekey_accepting_loss};

/// Member of a response with a new secret.
const MADE_MEMBERS: &[&str] = &["secret"];

/// Cached verdict on the URL of a request. Judging needs a DNS lookup, so it runs once although the request may
/// be decided several times.
#[derive(Default)]
struct UrlVerdict(OnceCell<Verdict>);

impl UrlVerdict {
    async fn judge(&self, context: &RequestContext, url: &ReceiverUrl) -> Verdict {
        let organization = context.caller.tenant.organization;
        *self.0.get_or_init(|| context.services.webhook_transport.judge(organization, url)).await
    }
}

/// `GET /webhooks`: lists webhook subscriptions.
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(context: &RequestContext, params: Params) -> Result<Reply, Error> {
    let request = params.parse(Filter::read)?;
    let listing = rows::webhooks::list(&request.filter, request.sort, &request.page);
    expand::page(context, &request, listing).await
}

/// `GET /webhooks/{id}`: returns a webhook subscription.
///
/// # Errors
/// Not found, invalid parameters; see [`Error`].
pub async fn get(context: &RequestContext, id: WebhookId, params: Params) -> Result<Reply, Error> {
    let subscription = async { context.find_stored::<Subscription>(id).await };
    expand::one(context, params, subscription).await
}

/// `POST /webhooks`: creates a subscription. The response includes the secret.
///
/// # Errors
/// Invalid fields, a URL that may not be called, event types that the caller must not read, the maximum number of
/// subscriptions reached; see [`Error`].
pub async fn create(context: &RequestContext, body: Object) -> Result<Reply, Error> {
    let judgement = UrlVerdict::default();
    let draft = Draft::parse(body);
    let decide = async |at: Timestamp| {
        let draft = context.validate_create(|| draft.clone())?;
        let most = context.services.settings.max_subscriptions;
        context.services.store.subscribers(context.caller.tenant).await?.admit(most)?;
        let verdict = judgement.judge(context, &draft.url).await;
        let id = context.services.id(at);
        let (secret, sealed) = new_secret(&context.services, (context.caller.tenant, id))?;
        let owner = (context.caller.tenant, id);
        let none = CustomHeaders::default();
        let headers = webhook_secrets::seal_headers(
            &context.services.vault,
            &*context.services.ids,
            owner,
            &none,
            &draft.headers,
        )?;
        let decision = Subscription::create(id, &context.caller, draft, verdict, sealed, headers, at)?;
        let body = render(&decision.state.with_secret(&secret))?;
        Ok(PendingChange::new(decision)
            .with_requirements([Require::rows_below::<Subscription>(most)])
            .with_body(body, MADE_MEMBERS))
    };
    context.create(decide).await
}

/// `PATCH /webhooks/{id}`: updates a subscription. The response includes the new secret if the request rotates
/// it.
///
/// # Errors
/// Not found, invalid fields, a new URL that may not be called, event types that the caller must not read; see
/// [`Error`].
pub async fn update(context: &RequestContext, id: WebhookId, body: Object) -> Result<Reply, Error> {
    let judgement = UrlVerdict::default();
    let update = Patch::parse(body);
    let decide = async |at: Timestamp| {
        let subscription = context.find_stored::<Subscription>(id).await?;
        let patch =
            context.validate_update(subscription.version, || Patch::resolve(&update, &subscription.value))?;
        let verdict = match &patch.url {
            Some(url) => Some(judgement.judge(context, url).await),
            None => None,
        };
        let owner = (context.caller.tenant, id);
        let (secret, sealed) =
            if patch.rotate_secret { Some(new_secret(&context.services, owner)?) } else { None }.unzip();
        let headers_before = &subscription.value.headers;
        let headers = webhook_secrets::seal_headers(
            &context.services.vault,
            &*context.services.ids,
            owner,
            headers_before,
            &patch.headers,
        )?;
        let Some(decision) = subscription.value.update(&context.caller, patch, verdict, sealed, headers, at)?
        else {
            return Ok((subscription, None));
        };
        let reset = subscription.value.resets_streak(&decision.state).then_some(Write::StreakReset(id));
        let body = secret.map(|secret| render(&decision.state.with_secret(&secret))).transpose()?;
        let pending_change = PendingChange::new(decision).with_writes(reset);
        let change_with_body =
            body.into_iter().fold(pending_change, |change, body| change.with_body(body, MADE_MEMBERS));
        Ok((subscription, Some(change_with_body)))
    };
    context.update(decide).await
}

/// Creates a secret; returns it with its sealed form.
fn new_secret(services: &Services, owner: webhook_secrets::Owner) -> Result<(Secret, Vec<u8>), Error> {
    let secret = webhook_secrets::make(&*services.ids)?;
    let sealed_secret = sealed_secrets::seal(&services.vault, &*services.ids, owner, &secret)?;
    Ok((secret, sealed_secret))
}

/// `DELETE /webhooks/{id}`: removes a subscription with its queued deliveries. Delivery stops at once.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn remove(context: &RequestContext, id: WebhookId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let subscription = context.find_stored::<Subscription>(id).await?;
        context.check_preconditions(subscription.version)?;
        let removal_time = at.strictly_after(subscription.value.updated_at);
        let mut change = ChangeSet::new(context.audit(
            context.services.id(at),
            subscription.value.deletion_audit(),
            removal_time,
        ));
        change.writes = vec![Write::WebhookRemoved(id, subscription.version)];
        Ok(ChangePlan::Commit(Box::new(change), Reply::no_content()))
    };
    context.change(plan).await
}

/// `GET /webhooks/{id}/deliveries/{delivery_id}`: returns an attempt of the delivery log.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn delivery(context: &RequestContext, id: WebhookId, delivery: DeliveryId) -> Result<Reply, Error> {
    context.find_stored::<Subscription>(id).await?;
    let attempt = find_attempt(context, id, delivery).await?;
    // Attempts are immutable.
    Ok(Reply::ok(render(&attempt)?, Some(Version::FIRST)))
}

/// Returns an attempt of the log, unless the log hides its type from the caller.
async fn find_attempt(context: &RequestContext, id: WebhookId, delivery: DeliveryId) -> Result<Delivery, Error> {
    let attempt = context.services.store.delivery(context.caller.tenant, id, delivery).await?;
    or_not_found(attempt.filter(|attempt| context.caller.may_see_deliveries_of(attempt.event_type)))
}

/// `GET /webhooks/{id}/deliveries`: lists the delivery log of an existing subscription.
///
/// # Errors
/// Not found, invalid parameters; see [`Error`].
pub async fn deliveries(context: &RequestContext, id: WebhookId, params: Params) -> Result<Reply, Error> {
    let tenant = context.caller.tenant;
    context.find_stored::<Subscription>(id).await?;
    let request = params.parse(|params| DeliveryFilter::read(id, params))?;
    let listing = rows::deliveries::list(id, &request.filter, request.sort, &request.page);
    let listing = rows::deliveries::hide_types(listing, &context.caller.types_hidden_in_log());
    let page = context.services.store.page(tenant, listing).await?;
    list::page(context, &request, page, |entry, out| list::write(out, entry)).await
}
