//! Errors, advice about retries, and responses of later versions, from a service that the test plays.

use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use candor_client::types::{EmployeeCreate, ErrorCode, ErrorDetail, Event, ObservationType};
use candor_client::{Candor, Error};
use serde_json::json;

use super::Fixture;
use crate::support::wire;

/// A service that gives every request the same response.
struct PlayedService {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl PlayedService {
    fn start(status: u16, headers: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let length = body.len();
        let response =
            format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}");
        let requests = Arc::new(AtomicUsize::new(0));
        let shared_count = Arc::clone(&requests);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(client);
                if wire::line(&mut reader).and_then(|_| wire::headers(&mut reader)).is_ok() {
                    shared_count.fetch_add(1, Ordering::SeqCst);
                    reader.get_mut().write_all(response.as_bytes()).unwrap();
                }
            }
        });
        Self { url, requests }
    }

    fn client(&self) -> Candor {
        Candor::builder().api_key("cdr_live_x").base_url(&self.url).max_retries(2).build().unwrap()
    }
}

const ENVELOPE: &str = r#"{"error": {"code": "conflict", "message": "m", "request_id": "r"}}"#;

#[tokio::test]
async fn advice_of_the_service_overrides_the_status() {
    for (status, advice, requests) in [(409, "true", 3), (503, "false", 1), (503, "", 3), (500, "", 1)] {
        let headers = if advice.is_empty() { String::new() } else { format!("candor-should-retry: {advice}\r\n") };
        let played_server = PlayedService::start(status, &headers, ENVELOPE);
        assert!(matches!(played_server.client().me().get().await, Err(Error::Api(_))));
        assert_eq!(played_server.requests.load(Ordering::SeqCst), requests, "{status} {advice}");
    }
}

#[tokio::test]
async fn wait_beyond_the_longest_one_is_not_begun() {
    for (status, seconds, max_wait) in [(429, 66, None), (503, 31, None), (429, 8, Some(5)), (503, 8, Some(5))] {
        let header = format!("retry-after: {seconds}\r\n");
        let played_server = PlayedService::start(status, &header, r#"{"error": {"code": "rate_limited"}}"#);
        let call = played_server.client().me().get();
        let call = match max_wait {
            Some(wait) => call.max_wait(Duration::from_secs(wait)),
            None => call,
        };
        let error = call.await.unwrap_err();
        assert_eq!(
            (error.code(), error.retry_after()),
            (Some(&ErrorCode::RateLimited), Some(Duration::from_secs(seconds)))
        );
        assert_eq!(played_server.requests.load(Ordering::SeqCst), 1, "{status} {seconds}");
    }
}

#[tokio::test]
async fn error_has_its_code_and_typed_details() {
    let fixture = Fixture::start();
    let employees = fixture.client().employees();
    let missing = employees.get("emp_01KJPWD6M24DF9HWRAYHFSFV52", None).await.unwrap_err();
    let missing = missing.api().unwrap();
    assert_eq!((&missing.code, missing.status.as_u16()), (&ErrorCode::NotFound, 404));
    assert!(missing.request_id.as_deref().unwrap().starts_with("req_"));
    let wrong = employees.create(EmployeeCreate::new("x", "", "B")).await.unwrap_err();
    let mut fields: Vec<_> = wrong.api().unwrap().field_problems().map(|problem| problem.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!((wrong.code(), fields), (Some(&ErrorCode::ValidationError), vec!["email", "first_name"]));
}

#[tokio::test]
async fn unknown_code_and_detail_do_not_break_the_client() {
    let later_error =
        json!({"error": {"code": "on_fire", "message": "m", "details": [{"heat": 3}], "colour": "red"}});
    let error = PlayedService::start(418, "", &later_error.to_string()).client().me().get().await.unwrap_err();
    let error = error.api().unwrap();
    assert_eq!(error.code, ErrorCode::Unknown("on_fire".to_owned()));
    assert_eq!(error.details, [ErrorDetail::Unknown(json!({"heat": 3}))]);
    let page = PlayedService::start(500, "", "<html>").client().me().get().await.unwrap_err();
    assert_eq!(page.api().unwrap().status.as_u16(), 500);
}

#[tokio::test]
async fn unknown_word_and_member_do_not_break_a_resource() {
    let fixture = Fixture::start();
    let client = fixture.client();
    let ada = client.employees().create(EmployeeCreate::new("a@example.com", "A", "B")).await.unwrap();
    let body = candor_client::types::ObservationCreate::new(&ada.id, "strength", "Calm.");
    let observation = client.observations().create(body).await.unwrap();
    let mut later_json = json!(observation);
    later_json["type"] = json!("epiphany");
    later_json["mood"] = json!({"new": true});
    let read = PlayedService::start(200, "", &later_json.to_string())
        .client()
        .observations()
        .get("obs_1", None)
        .await
        .unwrap();
    assert_eq!(read.r#type, ObservationType::Unknown("epiphany".to_owned()));
    assert_eq!(read.observation, "Calm.");
}

#[test]
fn unknown_event_is_another_event() {
    let common = json!({"id": "evt_1", "created_at": "t", "api_version": "v1", "organization_id": "org_1"});
    let event = |name: &str, data: serde_json::Value| {
        let mut event = common.clone();
        event["event"] = json!(name);
        event["data"] = data;
        serde_json::from_value::<Event>(event).unwrap()
    };
    for (name, data) in [("employee.promoted", json!({"level": 3})), ("employee.created", json!({"shape": "new"}))]
    {
        let Event::Other(other) = event(name, data.clone()) else { panic!("{name} is known") };
        assert_eq!((other.event.as_str(), json!(other.data)), (name, data));
    }
    let known_event = event("test.ping", json!({"message": "Hello"}));
    assert_eq!(
        (known_event.id(), known_event.name(), known_event.organization_id()),
        ("evt_1", "test.ping", "org_1")
    );
    let words: HashMap<&str, usize> = HashMap::from([(known_event.created_at(), 1)]);
    assert!(matches!(known_event, Event::Test(_)) && words.contains_key("t"));
}
