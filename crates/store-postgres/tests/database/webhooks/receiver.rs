//! A subscription of a test, and deliveries to it.

use candor_domain::access::Tenant;
use candor_domain::event::EventType;
use candor_domain::id::{DeliveryKind, Id};
use candor_domain::time::Timestamp;
use candor_port_storage::Storage;
use candor_port_storage::queue::{AttemptResult, Lease, Queue, WorkerId};
use candor_port_storage::{Row, Write};
use candor_store_postgres::PostgresStore;
use candor_store_testkit::Fixtures;
use candor_subscriptions::{
    AttemptEffect, AttemptOutcome, AttemptResponse, DeliveryOrigin, Job, Schedule, Subscription,
};

/// Lease duration, longer than any test.
const LEASE_SECONDS: i64 = 30;

/// A tenant's subscription to all events, and a worker on the queue.
pub(crate) struct Receiver {
    pub(crate) store: PostgresStore,
    pub(crate) make: Fixtures,
    pub(crate) tenant: Tenant,
    pub(crate) to: Subscription,
    pub(crate) worker: WorkerId,
}

impl Receiver {
    /// Creates a subscription of a new tenant.
    pub(crate) async fn new(store: &PostgresStore, seed: u64) -> Self {
        let make = Fixtures::new(seed);
        let (tenant, to, worker) = (make.tenant(), make.subscription(), make.worker());
        store.commit(tenant, make.change(vec![Write::put(&Row::new(to.clone()))])).await.unwrap();
        Self { store: store.clone(), make, tenant, to, worker }
    }

    /// Returns the worker's lease, starting now.
    pub(crate) fn lease(&self, now: Timestamp) -> Lease {
        Lease { worker: self.worker, until: now.plus_seconds(LEASE_SECONDS) }
    }

    /// Queues a delivery and leases it to the worker.
    pub(crate) async fn queue_and_lease(&self) -> Job {
        let (now, event) = (self.make.tick(), self.make.id());
        let job =
            Job::new(self.tenant, self.to.id, (event, EventType::EmployeeCreated), now, DeliveryOrigin::Replay);
        let mut change = self.make.change(vec![Write::Enqueue(vec![job])]);
        change.lease = Some(self.lease(now));
        let commit_result = self.store.commit(self.tenant, change).await.unwrap();
        assert_eq!(commit_result.leased, [(self.to.id, event)]);
        job
    }

    /// Returns the result of a successful attempt that began at this time.
    pub(crate) fn acknowledge(&self, job: &Job, begun: Timestamp) -> AttemptEffect {
        let random = u128::from_be_bytes(self.make.id::<DeliveryKind>().to_bytes()) & ((1 << 80) - 1);
        let id = Id::from_bytes((u128::try_from(begun.millis()).unwrap() << 80 | random).to_be_bytes());
        let outcome = AttemptOutcome::Acknowledged;
        let response = AttemptResponse { status: 204, duration_ms: 7, outcome, retry_after: None };
        job.settle(id, self.to.url.clone(), response, &Schedule::default(), (begun, begun))
    }

    /// Records a successful attempt at this time.
    pub(crate) async fn attempt(&self, begun: Timestamp) -> AttemptEffect {
        let job = self.queue_and_lease().await;
        let attempt_result = self.acknowledge(&job, begun);
        let result = AttemptResult::Settled(Box::new(attempt_result.clone()));
        let record_result = self.store.record(self.worker, vec![(job, result)], vec![]).await.unwrap();
        assert_eq!(record_result.lost, 0);
        attempt_result
    }
}
