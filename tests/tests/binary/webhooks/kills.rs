//! Tests power cuts around deliveries: every committed event is delivered. A delivery is repeated only if the
//! result of its attempt could not be recorded.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use candor_test_explore::size;

use super::fixtures::{KIND, Subscription, employee, impatient, observe, subscribe};
use super::ledger::settled;
use super::load::Load;
use crate::support::{
    Installation, PATIENCE, ReceivedRequest, Receiver, ReceiverResponse, Service, freeze, wait_until,
};

/// Number of kills per store in the gate, and in an exploration.
const KILLS: [usize; 2] = [15, 300];
/// Timeout of a delivery, much longer than it takes to kill a process whose delivery has arrived.
const TIMEOUT_SECONDS: u64 = 15;
/// Number of retries, so high that no delivery is dropped because of failures of the receiver.
const RETRIES: usize = 50;

#[test]
fn kill_at_any_point_loses_no_delivery_on_sqlite() {
    kills(Installation::sqlite());
}

#[test]
fn kill_at_any_point_loses_no_delivery_on_postgres() {
    if let Some(place) = Installation::postgres() {
        kills(place);
    }
}

/// Moment at which the process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillPoint {
    /// The delivery is queued, but no worker has claimed it.
    BeforeTheClaim,
    /// The request has arrived, but the receiver has not answered it.
    AfterTheClaim,
    /// The receiver has answered, but the worker has not recorded the result.
    AfterTheResponse,
    /// The process has finished this many writes and deliveries.
    UnderLoad(usize),
}

impl KillPoint {
    fn for_round(round: usize) -> Self {
        match round % 5 {
            0 => Self::BeforeTheClaim,
            1 => Self::AfterTheClaim,
            2 => Self::AfterTheResponse,
            // Kill times vary from almost immediately to the middle of heavy load.
            _ => Self::UnderLoad(1 + round * 37 % 90),
        }
    }
}

/// A service that is killed and restarted repeatedly.
struct KilledService {
    place: Installation,
    key: String,
    employee: String,
    subscription: Subscription,
    receiver: Receiver,
    acknowledged: BTreeSet<String>,
}

fn kills(place: Installation) {
    let kill_count = size(KILLS[0], KILLS[1]);
    let mut victim = KilledService::new(impatient(place, TIMEOUT_SECONDS, RETRIES));
    for round in 0..kill_count {
        match KillPoint::for_round(round) {
            KillPoint::BeforeTheClaim => victim.dies_before_the_claim(),
            KillPoint::AfterTheClaim => victim.dies_after_the_claim(round),
            KillPoint::AfterTheResponse => victim.dies_after_the_response(round),
            KillPoint::UnderLoad(count) => victim.dies_under_load(round, count),
        }
    }
    victim.receiver.answers(|_| ReceiverResponse::Status(200));
    let service = Service::serve(&victim.place);
    let mut client = service.client(&victim.key);
    let ledger = settled(&mut client, &victim.receiver, &victim.subscription, &victim.acknowledged);
    ledger.check(&victim.subscription.secret, kill_count);
    // Verifies the kill points: the log has no entry for a request whose sender was frozen before it was killed.
    for arrival in victim.receiver.arrivals().into_iter().filter(|arrival| arrival.generation < kill_count) {
        let frozen =
            KillPoint::for_round(arrival.generation) == KillPoint::AfterTheResponse && arrival.is_acknowledged();
        assert!(!frozen || !ledger.is_recorded(&arrival), "recorded although its sender was frozen: {arrival:?}");
    }
    for round in (0..kill_count).filter(|number| {
        matches!(KillPoint::for_round(*number), KillPoint::AfterTheClaim | KillPoint::AfterTheResponse)
    }) {
        let cut_off = |arrival: &ReceivedRequest| arrival.generation == round && !ledger.is_recorded(arrival);
        assert!(victim.receiver.arrivals().iter().any(cut_off), "round {round} cut off no attempt");
    }
    println!("{kill_count} kills, {} events, {} deliveries", ledger.len(), victim.receiver.arrivals().len());
    service.stop();
}

impl KilledService {
    fn new(place: Installation) -> Self {
        let key = place.key("*", &["--admin"]).secret;
        let (service, receiver) = (Service::serve(&place), Receiver::start());
        let mut client = service.client(&key);
        let employee = employee(&mut client);
        let subscription = subscribe(&mut client, &receiver, "/hooks", &[KIND]);
        service.stop();
        Self { place, key, employee, subscription, receiver, acknowledged: BTreeSet::new() }
    }

    fn observe(&mut self, service: &Service) {
        let observation = observe(&mut service.client(&self.key), &self.employee).unwrap();
        self.acknowledged.insert(observation);
    }

    fn kill(&self, service: Service) {
        service.kill();
        self.receiver.next_generation();
    }

    fn dies_before_the_claim(&mut self) {
        let service = Service::start(&self.place, &["serve", "--role", "api"]);
        self.observe(&service);
        self.observe(&service);
        self.kill(service);
    }

    fn dies_after_the_claim(&mut self, round: usize) {
        self.receiver.answers(|_| ReceiverResponse::Hold);
        let service = Service::serve(&self.place);
        self.observe(&service);
        self.receiver.wait_for_requests("a delivery", |all| all.iter().any(|arrival| arrival.generation == round));
        self.kill(service);
    }

    fn dies_after_the_response(&mut self, round: usize) {
        self.receiver.answers(|_| ReceiverResponse::Hold);
        let service = Service::serve(&self.place);
        let (process, is_frozen) = (service.process_id(), AtomicBool::new(false));
        self.receiver.answers(move |_| {
            if is_frozen.swap(true, Ordering::SeqCst) {
                return ReceiverResponse::Hold;
            }
            freeze(process);
            ReceiverResponse::Status(200)
        });
        let known_observations = thread::scope(|scope| {
            // The writer may lose its connection before it gets a response.
            let (mut client, employee) = (service.client(&self.key), &self.employee);
            let writer = scope.spawn(move || observe(&mut client, employee));
            self.receiver.wait_for_requests("an answer", |all| {
                all.iter().any(|arrival| arrival.generation == round && arrival.answered.is_some())
            });
            self.kill(service);
            writer.join().unwrap().ok()
        });
        self.acknowledged.extend(known_observations);
    }

    fn dies_under_load(&mut self, round: usize, count: usize) {
        self.receiver.answers(fail_occasionally);
        let service = Service::serve(&self.place);
        let written_count = AtomicUsize::new(0);
        let known_observations = thread::scope(|scope| {
            let load = Load::start(scope, service.address, &self.key, &self.employee, &written_count);
            let delivered_count =
                || self.receiver.arrivals().iter().filter(|arrival| arrival.generation == round).count();
            let enough =
                wait_until(PATIENCE, || written_count.load(Ordering::SeqCst) + delivered_count() >= count);
            self.kill(service);
            assert!(enough.is_some(), "hardly any load");
            load.join()
        });
        self.acknowledged.extend(known_observations);
    }
}

/// Makes the receiver fail occasionally. Resets affect only the first request of a connection: on a reused
/// connection the sender may retry a reset request.
fn fail_occasionally(arrival: &ReceivedRequest) -> ReceiverResponse {
    match arrival.number % 12 {
        3 => ReceiverResponse::Status(503),
        7 if arrival.first => ReceiverResponse::Reset,
        _ => ReceiverResponse::Status(200),
    }
}
