//! Tests power cuts during writes: acknowledged writes exist completely afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, Installation, PATIENCE, Service, wait_until};

const ROUNDS: usize = 4;
const WRITERS: usize = 8;
/// Number of writes acknowledged per round before the kill. Further writes are in flight at the kill.
const WRITES: usize = 120;

#[test]
fn kill_during_writes_loses_nothing_acknowledged_on_sqlite() {
    a_kill_loses_nothing(&Installation::sqlite());
}

#[test]
fn kill_during_writes_loses_nothing_acknowledged_on_postgres() {
    if let Some(place) = Installation::postgres() {
        a_kill_loses_nothing(&place);
    }
}

fn a_kill_loses_nothing(place: &Installation) {
    let key = place.key("*", &["--admin"]).secret;
    let mut acknowledged_texts = BTreeMap::new();
    for round in 0..ROUNDS {
        let service = Service::serve(place);
        let employee = employee(&mut service.client(&key), round);
        let (known, unanswered) = write_until_killed(service, &key, &employee, round);
        acknowledged_texts.extend(known);
        let service = Service::serve(place);
        let mut client = service.client(&key);
        repeat(&mut client, &employee, &unanswered, &mut acknowledged_texts);
        everything_is_there(&mut client, &acknowledged_texts);
        service.stop();
    }
}

fn employee(client: &mut Client, round: usize) -> String {
    let body = json!({"email": format!("{round}@example.com"), "first_name": "A", "last_name": "B"});
    let response = client.post("/v1/employees", &body).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["id"].as_str().unwrap().to_owned()
}

fn body(employee: &str, text: &str) -> Value {
    json!({"employee_id": employee, "type": "strength", "observation": text})
}

/// Writes without pause until the service is killed. Returns the acknowledged texts by id, and the texts of
/// unanswered writes.
fn write_until_killed(
    service: Service,
    key: &str,
    employee: &str,
    round: usize,
) -> (BTreeMap<String, String>, Vec<String>) {
    let (known, unanswered, count) = (Mutex::default(), Mutex::default(), AtomicUsize::new(0));
    let address = service.address;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (known, unanswered, count) = (&known, &unanswered, &count);
            scope.spawn(move || {
                let Ok(mut client) = Client::connect(address, key) else { return };
                for number in 0.. {
                    let text = format!("{round}-{writer}-{number}");
                    let write_result = write(&mut client, employee, &text);
                    let Ok(id) = write_result else {
                        let unanswered_texts: &Mutex<Vec<String>> = unanswered;
                        unanswered_texts.lock().unwrap().push(text);
                        return;
                    };
                    let known_texts: &Mutex<BTreeMap<String, String>> = known;
                    known_texts.lock().unwrap().insert(id, text);
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let enough = wait_until(PATIENCE, || count.load(Ordering::SeqCst) >= WRITES);
        service.kill();
        assert!(enough.is_some(), "only {count:?} writes");
    });
    (known.into_inner().unwrap(), unanswered.into_inner().unwrap())
}

/// Creates an observation and returns its id. The text is also the idempotency key, so that the request can be
/// retried.
fn write(client: &mut Client, employee: &str, text: &str) -> std::io::Result<String> {
    let headers = [("Idempotency-Key", text)];
    let response = client.request("POST", "/v1/observations", &headers, Some(&body(employee, text)))?;
    assert_eq!(response.status, 201, "{}", response.text());
    Ok(response.json()["id"].as_str().unwrap().to_owned())
}

/// Retries the unanswered writes, after which each write exists exactly once.
fn repeat(client: &mut Client, employee: &str, texts: &[String], acknowledged: &mut BTreeMap<String, String>) {
    for text in texts {
        let id = write(client, employee, text).unwrap();
        assert_eq!(write(client, employee, text).unwrap(), id);
        acknowledged.insert(id, text.clone());
    }
}

/// Asserts that every acknowledged write has exactly one row, one event and one audit entry, and that no other
/// rows exist.
fn everything_is_there(client: &mut Client, acknowledged: &BTreeMap<String, String>) {
    let rows: Vec<Value> = client.all("/v1/observations?sort=created_at");
    let stored_texts: BTreeMap<String, String> =
        rows.iter().map(|row| (text(&row["id"]), text(&row["observation"]))).collect();
    assert_eq!(stored_texts.len(), rows.len());
    assert_eq!(&stored_texts, acknowledged);
    let ids: BTreeSet<&String> = acknowledged.keys().collect();
    // Waits for the feed: on PostgreSQL, open transactions of any database on the server delay the events.
    let mut event_ids: Vec<String> = vec![];
    wait_until(PATIENCE, || {
        let events = client.all("/v1/events?filter[event]=observation.created");
        event_ids = events.iter().map(|event| text(&event["data"]["id"])).collect();
        event_ids.len() >= ids.len()
    });
    assert_eq!((event_ids.iter().collect(), event_ids.len()), (ids.clone(), ids.len()));
    let entries = client.all("/v1/audit-log?filter[action]=observation.create");
    let audited_ids: Vec<String> = entries.iter().map(|entry| text(&entry["target"]["id"])).collect();
    assert_eq!((audited_ids.iter().collect(), audited_ids.len()), (ids.clone(), ids.len()));
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
