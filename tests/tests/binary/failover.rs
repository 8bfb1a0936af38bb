//! Tests failover to the synchronous standby: every acknowledged write exists exactly once, and the service
//! continues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use candor_test_postgres::TestSession;
use serde_json::{Value, json};

use crate::support::{
    Client, Installation, PATIENCE, PrimaryAndStandby, Receiver, Response, Service, signal, wait_until,
};

const WRITERS: usize = 4;
/// Number of acknowledged writes before the primary dies, and again after the failover.
const WRITES: usize = 150;

/// A primary with a synchronous standby, and a service that is configured with both.
struct FailoverTest {
    pair: PrimaryAndStandby,
    place: Installation,
    key: String,
}

impl FailoverTest {
    fn new() -> Option<Self> {
        let pair = PrimaryAndStandby::start()?;
        let key = Installation::with_database(&pair.primary.url()).key("*", &["--admin"]).secret;
        pair.synchronize();
        let place = Installation::with_database(&pair.url())
            .with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")
            .with("CANDOR_WEBHOOKS_TIMEOUT", "5s")
            .with("CANDOR_WEBHOOKS_RETRY_SCHEDULE", &["1s"; 50].join(","));
        Some(Self { pair, place, key })
    }

    /// Starts a service, and a writer on it with an employee to observe.
    fn serve(&self) -> (Service, Writer) {
        let service = Service::serve(&self.place);
        let mut client = service.client(&self.key);
        let body = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"});
        let response = client.post("/v1/employees", &body).unwrap();
        assert_eq!(response.status, 201, "{}", response.text());
        let employee = text(&response.json()["id"]);
        (service, Writer { client, employee })
    }
}

/// A client that records observations about one employee.
struct Writer {
    client: Client,
    employee: String,
}

impl Writer {
    fn beside(&self, service: &Service, key: &str) -> Self {
        Self { client: service.client(key), employee: self.employee.clone() }
    }

    /// Creates an observation. Its text is also the idempotency key, so that the request can be retried.
    fn write(&mut self, words: &str) -> Response {
        let body = json!({"employee_id": self.employee, "type": "strength", "observation": words});
        self.client.request("POST", "/v1/observations", &[("Idempotency-Key", words)], Some(&body)).unwrap()
    }

    /// Retries the write until it is acknowledged. Returns the observation's id.
    fn insist(&mut self, words: &str, refused: &AtomicUsize) -> String {
        let mut id = None;
        let is_acknowledged = wait_until(PATIENCE, || {
            let response = self.write(words);
            if response.status == 201 {
                id = Some(text(&response.json()["id"]));
            } else {
                assert_unavailable(&response);
                refused.fetch_add(1, Ordering::SeqCst);
            }
            id.is_some()
        });
        assert!(is_acknowledged.is_some(), "{words} was refused {refused:?} times");
        id.unwrap()
    }
}

/// Asserts that the answer is a 503 with `Retry-After` (§7).
fn assert_unavailable(response: &Response) {
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.json()["error"]["code"], "unavailable");
    let seconds = response.header("retry-after").and_then(|value| value.parse::<u32>().ok());
    assert!(seconds.is_some_and(|value| value > 0), "{:?}", response.headers);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// The feed of observation events.
const FEED: &str = "/v1/events?filter[event]=observation.created";

fn event_and_observation(event: &Value) -> (String, String) {
    (text(&event["id"]), text(&event["data"]["id"]))
}

/// State that the writers and the follower share.
#[derive(Default)]
struct Load {
    /// Texts of the acknowledged observations, by id.
    known: Mutex<BTreeMap<String, String>>,
    acknowledged: AtomicUsize,
    refused: AtomicUsize,
    is_over: AtomicBool,
    /// `true` once all writers have ended.
    is_whole: AtomicBool,
}

impl Load {
    /// Writes until `is_over`. Retries each write until it is acknowledged before starting the next one.
    fn write(&self, mut writer: Writer, number: usize) {
        for round in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let words = format!("{number}-{round}");
            let id = writer.insist(&words, &self.refused);
            assert_eq!(self.known.lock().unwrap().insert(id, words), None, "an id twice");
            self.acknowledged.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Follows the feed page by page without pause until it has every acknowledged write.
    fn follow(&self, client: &mut Client) -> Vec<(String, String)> {
        let (mut followed, mut cursor) = (vec![], String::new());
        let complete = wait_until(PATIENCE, || {
            let response = client.get(&format!("{FEED}&limit=7{cursor}")).unwrap();
            if response.status != 200 {
                assert_unavailable(&response);
                return false;
            }
            let page = response.json();
            followed.extend(page["data"].as_array().unwrap().iter().map(event_and_observation));
            cursor = format!("&cursor={}", text(&page["next_cursor"]));
            self.is_whole.load(Ordering::SeqCst) && followed.len() >= self.known.lock().unwrap().len()
        });
        assert!(complete.is_some(), "{} of {:?} events", followed.len(), self.acknowledged);
        followed
    }

    /// Waits for [`WRITES`] more acknowledged writes.
    fn goes_on(&self) {
        let count_before = self.acknowledged.load(Ordering::SeqCst);
        let more = || self.acknowledged.load(Ordering::SeqCst) >= count_before + WRITES;
        assert!(wait_until(PATIENCE, more).is_some(), "{:?} and no more", self.acknowledged);
    }
}

#[test]
fn failover_under_load_loses_and_duplicates_nothing() {
    let Some(mut test) = FailoverTest::new() else { return };
    let receiver = Receiver::start();
    let (service, mut first) = test.serve();
    let hook = json!({"url": receiver.url("/hooks"), "event_types": ["observation.created"]});
    assert_eq!(first.client.post("/v1/webhooks", &hook).unwrap().status, 201);

    let load = Load::default();
    let followed_ids = thread::scope(|scope| {
        let load = &load;
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let writer = first.beside(&service, &test.key);
                scope.spawn(move || load.write(writer, number))
            })
            .collect();
        let mut client = service.client(&test.key);
        let follower = scope.spawn(move || load.follow(&mut client));
        load.goes_on();
        test.pair.primary.kill().unwrap();
        let has_refused = wait_until(PATIENCE, || load.refused.load(Ordering::SeqCst) >= WRITERS);
        assert!(has_refused.is_some(), "too few writes are refused without a database");
        test.pair.promote();
        load.goes_on();
        load.is_over.store(true, Ordering::SeqCst);
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        load.is_whole.store(true, Ordering::SeqCst);
        follower.join().unwrap()
    });
    let known_texts = load.known.into_inner().unwrap();
    is_there_once(&mut first.client, &known_texts, &followed_ids);

    let events: BTreeSet<&str> = followed_ids.iter().map(|(event, _)| event.as_str()).collect();
    receiver.wait_for_requests("every event, and no other", |all| {
        let delivered_events: BTreeSet<&str> =
            all.iter().filter(|arrival| arrival.is_acknowledged()).map(|arrival| arrival.event()).collect();
        delivered_events == events
    });
    service.stop();
}

/// Asserts that every acknowledged write has exactly one row and one event, and that the follower saw the same
/// feed.
fn is_there_once(client: &mut Client, known: &BTreeMap<String, String>, followed: &[(String, String)]) {
    let rows = client.all("/v1/observations");
    let stored_texts: BTreeMap<String, String> =
        rows.iter().map(|row| (text(&row["id"]), text(&row["observation"]))).collect();
    assert_eq!((&stored_texts, rows.len()), (known, known.len()));
    let feed: Vec<_> = client.all(FEED).iter().map(event_and_observation).collect();
    let differs = followed.iter().zip(&feed).position(|(one, other)| one != other);
    assert_eq!((differs, followed.len()), (None, feed.len()));
    let ids: BTreeSet<&String> = feed.iter().map(|(_, id)| id).collect();
    assert_eq!((ids, feed.len()), (known.keys().collect(), known.len()));
}

/// Servers that have a change when the primary dies before it acknowledges the commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeReach {
    /// The change is on the primary only.
    Primary,
    /// The change is on the standby too, but the client got no acknowledgement.
    Standby,
}

#[test]
fn change_lost_with_its_server_is_made_by_its_retry() {
    in_doubt(ChangeReach::Primary);
}

#[test]
fn change_that_reached_the_standby_is_replayed_to_its_retry() {
    in_doubt(ChangeReach::Standby);
}

fn in_doubt(reach: ChangeReach) {
    let Some(mut test) = FailoverTest::new() else { return };
    let (service, mut writer) = test.serve();
    let primary = TestSession::connect(&test.pair.primary.url()).unwrap();
    let sender = match reach {
        ChangeReach::Primary => Some(test.pair.stop_sending()),
        ChangeReach::Standby => {
            // With `remote_apply` the commit waits until the standby replays it, and replay is paused.
            primary.execute("ALTER SYSTEM SET synchronous_commit = remote_apply").unwrap();
            primary.execute("SELECT pg_reload_conf()").unwrap();
            test.pair.pause();
            None
        }
    };
    let response = thread::scope(|scope| {
        let writer = &mut writer;
        let writer_thread = scope.spawn(move || writer.write("in-doubt"));
        let waits = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' \
                     AND query LIKE '%INTO observations%')";
        assert!(
            wait_until(PATIENCE, || primary.is_true(waits).unwrap()).is_some(),
            "the commit does not wait for the standby"
        );
        test.pair.primary.kill().unwrap();
        writer_thread.join().unwrap()
    });
    assert_unavailable(&response);
    match sender {
        Some(process) => signal(process, "KILL"),
        None => test.pair.resume(),
    }
    test.pair.promote();
    let standby = TestSession::connect(&test.pair.standby.url()).unwrap();
    let has = "SELECT EXISTS (SELECT 1 FROM observations)";
    assert_eq!(standby.is_true(has).unwrap(), reach == ChangeReach::Standby);

    let id = writer.insist("in-doubt", &AtomicUsize::new(0));
    assert_eq!(writer.insist("in-doubt", &AtomicUsize::new(0)), id);
    let known_texts = BTreeMap::from([(id.clone(), "in-doubt".to_owned())]);
    let feed: Vec<_> = writer.client.all(FEED).iter().map(event_and_observation).collect();
    is_there_once(&mut writer.client, &known_texts, &feed);
    service.stop();
}
