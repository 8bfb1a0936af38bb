//! One process that delivers: its machine, and what its loops are waiting for.

use std::collections::BTreeMap;
use std::time::Duration;

use candor_dispatch::{Batch, Dispatcher, Now, QueueLimits, Settings, StartedAttempt, WaitingDelivery};
use candor_domain::time::Timestamp;
use candor_port_storage::queue::WorkerId;

/// The first moment of the simulation: noon on a Sunday in March.
pub(crate) const START: i64 = 1_772_366_400_000;
/// After so many looks that came to nothing, the looks that can come to nothing only are left out.
const FRUITLESS: u32 = 8;

/// One life of a process: after a kill or a stop its successor has another number, and another worker's name.
pub(crate) struct Process {
    /// Which life of all this is.
    pub(crate) life: usize,
    pub(crate) machine: Dispatcher<()>,
    pub(crate) worker: WorkerId,
    pub(crate) settings: Settings,
    begun: i64,
    /// How far its clock is from the others'.
    skew: i64,
    pub(crate) is_claiming: bool,
    /// When it looks for something to claim again; none if something has to happen first.
    pub(crate) claim_at: Option<i64>,
    fruitless: u32,
    /// What is being recorded.
    pub(crate) batch: Option<Batch>,
    pub(crate) record_at: Option<i64>,
    pub(crate) is_stopping: bool,
    /// Attempts from their turn to their end.
    pub(crate) turns: BTreeMap<u64, StartedAttempt<WaitingDelivery<()>>>,
    /// The wake-up that counts; others are out of date.
    pub(crate) alarm: u64,
    /// When it rings.
    pub(crate) alarm_at: Option<i64>,
}

impl Process {
    pub(crate) fn new(
        life: usize,
        settings: Settings,
        limits: QueueLimits,
        (begun, step, skew): (i64, i64, i64),
    ) -> Self {
        let worker = WorkerId((life as u128 + 1).to_be_bytes());
        let now = Now { wall: Timestamp::from_millis(START + begun + step + skew), steady: Duration::ZERO };
        Self {
            life,
            machine: Dispatcher::new(worker, settings.clone(), limits, now),
            worker,
            settings,
            begun,
            skew,
            is_claiming: false,
            claim_at: Some(begun),
            fruitless: 0,
            batch: None,
            record_at: None,
            is_stopping: false,
            turns: BTreeMap::new(),
            alarm: 0,
            alarm_at: None,
        }
    }

    /// The present by this process's clocks.
    pub(crate) fn now(&self, now: i64, step: i64) -> Now {
        let steady = Duration::from_millis((now - self.begun).unsigned_abs());
        Now { wall: Timestamp::from_millis(START + now + step + self.skew), steady }
    }

    /// When its steady clock says this.
    pub(crate) fn at(&self, steady: Duration) -> i64 {
        // A fraction of a millisecond counts as a whole one, or nothing would have changed by then.
        self.begun + i64::try_from(steady.as_micros().div_ceil(1000)).unwrap_or(i64::MAX - self.begun)
    }

    /// When its time of day says this.
    pub(crate) const fn when(&self, wall: Timestamp, step: i64) -> i64 {
        wall.millis() - START - step - self.skew
    }

    /// A claim is answered: the next one may follow at once.
    pub(crate) const fn claim_came_back(&mut self, found: bool, now: i64) {
        self.is_claiming = false;
        self.claim_at = Some(now);
        self.fruitless = if found { 0 } else { self.fruitless + 1 };
    }

    /// A look for something to claim came to something, or something has happened.
    pub(crate) const fn fruitful(&mut self) {
        self.fruitless = 0;
    }

    /// A look for something to claim came to nothing.
    pub(crate) const fn fruitless(&mut self) {
        self.fruitless += 1;
    }

    /// Whether looking came to nothing so often that it will until something happens.
    pub(crate) const fn is_at_rest(&self) -> bool {
        self.fruitless > FRUITLESS
    }
}
