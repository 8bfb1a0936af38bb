//! Round robin over organizations and queues, and the limits of queues.

use candor_domain::access::Tenant;
use candor_domain::id::{OrganizationId, WebhookId};
use candor_domain::time::Timestamp;
use ulid::Ulid;

use super::*;

const LIMITS: QueueLimits = QueueLimits { attempts: 256, waiting: 512, batch: 256 };
const NEEDS: Duration = Duration::from_secs(20);
const QUICK: ReceiverResponse =
    ReceiverResponse { answered: true, acknowledged: true, took: Duration::from_millis(2) };
const SILENT: ReceiverResponse =
    ReceiverResponse { answered: false, acknowledged: false, took: Duration::from_secs(15) };

/// Queues whose deliveries are numbers, with a manual clock.
struct QueuesTest {
    queues: SubscriptionQueues<u32>,
    now: Now,
}

fn queue(tenant: u128, webhook: u128) -> QueueKey {
    (Tenant::live(OrganizationId::from_ulid(Ulid(tenant))), WebhookId::from_ulid(Ulid(webhook)))
}

impl QueuesTest {
    fn new(limits: QueueLimits) -> Self {
        let now = Now { wall: Timestamp::from_millis(1_772_366_400_000), steady: Duration::ZERO };
        Self { queues: SubscriptionQueues::new(limits, NEEDS), now }
    }

    /// Offers deliveries and returns how many were accepted.
    fn offer(&mut self, queue: QueueKey, count: u32) -> usize {
        let ends = self.now.plus(Duration::from_secs(30));
        (0..count).filter(|item| self.queues.offer(queue, *item, ends, false).is_ok()).count()
    }

    /// Begins all attempts that may begin, and returns their places.
    fn start(&mut self) -> Vec<QueuePlace> {
        std::iter::from_fn(|| self.queues.start(self.now)).map(|start| start.place).collect()
    }

    fn end(&mut self, begun: &[QueuePlace], response: ReceiverResponse) {
        for place in begun {
            self.queues.release_slot(*place, Some(response));
        }
        self.queues.remove_unrecorded(begun.len());
    }

    /// Makes a queue quick and leaves it empty.
    fn warm(&mut self, queue: QueueKey) {
        self.offer(queue, 1);
        let attempts = self.start();
        self.end(&attempts, QUICK);
    }

    fn pass(&mut self, seconds: u64) {
        let length = Duration::from_secs(seconds);
        self.now = Now { wall: crate::lease::add(self.now.wall, length), steady: self.now.steady + length };
    }
}

fn count(begun: &[QueuePlace], wanted: QueueKey) -> usize {
    begun.iter().filter(|attempt| attempt.queue == wanted).count()
}

#[test]
fn queue_starts_no_more_attempts_than_its_window() {
    let mut test = QueuesTest::new(LIMITS);
    assert_eq!(test.offer(queue(1, 1), 70), 64, "eight deliveries wait for each of eight attempts that may begin");
    let first = test.start();
    assert_eq!(first.len(), 8);
    test.end(&first, QUICK);
    let second = test.start();
    assert_eq!(second.len(), 16, "each acknowledgement widens the window by one");
    assert_eq!((test.queues.attempts(), test.queues.held()), (16, 56));
}

#[test]
fn full_queue_reports_when_room_is_free() {
    let mut test = QueuesTest::new(LIMITS);
    test.warm(queue(1, 1));
    let (_, depth, _) = test.queues.queues[&queue(1, 1)].measures();
    assert_eq!(test.offer(queue(1, 1), u32::try_from(depth / 2).unwrap() + 1), depth / 2 + 1);
    assert_eq!(test.queues.full(), [queue(1, 1)]);
    let starts: Vec<_> =
        (0..4).filter_map(|_| test.queues.start(test.now)).map(|start| start.makes_room).collect();
    assert_eq!(starts, [false, true, false, false]);
    let free = depth - (depth / 2 + 1 - 4);
    assert_eq!(test.queues.least_free(&[queue(1, 1)]), Some(free));
    assert_eq!(test.queues.least_free(&[queue(1, 1), queue(9, 9)]), Some(64), "a new queue can take only 64");
    assert_eq!(test.queues.least_free(&[]), None);
}

#[test]
fn organizations_take_turns_for_any_number_of_queues() {
    let mut test = QueuesTest::new(QueueLimits { attempts: 12, waiting: 512, batch: 256 });
    let queues: Vec<_> = (0..20).map(|number| queue(1, number)).chain([queue(2, 99), queue(3, 99)]).collect();
    queues.iter().for_each(|queue| test.warm(*queue));
    queues.iter().for_each(|queue| assert_eq!(test.offer(*queue, 4), 4));
    let attempts = test.start();
    assert_eq!(attempts.len(), 9, "three places, as many as each organization has, are left for the next one");
    let count_of = |tenant| attempts.iter().filter(|attempt| attempt.queue.0 == queue(tenant, 0).0).count();
    assert_eq!((count_of(1), count_of(2), count_of(3)), (3, 3, 3));
}

#[test]
fn hanging_receivers_leave_half_of_the_room_free() {
    let mut test = QueuesTest::new(LIMITS);
    let good = queue(2, 1);
    test.warm(good);
    let mut hanging = vec![];
    for webhook in 0..200 {
        test.offer(queue(1, webhook), 8);
        hanging.extend(test.start());
    }
    assert_eq!(
        hanging.len(),
        64,
        "one organization gets half of the 128 places for receivers that are not known to be quick"
    );
    assert!(test.queues.full().contains(&queue(1, 199)) && !test.queues.full().contains(&good));
    assert_eq!(test.offer(queue(1, 500), 1), 0, "half of the waiting room for slow receivers is taken as well");
    for _ in 0..10 {
        assert_eq!(test.offer(good, 9), 9);
        let attempts = test.start();
        assert_eq!((attempts.len(), count(&attempts, good)), (9, 9));
        test.end(&attempts, QUICK);
    }
}

#[test]
fn hanging_receiver_gets_one_attempt_when_many_hang() {
    let mut test = QueuesTest::new(LIMITS);
    let mut attempts = vec![];
    for webhook in 0..16 {
        test.offer(queue(1, webhook), 8);
        attempts.extend(test.start());
    }
    assert_eq!(attempts.len(), 64);
    for _ in 0..12 {
        test.end(&attempts, SILENT);
        for webhook in 0..16 {
            test.offer(queue(1, webhook), 8);
        }
        attempts = test.start();
    }
    assert_eq!(
        attempts.len(),
        32,
        "half of the organization's share, because that is more than one attempt for each queue"
    );
    assert!(test.queues.full().contains(&queue(1, 0)));
}

#[test]
fn delivery_with_too_little_lease_left_is_dropped_from_memory() {
    let mut test = QueuesTest::new(LIMITS);
    test.offer(queue(1, 1), 20);
    let first = test.start();
    test.pass(10);
    test.end(&first[..1], QUICK);
    assert_eq!(test.start().len(), 2, "20 of the 30 seconds of the lease are left");
    test.pass(1);
    test.queues.forget(test.now);
    assert_eq!(test.queues.take_late().len(), 10);
    test.end(&first[1..], QUICK);
    assert_eq!((test.start().len(), test.queues.held()), (0, 2));
    assert_eq!(test.offer(queue(1, 1), 3), 3);
    test.pass(11);
    assert_eq!((test.start().len(), test.queues.held()), (0, 2), "also without a call of `forget`");
    assert_eq!(test.queues.take_late().len(), 3);
}

#[test]
fn queues_hold_no_more_than_their_capacity() {
    let mut test = QueuesTest::new(QueueLimits { attempts: 4, waiting: 8, batch: 256 });
    let queues: Vec<_> = (1..=4).map(|organization| queue(organization, 1)).collect();
    queues.iter().for_each(|queue| test.warm(*queue));
    let fill = |test: &mut QueuesTest| queues.iter().map(|queue| test.offer(*queue, 20)).sum::<usize>();
    assert!(test.queues.reserve(10) && !test.queues.reserve(3));
    assert_eq!(fill(&mut test), 2, "reserved places are not available");
    test.queues.release(10);
    assert_eq!(fill(&mut test), 6);
    let attempts = test.start();
    assert_eq!((attempts.len(), fill(&mut test)), (4, 4));
    assert_eq!((test.queues.held(), test.queues.room()), (12, 0));
    for place in &attempts {
        test.queues.release_slot(*place, Some(QUICK));
    }
    assert_eq!(
        (test.queues.held(), test.queues.room()),
        (12, 0),
        "deliveries without a recorded result are still held"
    );
    test.queues.remove_unrecorded(4);
    assert_eq!((test.queues.held(), test.queues.room()), (8, 4));
}

#[test]
fn closed_queues_start_nothing_and_return_waiting_deliveries() {
    let mut test = QueuesTest::new(LIMITS);
    test.offer(queue(1, 1), 10);
    let attempts = test.start();
    assert_eq!(test.queues.close().len(), 2);
    assert_eq!((test.offer(queue(1, 1), 1), test.start().len(), test.queues.room()), (0, 0, 0));
    assert!(!test.queues.reserve(0) || !test.queues.is_open());
    test.end(&attempts, QUICK);
    assert_eq!((test.queues.attempts(), test.queues.held()), (0, 0));
}

#[test]
fn queue_counters_match_contents_after_random_steps() {
    let random = candor_store_testkit::Random::new(5);
    let mut test = QueuesTest::new(QueueLimits { attempts: 16, waiting: 24, batch: 256 });
    let mut places: Vec<QueuePlace> = vec![];
    for step in 0..20_000 {
        match random.number_below(6) {
            0 | 1 => {
                test.offer(queue(random.number_below(3) as u128, random.number_below(4) as u128), 3);
            }
            2 | 3 => places.extend(test.start()),
            4 => {
                let some = places.split_off(places.len() / 2);
                let response = if random.number_below(3) == 0 { SILENT } else { QUICK };
                test.end(&some, response);
            }
            _ => {
                test.pass(random.number_below(6) as u64);
                test.queues.forget(test.now);
            }
        }
        test.queues.take_late();
        let queues = &test.queues;
        let (mut waiting, mut attempts) = (0, 0);
        let mut shares = shares::Shares::new(queues.limits);
        for (queue, state) in &queues.queues {
            waiting += state.waiting.len();
            attempts += state.attempts;
            shares.replace(queue.0.organization, shares::Totals::default(), state.totals());
        }
        assert_eq!((queues.held(), queues.attempts()), (waiting + attempts, attempts), "step {step}");
        assert_eq!(queues.shares, shares, "step {step}");
        assert_eq!(queues.ring.len(), queues.queues.values().filter(|queue| queue.in_ring).count(), "step {step}");
        assert!(queues.held() <= 40 && attempts <= 16 && places.len() == attempts, "step {step}");
    }
}

#[test]
fn limited_queue_takes_one_delivery_if_the_share_is_used() {
    let mut test = QueuesTest::new(LIMITS);
    let queues: Vec<_> = (1..=9).map(|webhook| queue(1, webhook)).collect();
    for limited in &queues {
        test.warm(*limited);
        test.queues.set_rate(*limited, Some(50));
    }
    let (last, first) = queues.split_last().unwrap();
    let accepted_count: usize = first.iter().map(|limited| test.offer(*limited, 64)).sum();
    assert_eq!(
        accepted_count,
        64 + 7,
        "one queue fills half of a quarter of the room, and the rest has one delivery each"
    );
    assert!(test.queues.takes(*last, 0, 0) && !test.queues.takes(*last, 1, 1));
    assert!(!test.queues.full().contains(last) && test.queues.list_limited().contains(&(*last, 1)));
    assert_eq!(test.offer(*last, 2), 1);
    assert!(test.queues.full().contains(last));
    let attempts = test.start();
    assert!(queues.iter().all(|limited| count(&attempts, *limited) > 0));
}

mod organizations;
