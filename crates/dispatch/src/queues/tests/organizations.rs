//! Shares of organizations: the wait of one organization while the receivers of other organizations hang.

use super::*;

/// Number of subscriptions of an organization whose receivers hang.
const SUBSCRIPTIONS: u128 = 90;
const TICKS_PER_SECOND: u64 = 10;
const TIMEOUT: u64 = 15 * TICKS_PER_SECOND;
/// Response time of a receiver that is not quick, in ticks.
const SLOW: u64 = 12;
/// The organization whose receivers respond.
const VICTIM: u128 = 1_000;

/// Behaviour of the receivers of an organization that takes all places that it can get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Never respond.
    Hang,
    /// Respond at once for two seconds, so that they count as quick, and hang then.
    Turn,
    /// Of sixteen requests, respond to one at once, to one so late that the receiver counts as slow, and to no other.
    Mix,
}

/// Deliveries of all organizations in time steps, with the ends of their attempts.
struct Model {
    test: QueuesTest,
    manner: Manner,
    tick: u64,
    begun: u64,
    /// Running attempts with the tick of their end.
    running: Vec<(u64, QueuePlace, ReceiverResponse)>,
}

const fn response(ticks: u64) -> ReceiverResponse {
    let took = Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND);
    ReceiverResponse { answered: ticks < TIMEOUT, acknowledged: ticks < TIMEOUT, took }
}

impl Model {
    fn new(limits: QueueLimits, manner: Manner) -> Self {
        Self { test: QueuesTest::new(limits), manner, tick: 0, begun: 0, running: vec![] }
    }

    fn step(&mut self) {
        self.tick += 1;
        let length = Duration::from_millis(1_000 / TICKS_PER_SECOND);
        let now = self.test.now;
        self.test.now = Now { wall: crate::lease::add(now.wall, length), steady: now.steady + length };
        let tick = self.tick;
        for (_, place, response) in self.running.extract_if(.., |(end, ..)| *end <= tick) {
            self.test.end(&[place], response);
        }
        self.test.queues.forget(self.test.now);
    }

    /// Begins all attempts that may begin, and returns how many of them belong to the organization that responds.
    fn start(&mut self) -> usize {
        let attempts = self.test.start();
        for place in &attempts {
            let organization = place.queue.0;
            let ticks = if organization == queue(VICTIM, 0).0 { SLOW } else { self.ticks_to_response() };
            self.running.push((self.tick + ticks, *place, response(ticks)));
        }
        attempts.iter().filter(|place| place.queue.0 == queue(VICTIM, 0).0).count()
    }

    fn ticks_to_response(&mut self) -> u64 {
        self.begun += 1;
        match self.manner {
            Manner::Turn if self.tick < 20 => 0,
            Manner::Mix if self.begun.is_multiple_of(16) => SLOW,
            Manner::Mix if self.begun % 16 == 1 => 0,
            Manner::Hang | Manner::Turn | Manner::Mix => TIMEOUT,
        }
    }

    /// Offers deliveries of each subscription of these organizations until the queues refuse one.
    fn press(&mut self, organizations: u128) {
        for organization in 0..organizations {
            for webhook in 0..SUBSCRIPTIONS {
                while self.test.offer(queue(organization, webhook), 1) == 1 {}
            }
        }
    }
}

/// Returns the longest wait of a delivery of [`VICTIM`], in ticks, while the receivers of `organizations` other
/// organizations behave like `manner`. The receivers of [`VICTIM`] respond after 1.2 s. `settled` is the second
/// from which waits count.
fn longest_wait(limits: QueueLimits, organizations: u128, manner: Manner, settled: u128) -> u64 {
    let mut model = Model::new(limits, manner);
    let mut longest = 0;
    // The delivery that waits: its subscription, the tick of its event, and `true` once the queues have taken it.
    let mut waiting: Option<(u128, u64, bool)> = None;
    for second in 0..60 {
        for tick in 0..TICKS_PER_SECOND {
            model.step();
            model.press(organizations);
            if tick == 5 && waiting.is_none() {
                // Each fourth delivery is the first one of its subscription.
                let webhook = if second % 4 == 0 { second } else { 0 };
                waiting = Some((webhook, model.tick, false));
            }
            if let Some((webhook, _, taken @ false)) = &mut waiting {
                *taken = model.test.offer(queue(VICTIM, *webhook), 1) == 1;
            }
            let has_begun = model.start() > 0;
            let Some((_, at, _)) = waiting else { continue };
            if second >= settled {
                longest = longest.max(model.tick - at);
            }
            waiting = waiting.filter(|_| !has_begun);
        }
    }
    longest
}

#[test]
fn hanging_receivers_of_three_organizations_delay_no_other_one() {
    let small = QueueLimits { attempts: 16, waiting: 160, batch: 8 };
    for manner in [Manner::Hang, Manner::Turn, Manner::Mix] {
        for (limits, organizations) in
            [1, 2, 3].map(|count| (QueueLimits::OF_A_PROCESS, count)).into_iter().chain([(small, 1)])
        {
            assert_eq!(longest_wait(limits, organizations, manner, 0), 0, "{manner:?} {organizations}");
        }
    }
}

#[test]
fn hanging_receivers_of_many_organizations_cause_bounded_waits() {
    for manner in [Manner::Hang, Manner::Turn, Manner::Mix] {
        for organizations in [5, 20] {
            let longest = longest_wait(QueueLimits::OF_A_PROCESS, organizations, manner, 0);
            assert!(longest < 2 * TIMEOUT, "{manner:?} {organizations}: {longest}");
            // The shares are smaller once the first attempts have ended.
            let longest_later_wait = longest_wait(QueueLimits::OF_A_PROCESS, organizations, manner, 32);
            assert!(
                longest_later_wait == 0 || manner == Manner::Mix && longest_later_wait < TIMEOUT,
                "{manner:?} {organizations}: {longest_later_wait}"
            );
        }
    }
}

#[test]
fn queues_of_an_organization_are_skipped_if_no_place_is_free() {
    let mut test = QueuesTest::new(QueueLimits { attempts: 2, waiting: 8, batch: 8 });
    let queues: Vec<_> = (1..=5).map(|organization| queue(organization, 1)).collect();
    queues.iter().for_each(|queue| test.warm(*queue));
    let accepted_counts: Vec<_> = queues.iter().map(|queue| test.offer(*queue, 8)).collect();
    assert_eq!(accepted_counts, [4, 2, 1, 1, 0]);
    assert_eq!(test.queues.full(), queues, "each claimed delivery would have to be given back");
    test.start();
    assert!(!test.queues.full().contains(&queues[4]));
}
