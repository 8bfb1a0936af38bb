//! What this process holds: attempts under way, and what became of deliveries until the store has confirmed it.
//!
//! A record holds while worker and attempt are what they were. So when a record is late, or its answer is, the same worker
//! may have leased the delivery once more by then, and the record would end the lease under which another attempt is made.
//! Therefore what is leased once more in the meantime is not attempted: it is given back once the store has confirmed.

use std::collections::HashMap;

use candor_domain::id::EventId;
use candor_domain::time::Timestamp;
use candor_domain::webhook::Job;
use candor_port_storage::queue::QueueKey;

use crate::lease::Ends;

type Key = (QueueKey, EventId, u16);

/// The deliveries.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    held: HashMap<Key, Held>,
    /// What was confirmed while a claim is under way, whose answer may be older; with the end of a lease, if the record
    /// can only have been carried out before the delivery was leased once more under it.
    confirmed: HashMap<Key, Option<Timestamp>>,
    claims: usize,
}

#[derive(Debug)]
struct Held {
    ends: Option<Ends>,
    leased_again: bool,
}

impl Unsettled {
    pub(crate) const fn claim_begins(&mut self) {
        self.claims += 1;
    }

    pub(crate) fn claim_ends(&mut self) {
        self.claims = self.claims.saturating_sub(1);
        if self.claims == 0 {
            self.confirmed.clear();
        }
    }

    /// Whether a delivery that was claimed at this time may be somebody else's by now, because a record of this process
    /// may have come after the claim. A lease that was not over can only have been claimed after its record.
    pub(crate) fn is_doubtful(&self, job: &Job, at: Timestamp) -> bool {
        self.confirmed.get(&key(job)).is_some_and(|until| until.is_none_or(|it| it <= at))
    }

    /// This process holds a delivery from now on. Says no, and remembers that it was leased once more, if it is
    /// already.
    pub(crate) fn add(&mut self, job: &Job, ends: Option<Ends>) -> bool {
        let is_new = !self.leased_again(job);
        if is_new {
            self.held.insert(key(job), Held { ends, leased_again: false });
        }
        is_new
    }

    /// Whether this process holds a delivery already that is leased once more; that is remembered.
    pub(crate) fn leased_again(&mut self, job: &Job) -> bool {
        self.held.get_mut(&key(job)).map(|it| it.leased_again = true).is_some()
    }

    /// This process holds a delivery no longer: nothing is to be recorded of it.
    pub(crate) fn forget(&mut self, job: &Job) {
        self.held.remove(&key(job));
    }

    /// The store has confirmed what became of a delivery, at the first call or after some doubt; says whether it was
    /// leased once more meanwhile.
    pub(crate) fn confirm(&mut self, job: &Job, is_first: bool) -> bool {
        let Some(held) = self.held.remove(&key(job)) else { return false };
        if self.claims > 0 {
            self.confirmed.insert(key(job), held.ends.filter(|_| is_first).map(Ends::stored));
        }
        held.leased_again
    }
}

const fn key(job: &Job) -> Key {
    ((job.tenant, job.webhook_id), job.event_id, job.attempt)
}
