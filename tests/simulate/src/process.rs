//! One process that delivers: its machine, and the state of its loops.

use candor_dispatch::{Batch, Dispatcher, Now, QueueLimits, Settings, StartedAttempt, WaitingDelivery};
use candor_domain::time::Timestamp;
use candor_port_storage::queue::WorkerId;
use std::collections::BTreeMap;
use std::time::Duration;

/// The start of the simulation: noon on a Sunday in March.
pub(crate) const START: i64 = 1_772_366_400_000;
/// Number of fruitless scans after which a process is at rest.
const FRUITLESS_SCANS: u32 = 8;

/// One life of a process. Its successor has another number and another worker id.
pub(crate) struct Process {
    pub(crate) life: usize,
    pub(crate) machine: Dispatcher<()>,
    pub(crate) worker: WorkerId,
    pub(crate) settings: Settings,
    started: i64,
    /// Deviation of its clock in milliseconds.
    skew: i64,
    pub(crate) is_claiming: bool,
    /// Time of the next scan for claimable deliveries. `None`: the process scans only after something happens.
    pub(crate) claim_at: Option<i64>,
    /// Number of scans without a result since something happened.
    pub(crate) fruitless_scans: u32,
    /// The results that are being recorded.
    pub(crate) batch: Option<Batch>,
    pub(crate) record_at: Option<i64>,
    pub(crate) is_stopping: bool,
    /// Attempts in progress, by their number.
    pub(crate) turns: BTreeMap<u64, StartedAttempt<WaitingDelivery<()>>>,
    /// Number of the current alarm. Earlier ones are obsolete.
    pub(crate) alarm: u64,
    pub(crate) alarm_at: Option<i64>,
}

impl Process {
    pub(crate) fn new(
        life: usize,
        settings: Settings,
        limits: QueueLimits,
        (started, shift, skew): (i64, i64, i64),
    ) -> Self {
        let worker = WorkerId((life as u128 + 1).to_be_bytes());
        let now = Now { wall: Timestamp::from_millis(START + started + shift + skew), steady: Duration::ZERO };
        Self {
            life,
            machine: Dispatcher::new(worker, settings.clone(), limits, now),
            worker,
            settings,
            started,
            skew,
            is_claiming: false,
            claim_at: Some(started),
            fruitless_scans: 0,
            batch: None,
            record_at: None,
            is_stopping: false,
            turns: BTreeMap::new(),
            alarm: 0,
            alarm_at: None,
        }
    }

    /// Returns the current time of both clocks of this process.
    pub(crate) fn now(&self, now: i64, shift: i64) -> Now {
        let steady = Duration::from_millis((now - self.started).unsigned_abs());
        Now { wall: Timestamp::from_millis(START + now + shift + self.skew), steady }
    }

    /// Returns the simulated time at which the steady clock of the process shows this value.
    pub(crate) fn at(&self, steady: Duration) -> i64 {
        // Rounded up, so that the clock has reached the value.
        self.started + i64::try_from(steady.as_micros().div_ceil(1000)).unwrap_or(i64::MAX - self.started)
    }

    /// Returns the simulated time at which the wall clock of the process shows this value.
    pub(crate) const fn when(&self, wall: Timestamp, shift: i64) -> i64 {
        wall.millis() - START - shift - self.skew
    }

    /// Ends a claim. `found` is `true` if there were deliveries to claim. The next claim may follow at once.
    pub(crate) const fn end_claim(&mut self, found: bool, now: i64) {
        self.is_claiming = false;
        self.claim_at = Some(now);
        self.fruitless_scans = if found { 0 } else { self.fruitless_scans + 1 };
    }

    /// Returns `true` if the last scans found nothing, so that more scans are useless until something happens.
    pub(crate) const fn is_at_rest(&self) -> bool {
        self.fruitless_scans > FRUITLESS_SCANS
    }
}
