//! Tests malformed input: the service answers or closes the connection, and stays available.

use std::thread;

use serde_json::json;

use crate::support::{Client, Installation, Service};

/// Returns deterministic random bytes.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(byte).collect()
}

fn still_there(service: &Service) {
    assert_eq!(service.anonymous().unwrap().get("/readyz").unwrap().status, 200, "{}", service.log());
}

#[test]
fn malformed_requests_are_refused_and_the_service_continues() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    let requests = [
        &b"\r\n\r\n"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/observations HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /v1/observations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\
          \r\n0\r\n\r\n",
        b"POST /v1/observations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/observations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    let random: Vec<Vec<u8>> =
        (0..200_u64).map(|seed| noise(seed, 1 + usize::try_from(seed * 37 % 3000).unwrap())).collect();
    for bytes in requests.into_iter().chain(random.iter().map(Vec::as_slice)) {
        let mut client = service.anonymous().unwrap();
        // The write may fail, because the service may close the connection early.
        let _ = client.send(bytes);
    }
    still_there(&service);
    service.stop();
}

#[test]
fn oversized_heads_are_refused() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    let long = "x".repeat(1 << 20);
    let many: String = (0..5000).map(|number| format!("X-Header-{number}: y\r\n")).collect();
    for head in [
        format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n"),
        format!("GET /livez HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        long,
    ] {
        let mut client = service.anonymous().unwrap();
        let _ = client.send(head.as_bytes());
        if let Ok(response) = client.receive() {
            assert!((400..500).contains(&response.status), "{}", response.status);
        }
    }
    still_there(&service);
    service.stop();
}

#[test]
fn incomplete_body_changes_nothing_and_blocks_nothing() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let body = json!({"name": "Half a department"}).to_string();
    let mut open = Vec::new();
    for sent in [0, 1, body.len() / 2, body.len() - 1] {
        let mut client = service.client(&key);
        let head = client.head("POST", "/v1/departments", Some(body.len()));
        client.send(format!("{head}\r\n{}", &body[..sent]).as_bytes()).unwrap();
        // Half of the clients close their connection; the other half waits silently.
        if sent % 2 == 0 {
            open.push(client);
        }
    }
    still_there(&service);
    for mut client in open {
        let response = client.receive();
        assert!(
            response.is_err() || response.is_ok_and(|response| response.status == 408),
            "half a body was answered"
        );
    }
    let departments = service.client(&key).get("/v1/departments").unwrap().json();
    assert_eq!(departments["data"], json!([]));
    service.stop();
}

#[test]
fn oversized_bodies_are_refused_before_reading() {
    let place = Installation::sqlite();
    let key = place.key("*", &["--admin"]).secret;
    let service = Service::serve(&place);
    let mut client = service.client(&key);
    let head = client.head("POST", "/v1/departments", Some(10_000_000_000));
    client.send(format!("{head}\r\n").as_bytes()).unwrap();
    assert_eq!(client.receive().unwrap().status, 413);
    let mut client = service.client(&key);
    let head = client.head("POST", "/v1/departments", None);
    let _ = client
        .send(format!("{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes());
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, "[".repeat(1 << 16));
    for _ in 0..16 {
        if client.send(chunk.as_bytes()).is_err() {
            break;
        }
    }
    if let Ok(response) = client.receive() {
        assert_eq!(response.status, 413);
    }
    let deep = "[".repeat(200_000);
    let mut client = service.client(&key);
    let head = client.head("POST", "/v1/departments", Some(deep.len()));
    client.send(format!("{head}\r\n{deep}").as_bytes()).unwrap();
    assert_eq!(client.receive().unwrap().status, 400);
    still_there(&service);
    service.stop();
}

#[test]
fn many_idle_connections_do_not_block_another_client() {
    let place = Installation::sqlite();
    let service = Service::serve(&place);
    // 240 connections: below the limit per client address, and above the number of server threads.
    let mut idle: Vec<_> = (0..240).map(|_| service.anonymous().unwrap()).collect();
    // A connection that was used may be idle for longer than a new one.
    let use_all = |idle: &mut [Client]| {
        for client in idle {
            assert_eq!(client.get("/livez").unwrap().status, 200);
        }
    };
    use_all(&mut idle);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| still_there(&service));
        }
    });
    // No connection was closed to make room.
    use_all(&mut idle);
    service.stop();
}
