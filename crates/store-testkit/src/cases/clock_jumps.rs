//! Times that were stored while a clock was ahead are corrected, and all other times stay.

use candor_domain::erasure::{Erasure, ErasurePlan, Requester};
use candor_domain::event::EventType;
use candor_domain::time::Timestamp;
use candor_port_storage::queue::{AttemptResult, Lease};
use candor_port_storage::{Row, StorageExt, Write};
use candor_subscriptions::Job;
use candor_tables::rows::erasures::RUNNING;

use crate::Case;
use crate::worker::{BAD, LEASE_SECONDS, MANY, Worker, attempt_effect};
use crate::world::CaseContext;

/// Time by which the clock was ahead, in seconds.
const AHEAD: i64 = 6 * 3_600;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(first_attempt_of_a_clock_ahead_becomes_due),
        Case::new(retry_becomes_due_only_if_its_attempt_was_ahead),
        Case::new(lease_of_a_clock_ahead_ends_after_the_longest_one),
        Case::new(mail_of_a_clock_ahead_becomes_due),
        Case::new(erasure_of_a_clock_ahead_becomes_due),
    ]
}

async fn correct(world: &CaseContext, now: Timestamp) {
    world.store.correct_times(now, now.plus_seconds(LEASE_SECONDS)).await.unwrap();
}

/// Queues a delivery and returns it.
async fn queued(world: &CaseContext) -> Job {
    let to = world.subscriber().await;
    let events = world.commit_events(&[EventType::EmployeeCreated]).await;
    world.delivery_of(&events[0], &to)
}

async fn first_attempt_of_a_clock_ahead_becomes_due(world: CaseContext) {
    let job = queued(&world).await;
    let now = job.first_due_at.plus_seconds(-AHEAD);
    assert_eq!(Worker::new(&world).all(now).await, []);
    correct(&world, now).await;
    assert_eq!(Worker::new(&world).all(now).await, [job]);
}

async fn retry_becomes_due_only_if_its_attempt_was_ahead(world: CaseContext) {
    let job = queued(&world).await;
    let (worker, at) = (Worker::new(&world), world.make.tick());
    assert_eq!(worker.all(at).await, [job]);
    let retry_at = at.plus_seconds(3_600);
    let failed_result = attempt_effect(&job, world.attempt_at(at), BAD, Some(retry_at));
    worker.records_all(vec![(job, AttemptResult::Settled(Box::new(failed_result)))]).await;
    let later_time = at.plus_seconds(60);
    correct(&world, later_time).await;
    assert_eq!(worker.all(later_time).await, [], "the schedule or the receiver has chosen this time");
    let now = at.plus_seconds(-AHEAD);
    correct(&world, now).await;
    assert_eq!(worker.all(now).await, [Job { attempt: 2, ..job }]);
}

async fn lease_of_a_clock_ahead_ends_after_the_longest_one(world: CaseContext) {
    let job = queued(&world).await;
    let (gone, other, now) = (Worker::new(&world), Worker::new(&world), job.first_due_at);
    let lease = Lease { worker: gone.id, until: now.plus_seconds(AHEAD + LEASE_SECONDS) };
    let claim = candor_port_storage::queue::Claim::Oldest { most: MANY };
    assert_eq!(world.store.claim(lease, now, &claim).await.unwrap().jobs, [job]);
    correct(&world, now).await;
    assert_eq!(other.all(now.plus_seconds(LEASE_SECONDS - 1)).await, [], "a valid lease may be as long");
    assert_eq!(other.all(now.plus_seconds(LEASE_SECONDS)).await, [job]);
}

async fn mail_of_a_clock_ahead_becomes_due(world: CaseContext) {
    let person = world.hire().await;
    let mail_time = world.now();
    let invitation = world.make.invitation(person.id).by_mail(world.make.bytes32().to_vec(), mail_time);
    world.save(vec![Write::put(&Row::new(invitation.clone()))]).await;
    let (worker, now) = (Worker::new(&world), mail_time.plus_seconds(-AHEAD));
    let claim_at = async |now| world.store.claim_mails(worker.lease(now), now, MANY, &[]).await.unwrap();
    assert_eq!(claim_at(now).await, []);
    correct(&world, now).await;
    assert_eq!(claim_at(now).await, [(world.tenant, invitation.id)]);
}

async fn erasure_of_a_clock_ahead_becomes_due(world: CaseContext) {
    let person = world.hire().await;
    let erasure_time = world.now();
    let plan = ErasurePlan {
        employee_id: person.id,
        requested_by: Requester::key(world.make.id()),
        counts: [].into(),
        tables_to_rewrite: vec![],
        sealed_email: vec![1; 40],
    };
    let erasure = Erasure::begin(world.make.id(), plan, erasure_time).with_clean_index(erasure_time);
    world.save(vec![Write::put(&Row::new(erasure.clone()))]).await;
    let now = erasure_time.plus_seconds(-AHEAD);
    let due = async || {
        let all = world.store.due(RUNNING, now, MANY).await.unwrap().into_iter();
        all.filter(|(tenant, _)| *tenant == world.tenant).map(|(_, row)| row.value).collect::<Vec<_>>()
    };
    assert_eq!(due().await, []);
    correct(&world, now).await;
    assert_eq!(due().await, [Erasure { index_clean_at: Some(now), ..erasure }]);
}
