//! Tests several workers on one database: a leased delivery belongs to one worker until that worker dies.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::ledger::{DeliveryRecord, settled};
use super::stage::{KIND, Subscription, employee, impatient, observe, subscribe};
use crate::support::{Client, Installation, Receiver, ReceiverResponse, Service, freeze, signal};

const TIMEOUT_SECONDS: u64 = 5;
/// Lease duration of a delivery: the receiver's timeout, plus 15 seconds to wait for a slot and to be recorded.
const LEASE: Duration = Duration::from_secs(TIMEOUT_SECONDS + 15);
/// Documented limit on the time until another worker takes over.
const TAKEN_OVER: Duration = Duration::from_secs(30);
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
    let Some(mut stage) = WorkerTest::set() else { return };
    let workers = [stage.worker(), stage.worker()];
    // Some attempts stay in flight while both workers claim more; others fail and are retried.
    stage.receiver.answers(|receiver| match receiver.number % 40 {
        5 => ReceiverResponse::Hold,
        receiver if receiver % 8 == 2 => ReceiverResponse::Status(500),
        _ => ReceiverResponse::Status(200),
    });
    let mut observations = stage.observe(150);
    stage.receiver.until("most deliveries", |all| all.iter().filter(|arrival| arrival.is_acknowledged()).count() > 75);
    observations.extend(stage.observe(150));
    stage.receiver.until("most deliveries", |all| all.iter().filter(|arrival| arrival.is_acknowledged()).count() > 150);
    stage.receiver.answers(|_| ReceiverResponse::Status(200));
    stage.settled(&observations).check(&stage.subscription.secret, 0);
    workers.into_iter().for_each(Service::stop);
    stage.api.stop();
}

#[test]
fn killed_workers_deliveries_are_taken_over_at_lease_end() {
    let Some(mut stage) = WorkerTest::set() else { return };
    stage.receiver.answers(|_| ReceiverResponse::Hold);
    let worker = stage.worker();
    let leased = Instant::now();
    let observations = stage.observe(5);
    stage.receiver.until("a delivery", |all| !all.is_empty());
    let killed = Instant::now();
    worker.kill();
    stage.receiver.next_generation();
    stage.receiver.answers(|_| ReceiverResponse::Status(200));
    let heir = stage.worker();
    let first = stage.receiver.arrivals()[0].clone();
    stage.receiver.until("every delivery", |all| all.iter().filter(|arrival| arrival.is_acknowledged()).count() == 5);
    assert!(killed.elapsed() < TAKEN_OVER, "it took {:?}", killed.elapsed());
    let again = stage
        .receiver
        .arrivals()
        .into_iter()
        .find(|arrival| arrival.generation == 1 && arrival.event() == first.event());
    assert!(again.unwrap().at - leased >= LEASE, "taken over while another had it");
    stage.settled(&observations).check(&stage.subscription.secret, 1);
    heir.stop();
    stage.api.stop();
}

#[test]
fn worker_resumed_after_its_lease_records_nothing() {
    let Some(mut stage) = WorkerTest::set() else { return };
    stage.receiver.answers(|_| ReceiverResponse::Hold);
    let sleeper = stage.worker();
    let observations = stage.observe(1);
    stage.receiver.until("a delivery", |all| all.len() == 1);
    freeze(sleeper.process_id());
    // The receiver acknowledges the frozen worker's attempt. Another worker retries the delivery, because the
    // result was not recorded.
    stage
        .receiver
        .answers(|receiver| if receiver.number == 0 { ReceiverResponse::Status(200) } else { ReceiverResponse::Hold });
    let heir = stage.worker();
    stage.receiver.until("another delivery", |all| all.len() == 2);
    signal(sleeper.process_id(), "CONT");
    // A graceful stop waits until the worker has tried to record its results.
    sleeper.stop();
    stage.receiver.answers(|_| ReceiverResponse::Status(200));
    let ledger = stage.settled(&observations);
    let arrivals = stage.receiver.arrivals();
    assert!(arrivals[0].is_acknowledged(), "{arrivals:?}");
    assert!(!ledger.is_recorded(&arrivals[0]), "{ledger:?}");
    assert!(arrivals[1..].iter().all(|arrival| ledger.is_recorded(arrival)));
    heir.stop();
    stage.api.stop();
}
