//! Graceful stop while deliveries are in flight.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::fixtures::{KIND, employee, impatient, observe, subscribe, trusting};
use super::ledger::settled;
use super::load::Load;
use crate::support::{
    Installation, PATIENCE, ReceivedRequest, Receiver, ReceiverResponse, Service, signal, wait_until,
};

/// Number of writes and deliveries before the signal, so that the signal comes under load.
const ENOUGH: usize = 100;
/// Number of later events that are delivered one after the other. A returned delivery is due before them, so it is
/// sent before the last of them, unless it is still leased.
const LATER: usize = 20;

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
    let written_count = AtomicUsize::new(0);
    let acknowledged_ids = thread::scope(|scope| {
        let load = Load::start(scope, service.address, &key, &employee, &written_count);
        let enough = || written_count.load(Ordering::SeqCst).min(receiver.arrivals().len()) >= ENOUGH;
        assert!(wait_until(PATIENCE, enough).is_some(), "hardly any load");
        receiver.answers(|_| ReceiverResponse::Hold);
        receiver
            .wait_for_requests("a delivery in flight", |all| all.iter().any(|arrival| arrival.answered.is_none()));
        signal(service.process_id(), "TERM");
        let refuses = || service.anonymous().and_then(|mut client| client.get("/livez")).is_err();
        assert!(wait_until(PATIENCE, refuses).is_some(), "the service accepts connections after the signal");
        receiver.answers(|_| ReceiverResponse::Status(200));
        assert!(service.wait_for_exit().success(), "{}", service.log());
        load.join()
    });
    receiver.next_generation();
    let service = Service::serve(&place);
    let ledger = settled(&mut service.client(&key), &receiver, &subscription, &acknowledged_ids);
    ledger.check(&subscription.secret, 0);
    service.stop();
}

#[test]
fn hanging_receivers_do_not_delay_the_shutdown() {
    // The longest timeout that can be set. The lease lasts even longer.
    let place = trusting(Installation::sqlite()).with("CANDOR_WEBHOOKS_TIMEOUT", "60s");
    let key = place.key("*", &["--admin"]).secret;
    let (mut service, receiver) = (Service::serve(&place), Receiver::start());
    let mut client = service.client(&key);
    let employee = employee(&mut client);
    let subscription = subscribe(&mut client, &receiver, "/hooks", &[KIND]);
    receiver.answers(|_| ReceiverResponse::Hold);
    let mut observations = BTreeSet::from([observe(&mut client, &employee).unwrap()]);
    receiver.wait_for_requests("a delivery", |all| all.len() == 1);
    signal(service.process_id(), "TERM");
    assert!(service.wait_for_exit().success(), "{}", service.log());
    receiver.next_generation();
    receiver.answers(|_| ReceiverResponse::Status(200));
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    for count in 1..=LATER {
        observations.insert(observe(&mut client, &employee).unwrap());
        let late_arrivals = |all: &[ReceivedRequest]| {
            all.iter().filter(|arrival| arrival.is_acknowledged() && arrival.event() != all[0].event()).count()
        };
        receiver.wait_for_requests("a later delivery", |all| late_arrivals(all) == count);
    }
    let arrivals = receiver.arrivals();
    let event = arrivals[0].event();
    assert!(
        arrivals[1..].iter().any(|arrival| arrival.event() == event),
        "the stopped service did not return the lease of its delivery"
    );
    let ledger = settled(&mut client, &receiver, &subscription, &observations);
    assert_eq!(ledger.len(), 1 + LATER);
    assert!(!ledger.is_recorded(&arrivals[0]), "the stop waited for the receiver's timeout: {ledger:?}");
    service.stop();
}
