//! Tests a connection pooler between service and database: supported modes work, and other modes are reported.

use std::collections::BTreeSet;
use std::thread;

use candor_test_postgres::{Cluster, TestSession};
use serde_json::{Value, json};

use crate::support::{Client, Installation, Mode, PATIENCE, Pooler, Receiver, Service, candor, wait_until};

const WRITERS: usize = 6;
/// Number of writes per writer.
const WRITES: usize = 25;

/// Starts a server with a pooler in front. `None` if PostgreSQL or the pooler is missing.
fn start_pooled(mode: Mode) -> Option<(Cluster, Pooler)> {
    let Some(server) = Cluster::start().unwrap() else {
        println!("skipped: there is no PostgreSQL to put a pooler in front of");
        return None;
    };
    let pooler = Pooler::start(mode, &server)?;
    Some((server, pooler))
}

fn trusting_installation(url: &str) -> Installation {
    Installation::with_database(url).with("CANDOR_WEBHOOKS_TRUSTED_TARGETS", "127.0.0.0/8")
}

fn create_resource(client: &mut Client, path: &str, key: &str, body: &Value) -> String {
    let response = client.request("POST", path, &[("Idempotency-Key", key)], Some(body)).unwrap();
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["id"].as_str().unwrap().to_owned()
}

/// Runs concurrent writers and readers. Asserts that every request succeeds, and that feed and webhook get each
/// event once.
fn serves(place: &Installation, key: &str) {
    let (service, receiver) = (Service::serve(place), Receiver::start());
    let mut client = service.client(key);
    let person = json!({"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"});
    let employee = create_resource(&mut client, "/v1/employees", "person", &person);
    let hook = json!({"url": receiver.url("/hooks"), "event_types": ["observation.created"]});
    create_resource(&mut client, "/v1/webhooks", "hook", &hook);
    let write = |writer: usize| {
        let mut client = service.client(key);
        let body = json!({"employee_id": employee, "type": "strength", "observation": "Listens."});
        let write = |number| {
            let key = format!("{writer}-{number}");
            let id = create_resource(&mut client, "/v1/observations", &key, &body);
            assert_eq!(create_resource(&mut client, "/v1/observations", &key, &body), id);
            let page = client.get("/v1/observations?filter[type]=strength&limit=5").unwrap();
            assert_eq!(page.status, 200, "{}", page.text());
            id
        };
        (0..WRITES).map(write).collect::<Vec<_>>()
    };
    let written_ids: Vec<String> = thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> = (0..WRITERS).map(|number| scope.spawn(move || write(number))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(written_ids.iter().collect::<BTreeSet<_>>().len(), WRITERS * WRITES);
    let mut events = vec![];
    let has_all_events = wait_until(PATIENCE, || {
        events = client.all("/v1/events?filter[event]=observation.created");
        events.len() >= written_ids.len()
    });
    assert!(has_all_events.is_some(), "{} events", events.len());
    let event_ids: BTreeSet<&str> = events.iter().map(|event| event["data"]["id"].as_str().unwrap()).collect();
    assert_eq!((event_ids, events.len()), (written_ids.iter().map(String::as_str).collect(), written_ids.len()));
    let events: BTreeSet<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    receiver.wait_for_requests("every event", |all| {
        all.iter().map(|arrival| arrival.event()).collect::<BTreeSet<_>>() == events
    });
    service.stop();
}

#[test]
fn pooler_in_session_mode_is_supported() {
    let Some((_server, pooler)) = start_pooled(Mode::Session) else { return };
    let place = trusting_installation(&pooler.url());
    let key = place.key("*", &["--admin"]).secret;
    serves(&place, &key);
    // The pooler gives a new service the server sessions that the first service has used.
    let service = Service::serve(&place);
    assert_eq!(service.client(&key).get("/v1/employees").unwrap().status, 200);
    service.stop();
}

#[test]
fn pooler_in_transaction_mode_needs_prepared_statements() {
    let Some((server, pooler)) = start_pooled(Mode::Transaction) else { return };
    let direct = Installation::with_database(&server.url());
    let settings = candor(&direct, &["migrate", "--role-settings"]).succeeded().stdout;
    TestSession::connect(&server.url()).unwrap().execute(&settings).unwrap();
    let set = "SELECT current_setting('enable_seqscan') = 'off' AND current_setting('lock_timeout') = '10s' AND \
               current_setting('max_parallel_workers_per_gather') = '0'";
    assert!(TestSession::connect(&server.url()).unwrap().is_true(set).unwrap(), "{settings}");
    let key = direct.key("*", &["--admin"]).secret;

    let place = trusting_installation(&pooler.url());
    if pooler.keeps_statements {
        let refusal = candor(&place, &["migrate"]);
        assert!(
            refusal.code == Some(1) && refusal.stderr.contains("leads to the server itself"),
            "{}",
            refusal.stderr
        );
        serves(&place, &key);
    } else {
        println!(
            "skipped: this PgBouncer is older than 1.21 and keeps no statements in transaction mode; only the \
            refusal is tested"
        );
        let statuses: Vec<_> = (0..4).map(|_| candor(&place, &["migrate", "--check"])).collect();
        let has_remedy = statuses
            .iter()
            .any(|status| status.code == Some(1) && status.stderr.contains("max_prepared_statements"));
        assert!(has_remedy, "{:?}", statuses.iter().map(|status| &status.stderr).collect::<Vec<_>>());
    }
}

#[test]
fn startup_parameter_refused_by_a_pooler_is_explained() {
    let Some((_server, pooler)) = start_pooled(Mode::Session) else { return };
    let place = Installation::with_database(&format!("{}?options=-c%20work_mem%3D8MB", pooler.url()));
    let it = candor(&place, &["serve"]);
    assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
    assert!(it.stderr.contains("ignore_startup_parameters"), "{}", it.stderr);
}
