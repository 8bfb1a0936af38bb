//! What somebody wants to be sent: a test, one event again, or all that happened within a time (§4.4, decisions F7, F9).

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::audit::AuditDraft;
use candor_domain::event::{EventType, public_id};
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::json::Object;
use candor_domain::time::Timestamp;
use candor_domain::webhook::{Delivery, Job, MAX_REPLAYED, Only, Origin, ReplayOrder, Subscription, Whereabouts};
use candor_port_storage::queue::Again;
use candor_port_storage::{ChangeSet, CommitError, Write};
use serde::Serialize;

use crate::reply::Reply;
use crate::shell::{Plan, found, render};
use crate::{Call, Error, Shell};

/// Events queued in one commit: few enough that no other writer waits for long behind one.
const PIECE: u16 = 500;
/// A replay that has worked for so long ends and says where to go on, well before its request is given up.
const WORK_SECONDS: i64 = 15;

/// What was promised to whoever asked for one delivery.
#[derive(Serialize)]
struct Promised {
    delivery_id: DeliveryId,
    event_id: String,
}

/// What became of a replay.
#[derive(Serialize)]
struct Replayed {
    enqueued: usize,
    continue_since: Option<Timestamp>,
}

/// `POST /webhooks/{id}/test`: one attempt, also while the subscription is not active.
///
/// # Errors
/// Not found; see [`Error`].
pub async fn test(shell: &Shell, call: &Call, id: WebhookId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let stored = found(shell.store.webhook(call.caller.tenant, id).await?)?;
        call.check(stored.version)?;
        let event = (shell.id(at), EventType::TestPing);
        let (change, body) = promise(shell, call, &stored.value, "webhook.test", event, Origin::Test, at)?;
        Ok(Plan::Commit(Box::new(change), Reply::done(body, None)))
    };
    shell.change(call, plan).await
}

/// `POST /webhooks/{id}/deliveries/{delivery_id}/redeliver`
///
/// # Errors
/// Not found; a subscription that is not active, a test, an event that is queued or no longer kept; see [`Error`].
pub async fn redeliver(shell: &Shell, call: &Call, id: WebhookId, delivery: DeliveryId) -> Result<Reply, Error> {
    let tenant = call.caller.tenant;
    let plan = async |at: Timestamp| {
        let stored = found(shell.store.webhook(tenant, id).await?)?;
        let attempt = found(shell.store.delivery(tenant, id, delivery).await?)?;
        call.check(stored.version)?;
        stored.value.sends("redeliver")?;
        attempt.again(whereabouts(shell, tenant, &attempt).await?)?;
        let event = (attempt.event_id, attempt.event_type);
        let (change, body) = promise(shell, call, &stored.value, "webhook.redeliver", event, Origin::Replay, at)?;
        Ok(Plan::Commit(Box::new(change), Reply::accepted(body)))
    };
    shell.change(call, plan).await
}

/// Queues one delivery under an id that is told beforehand.
fn promise(
    shell: &Shell,
    call: &Call,
    subscription: &Subscription,
    action: &'static str,
    (event, kind): (EventId, EventType),
    origin: Origin,
    at: Timestamp,
) -> Result<(ChangeSet, Bytes), Error> {
    let delivery_id = shell.id(at);
    let job = Job::new(call.caller.tenant, subscription.id, (event, kind), at, origin).promised(delivery_id);
    let change = enqueueing(shell, call, subscription, action, vec![job], at);
    Ok((change, render(&Promised { delivery_id, event_id: public_id(kind, event) })?))
}

fn enqueueing(
    shell: &Shell,
    call: &Call,
    subscription: &Subscription,
    action: &'static str,
    jobs: Vec<Job>,
    at: Timestamp,
) -> ChangeSet {
    let mut change = ChangeSet::new(call.audit(shell.id(at), AuditDraft::of(subscription, action), at));
    change.writes = vec![Write::Enqueue(jobs)];
    change
}

/// Where the event of an attempt is by now.
async fn whereabouts(shell: &Shell, tenant: Tenant, attempt: &Delivery) -> Result<Whereabouts, Error> {
    let kept = shell.store.events_by_id(&[(tenant, attempt.event_id)]).await?;
    let Some((_, event)) = kept.into_iter().next() else { return Ok(Whereabouts::Removed) };
    let just_this = Again {
        since: event.created_at,
        until: Timestamp::from_millis(event.created_at.millis() + 1),
        types: vec![event.kind],
        only_failed: false,
    };
    let before = u128::from_be_bytes(event.id.to_bytes()).checked_sub(1);
    let before = before.map(|it| EventId::from_bytes(it.to_be_bytes()));
    let next = shell.store.to_deliver_again(tenant, attempt.subscription_id, &just_this, before, 1).await?;
    let waits = next.iter().all(|(it, _)| *it != event.id);
    Ok(if waits { Whereabouts::Queued } else { Whereabouts::Kept })
}

/// `POST /webhooks/{id}/replay`
///
/// Events are queued in commits of some hundreds, and the last one carries the answer. Should the service stop in
/// between, a retry queues the rest: what is queued already is passed over.
///
/// # Errors
/// Not found, invalid fields, a subscription that is not active; see [`Error`].
pub async fn replay(shell: &Shell, call: &Call, id: WebhookId, body: Object) -> Result<Reply, Error> {
    if let Some(reply) = shell.kept(call).await? {
        return Ok(reply);
    }
    let begun = shell.clock.now();
    let stored = found(shell.store.webhook(call.caller.tenant, id).await?)?;
    call.check(stored.version)?;
    let order = ReplayOrder::parse(body, begun)?;
    stored.value.sends("replay")?;
    let which = Again {
        since: order.since,
        until: order.until,
        types: order.types(&stored.value),
        only_failed: order.only == Only::Failed,
    };
    Rerun { shell, call, subscription: &stored.value, which, begun }.carry_out().await
}

/// A replay under way.
struct Rerun<'a> {
    shell: &'a Shell,
    call: &'a Call,
    subscription: &'a Subscription,
    which: Again,
    begun: Timestamp,
}

type Found = Vec<(EventId, EventType)>;

impl Rerun<'_> {
    async fn carry_out(&self) -> Result<Reply, Error> {
        let (mut enqueued, mut last) = (0, None);
        let (rest, more) = loop {
            let events = self.next(last, PIECE).await?;
            let more = events.len() == usize::from(PIECE);
            let late = self.shell.clock.now() >= self.begun.plus_seconds(WORK_SECONDS);
            enqueued += events.len();
            last = events.last().map(|(id, _)| *id).or(last);
            if !more || late || enqueued + usize::from(PIECE) > MAX_REPLAYED {
                break (events, more);
            }
            let change = self.change_set(&events, self.shell.clock.now());
            let saved = self.shell.commit(self.call.caller.tenant, change).await;
            saved.map_err(failed)?;
        };
        let continue_since = match last {
            Some(last) if more => self.next(Some(last), 1).await?.first().map(|(id, _)| time_of(*id)),
            _ => None,
        };
        let body = render(&Replayed { enqueued, continue_since })?;
        let plan =
            async |at: Timestamp| Ok(Plan::Commit(Box::new(self.change_set(&rest, at)), Reply::accepted(body.clone())));
        self.shell.change(self.call, plan).await
    }

    async fn next(&self, after: Option<EventId>, most: u16) -> Result<Found, Error> {
        if self.which.types.is_empty() {
            return Ok(vec![]);
        }
        let tenant = self.call.caller.tenant;
        Ok(self.shell.store.to_deliver_again(tenant, self.subscription.id, &self.which, after, most).await?)
    }

    fn change_set(&self, events: &[(EventId, EventType)], at: Timestamp) -> ChangeSet {
        let (tenant, id) = (self.call.caller.tenant, self.subscription.id);
        let jobs = events.iter().map(|it| Job::new(tenant, id, *it, at, Origin::Replay)).collect();
        enqueueing(self.shell, self.call, self.subscription, "webhook.replay", jobs, at)
    }
}

/// When an event happened: its id is made then.
fn time_of(id: EventId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}

/// Queueing relies on nothing that others could change.
fn failed(error: CommitError) -> Error {
    match error {
        CommitError::Storage(error) => error.into(),
        other => Error::Bug(other.to_string()),
    }
}
