//! Health, metrics and logs, as a monitoring system sees them.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{Place, Service};

#[test]
fn a_ready_service_is_live_and_ready_and_tells_its_metrics() {
    let place = Place::sqlite();
    let service = Service::serve(&place);
    let mut client = service.anonymous().unwrap();
    assert_eq!(client.get("/livez").unwrap().status, 200);
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    assert_eq!(client.get("/v1/nowhere").unwrap().status, 404);
    let metrics = client.get("/metrics").unwrap();
    assert_eq!(metrics.status, 200);
    let text = metrics.text();
    let counted = text.lines().any(|it| it.starts_with("candor_http_requests_total{") && it.contains("404"));
    assert!(counted, "{text}");
    assert!(text.contains("candor_http_request_duration_seconds_bucket{"), "{text}");
}

#[test]
fn metrics_move_to_a_listener_of_their_own() {
    let place = Place::sqlite();
    let service = Service::start(&place, &["serve", "--admin-listen", "127.0.0.1:0"]);
    assert_eq!(service.anonymous().unwrap().get("/metrics").unwrap().status, 404);
    assert_eq!(service.admin().unwrap().get("/metrics").unwrap().status, 200);
    service.stop();
}

#[test]
fn a_worker_tells_its_health_where_its_metrics_are() {
    let place = Place::sqlite();
    let worker = Service::start(&place, &["serve", "--role", "worker", "--admin-listen", "127.0.0.1:0"]);
    let mut client = worker.admin().unwrap();
    for (path, status) in [("/livez", "alive"), ("/readyz", "ready")] {
        let answer = client.get(path).unwrap();
        assert_eq!((answer.status, answer.json()), (200, json!({"status": status})), "{path}");
    }
    let elsewhere = client.get("/v1/me").unwrap();
    assert_eq!(
        (elsewhere.status, &elsewhere.json()["error"]["code"]),
        (404, &json!("not_found")),
        "the API is not here"
    );
    let posted = client.post("/livez", &json!({})).unwrap();
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    let options = worker.admin().unwrap().request("OPTIONS", "/livez", &[], None).unwrap();
    assert_eq!((options.status, options.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
    let address = worker.said["metrics_url"].as_str().unwrap().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address.trim_end_matches("/metrics")).unwrap();
    stream.write_all(b"HEAD /livez HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let head = std::io::read_to_string(stream).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "no body: {head}");
    worker.stop();
}

#[test]
fn a_request_is_one_line_of_the_log_without_personal_data_and_secrets() {
    let place = Place::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::start(&place, &["serve", "--log-format", "json"]);
    let body = json!({"email": "grace@example.com", "first_name": "Grace", "last_name": "Hopper-Murray"});
    let answer = service.client(&key).post("/v1/employees", &body).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text());
    let listed = service.client(&key).get("/v1/employees?filter[email]=grace@example.com").unwrap();
    assert_eq!(listed.status, 200);
    let request = answer.header("x-request-id").unwrap().to_owned();
    let log = service.log();
    let lines: Vec<Value> = log.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let about = lines.iter().filter(|it| it.to_string().contains(&request)).collect::<Vec<_>>();
    assert_eq!(about.len(), 1, "{log}");
    assert_eq!(about[0]["status"], json!(201), "{log}");
    for secret in ["grace", "Grace", "Hopper", key.as_str()] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}
