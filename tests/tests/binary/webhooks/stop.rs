//! Graceful stop while deliveries are in flight.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::fixtures::{KIND, PATIENCE, employee, impatient, observe, subscribe, trusting};
use super::ledger::settled;
use super::load::Load;
use crate::support::{Installation, Receiver, ReceiverResponse, Service, signal, wait_until};

/// Number of writes and deliveries before the signal, so that it comes under load.
const ENOUGH: usize = 100;
/// Receiver timeout, longer than the documented limit on a stop.
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn shutdown_under_load_loses_and_repeats_nothing_on_sqlite() {
    a_stop_under_load(Installation::sqlite());
}

#[test]
fn shutdown_under_load_loses_and_repeats_nothing_on_postgres() {
    if let Some(place) = Installation::postgres() {
        a_stop_under_load(place);
    }
}

fn a_stop_under_load(place: Installation) {
    let place = impatient(place, 10, 20);
    let key = place.key("*", &["--admin"]).secret;
    let (mut service, receiver) = (Service::serve(&place), Receiver::start());
    let mut client = service.client(&key);
    let employee = employee(&mut client);
    let subscription = subscribe(&mut client, &receiver, "/hooks", &[KIND]);
    let written = AtomicUsize::new(0);
    let acknowledged = thread::scope(|scope| {
        let load = Load::start(scope, service.address, &key, &employee, &written);
        let enough = || written.load(Ordering::SeqCst).min(receiver.arrivals().len()) >= ENOUGH;
        assert!(wait_until(PATIENCE, enough).is_some(), "hardly any load");
        receiver.answers(|_| ReceiverResponse::Hold);
        receiver.until("deliveries under way", |all| all.iter().any(|arrival| arrival.answered.is_none()));
        signal(service.process_id(), "TERM");
        let refuses = || service.anonymous().and_then(|mut client| client.get("/livez")).is_err();
        assert!(wait_until(PATIENCE, refuses).is_some(), "it takes new connections after the signal");
        receiver.answers(|_| ReceiverResponse::Status(200));
        assert!(service.wait_for_exit().success(), "{}", service.log());
        load.stop()
    });
    receiver.next_generation();
    let service = Service::serve(&place);
    let ledger = settled(&mut service.client(&key), &receiver, &subscription, &acknowledged);
    ledger.check(&subscription.secret, 0);
    service.stop();
}

#[test]
fn hanging_receivers_do_not_delay_the_shutdown() {
    let place =
        trusting(Installation::sqlite()).with("CANDOR_WEBHOOKS_TIMEOUT", &format!("{}s", TIMEOUT.as_secs()));
    let key = place.key("*", &["--admin"]).secret;
    let (mut service, receiver) = (Service::serve(&place), Receiver::start());
    let mut client = service.client(&key);
    let employee = employee(&mut client);
    let subscription = subscribe(&mut client, &receiver, "/hooks", &[KIND]);
    receiver.answers(|_| ReceiverResponse::Hold);
    let leased = Instant::now();
    let observed = observe(&mut client, &employee).unwrap();
    receiver.until("a delivery", |all| all.len() == 1);
    signal(service.process_id(), "TERM");
    assert!(service.wait_for_exit().success(), "{}", service.log());
    receiver.next_generation();
    receiver.answers(|_| ReceiverResponse::Status(200));
    let service = Service::serve(&place);
    receiver.until("another delivery", |all| all.len() == 2);
    // A lease lasts longer than the receiver's timeout, so an early second attempt shows that the lease was
    // released.
    assert!(leased.elapsed() < TIMEOUT, "its lease ran out instead of being given back");
    let ledger = settled(&mut service.client(&key), &receiver, &subscription, &BTreeSet::from([observed]));
    assert_eq!(ledger.len(), 1);
    service.stop();
}
