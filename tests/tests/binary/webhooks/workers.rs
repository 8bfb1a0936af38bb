//! Tests several workers on one database: a leased delivery belongs to one worker until that worker dies.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::fixtures::{KIND, Subscription, employee, impatient, observe, subscribe};
use super::ledger::{DeliveryRecord, settled};
use crate::support::{Client, Installation, Receiver, ReceiverResponse, Service, freeze, signal};

/// Timeout of a delivery, much longer than it takes to kill or freeze a worker whose delivery has arrived.
const TIMEOUT_SECONDS: u64 = 15;
/// Lease duration of a delivery: its timeout, plus 15 seconds to wait for a slot and to record the result.
const LEASE: Duration = Duration::from_secs(TIMEOUT_SECONDS + 15);
const RETRIES: usize = 20;

/// A process that serves the API, and a receiver with a subscription.
struct WorkerTest {
    place: Installation,
    api: Service,
    client: Client,
    employee: String,
    receiver: Receiver,
    subscription: Subscription,
}

impl WorkerTest {
    fn set() -> Option<Self> {
        let place = impatient(Installation::postgres()?, TIMEOUT_SECONDS, RETRIES);
        let key = place.key("*", &["--admin"]).secret;
        let (api, receiver) = (Service::start(&place, &["serve", "--role", "api"]), Receiver::start());
        let mut client = api.client(&key);
        let employee = employee(&mut client);
        let subscription = subscribe(&mut client, &receiver, "/hooks", &[KIND]);
        Some(Self { place, api, client, employee, receiver, subscription })
    }

    fn worker(&self) -> Service {
        Service::start(&self.place, &["serve", "--role", "worker"])
    }

    fn observe(&mut self, count: usize) -> BTreeSet<String> {
        (0..count).map(|_| observe(&mut self.client, &self.employee).unwrap()).collect()
    }

    fn settled(&mut self, observations: &BTreeSet<String>) -> DeliveryRecord {
        settled(&mut self.client, &self.receiver, &self.subscription, observations)
    }
}

#[test]
fn two_workers_share_the_queue_without_duplicate_attempts() {
    let Some(mut test) = WorkerTest::set() else { return };
    let workers = [test.worker(), test.worker()];
    // Some attempts stay in flight while both workers claim more. Other attempts fail and are retried.
    test.receiver.answers(|receiver| match receiver.number % 40 {
        5 => ReceiverResponse::Hold,
        receiver if receiver % 8 == 2 => ReceiverResponse::Status(500),
        _ => ReceiverResponse::Status(200),
    });
    let mut observations = test.observe(150);
    test.receiver.wait_for_requests("most deliveries", |all| {
        all.iter().filter(|arrival| arrival.is_acknowledged()).count() > 75
    });
    observations.extend(test.observe(150));
    test.receiver.wait_for_requests("most deliveries", |all| {
        all.iter().filter(|arrival| arrival.is_acknowledged()).count() > 150
    });
    test.receiver.answers(|_| ReceiverResponse::Status(200));
    test.settled(&observations).check(&test.subscription.secret, 0);
    workers.into_iter().for_each(Service::stop);
    test.api.stop();
}

#[test]
fn killed_workers_deliveries_are_taken_over_at_lease_end() {
    let Some(mut test) = WorkerTest::set() else { return };
    test.receiver.answers(|_| ReceiverResponse::Hold);
    let worker = test.worker();
    let lease_start = Instant::now();
    let observations = test.observe(5);
    test.receiver.wait_for_requests("a delivery", |all| !all.is_empty());
    worker.kill();
    test.receiver.next_generation();
    test.receiver.answers(|_| ReceiverResponse::Status(200));
    let heir = test.worker();
    let first = test.receiver.arrivals()[0].clone();
    test.receiver.wait_for_requests("every delivery", |all| {
        all.iter().filter(|arrival| arrival.is_acknowledged()).count() == 5
    });
    let second_arrival = test
        .receiver
        .arrivals()
        .into_iter()
        .find(|arrival| arrival.generation == 1 && arrival.event() == first.event());
    // The lower bound also holds on a busy machine, which only delays the second attempt.
    assert!(second_arrival.unwrap().at - lease_start >= LEASE, "taken over before the lease ended");
    test.settled(&observations).check(&test.subscription.secret, 1);
    heir.stop();
    test.api.stop();
}

#[test]
fn worker_resumed_after_its_lease_records_nothing() {
    let Some(mut test) = WorkerTest::set() else { return };
    test.receiver.answers(|_| ReceiverResponse::Hold);
    let sleeper = test.worker();
    let observations = test.observe(1);
    test.receiver.wait_for_requests("a delivery", |all| all.len() == 1);
    freeze(sleeper.process_id());
    // The receiver acknowledges the frozen worker's attempt. Another worker retries the delivery, because the
    // result was not recorded.
    test.receiver.answers(|receiver| {
        if receiver.number == 0 { ReceiverResponse::Status(200) } else { ReceiverResponse::Hold }
    });
    let heir = test.worker();
    test.receiver.wait_for_requests("another delivery", |all| all.len() == 2);
    signal(sleeper.process_id(), "CONT");
    // A graceful stop waits until the worker has tried to record its results.
    sleeper.stop();
    test.receiver.answers(|_| ReceiverResponse::Status(200));
    let ledger = test.settled(&observations);
    let arrivals = test.receiver.arrivals();
    assert!(arrivals[0].is_acknowledged(), "{arrivals:?}");
    assert!(!ledger.is_recorded(&arrivals[0]), "{ledger:?}");
    assert!(arrivals[1..].iter().all(|arrival| ledger.is_recorded(arrival)));
    heir.stop();
    test.api.stop();
}
