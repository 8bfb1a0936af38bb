//! Taking deliveries in: what is claimed, with its events, as far as there is room.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use candor_domain::access::Tenant;
use candor_domain::event::Event;
use candor_domain::id::EventId;
use candor_domain::webhook::Job;
use candor_port_storage::queue::{Claim, Fate, Lane, Lease};
use candor_port_storage::store::Read;

use super::engine::{Engine, Waiting};
use super::lease::{Ends, Now};
use super::message::Message;
use super::record::Finished;

/// A claim under way: the engine does not end before what it answers is dealt with.
struct Asking<'a>(&'a Engine);

impl<'a> Asking<'a> {
    /// None if there is no room, or the engine ends.
    fn begin(engine: &'a Engine) -> Option<Self> {
        let reserved = engine.lanes().reserve(1);
        reserved.then(|| Self(engine))
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut lanes = self.0.lanes();
        lanes.release(1);
        let open = lanes.is_open();
        drop(lanes);
        if !open {
            self.0.outcomes.tell();
        }
    }
}

impl Engine {
    /// Claims once, if something is to be claimed; says whether it did.
    pub(super) async fn claim(self: &Arc<Self>) -> Read<bool> {
        let now = self.now();
        let Some(_asking) = Asking::begin(self) else { return Ok(false) };
        let Some(claim) = self.next_claim(now) else { return Ok(false) };
        let ends = now.plus(self.settings.lease());
        let lease = Lease { worker: self.worker, until: ends.stored() };
        let claimed = match self.shell.store.claim(lease, now.wall, &claim).await {
            Ok(claimed) => claimed,
            Err(error) => {
                self.claims().failed(Instant::now());
                return Err(error);
            }
        };
        self.claims().took(&claim, &claimed, now.steady);
        match claimed.jobs.len() {
            0 => tracing::trace!("no delivery is due"),
            deliveries => tracing::debug!(deliveries, "took deliveries from the queue"),
        }
        let (kept, surplus) = self.sift(claimed.jobs);
        self.lanes().owe(surplus.len());
        self.give_back(surplus);
        let messages = self.messages(&kept).await;
        let resumed = matches!(claim, Claim::Parked(_));
        let waiting = |job: Job| {
            let message = messages.get(&(job.tenant, job.event_id)).cloned();
            Waiting { job, message, resumed }
        };
        self.take_in(kept.into_iter().map(waiting).collect(), ends, 0);
        Ok(true)
    }

    fn next_claim(&self, now: Now) -> Option<Claim> {
        if !self.claims().may_want(now.steady) {
            return None;
        }
        let mut lanes = self.lanes();
        let forgotten = lanes.forget(now);
        let (room, full) = (lanes.room(), lanes.full());
        drop(lanes);
        self.forgot(forgotten);
        let recent = self.claims().recent().to_vec();
        let free = self.lanes().least_free(&recent);
        let mut claims = self.claims();
        claims.each_takes(free);
        claims.next(now.steady, room, full)
    }

    pub(super) fn forgot(&self, count: usize) {
        self.figures.forgotten.increment(u64::try_from(count).unwrap_or_default());
    }

    /// Keeps what there is room for, before its events are read.
    fn sift(&self, jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
        let lanes = self.lanes();
        let mut coming: HashMap<Lane, usize> = HashMap::new();
        let mut kept = 0;
        jobs.into_iter().partition(|job| {
            let lane = (job.tenant, job.webhook_id);
            let count = coming.entry(lane).or_default();
            let takes = kept < lanes.room() && lanes.takes(lane, *count);
            *count += usize::from(takes);
            kept += usize::from(takes);
            takes
        })
    }

    /// The messages of these deliveries. One that cannot be read now is read for its attempt.
    async fn messages(&self, jobs: &[Job]) -> HashMap<(Tenant, EventId), Arc<Message>> {
        let mut messages = HashMap::new();
        let mut wanted = vec![];
        for job in jobs {
            let key = (job.tenant, job.event_id);
            match Message::of_test(job) {
                Some(message) => drop(messages.insert(key, Arc::new(message))),
                None => wanted.push(key),
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return messages;
        }
        match self.shell.store.events_by_id(&wanted).await {
            Ok(events) => {
                let message =
                    |(tenant, event): (Tenant, Event)| ((tenant, event.id), Arc::new(Message::of(tenant, event)));
                messages.extend(events.into_iter().map(message));
            }
            Err(error) => tracing::warn!(%error, "could not read events that are to be delivered"),
        }
        messages
    }

    /// Takes deliveries in, for which so much room was reserved, and gives back those that there is no room for.
    pub(super) fn take_in(self: &Arc<Self>, deliveries: Vec<Waiting>, ends: Ends, reserved: usize) {
        let mut lanes = self.lanes();
        lanes.release(reserved);
        let offer = |it: Waiting| {
            let lane = (it.job.tenant, it.job.webhook_id);
            lanes.offer(lane, it, ends).err().map(|it| it.job)
        };
        let refused: Vec<_> = deliveries.into_iter().filter_map(offer).collect();
        lanes.owe(refused.len());
        drop(lanes);
        self.give_back(refused);
        self.start_what_may();
    }

    /// Lets others have deliveries that the lanes do not hold any more, or never did, but count as unrecorded.
    pub(super) fn give_back(&self, jobs: Vec<Job>) {
        let now = self.shell.clock.now();
        self.outcomes.add(jobs.into_iter().map(|job| Finished { job, fate: Fate::Back(now), pulse: None }));
    }
}
