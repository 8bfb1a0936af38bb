//! Tests outgoing TLS: the program trusts the system's authorities and has no built-in list.

use std::fs;

use crate::support::{Installation, Service, TlsServer, candor};

const IMPORTED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 74\r\nConnection: close\r\n\r\n\
    {\"data\":{\"created\":1,\"updated\":0,\"deactivated\":0,\"skipped\":0,\"errors\":[]}}";
const ACCEPTED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Creates an installation where `SSL_CERT_FILE` names a file with only this authority.
fn trusting_installation(authority: &str) -> Installation {
    let place = Installation::sqlite();
    let file = place.folder.path().join("authorities.pem");
    fs::write(&file, authority).unwrap();
    place.with("SSL_CERT_FILE", file.to_str().unwrap())
}

#[test]
fn import_trusts_a_private_authority_of_the_system() {
    let server = TlsServer::answering(IMPORTED);
    let other = TlsServer::answering(IMPORTED);
    let import = |authority: &str| {
        let place = trusting_installation(authority).with("CANDOR_API_KEY", "cdr_live_x");
        fs::write(place.folder.path().join("people.csv"), "email\na@example.com\n").unwrap();
        candor(&place, &["import", "people.csv", "--url", &server.url, "--json"])
    };
    assert_eq!(import(&server.authority).json()["data"]["created"], 1);
    let refusal = import(&other.authority);
    assert_eq!(refusal.code, Some(1), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("SSL_CERT_FILE"), "{}", refusal.stderr);
    assert!(refusal.stderr.contains("no rows were imported"), "{}", refusal.stderr);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn traces_trust_a_private_authority_of_the_system() {
    let collector = TlsServer::answering(ACCEPTED);
    let place = trusting_installation(&collector.authority).with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    let key = place.key("employees:read", &[]);
    let service = Service::serve(&place);
    assert_eq!(service.client(&key.secret).get("/v1/employees").unwrap().status, 200);
    // Stopping the service sends the buffered spans.
    service.stop();
    let requests = collector.requests();
    assert!(requests.iter().any(|line| line.starts_with("POST /v1/traces ")), "{requests:?}");
}
