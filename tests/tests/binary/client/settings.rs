//! Headers, proxy and certificates of a client.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use candor_client::{Candor, Error, Method};

use crate::support::{TlsServer, wire};

const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";

#[tokio::test]
async fn headers_of_client_and_call_pass_through_a_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let line = wire::line(&mut reader).unwrap();
        sender.send((line, wire::headers(&mut reader).unwrap())).unwrap();
        reader.get_mut().write_all(RESPONSE.as_bytes()).unwrap();
    });
    let builder = Candor::builder().api_key("cdr_live_x").base_url("http://feedback.invalid").proxy(proxy);
    let builder = builder.header("X-Trace", "client").header("X-Gate", "a").header("Authorization", "none");
    let client = builder.max_retries(0).build().unwrap();
    client.request(Method::GET, "me").header("x-trace", "call").send().await.unwrap();
    let (line, headers) = received.recv().unwrap();
    assert_eq!(line, "GET http://feedback.invalid/v1/me HTTP/1.1");
    let debug_text = format!("{headers:?}");
    for wanted in ["\"call\"", "\"a\"", "\"Bearer cdr_live_x\""] {
        assert!(debug_text.contains(wanted), "{debug_text}");
    }
    assert!(!debug_text.contains("\"client\"") && !debug_text.contains("\"none\""), "{debug_text}");
}

#[tokio::test]
async fn root_certificate_is_trusted_beside_those_of_the_system() {
    let server = TlsServer::answering(RESPONSE);
    let builder = || Candor::builder().api_key("cdr_live_x").base_url(&server.url).max_retries(0);
    let error = builder().build().unwrap().request(Method::GET, "me").send().await.unwrap_err();
    assert!(error.is_certificate_rejected(), "{error}");
    let client = builder().root_certificate(server.authority.clone()).build().unwrap();
    assert_eq!(client.request(Method::GET, "me").send().await.unwrap().status, 200);
}

#[tokio::test]
async fn service_that_requires_a_certificate_accepts_the_identity() {
    let server = TlsServer::answering_known_clients(RESPONSE);
    let builder = || {
        let builder = Candor::builder().api_key("cdr_live_x").base_url(&server.url).max_retries(0);
        builder.root_certificate(server.authority.clone())
    };
    let unknown = builder().build().unwrap().request(Method::GET, "me").send().await;
    assert!(unknown.is_err(), "{unknown:?}");
    let client_with_identity = builder().identity(server.identity.clone()).build().unwrap();
    assert_eq!(client_with_identity.request(Method::GET, "me").send().await.unwrap().status, 200);
}

#[test]
fn malformed_settings_are_refused_before_a_request() {
    let builder = || Candor::builder().api_key("cdr_live_x").base_url("http://localhost");
    for builder in [
        builder().header("no header", "x"),
        builder().header("x-trace", "a\nb"),
        builder().proxy("http://"),
        builder().root_certificate("no certificate"),
        builder().identity("no certificate"),
    ] {
        assert!(matches!(builder.build(), Err(Error::Settings(_))));
    }
}
