//! Order of claims.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::id::{EventId, OrganizationId, WebhookId};
use candor_domain::time::Timestamp;
use candor_subscriptions::{DeliveryOrigin, Job};
use ulid::Ulid;

use super::*;

const ROOM: usize = 768;
/// Reading of the steady clock at the start of each test.
const START: Duration = Duration::from_secs(100);

fn queue(number: u128) -> QueueKey {
    (Tenant::live(OrganizationId::from_ulid(Ulid(1))), WebhookId::from_ulid(Ulid(number)))
}

/// Returns the result of a claim that took `each` deliveries from each of these queues. The next step of the walk
/// starts at `next`.
fn claimed_jobs(each: usize, queues: impl IntoIterator<Item = u128>, next: Option<u128>) -> ClaimedJobs {
    let job_of = |number| {
        let (tenant, webhook) = queue(number);
        let event = (EventId::from_ulid(Ulid(1)), EventType::EmployeeCreated);
        let job = Job::new(tenant, webhook, event, Timestamp::from_millis(0), DeliveryOrigin::Event);
        std::iter::repeat_n(job, each)
    };
    ClaimedJobs { jobs: queues.into_iter().flat_map(job_of).collect(), next: next.map(queue) }
}

/// Creates the state after claims of due and of parked deliveries that found none.
fn settled_claims(now: Duration) -> Claims {
    let mut claims = Claims::new(now);
    while let Some(claim) = claims.next(now, ROOM, vec![], vec![]) {
        claims.took(&claim, &ClaimedJobs::default(), now);
    }
    claims
}

fn walk(claim: Option<Claim>) -> QueueWalk {
    match claim {
        Some(Claim::SubscriptionQueues(walk)) => walk,
        other => panic!("{other:?}"),
    }
}

#[test]
fn due_queue_is_claimed_4_times_a_second_and_parked_seldom() {
    let start = START;
    let mut claims = settled_claims(start);
    let mut counts = (0, 0);
    for tick in 1..=1200 {
        let now = start + Duration::from_millis(10 * tick);
        assert!(claims.look_at() <= now + LOOK);
        while let Some(claim) = claims.next(now, ROOM, vec![], vec![]) {
            match claim {
                Claim::Oldest { most: 128 } => counts.0 += 1,
                Claim::Parked(QueueWalk { after: None, .. }) => counts.1 += 1,
                Claim::Oldest { .. } | Claim::SubscriptionQueues(_) | Claim::Parked(_) => panic!("{claim:?}"),
            }
            claims.took(&claim, &ClaimedJobs::default(), now);
        }
    }
    assert_eq!(counts, (48, 4), "in 12 seconds");
}

#[test]
fn full_claim_starts_a_walk_until_queues_are_empty() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    let oldest = claims.next(now, 100, vec![], vec![]).unwrap();
    assert_eq!(oldest, Claim::Oldest { most: 100 });
    claims.took(&oldest, &claimed_jobs(100, [1], None), now);
    let first = walk(claims.next(now, ROOM, vec![], vec![]));
    assert_eq!((first.after, first.each), (None, 12));
    claims.took(&Claim::SubscriptionQueues(first), &claimed_jobs(12, 1..=50, Some(50)), now);
    let second = walk(claims.next(now, ROOM, vec![], vec![]));
    assert_eq!(
        (second.after, second.each),
        (Some(queue(50)), 7),
        "the room is divided by the 50 queues of the first step"
    );
    claims.took(&Claim::SubscriptionQueues(second), &claimed_jobs(1, 51..=200, None), now);
    let second_walk = walk(claims.next(now, ROOM, vec![], vec![]));
    assert_eq!((second_walk.after, second_walk.each), (None, 1));
    claims.took(&Claim::SubscriptionQueues(second_walk), &claimed_jobs(1, [7], None), now);
    let third_walk = walk(claims.next(now, ROOM, vec![], vec![]));
    assert_eq!((third_walk.after, third_walk.each), (None, 32), "a single queue gets the maximum");
    claims.took(&Claim::SubscriptionQueues(third_walk), &ClaimedJobs::default(), now);
    assert_eq!(claims.next(now, ROOM, vec![], vec![]), None);
    assert_eq!(claims.next(now + LOOK, ROOM, vec![], vec![]), Some(Claim::Oldest { most: 128 }));
}

#[test]
fn claim_size_follows_the_depth_of_each_queue() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    let oldest = claims.next(now, ROOM, vec![], vec![]).unwrap();
    claims.took(&oldest, &claimed_jobs(128, [1], None), now);
    let first = walk(claims.next(now, ROOM, vec![], vec![]));
    claims.took(&Claim::SubscriptionQueues(first), &claimed_jobs(12, [1], None), now);
    assert_eq!(claims.recent(), [queue(1)]);
    for (takes, each) in [(Some(200), 200), (Some(3), 32), (None, 32), (Some(1000), 384)] {
        claims.each_takes(takes);
        let next = walk(claims.next(now, ROOM, vec![], vec![]));
        assert_eq!(next.each, each, "{takes:?}");
        claims.took(&Claim::SubscriptionQueues(next), &claimed_jobs(12, [1], None), now);
    }
}

#[test]
fn full_queues_are_skipped_until_they_have_room() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    let full = vec![queue(1), queue(2)];
    let first = walk(claims.next(now, ROOM, full.clone(), vec![]));
    assert_eq!(first.busy, full);
    claims.took(&Claim::SubscriptionQueues(first), &ClaimedJobs::default(), now);
    assert_eq!(claims.next(now, ROOM, full.clone(), vec![]), None);
    let next_order = claims.next(now, ROOM, vec![queue(1)], vec![]);
    assert_eq!(walk(next_order).busy, [queue(1)], "a walk starts at once when one of the queues has room");
}

#[test]
fn next_walk_starts_when_a_queue_with_more_has_room() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    let oldest = claims.next(now, ROOM, vec![], vec![]).unwrap();
    claims.took(&oldest, &claimed_jobs(128, [1], None), now);
    let first = walk(claims.next(now, ROOM, vec![], vec![]));
    claims.took(&Claim::SubscriptionQueues(first), &claimed_jobs(12, [1], None), now);
    assert_eq!(
        claims.next(now, ROOM, vec![queue(1)], vec![]),
        None,
        "no walk starts while the only queue with more is full"
    );
    let second_walk = walk(claims.next(now, ROOM, vec![], vec![]));
    assert_eq!(
        (second_walk.after, second_walk.each),
        (None, 32),
        "the second walk expects one queue, as many as the first walk found"
    );
    claims.took(&Claim::SubscriptionQueues(second_walk), &claimed_jobs(32, [1], None), now);
    let others = walk(claims.next(now + LOOK, ROOM, vec![queue(1)], vec![]));
    assert_eq!(others.busy, [queue(1)], "a full queue does not stop the regular walks to other queues");
}

#[test]
fn empty_walk_continues_at_the_next_interval() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    let first = walk(claims.next(now, ROOM, vec![queue(1)], vec![]));
    let nothing = ClaimedJobs { jobs: vec![], next: Some(queue(512)) };
    claims.took(&Claim::SubscriptionQueues(first), &nothing, now);
    assert_eq!(claims.next(now, ROOM, vec![queue(1)], vec![]), None);
    let second = walk(claims.next(now + LOOK, ROOM, vec![], vec![]));
    assert_eq!(second.after, Some(queue(512)), "the walk continues where it stopped");
}

#[test]
fn claim_waits_for_room_and_follows_at_once() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    assert_eq!(claims.next(now, LEAST_ROOM - 1, vec![], vec![]), None);
    assert_eq!(claims.next(now, LEAST_ROOM, vec![], vec![]), Some(Claim::Oldest { most: 64 }));
}

#[test]
fn parked_and_due_claims_alternate() {
    let now = START;
    let mut claims = settled_claims(now);
    claims.look_at_due();
    claims.look_at_parked();
    let mut order = String::new();
    for _ in 0..6 {
        let claim = claims.next(now, ROOM, vec![], vec![]).unwrap();
        order.push(if matches!(claim, Claim::Parked(_)) { 'p' } else { 'd' });
        claims.took(&claim, &claimed_jobs(300, [1], None), now);
    }
    assert_eq!(order, "pdpdpd");
}

#[test]
fn failed_store_is_not_asked_during_the_pause() {
    let now = START;
    let mut claims = Claims::new(now);
    assert!(claims.next(now, ROOM, vec![], vec![]).is_some());
    claims.failed(now);
    assert_eq!(claims.next(now, ROOM, vec![], vec![]), None);
    assert_eq!(claims.look_at(), now + LEAVE_ALONE);
    assert!(claims.next(now + LEAVE_ALONE, ROOM, vec![], vec![]).is_some());
}
