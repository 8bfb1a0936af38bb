//! Webhook subscriptions, their log, and what is asked to be sent once more (§4.4, decisions F).

mod redelivery;
mod rekey;

use candor_domain::id::{DeliveryId, WebhookId};
use candor_domain::json::Object;
use candor_domain::params::Params;
use candor_domain::secret::Secret;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{DeliveryFilter, Draft, Filter, Patch, ReceiverUrl, Subscription, Verdict};
use candor_port_storage::{ChangeSet, Require, StorageExt, Version, Write};
use candor_tables::rows;
use tokio::sync::OnceCell;

use crate::context::call::Call;
use crate::context::change::Planned;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::shell::{ChangePlan, Shell, or_not_found, render};
use crate::context::webhook_secrets;
use crate::context::{expand, list};

pub use redelivery::{redeliver, replay, test};
pub use rekey::{Rekeyed, Unsealable, rekey, rekey_accepting_loss};

/// What was found out about the URL of a request. It is found out once, however often the request is decided anew: it
/// takes a look at DNS.
#[derive(Default)]
struct Judgement(OnceCell<Verdict>);

impl Judgement {
    async fn of(&self, shell: &Shell, url: &ReceiverUrl) -> Verdict {
        *self.0.get_or_init(|| shell.receivers.judge(url)).await
    }
}

/// `GET /webhooks`
///
/// # Errors
/// Invalid parameters; see [`Error`].
pub async fn list(shell: &Shell, call: &Call, params: Params) -> Result<Reply, Error> {
    let request = Filter::parse(params)?;
    let listing = rows::webhooks::list(&request.filter, request.sort, &request.page);
    expand::plain_page(shell, call, &request, listing).await
}

/// `GET /webhooks/{id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn get(shell: &Shell, call: &Call, id: WebhookId) -> Result<Reply, Error> {
    expand::plain(shell, call, &shell.stored::<Subscription>(call, id).await?).await
}

/// `POST /webhooks`: the answer is one of two that carry the secret.
///
/// # Errors
/// Invalid fields, a URL that may not be called, as many subscriptions as there may be; see [`Error`].
pub async fn create(shell: &Shell, call: &Call, body: Object) -> Result<Reply, Error> {
    let judgement = Judgement::default();
    let decide = async |at: Timestamp| {
        let draft = call.admit_new(|| Draft::parse(body.clone()))?;
        let most = shell.settings.max_subscriptions;
        shell.store.subscribers(call.caller.tenant).await?.admit(most)?;
        let verdict = judgement.of(shell, &draft.url).await;
        let id = shell.id(at);
        let (secret, sealed) = new_secret(shell, (call.caller.tenant, id))?;
        let decision = Subscription::create(id, draft, verdict, sealed, at)?;
        let answer = render(&decision.state.with_secret(&secret))?;
        Ok(Planned::of(decision).requiring([Require::SubscriptionsBelow(most)]).answering(answer))
    };
    shell.create(call, "/webhooks", decide).await
}

/// `PATCH /webhooks/{id}`: the answer carries the new secret, if one was asked for.
///
/// # Errors
/// Not found, invalid fields, a new URL that may not be called; see [`Error`].
pub async fn update(shell: &Shell, call: &Call, id: WebhookId, body: Object) -> Result<Reply, Error> {
    let judgement = Judgement::default();
    let decide = async |at: Timestamp| {
        let stored = shell.stored::<Subscription>(call, id).await?;
        let patch = call.admit(stored.version, || Patch::parse(body.clone(), &stored.value))?;
        let verdict = match &patch.url {
            Some(url) => Some(judgement.of(shell, url).await),
            None => None,
        };
        let owner = (call.caller.tenant, id);
        let (secret, sealed) = if patch.rotate_secret { Some(new_secret(shell, owner)?) } else { None }.unzip();
        let Some(decision) = stored.value.update(patch, verdict, sealed, at)? else { return Ok((stored, None)) };
        let reset = stored.value.resets_streak(&decision.state).then_some(Write::StreakReset(id));
        let answer = secret.map(|it| render(&decision.state.with_secret(&it))).transpose()?;
        let planned = Planned::of(decision).writing(reset);
        Ok((stored, Some(answer.into_iter().fold(planned, Planned::answering))))
    };
    shell.update(call, decide).await
}

/// A new secret, and what is stored of it.
fn new_secret(shell: &Shell, owner: webhook_secrets::Owner) -> Result<(Secret, Vec<u8>), Error> {
    let secret = webhook_secrets::make(&*shell.ids)?;
    let sealed = webhook_secrets::seal(&shell.vault, &*shell.ids, owner, &secret)?;
    Ok((secret, sealed))
}

/// `DELETE /webhooks/{id}`: delivery stops at once, and what is queued dies.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn remove(shell: &Shell, call: &Call, id: WebhookId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = shell.stored::<Subscription>(call, id).await?;
        call.check(stored.version)?;
        let happened = at.strictly_after(stored.value.updated_at);
        let mut change = ChangeSet::new(call.audit(shell.id(at), stored.value.removed(), happened));
        change.writes = vec![Write::WebhookRemoved(id, stored.version)];
        Ok(ChangePlan::Commit(Box::new(change), Reply::removed()))
    };
    shell.change(call, plan).await
}

/// `GET /webhooks/{id}/deliveries/{delivery_id}`
///
/// # Errors
/// Not found; see [`Error`].
pub async fn delivery(shell: &Shell, call: &Call, id: WebhookId, delivery: DeliveryId) -> Result<Reply, Error> {
    let tenant = call.caller.tenant;
    shell.stored::<Subscription>(call, id).await?;
    let attempt = or_not_found(shell.store.delivery(tenant, id, delivery).await?)?;
    // An attempt never changes.
    Ok(Reply::done(render(&attempt)?, Some(Version::FIRST)))
}

/// `GET /webhooks/{id}/deliveries`: the log goes with its subscription.
///
/// # Errors
/// Not found, invalid parameters; see [`Error`].
pub async fn deliveries(shell: &Shell, call: &Call, id: WebhookId, params: Params) -> Result<Reply, Error> {
    let tenant = call.caller.tenant;
    shell.stored::<Subscription>(call, id).await?;
    let request = DeliveryFilter::parse(id, params)?;
    let page =
        shell.store.page(tenant, rows::deliveries::list(id, &request.filter, request.sort, &request.page)).await?;
    list::page_by(shell, call, &request, &page, |it| it.id.to_bytes(), |it| it).await
}
