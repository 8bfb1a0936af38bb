//! Whose turn it is, and how much anybody may have.

use candor_domain::access::Tenant;
use candor_domain::id::{OrganizationId, WebhookId};
use candor_domain::time::Timestamp;
use ulid::Ulid;

use super::*;

const LIMITS: Limits = Limits { attempts: 256, waiting: 512 };
const NEEDS: Duration = Duration::from_secs(20);
const QUICK: Answer = Answer { answered: true, acknowledged: true, took: Duration::from_millis(2) };
const SILENT: Answer = Answer { answered: false, acknowledged: false, took: Duration::from_secs(15) };

/// Lanes whose items are numbers, and a time that passes when it is told to.
struct Desk {
    lanes: Lanes<u32>,
    now: Now,
}

fn lane(tenant: u128, webhook: u128) -> Lane {
    (Tenant::live(OrganizationId::from_ulid(Ulid(tenant))), WebhookId::from_ulid(Ulid(webhook)))
}

impl Desk {
    fn new(limits: Limits) -> Self {
        let now = Now { wall: Timestamp::from_millis(1_772_366_400_000), steady: Duration::ZERO };
        Self { lanes: Lanes::new(limits, NEEDS), now }
    }

    /// Offers so many and says how many were taken.
    fn offer(&mut self, lane: Lane, count: u32) -> usize {
        let ends = self.now.plus(Duration::from_secs(30));
        (0..count).filter(|item| self.lanes.offer(lane, *item, ends).is_ok()).count()
    }

    /// Begins whatever may begin.
    fn start(&mut self) -> Vec<Place> {
        std::iter::from_fn(|| self.lanes.start(self.now)).map(|it| it.place).collect()
    }

    fn end(&mut self, begun: &[Place], answer: Answer) {
        for place in begun {
            self.lanes.ended(*place, Some(answer));
        }
        self.lanes.recorded(begun.len());
    }

    /// Makes a lane known as quick, and leaves it empty.
    fn warm(&mut self, lane: Lane) {
        self.offer(lane, 1);
        let begun = self.start();
        self.end(&begun, QUICK);
    }

    fn pass(&mut self, seconds: u64) {
        let length = Duration::from_secs(seconds);
        self.now = Now { wall: crate::lease::later(self.now.wall, length), steady: self.now.steady + length };
    }
}

fn count(begun: &[Place], wanted: Lane) -> usize {
    begun.iter().filter(|it| it.lane == wanted).count()
}

#[test]
fn a_lane_has_no_more_attempts_under_way_than_it_is_wide() {
    let mut desk = Desk::new(LIMITS);
    assert_eq!(desk.offer(lane(1, 1), 70), 64, "eight wait for each that may begin");
    let first = desk.start();
    assert_eq!(first.len(), 8);
    desk.end(&first, QUICK);
    let second = desk.start();
    assert_eq!(second.len(), 16, "each acknowledgement makes it wider");
    assert_eq!((desk.lanes.attempts(), desk.lanes.held()), (16, 56));
}

#[test]
fn a_full_lane_says_when_it_is_not_any_more() {
    let mut desk = Desk::new(LIMITS);
    desk.warm(lane(1, 1));
    let (_, depth, _) = desk.lanes.lanes[&lane(1, 1)].measures();
    assert_eq!(desk.offer(lane(1, 1), u32::try_from(depth / 2).unwrap() + 1), depth / 2 + 1);
    assert_eq!(desk.lanes.full(), [lane(1, 1)]);
    let starts: Vec<_> = (0..4).filter_map(|_| desk.lanes.start(desk.now)).map(|it| it.makes_room).collect();
    assert_eq!(starts, [false, true, false, false]);
    let free = depth - (depth / 2 + 1 - 4);
    assert_eq!(desk.lanes.least_free(&[lane(1, 1)]), Some(free));
    assert_eq!(desk.lanes.least_free(&[lane(1, 1), lane(9, 9)]), Some(64), "a new one takes less");
    assert_eq!(desk.lanes.least_free(&[]), None);
}

#[test]
fn tenants_take_turns_however_many_lanes_they_have() {
    let mut desk = Desk::new(Limits { attempts: 12, waiting: 512 });
    let lanes: Vec<_> = (0..20).map(|it| lane(1, it)).chain([lane(2, 99), lane(3, 99)]).collect();
    lanes.iter().for_each(|it| desk.warm(*it));
    lanes.iter().for_each(|it| assert_eq!(desk.offer(*it, 4), 4));
    let begun = desk.start();
    assert_eq!(begun.len(), 12);
    let of = |tenant| begun.iter().filter(|it| it.lane.0 == lane(tenant, 0).0).count();
    assert_eq!((of(1), of(2), of(3)), (4, 4, 4));
}

#[test]
fn receivers_that_hang_leave_half_of_the_room_to_the_others() {
    let mut desk = Desk::new(LIMITS);
    let good = lane(2, 1);
    desk.warm(good);
    let mut hanging = vec![];
    for webhook in 0..200 {
        desk.offer(lane(1, webhook), 8);
        hanging.extend(desk.start());
    }
    assert_eq!(hanging.len(), 128);
    assert!(desk.lanes.full().contains(&lane(1, 199)) && !desk.lanes.full().contains(&good));
    assert_eq!(desk.offer(lane(1, 500), 1), 0, "half of the places to wait are taken as well");
    for _ in 0..10 {
        assert_eq!(desk.offer(good, 9), 9);
        let begun = desk.start();
        assert_eq!((begun.len(), count(&begun, good)), (9, 9));
        desk.end(&begun, QUICK);
    }
}

#[test]
fn a_receiver_that_hangs_gets_one_attempt_at_a_time_once_many_do() {
    let mut desk = Desk::new(LIMITS);
    let mut begun = vec![];
    for webhook in 0..16 {
        desk.offer(lane(1, webhook), 30);
        begun.extend(desk.start());
    }
    assert_eq!(begun.len(), 128);
    for _ in 0..4 {
        desk.end(&begun, SILENT);
        for webhook in 0..16 {
            desk.offer(lane(1, webhook), 30);
        }
        begun = desk.start();
    }
    assert_eq!(begun.len(), 64, "no more than a quarter of the room, and one each if that is more");
    assert!(desk.lanes.full().contains(&lane(1, 0)));
}

#[test]
fn what_has_waited_too_long_for_its_lease_is_forgotten() {
    let mut desk = Desk::new(LIMITS);
    desk.offer(lane(1, 1), 20);
    let first = desk.start();
    desk.pass(10);
    desk.end(&first[..1], QUICK);
    assert_eq!(desk.start().len(), 2, "there are still 20 seconds of 30");
    desk.pass(1);
    assert_eq!(desk.lanes.forget(desk.now), 10);
    desk.end(&first[1..], QUICK);
    assert_eq!((desk.start().len(), desk.lanes.held()), (0, 2));
    assert_eq!(desk.offer(lane(1, 1), 3), 3);
    desk.pass(11);
    assert_eq!((desk.start().len(), desk.lanes.held()), (0, 2), "also when nobody had looked before");
}

#[test]
fn no_more_is_held_than_there_is_room_for() {
    let mut desk = Desk::new(Limits { attempts: 4, waiting: 8 });
    desk.warm(lane(1, 1));
    assert!(desk.lanes.reserve(10) && !desk.lanes.reserve(3));
    assert_eq!(desk.offer(lane(1, 1), 20), 2, "what is reserved is taken");
    desk.lanes.release(10);
    assert_eq!(desk.offer(lane(1, 1), 20), 6);
    let begun = desk.start();
    assert_eq!((begun.len(), desk.offer(lane(1, 1), 20)), (4, 4));
    assert_eq!((desk.lanes.held(), desk.lanes.room()), (12, 0));
    for place in &begun {
        desk.lanes.ended(*place, Some(QUICK));
    }
    assert_eq!((desk.lanes.held(), desk.lanes.room()), (12, 0), "what is not recorded is still held");
    desk.lanes.recorded(4);
    assert_eq!((desk.lanes.held(), desk.lanes.room()), (8, 4));
}

#[test]
fn after_the_end_nothing_begins_and_what_waits_is_handed_out() {
    let mut desk = Desk::new(LIMITS);
    desk.offer(lane(1, 1), 10);
    let begun = desk.start();
    assert_eq!(desk.lanes.close().len(), 2);
    assert_eq!((desk.offer(lane(1, 1), 1), desk.start().len(), desk.lanes.room()), (0, 0, 0));
    assert!(!desk.lanes.reserve(0) || !desk.lanes.is_open());
    desk.end(&begun, QUICK);
    assert_eq!((desk.lanes.attempts(), desk.lanes.held()), (0, 0));
}

#[test]
fn what_is_counted_agrees_with_what_is_held_after_any_history() {
    let random = candor_store_testkit::Random::new(5);
    let mut desk = Desk::new(Limits { attempts: 16, waiting: 24 });
    let mut begun: Vec<Place> = vec![];
    for step in 0..20_000 {
        match random.below(6) {
            0 | 1 => {
                desk.offer(lane(random.below(3) as u128, random.below(4) as u128), 3);
            }
            2 | 3 => begun.extend(desk.start()),
            4 => {
                let some = begun.split_off(begun.len() / 2);
                let answer = if random.below(3) == 0 { SILENT } else { QUICK };
                desk.end(&some, answer);
            }
            _ => {
                desk.pass(random.below(6) as u64);
                desk.lanes.forget(desk.now);
            }
        }
        let lanes = &desk.lanes;
        let waiting: usize = lanes.lanes.values().map(|it| it.waiting.len()).sum();
        let attempts: usize = lanes.lanes.values().map(|it| it.attempts).sum();
        let slow = |it: &&State<u32>| !it.pace.is_quick();
        let slow_waiting: usize = lanes.lanes.values().filter(slow).map(|it| it.waiting.len()).sum();
        let slow_attempts: usize = lanes.lanes.values().filter(slow).map(|it| it.attempts).sum();
        assert_eq!((lanes.all.waiting, lanes.all.attempts), (waiting, attempts), "step {step}");
        assert_eq!((lanes.slow.waiting, lanes.slow.attempts), (slow_waiting, slow_attempts), "step {step}");
        assert_eq!(lanes.ring.len(), lanes.lanes.values().filter(|it| it.in_ring).count(), "step {step}");
        assert!(lanes.held() <= 40 && attempts <= 16 && begun.len() == attempts, "step {step}");
    }
}
