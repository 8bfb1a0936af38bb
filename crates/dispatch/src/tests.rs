//! Inputs and outputs of the dispatcher over time.

use std::time::Duration;

use candor_domain::access::Tenant;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::event::EventType;
use candor_domain::id::{DeliveryId, EventId, OrganizationId, WebhookId};
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, ClaimedJobs, RecordOutcome, WorkerId};
use candor_subscriptions::{AttemptOutcome, AttemptResponse, DeliveryOrigin, Job};
use ulid::Ulid;

use crate::{
    AttemptEnd, DeliveryResult, Dispatcher, NextRecordStep, Now, QueueLimits, RecordRefusal, Settings,
    WaitingDelivery, admit, finish_attempt, store_failed,
};

const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_000);

fn at(millis: u64) -> Now {
    let wall = Timestamp::from_millis(NOON.millis() + i64::try_from(millis).unwrap());
    Now { wall, steady: Duration::from_millis(millis) }
}

fn machine() -> Dispatcher<()> {
    Dispatcher::new(WorkerId([1; 16]), Settings::default(), QueueLimits::OF_A_PROCESS, at(0))
}

fn job(event: u128) -> Job {
    let tenant = Tenant::live(OrganizationId::from_ulid(Ulid(1)));
    let event = (EventId::from_ulid(Ulid(event)), EventType::EmployeeCreated);
    Job::new(tenant, WebhookId::from_ulid(Ulid(2)), event, NOON, DeliveryOrigin::Event)
}

fn waiting(job: Job) -> WaitingDelivery<()> {
    WaitingDelivery { job, message: (), resumed: false }
}

/// Adds deliveries and lets each attempt fail.
fn fail(machine: &mut Dispatcher<()>, count: u128, now: Now) {
    let ends = machine.reserve(job(1).tenant, 1, now).unwrap();
    machine.take_in((1..=count).map(|number| waiting(job(number))).collect(), ends, 1, now);
    while let Some(attempt) = machine.next_attempt(now) {
        let response = AttemptResponse {
            status: 500,
            duration_ms: 3,
            outcome: AttemptOutcome::Failed(FailureReason::Status),
            retry_after: None,
        };
        let id = DeliveryId::from_ulid(attempt.item.job.event_id.ulid());
        let times = (now.wall, now.wall);
        let (finished, receiver_response) =
            finish_attempt(&Settings::default(), attempt.item.job, (id, String::new()), response, times);
        machine.handle_attempt_ended(
            attempt.place,
            &attempt.item.job,
            AttemptEnd::Finished(Box::new(finished), Some(receiver_response)),
        );
    }
}

#[test]
fn one_claim_runs_at_a_time_and_its_jobs_are_attempted() {
    let mut machine = machine();
    let order = machine.next_claim(at(0)).unwrap();
    assert_eq!(order.lease.until, at(30_000).wall);
    let claimed_jobs = ClaimedJobs { jobs: vec![job(1), job(2)], next: None };
    let accepted_jobs = machine.handle_claimed(&order, claimed_jobs, at(5));
    assert_eq!(accepted_jobs, [job(1), job(2)]);
    machine.take_in_claimed(accepted_jobs.into_iter().map(waiting).collect(), &order, at(5));
    machine.claim_ended();
    let attempts: Vec<_> = std::iter::from_fn(|| machine.next_attempt(at(5))).collect();
    assert_eq!((attempts.len(), machine.attempts(), machine.held_count()), (2, 2, 2));
    assert!(machine.may_send(attempts[0].ends, at(12_500)) && !machine.may_send(attempts[0].ends, at(12_501)));
}

#[test]
fn claimed_jobs_without_room_are_requeued_by_an_outcome() {
    let mut machine = machine();
    let order = machine.next_claim(at(0)).unwrap();
    let claimed_jobs = ClaimedJobs { jobs: (0..100).map(job).collect(), next: None };
    assert_eq!(machine.handle_claimed(&order, claimed_jobs, at(1)).len(), 64, "as many as a new queue takes");
    assert!(machine.take_wakes().records);
    let (results, health) = machine.next_batch().unwrap().call();
    assert_eq!((results.len(), health.len()), (36, 0));
    assert!(results.iter().all(|(_, result)| *result == AttemptResult::Back(at(1).wall)));
}

#[test]
fn refused_handovers_take_no_room_of_another_tenant() {
    let mut machine = machine();
    let other = Tenant::live(OrganizationId::from_ulid(Ulid(7)));
    let capacity = QueueLimits::OF_A_PROCESS.room();
    for number in 0..1_000 {
        // Each commit hands over one event for 98 subscriptions, whose receivers do not answer.
        let now = at(number);
        let Some(ends) = machine.reserve(job(1).tenant, 1, now) else { continue };
        let job_of = |webhook: u128| Job { webhook_id: WebhookId::from_ulid(Ulid(webhook)), ..job(number.into()) };
        machine.take_in((1..=98).map(|webhook| waiting(job_of(webhook))).collect(), ends, 1, now);
        while machine.next_attempt(now).is_some() {}
    }
    assert!(machine.held_count() < capacity - 64, "{} of {capacity}", machine.held_count());
    assert!(machine.reserve(other, 1, at(1_000)).is_some());
    assert!(machine.reserve(job(1).tenant, 1, at(3_000)).is_some(), "again after a second");
}

#[test]
fn deliveries_that_wait_too_long_are_given_back_at_once() {
    for (waited, given_back) in [(10_001, 12), (25_000, 12), (25_001, 0)] {
        let mut machine = machine();
        let ends = machine.reserve(job(1).tenant, 1, at(0)).unwrap();
        machine.take_in((0..20).map(|number| waiting(job(number))).collect(), ends, 1, at(0));
        let attempts: Vec<_> = std::iter::from_fn(|| machine.next_attempt(at(0))).collect();
        assert_eq!(attempts.len(), 8);
        assert!(machine.next_claim(at(waited)).is_some());
        assert_eq!(machine.take_forgotten(), 12);
        let batch = machine.next_batch();
        let results = batch.iter().flat_map(|batch| batch.call().0).collect::<Vec<_>>();
        assert!(results.iter().all(|(_, result)| *result == AttemptResult::Released));
        assert_eq!(
            results.len(),
            given_back,
            "with less than five seconds of lease left, the result would come too late"
        );
    }
}

#[test]
fn outcomes_are_recorded_in_one_batch_within_milliseconds() {
    let mut machine = machine();
    assert_eq!(machine.next_record_step(at(0)), NextRecordStep::Idle);
    fail(&mut machine, 3, at(0));
    assert_eq!(machine.next_record_step(at(0)), NextRecordStep::Now);
    let batch = machine.next_batch().unwrap();
    let (results, health) = batch.call();
    assert_eq!((results.len(), health.len(), health[0].1.streak.failures), (3, 1, 3));
    fail(&mut machine, 1, at(1));
    machine.handle_recorded(batch, RecordOutcome::default(), at(2));
    assert_eq!(
        machine.next_record_step(at(2)),
        NextRecordStep::At(Duration::from_millis(7)),
        "the next batch gets five milliseconds to fill"
    );
    assert_eq!(machine.next_record_step(at(7)), NextRecordStep::Now);
}

#[test]
fn unconfirmed_batch_is_recorded_again_without_double_count() {
    for (lost, calls) in [(3, 2), (0, 3)] {
        let mut machine = machine();
        fail(&mut machine, 3, at(0));
        let batch = machine.next_batch().unwrap();
        assert_eq!(machine.not_recorded(batch, RecordRefusal::Unanswered, at(0)), None);
        assert_eq!(
            machine.next_record_step(at(0)),
            NextRecordStep::At(Duration::from_millis(50)),
            "the store is not called during the pause"
        );
        let mut call_count = 1;
        while let Some(batch) = machine.next_batch() {
            let (results, health) = batch.call();
            call_count += 1;
            assert_eq!((results.len(), health.len()), if call_count == 2 { (3, 0) } else { (0, 1) }, "{lost}");
            machine.handle_recorded(
                batch,
                RecordOutcome { lost: if call_count == 2 { lost } else { 0 }, ..RecordOutcome::default() },
                at(60),
            );
        }
        assert_eq!((call_count, machine.held_count()), (calls, 0), "{lost} were recorded already");
    }
}

#[test]
fn recording_pauses_grow_while_the_store_fails() {
    let mut machine = machine();
    fail(&mut machine, 1, at(0));
    let pauses = (0..8).map(|_| {
        let batch = machine.next_batch().unwrap();
        machine.not_recorded(batch, RecordRefusal::Unanswered, at(0));
        match machine.next_record_step(at(0)) {
            NextRecordStep::At(time) => time.as_millis(),
            other @ (NextRecordStep::Now | NextRecordStep::Idle | NextRecordStep::Over) => panic!("{other:?}"),
        }
    });
    assert_eq!(pauses.collect::<Vec<_>>(), [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
}

#[test]
fn unrecordable_outcome_does_not_block_another() {
    let mut machine = machine();
    fail(&mut machine, 5, at(0));
    let (mut given_up, mut recorded) = (vec![], vec![]);
    while let Some(batch) = machine.next_batch() {
        let (results, _) = batch.call();
        if results.iter().any(|(result, _)| *result == job(4)) {
            given_up.extend(machine.not_recorded(batch, RecordRefusal::Unrecordable, at(0)));
        } else {
            recorded.extend(results.into_iter().map(|(result, _)| result));
            machine.handle_recorded(batch, RecordOutcome::default(), at(0));
        }
    }
    recorded.sort_by_key(|delivery| delivery.event_id);
    assert_eq!((given_up, machine.held_count()), (vec![job(4)], 0));
    assert_eq!(recorded, [job(1), job(2), job(3), job(5)]);
}

#[test]
fn shutdown_ends_after_claims_and_recordings() {
    let mut machine = machine();
    let order = machine.next_claim(at(0)).unwrap();
    let ends = machine.reserve(job(1).tenant, 1, at(0)).unwrap();
    machine.take_in((0..20).map(|number| waiting(job(number))).collect(), ends, 1, at(0));
    let attempts: Vec<_> = std::iter::from_fn(|| machine.next_attempt(at(0))).collect();
    assert_eq!(
        (machine.stop(at(1)), machine.next_claim(at(1)), machine.reserve(job(1).tenant, 1, at(1))),
        (8, None, None)
    );
    let accepted_jobs = machine.handle_claimed(&order, ClaimedJobs { jobs: vec![job(30)], next: None }, at(2));
    assert_eq!(accepted_jobs, [], "a delivery claimed before the stop is given back too");
    machine.claim_ended();
    for it in attempts {
        assert!(!machine.take_wakes().quiet);
        machine.handle_attempt_ended(it.place, &it.item.job, AttemptEnd::Abandoned);
    }
    assert!(machine.take_wakes().quiet);
    let batch = machine.next_batch().unwrap();
    assert_eq!((batch.call().0.len(), machine.next_record_step(at(3))), (13, NextRecordStep::Idle));
    machine.handle_recorded(batch, RecordOutcome::default(), at(3));
    assert_eq!((machine.next_record_step(at(8)), machine.held_count()), (NextRecordStep::Over, 0));
}

#[test]
fn paused_delivery_is_parked_and_an_expired_one_dropped() {
    let (settings, id) = (Settings::default(), DeliveryId::from_ulid(Ulid(9)));
    let to = |active| crate::Destination { url: "https://example.com/", active };
    let admits = |waiting: &WaitingDelivery<()>, active, now| admit(&settings, waiting, to(active), || id, now);
    let first = waiting(job(1));
    assert_eq!(admits(&first, true, NOON), Ok(()));
    assert_eq!(admits(&first, false, NOON), Err(AttemptResult::Parked));
    let test = waiting(Job { origin: DeliveryOrigin::Test, ..job(1) });
    assert_eq!(admits(&test, false, NOON), Ok(()), "a test is sent all the same");
    let resumed_delivery = WaitingDelivery { resumed: true, ..first };
    assert_eq!(admits(&resumed_delivery, true, NOON.plus_seconds(112_350)), Ok(()));
    let drop_reason = admits(&resumed_delivery, true, NOON.plus_seconds(112_351)).unwrap_err();
    let DeliveryResult { delta, .. } = crate::unsent(job(1), drop_reason.clone());
    assert!(
        matches!(drop_reason, AttemptResult::Settled(_)) && delta.is_some_and(|delta| delta.streak.failures == 0)
    );
    assert_eq!(store_failed(NOON), AttemptResult::Back(NOON.plus_seconds(5)));
}

#[test]
fn job_leased_again_before_its_record_is_requeued() {
    let mut machine = machine();
    fail(&mut machine, 1, at(0));
    let batch = machine.next_batch().unwrap();
    machine.not_recorded(batch, RecordRefusal::Unanswered, at(0));
    // The lease has expired and the store is back: this worker claims the delivery whose result is not
    // recorded yet.
    let second_order = machine.next_claim(at(31_000)).unwrap();
    let claimed_jobs = ClaimedJobs { jobs: vec![job(1)], next: None };
    assert_eq!(
        machine.handle_claimed(&second_order, claimed_jobs, at(31_001)),
        [],
        "its earlier result is not recorded yet"
    );
    machine.claim_ended();
    assert_eq!(machine.next_attempt(at(31_001)), None, "recording its earlier result would end the new lease");
    while let Some(batch) = machine.next_batch() {
        let (results, _) = batch.call();
        let is_back = results.iter().any(|(_, result)| *result == AttemptResult::Released);
        assert!(!is_back || results[0].0 == job(1));
        machine.handle_recorded(
            batch,
            RecordOutcome { lost: u64::from(is_back), ..RecordOutcome::default() },
            at(31_002),
        );
    }
    assert_eq!(machine.held_count(), 0);
    let ends = machine.reserve(job(1).tenant, 1, at(31_003)).unwrap();
    machine.take_in(vec![waiting(job(1))], ends, 1, at(31_003));
    assert!(machine.next_attempt(at(31_003)).is_some(), "the delivery is no longer held from its earlier lease");
}

/// Claims at `now`. The store leases the first job, and `before_response` runs before the answer of the claim
/// arrives. The job must not be accepted, because its new lease may have ended.
fn claim_first_job(machine: &mut Dispatcher<()>, now: Now, before_response: impl FnOnce(&mut Dispatcher<()>)) {
    machine.look_at_due();
    let order = machine.next_claim(now).unwrap();
    before_response(machine);
    let claimed_jobs = ClaimedJobs { jobs: vec![job(1)], next: None };
    assert_eq!(machine.handle_claimed(&order, claimed_jobs, now), [], "its new lease may have ended");
    machine.claim_ended();
}

#[test]
fn job_is_given_back_if_a_record_overtakes_its_claim() {
    let mut machine = machine();
    fail(&mut machine, 1, at(0));
    let record_response = |machine: &mut Dispatcher<()>| {
        let batch = machine.next_batch().unwrap();
        assert_eq!(batch.call().0.len(), 1);
        machine.handle_recorded(batch, RecordOutcome::default(), at(31_001));
    };
    // The lease of the attempt has expired, and the store records its result after the claim. The same happens to
    // the result that gives the delivery back.
    claim_first_job(&mut machine, at(31_000), record_response);
    claim_first_job(&mut machine, at(31_050), record_response);
    record_response(&mut machine);
    assert_eq!(machine.held_count(), 0);
}

#[test]
fn lease_that_expired_stays_expired_if_the_clock_is_set_back() {
    let mut machine = machine();
    fail(&mut machine, 1, at(0));
    let set_back = Now { wall: NOON.plus_seconds(-3_600), ..at(31_000) };
    claim_first_job(&mut machine, set_back, |machine| {
        let batch = machine.next_batch().unwrap();
        machine.handle_recorded(batch, RecordOutcome::default(), set_back);
    });
}

mod rates;
