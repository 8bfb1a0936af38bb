//! Tests how pause, resume, delete, test and redelivery of a subscription affect the sent requests.

use serde_json::{Value, json};

use super::fixtures::{KIND, Subscription, employee, impatient, observe, subscribe, text};
use crate::support::{
    Client, Installation, PATIENCE, ReceivedRequest, Receiver, ReceiverResponse, Response, Service, wait_until,
};

/// Prefix of paths that return an error until the test changes their responses.
const FAILING: &str = "/failing";

/// A service, a client of it, a receiver, and an employee to observe.
struct ControlTest {
    _place: Installation,
    service: Service,
    client: Client,
    employee: String,
    receiver: Receiver,
}

impl ControlTest {
    fn set(place: Installation) -> Self {
        let place = impatient(place, 5, 50);
        let key = place.key("*", &["--admin"]).secret;
        let (service, receiver) = (Service::serve(&place), Receiver::start());
        receiver.answers(|receiver| {
            if receiver.path.starts_with(FAILING) {
                ReceiverResponse::Status(500)
            } else {
                ReceiverResponse::Status(200)
            }
        });
        let mut client = service.client(&key);
        let employee = employee(&mut client);
        Self { _place: place, service, client, employee, receiver }
    }

    fn subscribe(&mut self, path: &str) -> Subscription {
        subscribe(&mut self.client, &self.receiver, path, &[KIND])
    }

    fn patch(&mut self, subscription: &Subscription, body: &Value) -> Response {
        let path = format!("/v1/webhooks/{}", subscription.id);
        self.client.request("PATCH", &path, &[], Some(body)).unwrap()
    }

    /// Records an observation and returns its id.
    fn observe(&mut self) -> String {
        observe(&mut self.client, &self.employee).unwrap()
    }

    fn log(&mut self, subscription: &Subscription) -> Vec<Value> {
        self.client.all(&format!("/v1/webhooks/{}/deliveries", subscription.id))
    }

    /// Waits until this many requests have arrived at a path.
    fn wait_for_requests_to(&self, path: &str, count: usize) -> Vec<ReceivedRequest> {
        self.receiver
            .wait_for_requests(path, |all| all.iter().filter(|arrival| arrival.path == path).count() >= count);
        self.receiver.requests_to(path)
    }

    /// Waits until all deliveries that are due now have been attempted. `witness` is the path of a subscription
    /// whose deliveries fail and are retried. The second request to `witness` from now on is a retry that is due
    /// later than everything that is due now.
    fn until_all_due_is_attempted(&self, witness: &str) {
        let count = self.receiver.requests_to(witness).len();
        self.wait_for_requests_to(witness, count + 2);
    }
}

fn observed_id(arrival: &ReceivedRequest) -> String {
    text(&arrival.json()["data"]["id"])
}

#[test]
fn pause_stops_deliveries_until_resumed_on_sqlite() {
    a_pause_stops_and_resumes(Installation::sqlite());
}

#[test]
fn pause_stops_deliveries_until_resumed_on_postgres() {
    if let Some(place) = Installation::postgres() {
        a_pause_stops_and_resumes(place);
    }
}

fn a_pause_stops_and_resumes(place: Installation) {
    let mut test = ControlTest::set(place);
    let (paused, _) = (test.subscribe("/failing/paused"), test.subscribe("/failing/witness"));
    let first_observation = test.observe();
    test.wait_for_requests_to("/failing/paused", 1);
    assert_eq!(test.patch(&paused, &json!({"active": false})).json()["active"], json!(false));
    let count = settled_count(&mut test, &paused);
    let second_observation = test.observe();
    test.until_all_due_is_attempted("/failing/witness");
    assert_eq!(
        test.receiver.requests_to("/failing/paused").len(),
        count,
        "the paused subscription got a delivery"
    );
    test.receiver.answers(|_| ReceiverResponse::Status(200));
    assert_eq!(test.patch(&paused, &json!({"active": true})).json()["active"], json!(true));
    let last = test.wait_for_requests_to("/failing/paused", count + 1).pop().unwrap();
    assert_eq!(observed_id(&last), first_observation);
    // Events during the pause were not queued. Only a replay of `all` sends them, and it also repeats the
    // acknowledged events. A replay of `failed` queues nothing, because the only delivery has succeeded by then.
    let has_arrived = |test: &ControlTest, id: &str| {
        test.receiver.requests_to("/failing/paused").iter().any(|arrival| observed_id(arrival) == id)
    };
    assert!(!has_arrived(&test, &second_observation));
    let path = format!("/v1/webhooks/{}/replay", paused.id);
    let start = text(&test.client.get("/v1/organization").unwrap().json()["created_at"]);
    let order = |only: &str| json!({"since": start, "only": only});
    assert!(wait_until(PATIENCE, || test.log(&paused).iter().any(|item| item["status"] == "success")).is_some());
    let replay_response = test.client.post(&path, &order("failed")).unwrap();
    assert_eq!(
        (replay_response.status, &replay_response.json()["enqueued"]),
        (202, &json!(0)),
        "{}",
        replay_response.text()
    );
    let replay_of_all = test.client.post(&path, &order("all")).unwrap();
    assert_eq!(
        (replay_of_all.status, &replay_of_all.json()["enqueued"]),
        (202, &json!(2)),
        "{}",
        replay_of_all.text()
    );
    let arrivals = test.wait_for_requests_to("/failing/paused", count + 3);
    let replays: Vec<&ReceivedRequest> =
        arrivals.iter().filter(|arrival| arrival.has("x-service-replay")).collect();
    let mut ids: Vec<String> = replays.iter().map(|replay| observed_id(replay)).collect();
    ids.sort();
    assert_eq!(ids, [first_observation, second_observation]);
    assert!(replays.iter().all(|replay| replay.header("x-service-replay") == "true"));
    test.service.stop();
}

#[test]
fn gone_receiver_ends_its_subscription_on_sqlite() {
    a_gone_receiver_ends_its_subscription(Installation::sqlite());
}

#[test]
fn gone_receiver_ends_its_subscription_on_postgres() {
    if let Some(place) = Installation::postgres() {
        a_gone_receiver_ends_its_subscription(place);
    }
}

fn a_gone_receiver_ends_its_subscription(place: Installation) {
    let mut test = ControlTest::set(place);
    test.receiver.answers(|arrival| ReceiverResponse::Status(if arrival.path == "/gone" { 410 } else { 200 }));
    let watching_webhook = subscribe(&mut test.client, &test.receiver, "/told", &["webhook.disabled"]);
    let gone_webhook = subscribe(&mut test.client, &test.receiver, "/gone", &["*"]);
    test.observe();
    let event = test.wait_for_requests_to(&watching_webhook.path, 1).pop().unwrap().json();
    assert_eq!((&event["event"], &event["data"]["id"]), (&json!("webhook.disabled"), &json!(gone_webhook.id)));
    let webhook_json = test.client.get(&format!("/v1/webhooks/{}", gone_webhook.id)).unwrap().json();
    assert_eq!(webhook_json["active"], json!(false), "{webhook_json}");
    assert_eq!(test.log(&gone_webhook)[0]["failure"], json!("gone"));
    test.service.stop();
}

/// Returns the number of received requests once all of them are in the log, so that no attempt is in flight.
fn settled_count(test: &mut ControlTest, subscription: &Subscription) -> usize {
    let mut count = 0;
    let is_settled = wait_until(PATIENCE, || {
        count = test.receiver.requests_to("/failing/paused").len();
        test.log(subscription).len() == count
    });
    assert!(is_settled.is_some(), "an attempt is missing from the delivery log");
    count
}

#[test]
fn deleted_subscription_gets_no_more_deliveries_on_sqlite() {
    a_deleted_subscription_gets_nothing_more(Installation::sqlite());
}

#[test]
fn deleted_subscription_gets_no_more_deliveries_on_postgres() {
    if let Some(place) = Installation::postgres() {
        a_deleted_subscription_gets_nothing_more(place);
    }
}

fn a_deleted_subscription_gets_nothing_more(place: Installation) {
    let mut test = ControlTest::set(place);
    let (deleted, _) = (test.subscribe("/failing/deleted"), test.subscribe("/failing/witness"));
    test.observe();
    test.wait_for_requests_to("/failing/deleted", 1);
    let path = format!("/v1/webhooks/{}", deleted.id);
    let response = test.client.request("DELETE", &path, &[], None).unwrap();
    assert_eq!((response.status, response.body.len()), (204, 0));
    test.observe();
    test.until_all_due_is_attempted("/failing/witness");
    // One attempt may have been in flight when the subscription was deleted.
    let arrivals = test.receiver.requests_to("/failing/deleted");
    assert!(
        arrivals.len() <= 2 && arrivals.iter().all(|arrival| arrival.event() == arrivals[0].event()),
        "{arrivals:?}"
    );
    for path in [path.clone(), format!("{path}/deliveries")] {
        assert_eq!(test.client.get(&path).unwrap().status, 404, "{path}");
    }
    test.service.stop();
}

#[test]
fn redelivery_is_sent_under_the_announced_id() {
    let mut test = ControlTest::set(Installation::sqlite());
    let subscription = test.subscribe("/hooks");
    let id = test.observe();
    let original = test.wait_for_requests_to("/hooks", 1).pop().unwrap();
    assert_eq!(observed_id(&original), id);
    assert!(!original.has("x-service-replay"));
    assert!(wait_until(PATIENCE, || test.log(&subscription).len() == 1).is_some());
    let path = format!("/v1/webhooks/{}/deliveries/{}/redeliver", subscription.id, original.delivery());
    let response = test.client.request("POST", &path, &[], None).unwrap();
    assert_eq!(response.status, 202, "{}", response.text());
    let second_arrival = test.wait_for_requests_to("/hooks", 2).pop().unwrap();
    assert_eq!(response.json(), json!({"delivery_id": second_arrival.delivery(), "event_id": original.event()}));
    assert_eq!((second_arrival.event(), &second_arrival.body), (original.event(), &original.body));
    assert_eq!(second_arrival.header("x-service-replay"), "true");
    assert!(wait_until(PATIENCE, || test.log(&subscription).len() == 2).is_some());
    let mut log_entries: Vec<(String, Value)> =
        test.log(&subscription).iter().map(|item| (text(&item["id"]), item["attempt"].clone())).collect();
    log_entries.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        log_entries,
        [(original.delivery().to_owned(), json!(1)), (second_arrival.delivery().to_owned(), json!(1))]
    );
    test.service.stop();
}

#[test]
fn test_delivery_is_sent_once_even_while_paused() {
    let mut test = ControlTest::set(Installation::sqlite());
    let (subscription, _) = (test.subscribe("/failing/tested"), test.subscribe("/failing/witness"));
    test.patch(&subscription, &json!({"active": false}));
    let response =
        test.client.request("POST", &format!("/v1/webhooks/{}/test", subscription.id), &[], None).unwrap();
    assert_eq!(response.status, 200, "{}", response.text());
    let ping = test.wait_for_requests_to("/failing/tested", 1).pop().unwrap();
    assert_eq!(response.json(), json!({"delivery_id": ping.delivery(), "event_id": ping.event()}));
    assert_eq!((ping.header("x-service-event"), ping.event().starts_with("evt_test_")), ("test.ping", true));
    assert!(ping.json()["data"]["message"].is_string());
    test.observe();
    test.until_all_due_is_attempted("/failing/witness");
    assert_eq!(test.receiver.requests_to("/failing/tested").len(), 1, "a test delivery was retried");
    let log = test.log(&subscription);
    assert_eq!((log.len(), &log[0]["status"], &log[0]["response_status"]), (1, &json!("failed"), &json!(500)));
    test.service.stop();
}
