//! Shares of organizations in the places of a process: attempts, and deliveries that wait for one.
//!
//! An organization may take another place while it has fewer places than are free. So one organization has at most
//! half of all places. If the receivers of `n` organizations hang, each organization has at most one place in `n +
//! 1` as soon as its first attempts have ended, and as many places are free for the next organization.
//!
//! Half of the places are for receivers that are not known to be quick. If receivers that were quick become slow
//! and use more than this half, each organization still gets [`LEAST`] places of the other half for slow
//! receivers.

use crate::HashMap;

use candor_domain::id::OrganizationId;

use super::QueueLimits;
use super::limited::SHARE;

/// Number of attempts, and of waiting deliveries, that each organization may have for slow receivers even if the
/// half for these receivers is used up. More than an eighth of all places must be free.
const LEAST: usize = 2;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueCount {
    pub(super) attempts: usize,
    pub(super) waiting: usize,
}

/// Numbers of deliveries in one queue, in the queues of an organization, or in all queues.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) all: QueueCount,
    /// Deliveries of queues whose receivers are not known to be quick.
    pub(super) slow: QueueCount,
    /// Waiting deliveries of queues with a rate.
    pub(super) limited_waiting: usize,
}

/// Totals of all organizations and of each one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shares {
    limits: QueueLimits,
    /// Sum of [`Shares::counted_places`] of all organizations.
    sum: Totals,
    owners: HashMap<OrganizationId, Totals>,
}

/// Places of one kind.
struct Places {
    /// Places that the organization has.
    own: usize,
    free: usize,
}

impl Places {
    const fn new(limit: usize, own: usize, taken: usize) -> Self {
        Self { own, free: limit.saturating_sub(taken) }
    }

    /// Returns `true` if the organization may take another place in addition to `coming` ones.
    const fn has_one(&self, coming: usize) -> bool {
        self.own + coming < self.free.saturating_sub(coming)
    }

    /// Returns `true` if the organization may take another place for a slow receiver. The caller has checked that
    /// the organization may take another one of `all` places, whose total number is `limit`.
    const fn has_slow_one(&self, all: &Self, limit: usize, coming: usize) -> bool {
        self.has_one(coming) || self.own + coming < LEAST && all.free > limit / 8 + coming
    }

    /// Returns `true` if the organization has at least half of its share. The share is half of the sum of its own
    /// places and the free ones.
    const fn is_half_used(&self) -> bool {
        self.own > 0 && self.own * 3 >= self.free
    }
}

impl Shares {
    pub(super) fn new(limits: QueueLimits) -> Self {
        Self { limits, sum: Totals::default(), owners: HashMap::default() }
    }

    /// Returns the totals of all queues.
    pub(super) const fn all(&self) -> QueueCount {
        self.sum.all
    }

    /// Returns `true` if deliveries wait in queues with a rate.
    pub(super) const fn has_limited(&self) -> bool {
        self.sum.limited_waiting > 0
    }

    /// Replaces the totals of one queue of an organization.
    pub(super) fn replace(&mut self, owner: OrganizationId, before: Totals, after: Totals) {
        if before == after {
            return;
        }
        let own = self.owner(owner);
        let totals = own.plus(after).minus(before);
        self.sum = self.sum.plus(self.counted_places(totals)).minus(self.counted_places(own));
        if totals == Totals::default() {
            self.owners.remove(&owner);
        } else {
            self.owners.insert(owner, totals);
        }
    }

    /// Returns the places of an organization that reduce the free places of other organizations. Places of slow
    /// receivers, and of queues with a rate, count up to half of all such places, the most that an organization
    /// can take. An organization has more only if its queues became slow or got a rate later.
    const fn counted_places(&self, own: Totals) -> Totals {
        Totals {
            all: own.all,
            slow: QueueCount {
                attempts: least(own.slow.attempts, self.slow_attempts().div_ceil(2)),
                waiting: least(own.slow.waiting, self.slow_waiting().div_ceil(2)),
            },
            limited_waiting: least(own.limited_waiting, self.limited_waiting().div_ceil(2)),
        }
    }

    /// Returns `true` if an organization may begin another attempt. `quick` is `true` if the receiver is known to
    /// be quick.
    pub(super) fn may_begin(&self, owner: OrganizationId, quick: bool) -> bool {
        let own = self.owner(owner);
        let all = Places::new(self.limits.attempts, own.all.attempts, self.sum.all.attempts);
        all.has_one(0) && (quick || self.slow_attempts_of(own).has_slow_one(&all, self.limits.attempts, 0))
    }

    /// Returns `true` while an organization has few attempts to receivers that are not known to be quick.
    pub(super) fn is_at_ease(&self, owner: OrganizationId) -> bool {
        !self.slow_attempts_of(self.owner(owner)).is_half_used()
    }

    /// Returns `true` if another delivery of an organization may wait in addition to `coming` ones. `quick` is
    /// `true` if the receiver is known to be quick.
    pub(super) fn may_wait(&self, owner: OrganizationId, quick: bool, coming: usize) -> bool {
        let own = self.owner(owner);
        let all = self.waiting_of(own);
        all.has_one(coming) && (quick || self.slow_waiting_of(own).has_slow_one(&all, self.limits.waiting, coming))
    }

    /// Returns `true` if claims skip a queue because so many deliveries of its organization wait, or no place is free.
    pub(super) fn is_full(&self, owner: OrganizationId, quick: bool) -> bool {
        let own = self.owner(owner);
        let is_half_used =
            self.waiting_of(own).is_half_used() || !quick && self.slow_waiting_of(own).is_half_used();
        is_half_used || !self.may_wait(owner, quick, 0)
    }

    /// Returns `true` if the queues with a rate of an organization use their share of the waiting room.
    pub(super) fn is_crowded_by_limited(&self, owner: OrganizationId, coming: usize) -> bool {
        let own = self.owner(owner).limited_waiting;
        !Places::new(self.limited_waiting(), own, self.sum.limited_waiting).has_one(coming)
    }

    fn owner(&self, owner: OrganizationId) -> Totals {
        self.owners.get(&owner).copied().unwrap_or_default()
    }

    const fn slow_attempts_of(&self, own: Totals) -> Places {
        Places::new(self.slow_attempts(), own.slow.attempts, self.sum.slow.attempts)
    }

    const fn waiting_of(&self, own: Totals) -> Places {
        Places::new(self.limits.waiting, own.all.waiting, self.sum.all.waiting)
    }

    const fn slow_waiting_of(&self, own: Totals) -> Places {
        Places::new(self.slow_waiting(), own.slow.waiting, self.sum.slow.waiting)
    }

    /// Returns the number of attempts for receivers that are not known to be quick: half of all attempts, so that
    /// the other half always serves quick receivers.
    const fn slow_attempts(&self) -> usize {
        self.limits.attempts / 2
    }

    const fn slow_waiting(&self) -> usize {
        self.limits.waiting / 2
    }

    const fn limited_waiting(&self) -> usize {
        self.limits.waiting / SHARE
    }
}

impl QueueCount {
    const fn plus(self, other: Self) -> Self {
        Self { attempts: self.attempts + other.attempts, waiting: self.waiting + other.waiting }
    }

    const fn minus(self, other: Self) -> Self {
        Self { attempts: self.attempts - other.attempts, waiting: self.waiting - other.waiting }
    }
}

impl Totals {
    const fn plus(self, other: Self) -> Self {
        Self {
            all: self.all.plus(other.all),
            slow: self.slow.plus(other.slow),
            limited_waiting: self.limited_waiting + other.limited_waiting,
        }
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            all: self.all.minus(other.all),
            slow: self.slow.minus(other.slow),
            limited_waiting: self.limited_waiting - other.limited_waiting,
        }
    }
}

const fn least(one: usize, other: usize) -> usize {
    if one < other { one } else { other }
}
