//! Deliveries on request: a test event, one event again, or all events of a period (§4.4, decisions F7, F9).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use candor_domain::access::Tenant;
use candor_domain::audit::{AuditDraft, Change, Changes};
use candor_domain::event::{Event, EventType, public_id};
use candor_domain::fields::StringEnum;
use candor_domain::id::{DeliveryId, EventId, WebhookId};
use candor_domain::json::Object;
use candor_domain::people::Employee;
use candor_domain::schema::PublicEventId;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{EventToRedeliver, RedeliveryFilter};
use candor_port_storage::{ChangeSet, ExpediteDelivery, StorageExt, Write};
use candor_subscriptions::{
    AttemptState, Delivery, DeliveryOrigin, EventFacts, Job, MAX_REPLAYED, ReplayOrder, ReplaySelection,
    Subscription,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::change::ChangePlan;
use crate::context::error::Error;
use crate::context::reply::Reply;
use crate::context::request::RequestContext;
use crate::context::services::{Services, render};
use crate::context::webhook_secrets;

/// Number of events queued in one commit: few, so that other writers do not wait long.
const PIECE: usize = 500;
/// Length in seconds of the period that one query covers. Bounds the rows that the store scans for one query,
/// also where few of them match.
const SLICE_SECONDS: i64 = 6 * 3_600;
/// Working time after which a replay stops and returns the time to continue from, well before its
/// request times out.
const WORK: Duration = Duration::from_secs(15);

/// Audit log action of a redelivery.
const REDELIVER: &str = "webhook.redeliver";

/// The coming attempt of a requested delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RedeliveryReply {
    /// Id that the attempt will have in the log. If an attempt is already in progress, the id is used only if that
    /// attempt fails.
    delivery_id: DeliveryId,
    /// Id of the delivered event.
    #[schemars(with = "PublicEventId")]
    event_id: String,
}

/// Result of a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventReplayReply {
    /// Number of deliveries that were queued or rescheduled to now.
    #[schemars(extend("maximum" = MAX_REPLAYED))]
    enqueued: usize,
    /// Value of `since` for the next request. Null if all events were queued.
    continue_since: Option<Timestamp>,
}

/// `POST /webhooks/{id}/test`: queues one attempt of a test event, also for an inactive subscription.
///
/// # Errors
/// Not found; [`Error::Bug`] if no key of this process opens a signing secret, so that nothing could be sent.
pub async fn test(context: &RequestContext, id: WebhookId) -> Result<Reply, Error> {
    let plan = async |at: Timestamp| {
        let subscription = context.find_stored::<Subscription>(id).await?;
        context.check_preconditions(subscription.version)?;
        webhook_secrets::check(&context.services.vault, context.caller.tenant, &subscription.value, at)?;
        let event = (context.services.id(at), EventType::TestPing);
        let (change, body) =
            promise(context, &subscription.value, "webhook.test", event, DeliveryOrigin::Test, at)?;
        Ok(ChangePlan::Commit(Box::new(change), Reply::ok(body, None)))
    };
    context.change(plan).await
}

/// `POST /webhooks/{id}/deliveries/{delivery_id}/redeliver`: delivers the event of an attempt again.
///
/// # Errors
/// Not found; a subscription that is not active, an event that the caller must not read, a test, an event that is no
/// longer kept, an event about the subscription itself; see [`Error`].
pub async fn redeliver(context: &RequestContext, id: WebhookId, delivery: DeliveryId) -> Result<Reply, Error> {
    let tenant = context.caller.tenant;
    let plan = async |at: Timestamp| {
        let subscription = context.find_stored::<Subscription>(id).await?;
        let attempt = super::find_attempt(context, id, delivery).await?;
        context.check_preconditions(subscription.version)?;
        subscription.value.require_active("redeliver")?;
        subscription.value.may_be_sent_by(&context.caller, attempt.event_type)?;
        let (change, body) = match attempt
            .redeliver(find_state(&context.services, tenant, &subscription.value, &attempt).await?)?
        {
            Some(queued) => expedite(context, &subscription.value, &queued, at)?,
            None => {
                let event = (attempt.event_id, attempt.event_type);
                promise(context, &subscription.value, REDELIVER, event, DeliveryOrigin::Replay, at)?
            }
        };
        Ok(ChangePlan::Commit(Box::new(change), Reply::accepted(body)))
    };
    context.change(plan).await
}

/// Queues one delivery under an id that the response tells in advance.
fn promise(
    context: &RequestContext,
    subscription: &Subscription,
    action: &'static str,
    (event, kind): (EventId, EventType),
    origin: DeliveryOrigin,
    at: Timestamp,
) -> Result<(ChangeSet, Bytes), Error> {
    let delivery_id = context.services.id(at);
    let job =
        Job::new(context.caller.tenant, subscription.id, (event, kind), at, origin).with_delivery_id(delivery_id);
    let change = enqueue(context, subscription, action, vec![job], at);
    Ok((change, render(&RedeliveryReply { delivery_id, event_id: public_id(kind, event) })?))
}

/// Brings the next attempt of a queued delivery forward, under an id that the response tells in advance. A
/// delivery that has such an id keeps it, because an earlier response told it.
fn expedite(
    context: &RequestContext,
    subscription: &Subscription,
    queued: &Job,
    at: Timestamp,
) -> Result<(ChangeSet, Bytes), Error> {
    let delivery_id = queued.delivery_id.unwrap_or_else(|| context.services.id(at));
    let announced_attempt = Some((queued.attempt, delivery_id));
    let expedition =
        ExpediteDelivery { webhook_id: subscription.id, event_id: queued.event_id, promised: announced_attempt };
    let mut change =
        ChangeSet::new(context.audit(context.services.id(at), AuditDraft::new(subscription, REDELIVER), at));
    change.writes = vec![Write::BringForward(vec![expedition], at)];
    Ok((
        change,
        render(&RedeliveryReply { delivery_id, event_id: public_id(queued.event_type, queued.event_id) })?,
    ))
}

fn enqueue(
    context: &RequestContext,
    subscription: &Subscription,
    action: &'static str,
    jobs: Vec<Job>,
    at: Timestamp,
) -> ChangeSet {
    let mut change =
        ChangeSet::new(context.audit(context.services.id(at), AuditDraft::new(subscription, action), at));
    change.writes = vec![Write::Enqueue(jobs)];
    change
}

/// Returns the current state of the event of an attempt.
async fn find_state(
    services: &Services,
    tenant: Tenant,
    subscription: &Subscription,
    attempt: &Delivery,
) -> Result<AttemptState, Error> {
    let kept_events = services.store.events_by_id(&[(tenant, attempt.event_id)]).await?;
    let Some((_, event)) = kept_events.first() else { return Ok(AttemptState::Removed) };
    if !subscription.may_get(event) {
        return Ok(AttemptState::Own);
    }
    let queued_jobs = services.store.queued_delivery(tenant, subscription.id, attempt.event_id).await?;
    Ok(queued_jobs.map_or(AttemptState::Kept, AttemptState::Queued))
}

/// `POST /webhooks/{id}/replay`: delivers all events of a period again.
///
/// Events are queued in commits of some hundreds, and the last one stores the reply. If the service stops in
/// between, a retry queues the rest and skips queued events.
///
/// # Errors
/// Not found, invalid fields, a subscription that is not active; see [`Error`].
pub async fn replay(context: &RequestContext, id: WebhookId, body: Object) -> Result<Reply, Error> {
    if let Some(reply) = context.services.find_replay(context).await? {
        return Ok(reply);
    }
    let start = context.services.clock.now();
    let subscription = context.find_stored::<Subscription>(id).await?;
    context.check_preconditions(subscription.version)?;
    let order = ReplayOrder::parse(body, start)?;
    subscription.value.require_active("replay")?;
    let which = RedeliveryFilter {
        since: order.since,
        // Every slice up to `until` costs a query, so an `until` far in the future is cut off. The margin of one
        // slice covers events of processes whose clocks are ahead.
        until: order.until.min(start.plus_seconds(SLICE_SECONDS)),
        types: order.types(&subscription.value, &context.caller)?,
        only_failed: order.only == ReplaySelection::Failed,
        now: start,
    };
    let deadline = context.services.clock.steady() + WORK;
    ReplayProgress { context, subscription: &subscription.value, which, until: deadline }.carry_out().await
}

/// A replay in progress.
struct ReplayProgress<'a> {
    context: &'a RequestContext,
    subscription: &'a Subscription,
    which: RedeliveryFilter,
    /// Steady time at which the work ends.
    until: Duration,
}

/// Progress of a replay: all events before `since` are queued, and of the following slice those up to `last`.
#[derive(Clone, Copy)]
struct ReplayPosition {
    since: Timestamp,
    last: Option<EventId>,
}

type Slice = Vec<EventToRedeliver>;

impl ReplayProgress<'_> {
    async fn carry_out(&self) -> Result<Reply, Error> {
        let mut place = ReplayPosition { since: self.which.since, last: None };
        let (mut enqueued, mut piece) = (0, Slice::new());
        let continue_since = loop {
            let room = PIECE - piece.len();
            let events = self.next(place, room).await?;
            let full = events.len() == room;
            place = match events.last() {
                Some(last) if full => ReplayPosition { last: Some(last.event_id), ..place },
                _ => ReplayPosition { since: self.end_of(place), last: None },
            };
            let events = self.remove_forbidden_events(events).await?;
            enqueued += events.len();
            piece.extend(events);
            if place.since >= self.which.until {
                break None;
            }
            let late = self.context.services.clock.steady() >= self.until;
            if late || full && enqueued + PIECE > MAX_REPLAYED {
                break Some(
                    self.next(place, 1).await?.first().map_or(self.end_of(place), |event| time_of(event.event_id)),
                );
            }
            if full && !piece.is_empty() {
                self.context.confirm_caller().await?;
                // Queueing has no conditions that concurrent changes could break.
                let change = self.change_set(&piece, self.context.services.clock.now());
                self.context.services.save(self.context.caller.tenant, change).await?;
                piece.clear();
            }
        };
        let body = render(&EventReplayReply {
            enqueued,
            continue_since: continue_since.filter(|continue_since| *continue_since < self.which.until),
        })?;
        let plan = async |at: Timestamp| {
            Ok(ChangePlan::Commit(Box::new(self.change_set(&piece, at)), Reply::accepted(body.clone())))
        };
        self.context.change(plan).await
    }

    /// Returns the end of the time slice that begins at a position.
    fn end_of(&self, place: ReplayPosition) -> Timestamp {
        place.since.plus_seconds(SLICE_SECONDS).min(self.which.until)
    }

    async fn next(&self, place: ReplayPosition, most: usize) -> Result<Slice, Error> {
        let slice = RedeliveryFilter { since: place.since, until: self.end_of(place), ..self.which.clone() };
        if slice.types.is_empty() {
            return Ok(vec![]);
        }
        let (tenant, most) = (self.context.caller.tenant, u16::try_from(most).unwrap_or(u16::MAX));
        Ok(self
            .context
            .services
            .store
            .to_deliver_again(tenant, self.subscription.id, &slice, place.last, most)
            .await?)
    }

    /// Removes the events about the subscription itself, and those that its filter does not permit. Events with an
    /// attempt passed the filter when they happened, so a replay of failed events does not evaluate the filter again.
    async fn remove_forbidden_events(&self, mut events: Slice) -> Result<Slice, Error> {
        let tenant = self.context.caller.tenant;
        let is_filtered = self.subscription.filter.is_some() && !self.which.only_failed;
        let is_read =
            |event: &&EventToRedeliver| is_filtered || Subscription::may_be_about_itself(event.event_type);
        let read: Vec<_> = events.iter().filter(is_read).map(|event| (tenant, event.event_id)).collect();
        if read.is_empty() {
            return Ok(events);
        }
        let read: Vec<_> =
            self.context.services.store.events_by_id(&read).await?.into_iter().map(|(_, event)| event).collect();
        let own = read.iter().filter(|event| !self.subscription.may_get(event)).map(|event| event.id);
        let mut refused_ids: BTreeSet<_> = own.collect();
        if is_filtered {
            refused_ids.extend(self.filtered_out(&read).await?);
        }
        events.retain(|event| !refused_ids.contains(&event.event_id));
        Ok(events)
    }

    /// Returns the ids of the events that the filter does not permit, by their data and the present departments of
    /// people.
    async fn filtered_out(&self, events: &[Event]) -> Result<Vec<EventId>, Error> {
        let facts: Vec<_> = events.iter().map(EventFacts::from_event).collect();
        let people: Vec<_> = EventFacts::people_to_read(&facts, &self.subscription.filter).into_iter().collect();
        let people_rows =
            self.context.services.store.rows::<Employee>(self.context.caller.tenant, &people).await?;
        let departments: BTreeMap<_, _> =
            people_rows.iter().map(|row| (row.value.id, row.value.department_id)).collect();
        let facts = facts.into_iter().map(|facts| facts.resolve_department(&departments));
        let refused_events = events.iter().zip(facts).filter(|(_, facts)| !self.subscription.permits(facts));
        Ok(refused_events.map(|(event, _)| event.id).collect())
    }

    /// Describes the replayed events for the audit log: the period, the selection and the number of the events.
    fn describe_selection(&self, enqueued: usize) -> Changes {
        let only = if self.which.only_failed { ReplaySelection::Failed } else { ReplaySelection::All };
        let members = [
            ("since", json!(self.which.since)),
            ("until", json!(self.which.until)),
            ("only", json!(only.word())),
            ("enqueued", json!(enqueued)),
        ];
        members.into_iter().map(|(name, to)| (name.to_owned(), Change::from_null(&to))).collect()
    }

    /// Creates the change set that brings queued events forward and queues the remaining ones.
    fn change_set(&self, events: &[EventToRedeliver], at: Timestamp) -> ChangeSet {
        let (tenant, id) = (self.context.caller.tenant, self.subscription.id);
        let (queued, rest): (Vec<_>, Vec<_>) = events.iter().partition(|event| event.is_queued);
        let job = |resend: EventToRedeliver| {
            Job::new(tenant, id, (resend.event_id, resend.event_type), at, DeliveryOrigin::Replay)
        };
        let expedition = |resend: EventToRedeliver| ExpediteDelivery {
            webhook_id: id,
            event_id: resend.event_id,
            promised: None,
        };
        let jobs = rest.into_iter().map(job).collect();
        let mut change = enqueue(self.context, self.subscription, "webhook.replay", jobs, at);
        change.audit.changes = self.describe_selection(events.len());
        if !queued.is_empty() {
            change.writes.push(Write::BringForward(queued.into_iter().map(expedition).collect(), at));
        }
        change
    }
}

/// Returns the creation time of an event, which its id contains.
fn time_of(id: EventId) -> Timestamp {
    Timestamp::from_millis(i64::try_from(id.ulid().timestamp_ms()).unwrap_or(i64::MAX))
}
