//! Ports for time and ids, which the service must not create by itself.
//!
//! Rules take time and ids as arguments. The callers get both from these ports, so that a test can simulate days
//! in a millisecond and get equal ids on every run.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use candor_domain::id::{Id, Kind};
use candor_domain::time::Timestamp;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use ring::rand::{SecureRandom, SystemRandom};
use ulid::Ulid;

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the monotonic time since an arbitrary start within this process.
    fn steady(&self) -> Duration;
}

/// The system clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that the rule points to")]
    fn now(&self) -> Timestamp {
        let time_of_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(time_of_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn steady(&self) -> Duration {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        BEGUN.get_or_init(Instant::now).elapsed()
    }
}

/// A clock for tests that moves only on request.
#[derive(Debug)]
pub struct ManualClock {
    now: AtomicI64,
    /// Milliseconds that have elapsed, without adjustments of the clock.
    passed: AtomicI64,
    /// Time from which real time also counts as monotonic time; unset before [`ManualClock::run_steady_time`].
    running_since: OnceLock<Instant>,
}

impl ManualClock {
    /// Creates a clock that shows this time.
    #[must_use]
    pub const fn starting_at(time: Timestamp) -> Self {
        Self { now: AtomicI64::new(time.millis()), passed: AtomicI64::new(0), running_since: OnceLock::new() }
    }

    /// Lets the monotonic time also elapse by itself, for background loops that wait for a timeout.
    pub fn run_steady_time(&self) {
        self.running_since.get_or_init(Instant::now);
    }

    /// Lets time elapse. A negative number only sets the clock back.
    pub fn advance_millis(&self, millis: i64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
        self.passed.fetch_add(millis.max(0), Ordering::SeqCst);
    }

    /// Moves the shown time by this many seconds. The monotonic time does not change.
    pub fn set_by_seconds(&self, seconds: i64) {
        self.now.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// Lets seconds elapse. A negative number only sets the clock back.
    pub fn advance_seconds(&self, seconds: i64) {
        self.advance_millis(seconds * 1000);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.load(Ordering::SeqCst))
    }

    fn steady(&self) -> Duration {
        let steady_time =
            Duration::from_millis(u64::try_from(self.passed.load(Ordering::SeqCst)).unwrap_or_default());
        steady_time + self.running_since.get().map(Instant::elapsed).unwrap_or_default()
    }
}

/// A source of ids and random bytes.
pub trait Ids: Send + Sync {
    /// Creates an id for this time. Ids that [`SystemIds`] creates one after another within a millisecond sort in
    /// that order; those of [`SeededIds`] do not.
    fn ulid(&self, at: Timestamp) -> Ulid;

    /// Fills the slice with unpredictable bytes, for secrets and nonces.
    ///
    /// # Errors
    /// Returns [`RandomnessError`] if the system's random source fails.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError>;
}

/// The error of a failed random source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomnessError;

impl std::fmt::Display for RandomnessError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the system's random source failed")
    }
}

impl std::error::Error for RandomnessError {}

/// Creates an id of a kind for this time.
pub fn new_id<K: Kind>(ids: &dyn Ids, at: Timestamp) -> Id<K> {
    Id::from_ulid(ids.ulid(at))
}

/// Returns 256 unpredictable bits, for keys and tokens.
///
/// # Errors
/// Returns [`RandomnessError`] if the system's random source fails.
pub fn random32(ids: &dyn Ids) -> Result<[u8; 32], RandomnessError> {
    let mut bytes = [0; 32];
    ids.fill(&mut bytes)?;
    Ok(bytes)
}

/// Number of random bits in a ULID.
const RANDOM_BITS: u32 = 80;
const RANDOM_MASK: u128 = (1 << RANDOM_BITS) - 1;

fn compose(at: Timestamp, random: u128) -> Ulid {
    let millis = u128::try_from(at.millis().max(0)).unwrap_or_default();
    Ulid((millis << RANDOM_BITS) | (random & RANDOM_MASK))
}

/// Ids from the system's random source.
#[derive(Debug)]
pub struct SystemIds {
    random: SystemRandom,
    last: Mutex<Ulid>,
}

impl Default for SystemIds {
    fn default() -> Self {
        Self { random: SystemRandom::new(), last: Mutex::new(Ulid(0)) }
    }
}

impl Ids for SystemIds {
    fn ulid(&self, at: Timestamp) -> Ulid {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if compose(at, 0).0 >> RANDOM_BITS == last.0 >> RANDOM_BITS {
            *last = Ulid(last.0 + 1);
            return *last;
        }
        let mut bytes = [0; 16];
        // Without randomness the counter above still makes ids unique within this process.
        let _ = self.random.fill(&mut bytes);
        // Clears the highest random bit at the start of a millisecond, so that counting up cannot overflow.
        *last = Ulid(compose(at, u128::from_be_bytes(bytes)).0 & !(1 << (RANDOM_BITS - 1)));
        *last
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        self.random.fill(bytes).map_err(|_| RandomnessError)
    }
}

/// Reproducible ids and bytes for tests and examples. Never for secrets.
#[derive(Debug)]
pub struct SeededIds(Mutex<SplitMix64>);

impl SeededIds {
    /// Creates the sequence for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(SplitMix64::seed_from_u64(seed)))
    }

    /// Returns the next number of the splitmix64 sequence.
    fn next(&self) -> u64 {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next_u64()
    }
}

impl Ids for SeededIds {
    fn ulid(&self, at: Timestamp) -> Ulid {
        compose(at, (u128::from(self.next()) << 64) | u128::from(self.next()))
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_sort_in_order_of_creation() {
        let ids = SystemIds::default();
        let time = Timestamp::from_millis(1_700_000_000_000);
        let new_ids: Vec<_> = (0..1000).map(|_| ids.ulid(time)).collect();
        assert!(new_ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(new_ids.iter().all(|id| id.timestamp_ms() == 1_700_000_000_000));
    }

    /// Recorded seeds, such as those of the simulation, depend on the sequence. These are the numbers of the
    /// reference implementation.
    #[test]
    fn seed_gives_the_numbers_of_splitmix64() {
        let ids = SeededIds::new(1_234_567);
        assert_eq!(
            [ids.next(), ids.next(), ids.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn equal_seeds_give_equal_ids() {
        let first = |seed| SeededIds::new(seed).ulid(Timestamp::from_millis(1));
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
