//! The memory of large answers that clients do not read, and of large bodies that they do not finish, is limited per
//! key and in total.

use candor_domain::access::{AccessLevel, Environment, Permissions};
use candor_http::{ByteLimits, HttpSettings, ServerOptions};
use candor_service::usecases::operator;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connections::{TestListener, serving};
use crate::support::{PATIENCE, TestApi};

/// Number of employees whose list page is slightly larger than 1 MiB.
const PEOPLE: usize = 32;
const MIB: usize = 1024 * 1024;

/// Creates a service with a page of more than 1 MiB, and settings whose memory limit per key allows two such pages.
async fn world_with_large_page() -> (TestApi, HttpSettings) {
    let world = TestApi::new().await;
    let fields: Map<String, Value> =
        (0..32).map(|number| (format!("k{number}"), json!("x".repeat(1024)))).collect();
    for number in 0..PEOPLE {
        let email = format!("person{number}@example.com");
        let body = json!({"email": email, "first_name": "Ada", "last_name": "Moreau", "custom_fields": fields});
        world.made("/v1/employees", body).await;
    }
    let response_limits = ByteLimits { in_all: 16 * MIB, per_key: 3 * MIB };
    (world, HttpSettings { response_limits, ..crate::support::patient_settings() })
}

fn request(key: &str) -> String {
    format!("GET /v1/employees?limit=100 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n")
}

/// Requests the page and reads only the beginning of the answer.
async fn unread_page(server: &TestListener) -> TcpStream {
    let mut stream = server.connect().await;
    stream.write_all(format!("{}\r\n", request(&server.key)).as_bytes()).await.unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    stream
}

async fn page(server: &TestListener, key: &str) -> String {
    server.talk(format!("{}connection: close\r\n\r\n", request(key)).as_bytes()).await
}

/// Retries until the page is served.
async fn page_in_the_end(server: &TestListener, key: &str) {
    let page_loop = async { while !page(server, key).await.starts_with("HTTP/1.1 200") {} };
    tokio::time::timeout(PATIENCE, page_loop).await.expect("the memory of answers is not released");
}

#[tokio::test]
async fn unread_answers_over_the_limit_of_a_key_are_503() {
    let (world, settings) = world_with_large_page().await;
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let other = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let server = serving(&world, settings, ServerOptions::default());
    let (mut read_later, abandoned) = (unread_page(&server).await, unread_page(&server).await);

    let error_text = page(&server, &server.key).await;
    let (head, body) = error_text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 ") && head.contains("retry-after: 2"), "{head}");
    assert!(head.contains("x-ratelimit-remaining"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["error"]["code"], "unavailable");
    assert!(page(&server, &other).await.starts_with("HTTP/1.1 200"), "another organization is served");

    let mut rest = vec![0; 65_536];
    let mut remaining_bytes = PEOPLE * 32 * 1024;
    while remaining_bytes > 0 {
        let length = tokio::time::timeout(PATIENCE, read_later.read(&mut rest)).await.unwrap().unwrap();
        assert!(length > 0, "the answer is cut off");
        remaining_bytes = remaining_bytes.saturating_sub(length);
    }
    page_in_the_end(&server, &server.key).await;
    let _unread = unread_page(&server).await;
    drop(abandoned);
    page_in_the_end(&server, &server.key).await;
    server.handle.stop(false).await;
}

#[tokio::test]
async fn write_of_a_key_with_unread_answers_is_carried_out() {
    let (world, settings) = world_with_large_page().await;
    let server = serving(&world, settings, ServerOptions::default());
    let _unread = [unread_page(&server).await, unread_page(&server).await];
    let body = r#"{"name": "Care"}"#;
    let request = format!(
        "POST /v1/departments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.key,
        body.len()
    );
    let response = server.talk(request.as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 201"), "{response}");
    server.handle.stop(false).await;
}

/// Sends a request with a body of this size, except its last bytes.
async fn half_sent_body(server: &TestListener, path: &str, kind: &str, size: usize) -> TcpStream {
    let mut stream = server.connect().await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: {kind}\r\n\
         content-length: {size}\r\n\r\n",
        server.key
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server may close the connection before it has read the whole body.
    let _ = stream.write_all(&vec![b' '; size - 10]).await;
    stream
}

#[tokio::test]
async fn half_sent_bodies_over_the_limit_of_a_key_are_503() {
    let world = TestApi::new().await;
    let other = operator::create_organization(&world.services, "Other").await.unwrap();
    let other = world.key_of(other, Permissions::ALL, AccessLevel::Admin, Environment::Live).await;
    let body_limits = ByteLimits { in_all: 16 * MIB, per_key: 3 * MIB };
    let settings = HttpSettings { body_limits, body_time: PATIENCE, ..crate::support::patient_settings() };
    let server = serving(&world, settings, ServerOptions::default());
    let large = 200 * 1024;
    let _file = half_sent_body(&server, "/v1/employees/csv", "text/csv", 2 * MIB).await;
    let mut connections = vec![];
    for _ in 0..5 {
        connections.push(half_sent_body(&server, "/v1/departments", "application/json", large).await);
    }
    let create = |key: &str, size: usize| {
        let body = format!("{{{}\"name\": \"Care {size}\"}}", " ".repeat(size));
        format!(
            "POST /v1/departments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let refusal_loop = async {
        loop {
            // Stays below the quota of writes.
            world.clock.advance_millis(2_000);
            let response = server.talk(create(&server.key, large).as_bytes()).await;
            if response.starts_with("HTTP/1.1 503") {
                return response;
            }
            // On a busy machine, this request may come before a half-sent request, and the half-sent request is then
            // refused.
            connections.push(half_sent_body(&server, "/v1/departments", "application/json", large).await);
        }
    };
    let error_text = tokio::time::timeout(PATIENCE, refusal_loop).await.expect("no body is refused");
    assert!(error_text.contains("retry-after: 2") && error_text.contains("bodies"), "{error_text}");
    let small = server.talk(create(&server.key, 10).as_bytes()).await;
    assert!(small.starts_with("HTTP/1.1 201"), "small bodies are not limited: {small}");
    let foreign = server.talk(create(&other, large).as_bytes()).await;
    assert!(foreign.starts_with("HTTP/1.1 201"), "another organization is served: {foreign}");
    connections.clear();
    let success_loop = async {
        while !server.talk(create(&server.key, large + 1).as_bytes()).await.starts_with("HTTP/1.1 201") {
            world.clock.advance_millis(2_000);
        }
    };
    tokio::time::timeout(PATIENCE, success_loop).await.expect("the memory of bodies is not released");
    server.handle.stop(false).await;
}

#[tokio::test]
async fn error_with_many_problems_lists_100_and_counts_the_rest() {
    let world = TestApi::new().await;
    for (wrong, details, more) in [(100, 100, None), (101, 101, Some("1 more")), (20_000, 101, Some("19900 more"))]
    {
        let body: Map<String, Value> = (0..wrong).map(|number| (format!("x{number}"), json!(1))).collect();
        let response = world.patch("/v1/organization", Value::Object(body)).await;
        assert_eq!(response.refusal(), (400, "validation_error".to_owned()));
        let body = response.json();
        let entries = body["error"]["details"].as_array().unwrap();
        assert_eq!(entries.len(), details, "{wrong}");
        let last = entries.last().unwrap()["message"].as_str().unwrap();
        assert_eq!(more.is_some_and(|text| last.starts_with(text)), more.is_some(), "{last}");
        assert_eq!(entries[99]["code"], "unknown_field");
    }
}
