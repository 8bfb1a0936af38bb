//! Holds what a receiver got against what the service says has happened and what its log says was sent.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::signature;
use candor_domain::time::Timestamp;
use serde_json::Value;

use super::stage::{KIND, PATIENCE, Subscription, text};
use crate::support::{Arrival, Client, Receiver, wait_until};

/// Everything about the deliveries of one subscription, by event.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What the feed of events shows.
    events: BTreeMap<String, Value>,
    /// What the delivery log shows.
    log: BTreeMap<String, Vec<Value>>,
    /// What arrived, in that order.
    arrivals: BTreeMap<String, Vec<Arrival>>,
}

impl Ledger {
    /// Reads everything anew: first the feed, last what arrived, so that each explains what was read before.
    pub(super) fn read(client: &mut Client, receiver: &Receiver, subscription: &Subscription) -> Self {
        let mut ledger = Self::default();
        for event in client.all(&format!("/v1/events?filter[event]={KIND}")) {
            assert!(ledger.events.insert(text(&event["id"]), event).is_none(), "an event twice in the feed");
        }
        for entry in client.all(&format!("/v1/webhooks/{}/deliveries", subscription.id)) {
            ledger.log.entry(text(&entry["event_id"])).or_default().push(entry);
        }
        for arrival in receiver.at(&subscription.path) {
            ledger.arrivals.entry(arrival.event().to_owned()).or_default().push(arrival);
        }
        ledger
    }

    /// Whether the feed has these observations and all that arrived, and the log an acknowledgement of each event.
    pub(super) fn is_complete(&self, observations: &BTreeSet<String>) -> bool {
        let told: BTreeSet<String> = self.events.values().map(|it| text(&it["data"]["id"])).collect();
        let acknowledged = |event: &String| self.log_of(event).iter().any(|it| it["status"] == "success");
        observations.is_subset(&told)
            && self.arrivals.keys().all(|it| self.events.contains_key(it))
            && self.events.keys().all(acknowledged)
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    fn log_of(&self, event: &str) -> &[Value] {
        self.log.get(event).map_or(&[], Vec::as_slice)
    }

    /// Whether the log has what became of this request.
    pub(super) fn is_recorded(&self, arrival: &Arrival) -> bool {
        self.log_of(arrival.event()).iter().any(|it| it["id"] == arrival.delivery())
    }

    /// The rules of §6.3 and §6.4, after the processes of the first so many generations were killed, no other.
    pub(super) fn check(&self, secret: &str, killed: usize) {
        let mut ids = BTreeSet::new();
        for (event, body) in &self.events {
            let log = self.log_of(event);
            let arrivals = self.arrivals.get(event).map_or(&[][..], Vec::as_slice);
            assert!(arrivals.iter().any(Arrival::is_acknowledged), "{event} was never delivered");
            for arrival in arrivals {
                arrived_well(arrival, body, secret);
                assert!(ids.insert(arrival.delivery()), "{} is not new", arrival.delivery());
            }
            numbered_well(event, log);
            for entry in log {
                logged_as_it_was(entry, arrivals);
            }
            repeated_for_a_reason(log, arrivals, killed);
        }
        for event in self.arrivals.keys().chain(self.log.keys()) {
            assert!(self.events.contains_key(event), "{event} never happened");
        }
    }
}

/// It is the event, signed, and its headers say so.
fn arrived_well(arrival: &Arrival, event: &Value, secret: &str) {
    assert_eq!(&arrival.json(), event, "the body is not the event");
    assert_eq!(arrival.header("webhook-id"), arrival.event());
    let seconds: i64 = arrival.header("x-service-timestamp").parse().unwrap();
    let at = Timestamp::from_millis(seconds * 1000);
    assert_eq!(signature::verify(secret, arrival.header("x-service-signature"), &arrival.body, at), Ok(()));
}

/// Attempts are 1, 2, 3, … once each; the last one was acknowledged, and only that one.
fn numbered_well(event: &str, log: &[Value]) {
    let mut attempts: Vec<(u64, &str)> =
        log.iter().map(|it| (it["attempt"].as_u64().unwrap(), it["status"].as_str().unwrap())).collect();
    attempts.sort_unstable();
    let last = attempts.len();
    let wanted: Vec<(u64, &str)> =
        (1..).take(last).map(|it: u64| (it, if it == last as u64 { "success" } else { "failed" })).collect();
    assert_eq!(attempts, wanted, "{event}");
}

/// What the log says of an attempt is what the receiver did.
fn logged_as_it_was(entry: &Value, arrivals: &[Arrival]) {
    let id = text(&entry["id"]);
    let arrival = arrivals.iter().find(|it| it.delivery() == id).unwrap_or_else(|| panic!("never arrived: {entry}"));
    let status = entry["response_status"].as_u64().unwrap();
    // An answer that came after the time was up was not heard.
    assert!(status == 0 || Some(status) == arrival.answered.map(u64::from), "{entry} {:?}", arrival.answered);
}

/// What the log does not know of was cut off by a kill, and nothing is sent again once the log knows of an
/// acknowledgement.
fn repeated_for_a_reason(log: &[Value], arrivals: &[Arrival], killed: usize) {
    let status =
        |it: &Arrival| log.iter().find(|entry| entry["id"] == it.delivery()).map(|entry| text(&entry["status"]));
    for (arrival, later) in arrivals.iter().zip((1..).map(|it| &arrivals[it..])) {
        match status(arrival).as_deref() {
            None => {
                assert!(arrival.generation < killed, "not recorded, though nobody was killed: {arrival:?}");
                let once_more = later.first().map(|it| it.generation > arrival.generation);
                assert_eq!(
                    once_more,
                    Some(true),
                    "the lease did not hold, or nobody took it over: {arrival:?} {later:?}"
                );
            }
            Some("success") => assert!(later.is_empty(), "sent again after its acknowledgement: {later:?}"),
            Some(_) => {}
        }
    }
}

/// Waits until everything is delivered and recorded, these observations at least.
pub(super) fn settled(
    client: &mut Client,
    receiver: &Receiver,
    subscription: &Subscription,
    observations: &BTreeSet<String>,
) -> Ledger {
    let mut ledger = Ledger::default();
    let complete = wait_until(PATIENCE, || {
        ledger = Ledger::read(client, receiver, subscription);
        ledger.is_complete(observations)
    });
    assert!(complete.is_some(), "not everything was delivered: {ledger:?}");
    ledger
}
