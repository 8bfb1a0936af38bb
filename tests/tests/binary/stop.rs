//! Tests the graceful stop, and the restart after it.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

use crate::support::{Client, Installation, PATIENCE, Service, signal, wait_until, watched, watched_with};

#[test]
fn request_in_flight_finishes_after_the_signal() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    for name in ["TERM", "INT"] {
        let mut service = Service::serve(&place);
        let mut client = service.client(&key);
        let body = json!({"name": format!("Department {name}")}).to_string();
        let head = client.head("POST", "/v1/departments", Some(body.len()));
        client.send(format!("{head}Expect: 100-continue\r\n\r\n").as_bytes()).unwrap();
        // The `100 Continue` shows that the request is in flight.
        assert_eq!(client.receive().unwrap().status, 100);
        signal(service.process_id(), name);
        let refuses = || service.anonymous().and_then(|mut client| client.get("/livez")).is_err();
        assert!(wait_until(PATIENCE, refuses).is_some(), "the service takes new connections after the signal");
        client.send(body.as_bytes()).unwrap();
        assert_eq!(client.receive().unwrap().status, 201);
        assert!(service.wait_for_exit().success(), "{}", service.log());
    }
    let service = Service::serve(&place);
    let departments = service.client(&key).get("/v1/departments").unwrap().json();
    assert_eq!(departments["data"].as_array().unwrap().len(), 2);
    service.stop();
}

#[test]
fn endless_request_delays_the_shutdown_for_a_limited_time() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let mut service = Service::serve(&place);
    let mut client = service.client(&key);
    let head = client.head("POST", "/v1/departments", Some(1000));
    client.send(format!("{head}Expect: 100-continue\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(client.receive().unwrap().status, 100);
    signal(service.process_id(), "TERM");
    assert!(service.wait_for_exit().success(), "{}", service.log());
}

#[test]
fn worker_without_work_shuts_down_cleanly() {
    let place = Installation::sqlite();
    let mut worker = Service::start(&place, &["serve", "--role", "worker", "--sweep-interval", "10ms"]);
    assert_eq!(worker.said["url"], json!(null));
    signal(worker.process_id(), "TERM");
    assert!(worker.wait_for_exit().success(), "{}", worker.log());
}

#[test]
fn log_that_is_not_read_delays_no_request_and_no_stop() {
    let place = Installation::sqlite().with("CANDOR_LOG", "trace").with("CANDOR_LOG_FORMAT", "json");
    let key = place.key("*", &["--admin"]).secret;
    let mut service = watched(&place, &["serve"]);
    let address = service.address();
    let mut client = Client::connect(address, &key).unwrap();
    // The pipe and the queue are full once a line is dropped.
    let drops_lines = || {
        for _ in 0..100 {
            assert_eq!(client.get("/v1/me").unwrap().status, 200);
        }
        let metrics = Client::connect(address, "").unwrap().get("/metrics").unwrap().text();
        let dropped_lines = metrics.lines().find_map(|line| line.strip_prefix("candor_log_lines_dropped_total "));
        dropped_lines.unwrap().parse::<u64>().unwrap() > 0
    };
    assert!(wait_until(PATIENCE, drops_lines).is_some(), "no line is dropped");
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    service.stop();
}

#[test]
fn service_runs_without_room_for_its_greeting() {
    let place = Installation::sqlite().with("CANDOR_LOG_FORMAT", "json");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut service = watched_with(&place, &["serve", "--json"], Stdio::from(full));
    let address = service.address();
    assert_eq!(Client::connect(address, "").unwrap().get("/readyz").unwrap().status, 200);
    service.lines_until("cannot print the addresses");
    service.stop();
}

fn status(client: io::Result<Client>, path: &str) -> Option<u16> {
    client.and_then(|mut client| client.get(path)).ok().map(|client| client.status)
}

#[test]
fn signal_ends_readiness_at_once_and_service_after_the_delay() {
    let place = Installation::sqlite().with("CANDOR_DRAIN_DELAY", "10m");
    let key = place.key("*", &["--admin"]).secret;
    for name in ["TERM", "INT"] {
        let mut service = Service::start(&place, &["serve", "--admin-listen", "127.0.0.1:0"]);
        let mut idle_client = service.client(&key);
        assert_eq!(idle_client.get("/v1/me").unwrap().header("connection"), None);
        signal(service.process_id(), name);
        let drains = || status(service.anonymous(), "/readyz") == Some(503);
        assert!(wait_until(PATIENCE, drains).is_some(), "ready after SIG{name}");
        let ready = service.admin().unwrap().get("/readyz").unwrap();
        assert_eq!((ready.status, &ready.json()["error"]["message"]), (503, &json!("The service is stopping.")));
        for mut client in [idle_client, service.client(&key)] {
            let response = client.get("/v1/me").unwrap();
            assert_eq!((response.status, response.header("connection")), (200, Some("close")));
            assert!(client.get("/v1/me").is_err(), "the connection ends behind the answer that says so");
        }
        assert_eq!(status(service.admin(), "/livez"), Some(200));
        // A second signal ends the drain delay.
        signal(service.process_id(), "TERM");
        assert!(service.wait_for_exit().success(), "{}", service.log());
    }
}

/// A service under load that stops, as its clients see it.
#[derive(Default)]
struct Shutdown {
    /// `true` once the service may refuse connections.
    is_over: AtomicBool,
    answered: AtomicUsize,
    /// Number of clients that were told to close their connection.
    warned: AtomicUsize,
}

impl Shutdown {
    /// Sends sequential requests on a persistent connection until the service refuses connections. Returns the
    /// failures of requests that were sent but not answered.
    fn ask_until_closed(&self, address: SocketAddr, key: &str) -> Vec<String> {
        let mut broken_requests = vec![];
        let (mut kept, mut is_warned): (Option<Client>, _) = (None, false);
        loop {
            let mut client = match kept.take().map_or_else(|| Client::connect(address, key), Ok) {
                Ok(client) => client,
                Err(_) if self.is_over.load(Ordering::SeqCst) => return broken_requests,
                Err(error) => {
                    broken_requests.push(format!("not accepted: {error}"));
                    return broken_requests;
                }
            };
            match client.get("/v1/me") {
                Ok(response) => {
                    assert_eq!(response.status, 200, "{}", response.text());
                    self.answered.fetch_add(1, Ordering::SeqCst);
                    let closes = response.header("connection") == Some("close");
                    if closes && !std::mem::replace(&mut is_warned, true) {
                        self.warned.fetch_add(1, Ordering::SeqCst);
                    }
                    kept = (!closes).then_some(client);
                }
                Err(error) => broken_requests.push(error.to_string()),
            }
        }
    }
}

#[test]
fn kept_connections_see_no_broken_request_in_six_shutdowns() {
    const CLIENTS: usize = 4;
    let place = Installation::sqlite().with("CANDOR_DRAIN_DELAY", "10m");
    let key = place.key("*", &["--admin"]).secret;
    let mut total = 0;
    for stop in 1..=6 {
        let mut service = Service::serve(&place);
        let (address, process) = (service.address, service.process_id());
        let shutdown = Shutdown::default();
        let broken_requests: Vec<String> = thread::scope(|scope| {
            let ask = || shutdown.ask_until_closed(address, &key);
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
            let has_load = || shutdown.answered.load(Ordering::SeqCst) >= 50 * CLIENTS;
            let is_loaded = wait_until(PATIENCE, has_load);
            signal(process, "TERM");
            let is_told = wait_until(PATIENCE, || shutdown.warned.load(Ordering::SeqCst) == CLIENTS);
            // The drain delay lasts until every client has given up its connection. A second signal ends it.
            shutdown.is_over.store(true, Ordering::SeqCst);
            signal(process, "TERM");
            let all_broken_requests = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
            assert!(is_loaded.is_some() && is_told.is_some(), "load: {is_loaded:?}, warning: {is_told:?}");
            all_broken_requests
        });
        assert!(service.wait_for_exit().success(), "{}", service.log());
        total += shutdown.answered.into_inner();
        assert_eq!(broken_requests, Vec::<String>::new(), "stop {stop}, after {total} answers");
    }
    println!("{total} answers in six stops, none broken");
}
