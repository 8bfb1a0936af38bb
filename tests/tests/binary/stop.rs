//! The orderly end, and the start after it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Place, Service, signal, wait_until};

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn a_request_under_way_finishes_after_the_signal() {
    let place = Place::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    for name in ["TERM", "INT"] {
        let mut service = Service::serve(&place);
        let mut client = service.client(&key);
        let body = json!({"name": format!("Department {name}")}).to_string();
        let head = client.head("POST", "/v1/departments", Some(body.len()));
        client.send(format!("{head}Expect: 100-continue\r\n\r\n").as_bytes()).unwrap();
        // The service asks for the body, so the request is under way.
        assert_eq!(client.receive().unwrap().status, 100);
        signal(service.process_id(), name);
        let refuses = || service.anonymous().and_then(|mut it| it.get("/livez")).is_err();
        assert!(wait_until(PATIENCE, refuses).is_some(), "it takes new connections after the signal");
        client.send(body.as_bytes()).unwrap();
        assert_eq!(client.receive().unwrap().status, 201);
        assert!(service.ended().success(), "{}", service.log());
    }
    let service = Service::serve(&place);
    let departments = service.client(&key).get("/v1/departments").unwrap().json();
    assert_eq!(departments["data"].as_array().unwrap().len(), 2);
    service.stop();
}

#[test]
fn connections_without_a_request_do_not_hold_up_the_end() {
    let place = Place::sqlite();
    let mut service = Service::serve(&place);
    let mut used = service.anonymous().unwrap();
    assert_eq!(used.get("/livez").unwrap().status, 200);
    let _unused = service.anonymous().unwrap();
    let begun = Instant::now();
    signal(service.process_id(), "TERM");
    assert!(service.ended().success());
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
}

#[test]
fn a_request_that_never_ends_does_not_hold_up_the_end_for_ever() {
    let place = Place::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let mut service = Service::serve(&place);
    let mut client = service.client(&key);
    let head = client.head("POST", "/v1/departments", Some(1000));
    client.send(format!("{head}Expect: 100-continue\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(client.receive().unwrap().status, 100);
    signal(service.process_id(), "TERM");
    assert!(service.ended().success(), "{}", service.log());
}

#[test]
fn a_worker_without_requests_ends_well() {
    let place = Place::sqlite();
    let mut worker = Service::start(&place, &["serve", "--role", "worker", "--sweep-interval", "10ms"]);
    assert_eq!(worker.said["url"], json!(null));
    signal(worker.process_id(), "TERM");
    assert!(worker.ended().success(), "{}", worker.log());
}
