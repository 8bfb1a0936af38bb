//! Expedited deliveries: never two concurrent attempts, and no attempts beyond the schedule.

use candor_domain::event::EventType;
use candor_domain::id::{DeliveryId, EventId};
use candor_domain::time::Timestamp;
use candor_port_storage::queue::AttemptResult;
use candor_port_storage::{CommitError, ExpediteDelivery, Write};
use candor_subscriptions::{Job, Subscription};

use crate::Case;
use crate::worker::{BAD, END, GOOD, LEASE_SECONDS, Worker, attempt_effect};
use crate::world::CaseContext;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(expedited_delivery_keeps_its_attempt_number),
        Case::new(due_leased_or_parked_delivery_is_not_expedited),
        Case::new(promised_id_is_refused_for_another_attempt_number),
        Case::new(retry_requested_during_an_attempt_follows_its_failure),
        Case::new(retry_requested_during_a_successful_attempt_is_dropped),
        Case::new(delivery_of_another_owner_is_not_expedited),
    ]
}

/// Returns the request to expedite a delivery, with the promised attempt and id.
fn expedite_request(
    to: &Subscription,
    event_id: EventId,
    promised: Option<(u16, DeliveryId)>,
) -> ExpediteDelivery {
    ExpediteDelivery { webhook_id: to.id, event_id, promised }
}

async fn queued(world: &CaseContext, to: &Subscription, event: EventId) -> Option<Job> {
    world.store.queued_delivery(world.tenant, to.id, event).await.unwrap()
}

fn fails(job: &Job, world: &CaseContext, retry_at: Timestamp) -> (Job, AttemptResult) {
    let id = job.delivery_id.unwrap_or_else(|| world.make.id());
    (*job, AttemptResult::Settled(Box::new(attempt_effect(job, id, BAD, Some(retry_at)))))
}

/// Creates a subscription whose deliveries have failed once. Returns the next attempts, which are due in a day.
async fn create_failed(world: &CaseContext, count: usize) -> (Subscription, Vec<Job>) {
    let to = world.subscriber().await;
    world.commit_events(&vec![EventType::EmployeeCreated; count]).await;
    let worker = Worker::new(world);
    let jobs = worker.all(world.now()).await;
    let tomorrow = world.now().plus_seconds(86_400);
    worker.records_all(jobs.iter().map(|job| fails(job, world, tomorrow)).collect()).await;
    (to, jobs.into_iter().map(|job| Job { attempt: 2, ..job }).collect())
}

async fn expedited_delivery_keeps_its_attempt_number(world: CaseContext) {
    let (to, jobs) = create_failed(&world, 3).await;
    let worker = Worker::new(&world);
    let id: DeliveryId = world.make.id();
    let some =
        [expedite_request(&to, jobs[0].event_id, None), expedite_request(&to, jobs[1].event_id, Some((2, id)))];
    let due_time = world.now().plus_seconds(5);
    world.save(vec![Write::BringForward(some.to_vec(), due_time)]).await;
    assert_eq!(worker.all(due_time.plus_seconds(-1)).await, []);
    let announced_job = Job { delivery_id: Some(id), ..jobs[1] };
    assert_eq!(queued(&world, &to, jobs[1].event_id).await, Some(announced_job));
    assert_eq!(worker.all(due_time).await, [jobs[0], announced_job], "the third is not due");
    worker.records_all(vec![fails(&announced_job, &world, END)]).await;
    let next = Job { attempt: 3, delivery_id: None, ..announced_job };
    assert_eq!(queued(&world, &to, jobs[1].event_id).await, Some(next));
}

async fn due_leased_or_parked_delivery_is_not_expedited(world: CaseContext) {
    let (to, jobs) = create_failed(&world, 3).await;
    let tomorrow = world.now().plus_seconds(86_400);
    let worker = Worker::new(&world);
    worker.all(tomorrow).await;
    // The first delivery is due, the second is parked, and the third is leased.
    let earlier = world.now().plus_seconds(-60);
    worker.records_all(vec![(jobs[0], AttemptResult::Back(earlier)), (jobs[1], AttemptResult::Parked)]).await;
    let all = jobs.iter().map(|job| expedite_request(&to, job.event_id, None)).collect();
    world.save(vec![Write::BringForward(all, tomorrow)]).await;
    let other = Worker::new(&world);
    assert_eq!(other.all(earlier).await, [jobs[0]], "the due delivery is not delayed");
    other.records_all(vec![(jobs[0], AttemptResult::Gone)]).await;
    assert_eq!(other.all(tomorrow).await, [], "neither a leased nor a parked delivery is claimed");
    worker.records_all(vec![(jobs[2], AttemptResult::Back(END))]).await;
    assert_eq!(other.all_parked(tomorrow).await, [jobs[1]]);
}

async fn promised_id_is_refused_for_another_attempt_number(world: CaseContext) {
    let (to, jobs) = create_failed(&world, 1).await;
    let (event, id): (_, DeliveryId) = (jobs[0].event_id, world.make.id());
    let promise = |attempt, id| Write::BringForward(vec![expedite_request(&to, event, Some((attempt, id)))], END);
    world.save(vec![promise(2, id)]).await;
    world.save(vec![promise(2, id)]).await;
    let absent = Write::BringForward(vec![expedite_request(&to, world.make.id(), Some((2, id)))], END);
    for late in [promise(1, id), promise(3, id), promise(2, world.make.id()), absent] {
        let result = world.try_save(late).await;
        assert!(matches!(result, Err(CommitError::Stale)), "{result:?}");
    }
    let nothing = Write::BringForward(vec![expedite_request(&to, world.make.id(), None)], END);
    world.save(vec![nothing]).await;
    assert_eq!(queued(&world, &to, event).await, Some(Job { delivery_id: Some(id), ..jobs[0] }));
}

async fn retry_requested_during_an_attempt_follows_its_failure(world: CaseContext) {
    let (to, jobs) = create_failed(&world, 2).await;
    let tomorrow = world.now().plus_seconds(86_400);
    let (worker, other) = (Worker::new(&world), Worker::new(&world));
    assert_eq!(worker.all(tomorrow).await, jobs);
    let id: DeliveryId = world.make.id();
    world
        .save(vec![Write::BringForward(vec![expedite_request(&to, jobs[0].event_id, Some((2, id)))], tomorrow)])
        .await;
    assert_eq!(other.all(tomorrow).await, [], "an attempt is in flight");
    worker.records_all(jobs.iter().map(|job| fails(job, &world, END)).collect()).await;
    let next = Job { attempt: 3, delivery_id: Some(id), ..jobs[0] };
    assert_eq!(other.all(tomorrow).await, [next]);
    other.records_all(vec![fails(&next, &world, END)]).await;
    assert_eq!(worker.all(tomorrow.plus_seconds(LEASE_SECONDS)).await, [], "the request covers one attempt only");
    assert_eq!(queued(&world, &to, jobs[0].event_id).await, Some(Job { attempt: 4, delivery_id: None, ..next }));
}

async fn retry_requested_during_a_successful_attempt_is_dropped(world: CaseContext) {
    let (to, jobs) = create_failed(&world, 1).await;
    let worker = Worker::new(&world);
    let leased_jobs = worker.all(world.now().plus_seconds(86_400)).await;
    let announced_attempt = Some((2, world.make.id()));
    world
        .save(vec![Write::BringForward(
            vec![expedite_request(&to, jobs[0].event_id, announced_attempt)],
            world.now(),
        )])
        .await;
    let success_result = attempt_effect(&leased_jobs[0], world.make.id(), GOOD, None);
    worker.records_all(vec![(leased_jobs[0], AttemptResult::Settled(Box::new(success_result)))]).await;
    assert_eq!(queued(&world, &to, jobs[0].event_id).await, None);
    assert_eq!(worker.all(END).await, []);
}

async fn delivery_of_another_owner_is_not_expedited(world: CaseContext) {
    let (to, jobs) = create_failed(&world, 1).await;
    let other = world.subscriber().await;
    let (event, now) = (jobs[0].event_id, world.now());
    for (world, to) in [(world.in_other_tenant(), &to), (world.test_environment(), &to), (world.clone(), &other)] {
        world.save(vec![Write::BringForward(vec![expedite_request(to, event, None)], now)]).await;
        assert_eq!(queued(&world, to, event).await, None);
    }
    assert_eq!(Worker::new(&world).all(now).await, []);
}
