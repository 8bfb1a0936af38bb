//! Tests of limits that several instances share, with a fake store of one rate-limit window and a manual clock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use async_trait::async_trait;
use candor_domain::time::Timestamp;
use candor_domain::window::{WINDOW_MILLIS, Window};
use candor_port_clock::ManualClock;
use proptest::prelude::*;

use super::*;

const START: i64 = 1_772_442_000_000;
const LIMIT: u32 = 5;

/// A store with one window that all instances share.
struct FakeStore {
    clock: Arc<ManualClock>,
    window: Mutex<Window>,
    is_down: AtomicBool,
    hangs: AtomicBool,
    /// `true` if the next answer comes too late, although the store counts the request.
    is_late: AtomicBool,
    starts: AtomicU32,
    asked: AtomicU32,
}

/// Connection of one instance, which breaks when the store restarts.
struct Connection {
    store: Arc<FakeStore>,
    /// Value of `FakeStore::starts` when this connection was opened.
    start: AtomicU32,
}

#[async_trait]
impl RateLimitStore for Connection {
    async fn admit(&self, _: KeyId, _: QuotaClass, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError> {
        let store = &self.store;
        store.asked.fetch_add(1, Ordering::Relaxed);
        if store.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        let start = store.starts.load(Ordering::Relaxed);
        let is_broken = self.start.swap(start, Ordering::Relaxed) != start;
        if is_broken || store.is_down.load(Ordering::Relaxed) {
            return Err(RateLimitStoreError::Unreachable("down".to_owned()));
        }
        let status = store.window.lock().unwrap().admit(store.clock.now(), limit);
        if store.is_late.swap(false, Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        Ok(status)
    }

    async fn check(&self) -> Result<(), RateLimitStoreError> {
        if self.store.is_down.load(Ordering::Relaxed) { Err(RateLimitStoreError::TooSlow) } else { Ok(()) }
    }
}

struct Instance {
    limits: SharedLimits,
    window: Mutex<Window>,
}

struct SharedLimitsTest {
    clock: Arc<ManualClock>,
    store: Arc<FakeStore>,
    instances: Vec<Instance>,
}

impl SharedLimitsTest {
    fn new(instances: usize) -> Self {
        let clock = Arc::new(ManualClock::starting_at(Timestamp::from_millis(START)));
        let store = Arc::new(FakeStore {
            clock: Arc::clone(&clock),
            window: Mutex::default(),
            is_down: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            is_late: AtomicBool::new(false),
            starts: AtomicU32::new(0),
            asked: AtomicU32::new(0),
        });
        let instance = || {
            let connection = Connection { store: Arc::clone(&store), start: AtomicU32::new(0) };
            Instance { limits: SharedLimits::new(Arc::new(connection), clock.clone()), window: Mutex::default() }
        };
        Self { instances: (0..instances).map(|_| instance()).collect(), clock, store }
    }

    async fn ask(&self, instance: usize) -> RateLimitStatus {
        let Instance { limits, window } = &self.instances[instance];
        let count_here = || window.lock().unwrap().admit(self.clock.now(), LIMIT);
        let record = || window.lock().unwrap().record(self.clock.now());
        limits.admit(KeyId::from_ulid(ulid::Ulid(1)), QuotaClass::Read, LIMIT, count_here, record).await
    }

    /// Restarts the store with an empty window.
    fn restart(&self) {
        *self.store.window.lock().unwrap() = Window::default();
        self.store.starts.fetch_add(1, Ordering::Relaxed);
        self.set_down(false);
    }

    fn set_down(&self, is_down: bool) {
        self.store.is_down.store(is_down, Ordering::Relaxed);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Ask(usize),
    Pass(i64),
    GoDown,
    /// The store comes back with an empty window.
    ComeBack,
}

fn steps(with_outages: bool) -> impl Strategy<Value = Vec<Step>> {
    let outages = u32::from(with_outages);
    let step = prop_oneof![
        24 => (0..3_usize).prop_map(Step::Ask),
        4 => prop_oneof![0..500_i64, 900..1_100_i64, 5_000..20_000_i64, 59_990..60_010_i64].prop_map(Step::Pass),
        outages => Just(Step::GoDown),
        2 * outages => Just(Step::ComeBack),
    ];
    proptest::collection::vec(step, 1..200)
}

/// Returns the times at which requests were admitted.
fn admitted_times(steps: &[Step]) -> Vec<i64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = SharedLimitsTest::new(3);
    let mut times = vec![];
    for step in steps {
        match step {
            Step::Ask(instance) => {
                if runtime.block_on(world.ask(*instance)).admitted {
                    times.push(world.clock.now().millis());
                }
            }
            Step::Pass(millis) => world.clock.advance_millis(*millis),
            Step::GoDown => world.set_down(true),
            Step::ComeBack => {
                if world.store.is_down.load(Ordering::Relaxed) {
                    world.restart();
                }
            }
        }
    }
    times
}

/// Returns the largest number of requests admitted within one window.
fn most_in_a_window(times: &[i64]) -> usize {
    let count_within =
        |from: &i64| times.iter().filter(|time| (*from..from + WINDOW_MILLIS).contains(time)).count();
    times.iter().map(count_within).max().unwrap_or_default()
}

proptest! {
    #[test]
    fn instances_with_a_shared_store_admit_like_one_window(steps in steps(false)) {
        let (mut window, mut now, mut expected) = (Window::default(), START, vec![]);
        for step in &steps {
            match step {
                Step::Ask(_) if window.admit(Timestamp::from_millis(now), LIMIT).admitted => expected.push(now),
                Step::Pass(millis) => now += millis,
                Step::Ask(_) | Step::GoDown | Step::ComeBack => {}
            }
        }
        prop_assert_eq!(admitted_times(&steps), expected);
    }

    #[test]
    fn store_failures_never_exceed_the_limit_of_each_instance(steps in steps(true)) {
        prop_assert!(most_in_a_window(&admitted_times(&steps)) <= 3 * LIMIT as usize);
    }
}

#[test]
fn request_beside_a_full_local_window_counts_in_an_outage() {
    use Step::{Ask, ComeBack, GoDown, Pass};
    let mut steps = vec![GoDown];
    let mut ask = |instances: &[usize], then: Step| {
        steps.extend(instances.iter().copied().map(Ask));
        steps.push(then);
    };
    ask(&[0, 0, 0, 0], ComeBack);
    ask(&[0, 0, 1], Pass(59_990));
    ask(&[0, 1, 0, 0, 1], Pass(5_000));
    // The store refuses the last of these requests after the window of instance 0 has counted it.
    ask(&[0, 0, 0, 0], Pass(59_990));
    ask(&[0, 0], Pass(10));
    ask(&[2], GoDown);
    ask(&[1, 0, 2, 2, 0, 1, 0, 1, 1, 2, 2, 0, 1], ComeBack);
    assert!(most_in_a_window(&admitted_times(&steps)) <= 3 * LIMIT as usize, "{:?}", admitted_times(&steps));
}

#[tokio::test]
async fn failing_store_is_asked_once_a_second_until_recovery() {
    let world = SharedLimitsTest::new(2);
    assert_eq!(world.ask(0).await.remaining, 4);
    assert_eq!(world.ask(1).await.remaining, 3, "both count together");
    world.set_down(true);
    assert_eq!(world.ask(0).await.remaining, 3, "the local window has the two requests of this instance");
    for _ in 0..2 {
        world.ask(0).await;
    }
    assert_eq!(world.store.asked.load(Ordering::Relaxed), 3, "the store is not asked again at once");
    world.set_down(false);
    world.clock.advance_millis(1_000);
    let status = world.ask(0).await;
    assert_eq!((status.admitted, status.remaining), (true, 0), "local decisions count");
    assert!(!world.ask(0).await.admitted);
    assert_eq!(world.ask(1).await.remaining, 1, "this instance did not notice the outage");
}

#[tokio::test]
async fn instances_use_the_store_within_two_seconds_of_recovery() {
    const STEP_MILLIS: i64 = 100;
    let world = SharedLimitsTest::new(4);
    world.set_down(true);
    let pass = async |steps: i64| {
        for _ in 0..steps {
            world.clock.advance_millis(STEP_MILLIS);
            for instance in 0..world.instances.len() {
                world.ask(instance).await;
            }
        }
    };
    // Each instance notices the outage at a different time and keeps probing.
    for instance in 0..world.instances.len() {
        world.clock.advance_millis(270);
        world.ask(instance).await;
    }
    pass(13).await;
    let count_there = || {
        let steady = world.clock.steady();
        let usual = |instance: &&Instance| instance.limits.breaker.attempt(steady) == Some(Attempt::Usual);
        world.instances.iter().filter(usual).count()
    };
    assert_eq!(count_there(), 0);
    world.restart();
    // The first request finds the old connection broken; the second opens a new one.
    pass(2_000 / STEP_MILLIS).await;
    assert_eq!(count_there(), world.instances.len());
}

#[tokio::test]
async fn hanging_store_costs_at_most_the_budget_per_request() {
    let world = SharedLimitsTest::new(1);
    world.store.hangs.store(true, Ordering::Relaxed);
    for left in (0..LIMIT).rev() {
        let status = world.ask(0).await;
        assert_eq!((status.admitted, status.remaining), (true, left));
    }
    assert!(!world.ask(0).await.admitted);
    assert_eq!(world.store.asked.load(Ordering::Relaxed), 2, "only two requests waited");
}

#[tokio::test]
async fn single_late_answer_leaves_the_store_in_use() {
    let world = SharedLimitsTest::new(2);
    let mut admitted_count = 0;
    for request in 0..4 * LIMIT {
        world.store.is_late.store(request % 4 == 1, Ordering::Relaxed);
        admitted_count += u32::from(world.ask(request as usize % 2).await.admitted);
    }
    // Instance 1 decides alone in each late answer, and admits no more than its own window has room for.
    assert!((LIMIT..=2 * LIMIT).contains(&admitted_count), "{admitted_count}");
    assert!(
        world
            .instances
            .iter()
            .all(|instance| { instance.limits.breaker.attempt(world.clock.steady()) == Some(Attempt::Usual) })
    );
}

#[tokio::test]
async fn request_whose_answer_is_late_counts_once_on_both_sides() {
    let world = SharedLimitsTest::new(2);
    world.store.is_late.store(true, Ordering::Relaxed);
    let mut admitted_count = 0;
    for request in 0..3 * LIMIT as usize {
        admitted_count += u32::from(world.ask(request % 2).await.admitted);
    }
    assert_eq!(admitted_count, LIMIT, "neither more nor less than the limit");
}

#[tokio::test]
async fn store_recovery_is_noticed_while_the_quota_is_exhausted() {
    let world = SharedLimitsTest::new(1);
    world.set_down(true);
    for _ in 0..LIMIT {
        assert!(world.ask(0).await.admitted);
    }
    world.set_down(false);
    world.clock.advance_millis(1_000);
    assert!(!world.ask(0).await.admitted);
    assert_eq!(world.instances[0].limits.breaker.attempt(world.clock.steady()), Some(Attempt::Usual));
    assert_eq!(
        world.store.window.lock().unwrap().look(world.clock.now(), LIMIT).remaining,
        LIMIT,
        "the store does not count the probe"
    );
}

#[tokio::test]
async fn start_without_the_store_counts_locally() {
    let world = SharedLimitsTest::new(1);
    world.set_down(true);
    world.instances[0].limits.connect().await;
    assert_eq!(world.ask(0).await.remaining, LIMIT - 1);
    assert_eq!(world.store.asked.load(Ordering::Relaxed), 0, "`connect` found the store down");
}
