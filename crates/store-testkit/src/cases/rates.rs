//! Rate leases of subscriptions, and claims that take fewer deliveries from some queues.

use candor_domain::event::EventType;
use candor_port_storage::queue::{Claim, Lease, QueueWalk, RateLease};
use candor_port_storage::{Row, StorageExt, Version, Versioned, Write};
use candor_subscriptions::Subscription;

use crate::Case;
use crate::worker::{MANY, Worker, walk};
use crate::world::{CaseContext, at_once};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new(rate_lease_has_one_holder_until_its_end),
        Case::new(one_of_concurrent_workers_gets_the_rate_lease),
        Case::new(rate_lease_does_not_change_the_subscription),
        Case::new(queue_walk_takes_fewer_deliveries_from_limited_queues),
    ]
}

async fn rate_lease_has_one_holder_until_its_end(world: CaseContext) {
    let (to, other) = (world.subscriber().await, world.subscriber().await);
    let workers = [world.make.worker(), world.make.worker()];
    let start = world.now();
    let time = |seconds| start.plus_seconds(seconds);
    let lease = async |worker: usize, to: &Subscription, now, until| {
        let lease = Lease { worker: workers[worker], until: time(until) };
        world.store.lease_rate(world.queue(to), lease, time(now)).await.unwrap()
    };
    let elsewhere = |until| RateLease::HeldElsewhere { until: time(until) };
    assert_eq!(lease(0, &to, 0, 10).await, RateLease::Held);
    assert_eq!(lease(1, &to, 0, 10).await, elsewhere(10));
    assert_eq!(lease(1, &other, 0, 10).await, RateLease::Held, "each subscription has its own lease");
    assert_eq!(lease(0, &to, 5, 15).await, RateLease::Held, "the holder renews the lease");
    assert_eq!(lease(1, &to, 14, 24).await, elsewhere(15));
    assert_eq!(lease(1, &to, 15, 25).await, RateLease::Held, "the lease has ended");
    assert_eq!(lease(0, &to, 16, 26).await, elsewhere(25));
    let missing = world.make.subscription();
    assert_eq!(lease(0, &missing, 0, 10).await, RateLease::Held, "a deleted subscription is not limited");
    let foreign = world.in_other_tenant();
    let lease = Lease { worker: workers[0], until: time(30) };
    assert_eq!(foreign.store.lease_rate(foreign.queue(&to), lease, time(20)).await.unwrap(), RateLease::Held);
    let lease = Lease { worker: workers[1], until: time(30) };
    assert_eq!(world.store.lease_rate(world.queue(&to), lease, time(20)).await.unwrap(), RateLease::Held);
}

async fn one_of_concurrent_workers_gets_the_rate_lease(world: CaseContext) {
    let to = world.subscriber().await;
    for round in 0..5 {
        let now = world.now().plus_seconds(round * 20);
        let tasks = (0..10).map(|_| {
            let (world, queue) = (world.clone(), world.queue(&to));
            let lease = Lease { worker: world.make.worker(), until: now.plus_seconds(10) };
            async move { world.store.lease_rate(queue, lease, now).await.unwrap() }
        });
        let holder_count = at_once(tasks).await.into_iter().filter(|lease| *lease == RateLease::Held).count();
        assert_eq!(holder_count, 1);
    }
}

async fn rate_lease_does_not_change_the_subscription(world: CaseContext) {
    let to = world.add_subscription(Subscription { max_per_second: Some(5), ..world.make.subscription() }).await;
    let (now, worker) = (world.now(), world.make.worker());
    let lease = Lease { worker, until: now.plus_seconds(10) };
    world.store.lease_rate(world.queue(&to), lease, now).await.unwrap();
    let subscription_row = world.store.row::<Subscription>(world.tenant, to.id).await.unwrap();
    assert_eq!(subscription_row, Some(Versioned { value: to.clone(), version: Version::FIRST }));
    let unlimited_webhook = Subscription { max_per_second: None, ..to.clone() };
    world.save(vec![Write::put(&Row::at_version(unlimited_webhook, Version::FIRST))]).await;
    let other = Lease { worker: world.make.worker(), until: now.plus_seconds(10) };
    let lease_of_other = world.store.lease_rate(world.queue(&to), other, now).await.unwrap();
    assert_eq!(lease_of_other, RateLease::HeldElsewhere { until: lease.until }, "a change keeps the lease");
}

async fn queue_walk_takes_fewer_deliveries_from_limited_queues(world: CaseContext) {
    let mut subscriptions = vec![];
    for _ in 0..4 {
        subscriptions.push(world.subscriber().await);
    }
    let foreign = world.in_other_tenant();
    let far = foreign.subscriber().await;
    world.commit_events(&[EventType::EmployeeCreated; 9]).await;
    foreign.commit_events(&[EventType::EmployeeCreated; 9]).await;
    let limited_queues = vec![
        (world.queue(&subscriptions[0]), 2),
        (world.queue(&subscriptions[2]), 1),
        (foreign.queue(&far), 3),
        (world.queue(&subscriptions[3]), 100),
    ];
    let worker = Worker::new(&world);
    let claim = Claim::SubscriptionQueues(QueueWalk { queues: MANY, limited: limited_queues, ..walk(5) });
    let claimed_jobs = worker.claims(world.now(), claim).await.jobs;
    let count = |to: &Subscription| claimed_jobs.iter().filter(|job| job.webhook_id == to.id).count();
    assert_eq!(subscriptions.iter().chain([&far]).map(count).collect::<Vec<_>>(), [2, 5, 1, 5, 3]);
    let rest =
        worker.claims(world.now(), Claim::SubscriptionQueues(QueueWalk { queues: MANY, ..walk(MANY) })).await;
    assert_eq!(claimed_jobs.len() + rest.jobs.len(), 5 * 9, "the other deliveries are not leased");
}
