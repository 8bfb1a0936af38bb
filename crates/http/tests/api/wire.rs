//! HTTP behaviour at socket level: malformed requests, slow clients, `HEAD` and graceful shutdown.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use candor_http::{Api, HttpSettings, Readiness, ServerOptions, server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{PATIENCE, TestApi};

struct TestListener {
    address: std::net::SocketAddr,
    handle: actix_web::dev::ServerHandle,
    key: String,
    ended: tokio::task::JoinHandle<std::io::Result<()>>,
}

async fn listen_with(settings: HttpSettings, options: ServerOptions) -> TestListener {
    let world = TestApi::new().await;
    let readiness = Readiness::new_unready();
    readiness.set_ready();
    let api = Arc::new(Api::new(Arc::clone(&world.services), settings, readiness));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = server(&api, vec![listener], ServerOptions { workers: 1, ..options }).unwrap();
    let handle = server.handle();
    TestListener { address, handle, key: world.admin, ended: tokio::spawn(server) }
}

/// Sends bytes and reads until the server closes the connection.
async fn talk(address: std::net::SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut response = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut response)).await;
    assert!(read.is_ok(), "the connection stays open: {}", String::from_utf8_lossy(&response));
    String::from_utf8_lossy(&response).into_owned()
}

fn envelope(response: &str, status: u16, code: &str) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{response}"));
    assert_eq!(body["error"]["code"], code, "{response}");
    let id = body["error"]["request_id"].as_str().unwrap();
    assert!(head.contains(&format!("x-request-id: {id}")), "{response}");
    assert!(head.contains("candor-should-retry: "), "{response}");
    assert!(
        head.contains("content-type: application/json") && head.contains("x-ratelimit-limit: 60"),
        "{response}"
    );
    assert_eq!(head.matches("content-length").count(), 1, "{response}");
}

#[tokio::test]
async fn malformed_request_gets_the_error_envelope() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    for bytes in [
        "nonsense\r\n\r\n".to_owned(),
        "GET /v1/me HTTP/1.1\r\n\r\n".to_owned(),
        "GET /v1/me HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n".to_owned(),
        "POST /v1/me HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "POST /v1/me HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(),
    ] {
        envelope(&talk(listener.address, bytes.as_bytes()).await, 400, "bad_request");
    }
    let large = format!("GET /v1/me HTTP/1.1\r\nhost: x\r\nx-padding: {}", "a".repeat(200_000));
    envelope(&talk(listener.address, large.as_bytes()).await, 431, "bad_request");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn refusal_behind_an_answer_in_one_connection_is_complete() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let response = talk(listener.address, b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n").await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    let second = response.rfind("HTTP/1.1 400").unwrap_or_else(|| panic!("{response}"));
    envelope(&response[second..], 400, "bad_request");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn late_head_is_refused_with_408() {
    let quick = Duration::from_millis(200);
    let listener = listen_with(
        crate::support::patient_settings(),
        ServerOptions { head_time: quick, ..ServerOptions::default() },
    )
    .await;
    let response = talk(listener.address, b"GET /v1/me HTTP/1.1\r\nhost: x\r\n").await;
    envelope(&response, 408, "timeout");
    assert!(response.contains("The request line and the headers did not arrive in time."), "{response}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn late_body_is_refused_with_408() {
    let settings = HttpSettings { body_time: Duration::from_millis(200), ..crate::support::patient_settings() };
    let listener = listen_with(settings, ServerOptions::default()).await;
    let head =
        format!("authorization: Bearer {}\r\ncontent-type: application/json\r\nconnection: close", listener.key);
    let slow =
        format!("POST /v1/departments HTTP/1.1\r\nhost: x\r\n{head}\r\ncontent-length: 50\r\n\r\n{{\"name\":");
    let response = talk(listener.address, slow.as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 408 ") && response.contains("\"timeout\""), "{response}");
    assert!(response.contains("The body did not arrive in time."), "{response}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn request_over_its_time_budget_is_504() {
    let settings =
        HttpSettings { request_budget: Duration::from_millis(200), ..crate::support::patient_settings() };
    let listener = listen_with(settings, ServerOptions::default()).await;
    let head =
        format!("authorization: Bearer {}\r\ncontent-type: application/json\r\nconnection: close", listener.key);
    let slow =
        format!("POST /v1/departments HTTP/1.1\r\nhost: x\r\n{head}\r\ncontent-length: 50\r\n\r\n{{\"name\":");
    let response = talk(listener.address, slow.as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 504 ") && response.contains("\"timeout\""), "{response}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn oversized_body_is_413_before_reading() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let head =
        format!("authorization: Bearer {}\r\ncontent-type: application/json\r\nconnection: close", listener.key);
    let request_with_length =
        format!("POST /v1/departments HTTP/1.1\r\nhost: x\r\n{head}\r\ncontent-length: 999999999\r\n\r\n");
    let response = talk(listener.address, request_with_length.as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 413 ") && response.contains("\"bad_request\""), "{response}");
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, "a".repeat(100_000));
    let chunked_request =
        format!("POST /v1/departments HTTP/1.1\r\nhost: x\r\n{head}\r\ntransfer-encoding: chunked\r\n\r\n");
    let response =
        talk(listener.address, format!("{chunked_request}{chunk}{chunk}{chunk}0\r\n\r\n").as_bytes()).await;
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn body_without_a_key_has_at_most_8_kib() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    for path in ["/v1/portal-links/exchange", "/v1/invitations/accept"] {
        for media in ["application/json", "application/x-www-form-urlencoded"] {
            let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {media}\r\nconnection: close");
            let response =
                talk(listener.address, format!("{head}\r\ncontent-length: 8193\r\n\r\n").as_bytes()).await;
            assert!(response.starts_with("HTTP/1.1 413 "), "{path} {media}: {response}");
        }
    }
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn head_returns_the_content_length_without_a_body() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    for path in ["/v1/openapi.json", "/livez", "/v1/nothing"] {
        let ask = |method: &str| format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let get = talk(listener.address, ask("GET").as_bytes()).await;
        let head = talk(listener.address, ask("HEAD").as_bytes()).await;
        let length = |response: &str| {
            response.lines().find(|line| line.starts_with("content-length: ")).unwrap_or_default().to_owned()
        };
        assert!(!length(&get).is_empty(), "{get}");
        assert_eq!(length(&get), length(&head), "{path}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
    }
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_shutdown() {
    // Longer than any test runs.
    let long = Duration::from_secs(600);
    let options =
        ServerOptions { drain_seconds: 600, keep_alive: long, head_time: long, ..ServerOptions::default() };
    let listener = listen_with(crate::support::patient_settings(), options).await;
    let mut first_connection = TcpStream::connect(listener.address).await.unwrap();
    first_connection.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    tokio::time::timeout(PATIENCE, first_connection.read_exact(&mut first)).await.unwrap().unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let _second_connection = TcpStream::connect(listener.address).await.unwrap();
    tokio::time::timeout(PATIENCE, listener.handle.stop(true)).await.expect("idle connections delay the stop");
    assert!(tokio::time::timeout(PATIENCE, listener.ended).await.unwrap().unwrap().is_ok());
}

#[tokio::test]
async fn shutdown_lets_the_request_in_flight_finish() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let mut stream = TcpStream::connect(listener.address).await.unwrap();
    let head = format!("authorization: Bearer {}\r\ncontent-type: application/json", listener.key);
    let request_head = format!(
        "POST /v1/departments HTTP/1.1\r\nhost: x\r\n{head}\r\nexpect: 100-continue\r\ncontent-length: 15\r\n\r\n"
    );
    stream.write_all(request_head.as_bytes()).await.unwrap();
    let mut first = [0; 25];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut first)).await.unwrap().unwrap();
    assert!(first.starts_with(b"HTTP/1.1 100 Continue"), "the request is in flight");
    let stopping = tokio::spawn(listener.handle.stop(true));
    stream.write_all(b"{\"name\":\"Care\"}").await.unwrap();
    let mut response = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut response)).await.unwrap().unwrap();
    let response = String::from_utf8_lossy(&response).into_owned();
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    tokio::time::timeout(PATIENCE, stopping).await.unwrap().unwrap();
    assert!(tokio::time::timeout(PATIENCE, listener.ended).await.unwrap().unwrap().is_ok());
}
