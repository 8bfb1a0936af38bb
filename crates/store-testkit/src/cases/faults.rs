//! Tests of the store that fails on demand, on top of any store.

use std::sync::Arc;

use candor_domain::page::{PageRequest, Sort, SortBy};
use candor_domain::people::Employee;
use candor_port_storage::queue::{AttemptResult, Claim, Queue, RedeliveryFilter, Webhooks};
use candor_port_storage::upkeep::Upkeep;
use candor_port_storage::{ChangeSet, CommitError, StorageExt};
use candor_port_storage::{Storage, StorageError};
use candor_subscriptions::{DeliveryFilter, Subscription};
use candor_tables::rows;

use super::queue::just_before;
use crate::fixtures::joins;
use crate::worker::{LEASE_SECONDS, Worker};
use crate::world::{CaseContext, EVER};
use crate::{Case, Fault, Faulty, FaultyCall};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(injected_fault_comes_before_or_after_its_call),
        Case::new(queue_worker_recovers_from_injected_faults),
        Case::new(webhook_call_can_fail_by_injection),
    ]
}

fn hire(world: &CaseContext) -> (Employee, ChangeSet) {
    let person = world.make.employee();
    (person.clone(), world.make.change(vec![joins(person)]))
}

async fn injected_fault_comes_before_or_after_its_call(world: CaseContext) {
    let faulty = Faulty::from_shared(Arc::clone(&world.store));
    faulty.fail(FaultyCall::Commit, 2, Fault::Before);
    faulty.fail(FaultyCall::Commit, 3, Fault::After);
    let mut stored_people = Vec::new();
    for _ in 0..4 {
        let (person, change) = hire(&world);
        let result = faulty.commit(world.tenant, change).await;
        let is_reported = matches!(result, Err(CommitError::Storage(StorageError::Unavailable(_))));
        let person_row = faulty.row::<Employee>(world.tenant, person.id).await.unwrap();
        stored_people.push((is_reported, person_row.is_some()));
    }
    // Each pair: `true` if the caller got an error, and `true` if the row is stored.
    assert_eq!(stored_people, [(false, true), (true, false), (true, true), (false, true)]);
    assert_eq!(
        (faulty.calls(FaultyCall::Commit), faulty.calls(FaultyCall::Get), faulty.calls(FaultyCall::List)),
        (4, 4, 0)
    );
    faulty.set_down(true);
    assert!(matches!(faulty.probe_write(world.now()).await, Err(StorageError::Unavailable(_))));
    faulty.set_down(false);
    assert!(faulty.probe_write(world.now()).await.is_ok());
    faulty.fail(FaultyCall::Get, 1, Fault::After);
    assert!(faulty.row::<Employee>(world.tenant, world.make.id()).await.is_err());
    assert!(faulty.row::<Employee>(world.tenant, world.make.id()).await.unwrap().is_none());
}

/// Injects faults before and after a claim and a record. The worker recovers although it gets no answer.
async fn queue_worker_recovers_from_injected_faults(world: CaseContext) {
    let faulty = Faulty::from_shared(Arc::clone(&world.store));
    let to = world.subscriber().await;
    let job = world.delivery_at(world.now(), &to);
    world.enqueue(&[job]).await;
    let worker = Worker::new(&world);
    let mut now = world.now();
    let claim = Claim::Oldest { most: 1 };
    faulty.fail(FaultyCall::Claim, 1, Fault::Before);
    faulty.fail(FaultyCall::Claim, 3, Fault::After);
    for (answered, seconds) in [(false, 0), (true, LEASE_SECONDS), (false, LEASE_SECONDS)] {
        let claim_result = faulty.claim(worker.lease(now), now, &claim).await.ok();
        assert_eq!(claim_result.map(|claim| claim.jobs), answered.then(|| vec![job]));
        now = now.plus_seconds(seconds);
    }
    assert_eq!(worker.all(just_before(now)).await, [], "the failed claim holds its lease");
    assert_eq!(worker.all(now).await, [job]);
    faulty.fail(FaultyCall::Record, 1, Fault::Before);
    faulty.fail(FaultyCall::Record, 2, Fault::After);
    let mut lost_results = vec![];
    for _ in 0..3 {
        lost_results.push(
            faulty
                .record(worker.id, vec![(job, AttemptResult::Gone)], vec![])
                .await
                .ok()
                .map(|recorded| recorded.lost),
        );
    }
    assert_eq!(lost_results, [None, None, Some(1)], "the second record took effect");
    assert_eq!((faulty.calls(FaultyCall::Claim), faulty.calls(FaultyCall::Record)), (3, 3));
}

async fn webhook_call_can_fail_by_injection(world: CaseContext) {
    let faulty = Faulty::from_shared(Arc::clone(&world.store));
    let to = world.subscriber().await;
    let (tenant, now, page) = (world.tenant, world.now(), PageRequest { limit: 9, after: None });
    let (id, sort) = (world.make.id(), Sort::ascending_by(SortBy::CreatedAt));
    let which = RedeliveryFilter { since: now, until: now, types: vec![], only_failed: false, now };
    for down in [false, true] {
        faulty.set_down(down);
        let failures = [
            faulty.row::<Subscription>(tenant, to.id).await.is_err(),
            faulty
                .page(tenant, rows::webhooks::list(&candor_subscriptions::Filter::default(), sort, &page))
                .await
                .is_err(),
            faulty.every_webhook(None, 9).await.is_err(),
            faulty.delivery(tenant, to.id, id).await.is_err(),
            faulty
                .page(tenant, rows::deliveries::list(to.id, &DeliveryFilter::default(), sort, &page))
                .await
                .is_err(),
            faulty.events_by_id(&[]).await.is_err(),
            faulty.to_deliver_again(tenant, to.id, &which, None, 9).await.is_err(),
            faulty.claim(Worker::new(&world).lease(now), now, &Claim::Oldest { most: 9 }).await.is_err(),
            faulty.record(world.make.worker(), vec![], vec![]).await.is_err(),
            faulty.queue_state(now).await.is_err(),
            faulty.keep_log(now, EVER, 9).await.is_err(),
        ];
        assert_eq!(failures, [down; 11]);
    }
}
