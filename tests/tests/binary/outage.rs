//! Tests an outage of the database: the service reports the outage, refuses requests, and recovers.

use serde_json::json;

use crate::support::{Client, Installation, PATIENCE, Proxy, Service, candor, signal, wait_until, watched};

fn is_ready(service: &Service) -> bool {
    service.anonymous().and_then(|mut client| client.get("/readyz")).is_ok_and(|response| response.status == 200)
}

fn department(client: &mut Client, name: &str) -> (u16, serde_json::Value) {
    let response =
        client.request("POST", "/v1/departments", &[("Idempotency-Key", name)], Some(&json!({"name": name})));
    let response = response.unwrap();
    (response.status, response.json())
}

/// Creates an installation whose database is reached through a proxy. `None` without PostgreSQL.
fn place_on_a_line() -> Option<(Installation, Proxy, String)> {
    let place = Installation::postgres()?;
    let key = place.key("*", &["--admin"]).secret;
    let direct = place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1.clone();
    let line = Proxy::forward_to(&direct);
    Some((place.with("CANDOR_DATABASE_URL", &line.url(&direct)), line, key))
}

#[test]
fn database_outage_ends_with_the_return_of_the_database() {
    let Some((place, line, key)) = place_on_a_line() else { return };
    let service = Service::start(&place, &["serve", "--admin-listen", "127.0.0.1:0"]);
    let mut client = service.client(&key);
    assert_eq!(department(&mut client, "Before").0, 201);

    line.cut();
    assert!(wait_until(PATIENCE, || !is_ready(&service)).is_some(), "ready without a database");
    let (status, body) = department(&mut client, "Meanwhile");
    assert_eq!((status, body["error"]["code"].as_str()), (503, Some("unavailable")), "{body}");
    assert_eq!(service.anonymous().unwrap().get("/livez").unwrap().status, 200);
    assert_eq!(service.admin().unwrap().get("/livez").unwrap().status, 200);
    let response = service.admin().unwrap().get("/readyz").unwrap();
    assert_eq!((response.status, response.json()["error"]["code"].as_str()), (503, Some("unavailable")));
    assert!(!body.to_string().contains("connection"), "the cause reached a client: {body}");

    line.mend();
    assert!(wait_until(PATIENCE, || is_ready(&service)).is_some(), "not ready again: {}", service.log());
    assert_eq!(department(&mut client, "Meanwhile").0, 201);
    let departments = client.get("/v1/departments?sort=name").unwrap().json();
    let names: Vec<&str> =
        departments["data"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Before", "Meanwhile"]);
    service.stop();
}

#[test]
fn silent_database_does_not_delay_the_shutdown() {
    let Some((place, line, key)) = place_on_a_line() else { return };
    let mut service = Service::serve(&place);
    let mut client = service.client(&key);
    assert_eq!(department(&mut client, "Before").0, 201);
    line.fall_silent();
    let body = json!({"name": "Meanwhile"}).to_string();
    let head = client.head("POST", "/v1/departments", Some(body.len()));
    client.send(format!("{head}\r\n{body}").as_bytes()).unwrap();
    signal(service.process_id(), "TERM");
    assert!(service.wait_for_exit().success(), "{}", service.log());
}

#[test]
fn start_waits_and_logs_until_the_database_answers() {
    let Some((place, line, key)) = place_on_a_line() else { return };
    line.cut();
    let mut waiting = watched(&place, &["serve"]);
    let lines = waiting.lines_until("waiting for the database");
    assert!(!lines.concat().contains("panicked"), "{lines:?}");
    line.mend();
    waiting.lines_until("ready");
    waiting.stop();
    let service = Service::serve(&place);
    assert_eq!(department(&mut service.client(&key), "After").0, 201);
    service.stop();
}

#[test]
fn start_does_not_wait_for_a_database_that_refuses() {
    let Some(place) = Installation::postgres() else { return };
    let url = place.settings.iter().find(|(name, _)| name == "CANDOR_DATABASE_URL").unwrap().1.clone();
    let (server, rest) = url.rsplit_once('/').unwrap();
    let query = rest.split_once('?').map_or(String::new(), |(_, query)| format!("?{query}"));
    let nowhere = place.with("CANDOR_DATABASE_URL", &format!("{server}/no_such_database{query}"));
    let it = candor(&nowhere, &["serve"]);
    assert_eq!((it.code, it.stdout.as_str(), it.stderr.lines().count()), (Some(1), "", 1), "{}", it.stderr);
    assert!(it.stderr.contains("no_such_database"), "{}", it.stderr);
}
