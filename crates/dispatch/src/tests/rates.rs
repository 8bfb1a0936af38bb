//! Receivers with a rate: permits, the rate lease, and deliveries that wait.

use candor_port_storage::queue::{Claim, RateLease};

use super::*;
use crate::{RateLeaseOrder, SendPermit, StartedAttempt};

type Begun = StartedAttempt<WaitingDelivery<()>>;

/// Takes in deliveries of a commit for one subscription.
fn take_in(machine: &mut Dispatcher<()>, jobs: Vec<Job>, now: Now) {
    let ends = machine.reserve(job(1).tenant, 1, now).unwrap();
    machine.take_in(jobs.into_iter().map(waiting).collect(), ends, 1, now);
}

fn begin_all(machine: &mut Dispatcher<()>, now: Now) -> Vec<Begun> {
    std::iter::from_fn(|| machine.next_attempt(now)).collect()
}

fn order(permit: SendPermit) -> RateLeaseOrder {
    let SendPermit::Lease(order) = permit else { panic!("{permit:?}") };
    order
}

/// Returns a machine that holds the rate lease of a subscription and has sent one request. The other deliveries of
/// the subscription wait.
fn limited_machine(jobs: u128, rate: u16) -> Dispatcher<()> {
    let mut machine = machine();
    take_in(&mut machine, (1..=jobs).map(job).collect(), at(0));
    let mut attempts = begin_all(&mut machine, at(0));
    let first = attempts.remove(0);
    let order = order(machine.permit(&first, Some(rate), at(0)));
    for one in attempts {
        assert_eq!(machine.permit(&one, Some(rate), at(0)), SendPermit::Wait);
        machine.put_back(one, at(0));
    }
    assert_eq!(machine.handle_rate_lease(&order, RateLease::Held, at(1)), None);
    assert_eq!(machine.permit(&first, Some(rate), at(1)), SendPermit::Send);
    machine
}

#[test]
fn waiting_deliveries_hold_no_place_and_begin_in_time() {
    let mut machine = limited_machine(5, 1);
    assert_eq!((machine.attempts(), machine.held_count()), (1, 5));
    assert!(machine.take_wakes().claims);
    assert_eq!(machine.next_attempt(at(1_000)), None);
    assert_eq!(machine.waits_until(at(500)), Some(Duration::from_millis(1_001)));
    assert_eq!(
        machine.look_again_at(at(990)),
        Duration::from_millis(1_010),
        "20 ms later, because that is the minimum pause"
    );
    let second = begin_all(&mut machine, at(1_001));
    assert_eq!(second.len(), 1, "only as many as the rate permits begin");
    assert_eq!(machine.permit(&second[0], Some(1), at(1_001)), SendPermit::Send);
    assert_eq!(machine.next_attempt(at(1_999)), None);
}

#[test]
fn removed_rate_lets_all_deliveries_begin() {
    let mut machine = limited_machine(5, 1);
    let next = begin_all(&mut machine, at(1_001));
    assert_eq!(machine.permit(&next[0], None, at(1_001)), SendPermit::Send);
    assert_eq!((machine.waits_until(at(1_001)), begin_all(&mut machine, at(1_001)).len()), (None, 3));
}

#[test]
fn test_is_sent_without_a_rate_and_first() {
    let mut machine = limited_machine(5, 1);
    let ping = Job { origin: DeliveryOrigin::Test, ..job(9) };
    take_in(&mut machine, vec![ping], at(2));
    let attempts = begin_all(&mut machine, at(2));
    assert_eq!(attempts.iter().map(|one| one.item.job).collect::<Vec<_>>(), [ping]);
    assert_eq!(machine.permit(&attempts[0], Some(1), at(2)), SendPermit::Send);
    assert_eq!(
        machine.waits_until(at(2)),
        Some(Duration::from_millis(1_001)),
        "a test does not count against the rate"
    );
}

#[test]
fn deliveries_are_given_back_if_another_process_sends() {
    let mut machine = machine();
    take_in(&mut machine, (1..=5).map(job).collect(), at(0));
    let mut attempts = begin_all(&mut machine, at(0));
    let first = attempts.remove(0);
    let order = order(machine.permit(&first, Some(3), at(0)));
    attempts.into_iter().for_each(|one| machine.put_back(one, at(0)));
    let elsewhere = RateLease::HeldElsewhere { until: at(4_000).wall };
    assert_eq!(machine.handle_rate_lease(&order, elsewhere, at(1)), Some(AttemptResult::Released));
    let (results, _) = machine.next_batch().unwrap().call();
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(|(_, result)| *result == AttemptResult::Released), "the due times stay");
    let queue = (first.item.job.tenant, first.item.job.webhook_id);
    let is_skipped = |machine: &mut Dispatcher<()>, now| match machine.next_claim(now).unwrap().claim {
        Claim::SubscriptionQueues(walk) | Claim::Parked(walk) => walk.busy.contains(&queue),
        Claim::Oldest { .. } => false,
    };
    assert!(is_skipped(&mut machine, at(2)));
    machine.claim_ended();
    machine.look_at_due();
    assert!(
        !is_skipped(&mut machine, at(4_000)),
        "the queue is claimed again after the end of the other process's lease"
    );
}

#[test]
fn unanswered_lease_is_taken_by_the_next_attempt() {
    let mut machine = machine();
    take_in(&mut machine, vec![job(1), job(2)], at(0));
    let attempts = begin_all(&mut machine, at(0));
    let failure_order = order(machine.permit(&attempts[0], Some(3), at(0)));
    machine.rate_lease_failed(&failure_order);
    order(machine.permit(&attempts[1], Some(3), at(5)));
}

#[test]
fn claims_take_two_seconds_of_a_limited_queue() {
    let mut machine = limited_machine(2, 3);
    machine.look_at_due();
    let limited_claims = std::iter::from_fn(|| {
        let order = machine.next_claim(at(10))?;
        machine.handle_claimed(&order, ClaimedJobs::default(), at(10));
        machine.claim_ended();
        Some(order.claim)
    });
    let walks: Vec<_> = limited_claims
        .filter_map(|claim| match claim {
            Claim::SubscriptionQueues(walk) => Some(walk.limited),
            Claim::Oldest { .. } | Claim::Parked(_) => None,
        })
        .collect();
    let queue = (job(1).tenant, job(1).webhook_id);
    assert_eq!(walks.first(), Some(&vec![(queue, 5)]), "six may wait, and one does");
    let claimed_jobs = ClaimedJobs { jobs: (10..40).map(job).collect(), next: None };
    machine.look_at_due();
    let order = machine.next_claim(at(400)).unwrap();
    assert_eq!(machine.handle_claimed(&order, claimed_jobs, at(400)).len(), 5);
}

#[test]
fn put_back_delivery_of_a_stopping_process_is_given_back() {
    let mut machine = machine();
    take_in(&mut machine, vec![job(1), job(2)], at(0));
    let mut attempts = begin_all(&mut machine, at(0));
    machine.stop(at(1));
    machine.put_back(attempts.remove(1), at(2));
    let (results, _) = machine.next_batch().unwrap().call();
    assert_eq!(results, [(job(2), AttemptResult::Released)]);
    assert_eq!(machine.attempts(), 1);
}

/// Returns the results that the machine wants to record, and confirms them.
fn record_all(machine: &mut Dispatcher<()>, now: Now) -> Vec<(Job, AttemptResult)> {
    let mut all = vec![];
    while let Some(batch) = machine.next_batch() {
        all.extend(batch.call().0);
        machine.handle_recorded(batch, RecordOutcome::default(), now);
    }
    all
}

/// Makes all claims that are due. The first walk for due deliveries finds these jobs. Returns the jobs that the
/// machine kept.
fn claim(machine: &mut Dispatcher<()>, mut jobs: Vec<Job>, now: Now) -> Vec<Job> {
    let mut kept_jobs = vec![];
    while let Some(order) = machine.next_claim(now) {
        let is_walk = matches!(order.claim, Claim::SubscriptionQueues(_));
        let jobs_of_claim = if is_walk { std::mem::take(&mut jobs) } else { vec![] };
        let accepted_jobs = machine.handle_claimed(&order, ClaimedJobs { jobs: jobs_of_claim, next: None }, now);
        machine.take_in_claimed(accepted_jobs.iter().copied().map(waiting).collect(), &order, now);
        machine.claim_ended();
        kept_jobs.extend(accepted_jobs);
    }
    kept_jobs
}

#[test]
fn backlog_of_a_limited_queue_goes_before_handovers() {
    let mut machine = limited_machine(5, 3);
    claim(&mut machine, vec![], at(2));
    take_in(&mut machine, vec![job(20)], at(3));
    assert_eq!(
        record_all(&mut machine, at(3)),
        [(job(20), AttemptResult::Released)],
        "claims skip the full queue, so older deliveries may wait in the store"
    );
    let first_attempts = begin_all(&mut machine, at(1_001));
    assert!(first_attempts.iter().all(|one| machine.permit(one, Some(3), at(1_001)) == SendPermit::Send));
    take_in(&mut machine, vec![job(21)], at(1_002));
    assert_eq!(
        record_all(&mut machine, at(1_002)),
        [(job(21), AttemptResult::Released)],
        "no claim has looked for older deliveries yet"
    );
    assert_eq!(claim(&mut machine, vec![job(10), job(20), job(21)], at(1_003)), [job(10), job(20), job(21)]);
    let attempts = begin_all(&mut machine, at(2_002));
    let sent_jobs: Vec<_> = attempts.iter().map(|one| one.item.job).collect();
    assert!(attempts.iter().all(|one| machine.permit(one, Some(3), at(2_002)) == SendPermit::Send));
    claim(&mut machine, vec![], at(2_003));
    take_in(&mut machine, vec![job(22)], at(2_004));
    assert_eq!((record_all(&mut machine, at(2_004)), sent_jobs.len()), (vec![], 3), "the store has no more");
}

#[test]
fn deliveries_put_back_keep_their_order() {
    let mut machine = limited_machine(5, 1);
    let order: Vec<_> = (0..4)
        .map(|second| {
            let now = at(1_001 + 1_000 * second);
            let attempts = begin_all(&mut machine, now);
            assert_eq!(machine.permit(&attempts[0], Some(1), now), SendPermit::Send);
            attempts[0].item.job
        })
        .collect();
    assert_eq!(order, (2..=5).map(job).collect::<Vec<_>>());
}
