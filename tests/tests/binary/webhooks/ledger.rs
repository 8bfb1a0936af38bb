//! Compares the requests that a receiver got with the event feed and the delivery log of the service.

use std::collections::{BTreeMap, BTreeSet};

use candor_domain::signature;
use candor_domain::time::Timestamp;
use serde_json::Value;

use super::fixtures::{KIND, Subscription, text};
use crate::support::{Client, PATIENCE, ReceivedRequest, Receiver, wait_until};

/// Events, log entries and received requests of one subscription, by event id.
#[derive(Debug, Default)]
pub(super) struct DeliveryRecord {
    /// Events in the feed.
    events: BTreeMap<String, Value>,
    /// Entries in the delivery log.
    log: BTreeMap<String, Vec<Value>>,
    /// Received requests, in order of arrival.
    arrivals: BTreeMap<String, Vec<ReceivedRequest>>,
}

impl DeliveryRecord {
    /// Reads the feed first and the received requests last, so that each source includes everything that the
    /// sources read before it include.
    pub(super) fn read(client: &mut Client, receiver: &Receiver, subscription: &Subscription) -> Self {
        let mut ledger = Self::default();
        for event in client.all(&format!("/v1/events?filter[event]={KIND}")) {
            assert!(ledger.events.insert(text(&event["id"]), event).is_none(), "the feed has an event twice");
        }
        for entry in client.all(&format!("/v1/webhooks/{}/deliveries", subscription.id)) {
            ledger.log.entry(text(&entry["event_id"])).or_default().push(entry);
        }
        for arrival in receiver.requests_to(&subscription.path) {
            ledger.arrivals.entry(arrival.event().to_owned()).or_default().push(arrival);
        }
        ledger
    }

    /// Returns `true` if the feed has these observations and every received event, and the log acknowledges
    /// each event.
    pub(super) fn is_complete(&self, observations: &BTreeSet<String>) -> bool {
        let announced_ids: BTreeSet<String> =
            self.events.values().map(|event| text(&event["data"]["id"])).collect();
        let is_acknowledged = |event: &String| self.log_of(event).iter().any(|item| item["status"] == "success");
        observations.is_subset(&announced_ids)
            && self.arrivals.keys().all(|arrival| self.events.contains_key(arrival))
            && self.events.keys().all(is_acknowledged)
    }

    /// Returns the number of events in the feed.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    fn log_of(&self, event: &str) -> &[Value] {
        self.log.get(event).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if the log has an entry for this request.
    pub(super) fn is_recorded(&self, arrival: &ReceivedRequest) -> bool {
        self.log_of(arrival.event()).iter().any(|item| item["id"] == arrival.delivery())
    }

    /// Asserts the rules of §6.3 and §6.4. Only the processes of generations below `killed` were killed.
    pub(super) fn check(&self, secret: &str, killed: usize) {
        let mut ids = BTreeSet::new();
        for (event, body) in &self.events {
            let log = self.log_of(event);
            let arrivals = self.arrivals.get(event).map_or(&[][..], Vec::as_slice);
            assert!(arrivals.iter().any(ReceivedRequest::is_acknowledged), "{event} was never delivered");
            for arrival in arrivals {
                arrived_well(arrival, body, secret);
                assert!(ids.insert(arrival.delivery()), "two requests have the id {}", arrival.delivery());
            }
            numbered_well(event, log);
            for entry in log {
                logged_as_it_was(entry, arrivals);
            }
            repeated_for_a_reason(log, arrivals, killed);
        }
        for event in self.arrivals.keys().chain(self.log.keys()) {
            assert!(self.events.contains_key(event), "the feed has no {event}");
        }
    }
}

/// Asserts that the request contains the event, with a valid signature and matching headers.
fn arrived_well(arrival: &ReceivedRequest, event: &Value, secret: &str) {
    assert_eq!(&arrival.json(), event, "the body is not the event");
    assert_eq!(arrival.header("webhook-id"), arrival.event());
    let seconds: i64 = arrival.header("x-service-timestamp").parse().unwrap();
    let time = Timestamp::from_millis(seconds * 1000);
    assert_eq!(signature::verify(secret, arrival.header("x-service-signature"), &arrival.body, time), Ok(()));
}

/// Asserts that the attempts are 1, 2, 3, … once each, and that only the last one was acknowledged.
fn numbered_well(event: &str, log: &[Value]) {
    let mut attempts: Vec<(u64, &str)> =
        log.iter().map(|log| (log["attempt"].as_u64().unwrap(), log["status"].as_str().unwrap())).collect();
    attempts.sort_unstable();
    let last = attempts.len();
    let expected_attempts: Vec<(u64, &str)> = (1..)
        .take(last)
        .map(|candidate: u64| (candidate, if candidate == last as u64 { "success" } else { "failed" }))
        .collect();
    assert_eq!(attempts, expected_attempts, "{event}");
}

/// Asserts that a log entry agrees with the receiver's response.
fn logged_as_it_was(entry: &Value, arrivals: &[ReceivedRequest]) {
    let id = text(&entry["id"]);
    let arrival = arrivals
        .iter()
        .find(|arrival| arrival.delivery() == id)
        .unwrap_or_else(|| panic!("the receiver got no request of this log entry: {entry}"));
    let status = entry["response_status"].as_u64().unwrap();
    // The service logs status 0 if it got no response before the timeout.
    assert!(status == 0 || Some(status) == arrival.answered.map(u64::from), "{entry} {:?}", arrival.answered);
}

/// Asserts that every request missing from the log was cut off by a kill, and that no request follows a logged
/// acknowledgement.
fn repeated_for_a_reason(log: &[Value], arrivals: &[ReceivedRequest], killed: usize) {
    let status = |arrival: &ReceivedRequest| {
        log.iter().find(|entry| entry["id"] == arrival.delivery()).map(|entry| text(&entry["status"]))
    };
    for (arrival, later) in arrivals.iter().zip((1..).map(|number| &arrivals[number..])) {
        match status(arrival).as_deref() {
            None => {
                assert!(
                    arrival.generation < killed,
                    "not recorded, although its sender was not killed: {arrival:?}"
                );
                let once_more = later.first().map(|candidate| candidate.generation > arrival.generation);
                assert_eq!(
                    once_more,
                    Some(true),
                    "sent again before its lease ended, or by no later process: {arrival:?} {later:?}"
                );
            }
            Some("success") => assert!(later.is_empty(), "sent again after its acknowledgement: {later:?}"),
            Some(_) => {}
        }
    }
}

/// Waits until everything, including these observations, is delivered and recorded. Returns the ledger.
pub(super) fn settled(
    client: &mut Client,
    receiver: &Receiver,
    subscription: &Subscription,
    observations: &BTreeSet<String>,
) -> DeliveryRecord {
    let mut ledger = DeliveryRecord::default();
    let complete = wait_until(PATIENCE, || {
        ledger = DeliveryRecord::read(client, receiver, subscription);
        ledger.is_complete(observations)
    });
    assert!(complete.is_some(), "not everything was delivered: {ledger:?}");
    ledger
}
