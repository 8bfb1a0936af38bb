//! Handover from a commit to the engine of this process: the deliveries that the commit queues, already leased,
//! and notice of changed subscriptions. If a handover is lost, a later claim finds its deliveries.

use std::collections::HashMap;
use std::sync::Arc;

use candor_dispatch::LeaseDeadline;
use candor_domain::access::Tenant;
use candor_domain::event::Event;
use candor_domain::id::{EventId, WebhookId};
use candor_port_storage::queue::Lease;
use candor_port_storage::{ChangeSet, Committed, Write};
use candor_subscriptions::{DeliveryOrigin, Job};
use candor_tables::flat::BackgroundWorker;

use super::engine::{Engine, Waiting};
use super::message::Message;
use crate::context::handover::{HandOver, LocalEngine};

/// Maximum number of deliveries and events of a handover. The deliveries of larger changes, such as imports, are
/// claimed in batches.
const MOST: usize = 32;

/// Parts of a commit that concern the engine.
struct PreparedHandOver {
    engine: Arc<Engine>,
    tenant: Tenant,
    /// Subscriptions that the commit writes.
    changed: Vec<WebhookId>,
    /// Deliveries that the commit queues explicitly, beyond those of its events.
    queued: Vec<Job>,
    /// `true` if deliveries may become due by the commit.
    due: bool,
    /// `true` if the commit brings forward deliveries that were already queued.
    sooner: bool,
    leased: Option<ReservedRoom>,
}

/// Room reserved in the engine for deliveries of the commit.
struct ReservedRoom {
    engine: Arc<Engine>,
    room: usize,
    ends: LeaseDeadline,
    events: Vec<Event>,
}

impl Drop for ReservedRoom {
    fn drop(&mut self) {
        self.engine.with_dispatcher(|engine, _| engine.release(self.room));
    }
}

impl LocalEngine for Engine {
    fn prepare(self: Arc<Self>, tenant: Tenant, change: &mut ChangeSet) -> Option<Box<dyn HandOver>> {
        let (mut changed, mut queued, mut sooner) = (vec![], vec![], false);
        for write in &change.writes {
            match write {
                Write::Put(row) if write.wakes() == Some(BackgroundWorker::Delivery) => {
                    changed.push(WebhookId::from_bytes(row.id()));
                }
                Write::WebhookRemoved(id, _) => changed.push(*id),
                Write::Enqueue(jobs) => queued.extend(jobs.iter().copied()),
                Write::BringForward(..) => sooner = true,
                Write::Put(_)
                | Write::PutReporting { .. }
                | Write::NotificationsRead(..)
                | Write::MessageAdded(..)
                | Write::StreakReset(_)
                | Write::Removed(..)
                | Write::Erase(_)
                | Write::FailingReported(_) => {}
            }
        }
        let count = change.events.len() + queued.len();
        let due = count > 0 || sooner;
        if !due && changed.is_empty() {
            return None;
        }
        let reserved_room = (1..=MOST)
            .contains(&count)
            .then(|| ReservedRoom::take(&self, tenant, count, &change.events))
            .flatten();
        change.lease =
            reserved_room.as_ref().map(|lease| Lease { worker: self.worker, until: lease.ends.deadline() });
        Some(Box::new(PreparedHandOver {
            engine: self,
            tenant,
            changed,
            queued,
            due,
            sooner,
            leased: reserved_room,
        }))
    }
}

impl HandOver for PreparedHandOver {
    fn complete(mut self: Box<Self>, committed: Option<&Committed>) {
        for webhook in &self.changed {
            self.engine.subscription_cache.forget((self.tenant, *webhook));
        }
        if self.sooner {
            self.engine.with_dispatcher(|engine, _| engine.look_at_due());
        }
        match self.leased.take() {
            Some(leased) => self.hand_over(leased, committed),
            None if !self.changed.is_empty() => {
                self.engine.with_dispatcher(|engine, _| engine.request_full_scan())
            }
            None if self.due => self.engine.with_dispatcher(|engine, _| engine.look_at_due()),
            None => {}
        }
    }
}

impl PreparedHandOver {
    fn hand_over(&self, mut leased: ReservedRoom, committed: Option<&Committed>) {
        let leased_ids = committed.map(|committed| committed.leased.as_slice()).unwrap_or_default();
        if !self.changed.is_empty() {
            self.engine.with_dispatcher(|engine, _| engine.request_full_scan());
        }
        if leased_ids.is_empty() {
            return;
        }
        let events = std::mem::take(&mut leased.events).into_iter();
        let is_leased = |event: &Event| leased_ids.iter().any(|(_, id)| *id == event.id);
        let messages: HashMap<EventId, Arc<Message>> =
            events.filter(is_leased).map(|event| (event.id, Arc::new(Message::new(self.tenant, event)))).collect();
        let waiting = leased_ids
            .iter()
            .filter_map(|(webhook, event)| self.find_waiting(*webhook, *event, &messages))
            .collect();
        let room = std::mem::take(&mut leased.room);
        self.engine.with_dispatcher(|engine, now| engine.take_in(waiting, leased.ends, room, now));
        self.engine.start_ready_attempts();
    }

    fn find_waiting(
        &self,
        webhook: WebhookId,
        event: EventId,
        messages: &HashMap<EventId, Arc<Message>>,
    ) -> Option<Waiting> {
        if let Some(job) =
            self.queued.iter().find(|queued| (queued.webhook_id, queued.event_id) == (webhook, event))
        {
            return Some(Waiting { job: *job, message: None, resumed: false });
        }
        let message = messages.get(&event)?;
        let Event { id, kind, created_at, .. } = message.event;
        let job = Job::new(self.tenant, webhook, (id, kind), created_at, DeliveryOrigin::Event);
        Some(Waiting { job, message: Some(Arc::clone(message)), resumed: false })
    }
}

impl ReservedRoom {
    fn take(engine: &Arc<Engine>, tenant: Tenant, room: usize, events: &[Event]) -> Option<Self> {
        let ends = engine.with_dispatcher(|engine, now| engine.reserve(tenant, room, now))?;
        Some(Self { engine: Arc::clone(engine), room, ends, events: events.to_vec() })
    }
}
