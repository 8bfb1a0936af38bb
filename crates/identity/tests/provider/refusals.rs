//! Responses that are refused, and addresses that are not called.

use candor_identity::{IdentityClient, IdentitySettings};
use candor_port_identity::IdentityTransport;
use candor_sign_in::fetch_failure::FetchError::{
    self, Closed, Connect, Malformed, NotHttps, NotPublic, Redirect, Status, Timeout, TooLarge,
};
use candor_tokens::strict_json::MAX_DOCUMENT_BYTES;
use tokio::net::TcpListener;

use crate::server::{AMPLE, ORGANIZATION, Provider, SHORT, ServerResponse, client, loopback};

async fn fetch(client: &IdentityClient, address: &str) -> Result<usize, FetchError> {
    client.fetch_document(ORGANIZATION, address).await.map(|document| document.body.len())
}

#[tokio::test]
async fn response_that_is_no_document_is_refused_with_its_cause() {
    let provider = Provider::start().await;
    let bytes = |text: &str| ServerResponse::Bytes(text.as_bytes().to_vec());
    let long_head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a".repeat(20_000));
    let table = [
        ("status 204", ServerResponse::with_headers("204 No Content", "", ""), Status(204)),
        ("status 404", ServerResponse::with_headers("404 Not Found", "", "{}"), Status(404)),
        ("status 500", ServerResponse::with_headers("500 Internal Server Error", "", "{}"), Status(500)),
        ("not modified", ServerResponse::with_headers("304 Not Modified", "", ""), Redirect),
        ("no HTTP", bytes("<html>"), Malformed),
        ("nothing", bytes(""), Closed),
        ("half of a body", bytes("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"), Closed),
        ("long head", bytes(&long_head), TooLarge),
    ];
    for (name, response, failure) in table {
        provider.set("/document", response);
        assert_eq!(fetch(&client(), &provider.url("/document")).await, Err(failure), "{name}");
    }
}

#[tokio::test]
async fn document_above_256_kib_is_refused() {
    let provider = Provider::start().await;
    provider.set("/largest", ServerResponse::json("a".repeat(MAX_DOCUMENT_BYTES)));
    assert_eq!(fetch(&client(), &provider.url("/largest")).await, Ok(MAX_DOCUMENT_BYTES));
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", MAX_DOCUMENT_BYTES + 1);
    provider.set("/announced", ServerResponse::Silence(head.into_bytes()));
    assert_eq!(fetch(&client(), &provider.url("/announced")).await, Err(TooLarge), "nothing is read");
    let chunked_head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    provider.set(
        "/endless",
        ServerResponse::Endless(chunked_head, format!("1000\r\n{}\r\n", "a".repeat(4096)).into_bytes()),
    );
    assert_eq!(fetch(&client(), &provider.url("/endless")).await, Err(TooLarge));
    provider.set("/headers", ServerResponse::Endless("HTTP/1.1 200 OK\r\n", b"x: y\r\n".to_vec()));
    assert_eq!(fetch(&client(), &provider.url("/headers")).await, Err(TooLarge));
}

#[tokio::test]
async fn slow_response_ends_at_the_time_limit() {
    let provider = Provider::start().await;
    let client = IdentityClient::new(IdentitySettings { time_limit: SHORT, ..loopback() }).unwrap();
    for (name, start) in [
        ("no head", ""),
        ("half of a head", "HTTP/1.1 200 OK\r\n"),
        ("half of a body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"),
    ] {
        provider.set("/slow", ServerResponse::Silence(start.as_bytes().to_vec()));
        assert_eq!(fetch(&client, &provider.url("/slow")).await, Err(Timeout), "{name}");
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let (provider, target) = (Provider::start().await, Provider::start().await);
    target.set("/keys", ServerResponse::json("{}"));
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let location = format!("location: {}\r\n", target.url("/keys"));
        provider.set("/keys", ServerResponse::with_headers(status, &location, ""));
        assert_eq!(fetch(&client(), &provider.url("/keys")).await, Err(Redirect), "{status}");
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn private_address_is_refused_before_a_connection() {
    let provider = Provider::start().await;
    provider.set("/keys", ServerResponse::json("{}"));
    let port = provider.address.port();
    let strict =
        IdentityClient::new(IdentitySettings { time_limit: AMPLE, ..IdentitySettings::default() }).unwrap();
    for (address, failure) in [
        (provider.url("/keys"), NotHttps),
        (format!("https://127.0.0.1:{port}/keys"), NotPublic),
        (format!("https://[::1]:{port}/keys"), NotPublic),
        (format!("https://[::ffff:127.0.0.1]:{port}/keys"), NotPublic),
        (format!("https://2130706433:{port}/keys"), NotPublic),
        ("https://169.254.169.254/latest".to_owned(), NotPublic),
        ("https://10.0.0.1/keys".to_owned(), NotPublic),
        ("ftp://192.0.2.1/keys".to_owned(), NotHttps),
        ("keys".to_owned(), NotHttps),
        ("https://user@example.com/keys".to_owned(), NotHttps),
    ] {
        assert_eq!(fetch(&strict, &address).await, Err(failure), "{address}");
    }
    let one_trusted =
        IdentitySettings { trusted: vec!["10.9.0.0/16".parse().unwrap()], time_limit: AMPLE, ..loopback() };
    let elsewhere = IdentityClient::new(one_trusted).unwrap();
    assert_eq!(fetch(&elsewhere, &provider.url("/keys")).await, Err(NotHttps));
    assert_eq!(provider.connections(), 0);
    assert_eq!(fetch(&client(), &provider.url("/keys")).await, Ok(2));
}

#[tokio::test]
async fn closed_port_is_reported_as_connect_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(fetch(&client(), &format!("http://{address}/")).await, Err(Connect));
}
