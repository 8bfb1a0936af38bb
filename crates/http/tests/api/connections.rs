//! Clients that do not read, that pipeline requests, or that open too many connections.

use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use candor_http::{Api, HttpSettings, Readiness, ServerOptions, server};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{PATIENCE, TestApi};

/// Number of requests that a non-reading client pipelines.
const PIPELINED_REQUESTS: usize = 6_000;

pub(crate) struct TestListener {
    address: std::net::SocketAddr,
    pub(crate) handle: actix_web::dev::ServerHandle,
    pub(crate) key: String,
}

async fn listen_with(settings: HttpSettings, options: ServerOptions) -> TestListener {
    serving(&TestApi::new().await, settings, options)
}

/// Serves the API of a test world on a free port.
pub(crate) fn serving(world: &TestApi, settings: HttpSettings, options: ServerOptions) -> TestListener {
    let readiness = Readiness::new_unready();
    readiness.set_ready();
    let api = Arc::new(Api::new(Arc::clone(&world.services), settings, readiness));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = server(&api, vec![listener], ServerOptions { workers: 1, ..options }).unwrap();
    let handle = server.handle();
    tokio::spawn(server);
    TestListener { address, handle, key: world.admin.clone() }
}

impl TestListener {
    /// Connects with a small receive buffer.
    pub(crate) async fn connect(&self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Sends bytes on a new connection and reads until the server closes it.
    pub(crate) async fn talk(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let mut response = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut response)).await.unwrap();
        String::from_utf8_lossy(&response).into_owned()
    }

    /// Repeats [`Self::talk`] until the first answer is not 408. On a busy machine, a new connection may time out
    /// before its first byte arrives.
    async fn talk_in_time(&self, bytes: &[u8]) -> String {
        let talk = async {
            loop {
                let response = self.talk(bytes).await;
                if !response.starts_with("HTTP/1.1 408 ") {
                    return response;
                }
            }
        };
        tokio::time::timeout(PATIENCE, talk).await.expect("every connection times out")
    }

    /// Opens a connection whose first request was answered with 200. The rest of that answer is unread.
    async fn used_connection(&self, ask: &str) -> TcpStream {
        let connect = async {
            loop {
                let mut stream = TcpStream::connect(self.address).await.unwrap();
                let mut first = [0; 12];
                let _ = stream.write_all(ask.as_bytes()).await;
                if stream.read_exact(&mut first).await.is_ok() && &first == b"HTTP/1.1 200" {
                    return stream;
                }
            }
        };
        tokio::time::timeout(PATIENCE, connect).await.expect("every connection times out")
    }
}

#[tokio::test]
async fn pipelining_client_that_reads_nothing_is_disconnected() {
    let options = ServerOptions { write_time: Duration::from_millis(500), ..ServerOptions::default() };
    let listener = listen_with(crate::support::patient_settings(), options).await;
    let mut idle = Vec::new();
    for path in ["/docs/scalar.js", "/v1/openapi.json", "/docs/reference.json"] {
        let mut stream = listener.connect().await;
        let requests = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").repeat(PIPELINED_REQUESTS);
        idle.push(tokio::spawn(async move {
            // Sends until an error: only a write reveals that the server has closed the connection.
            while stream.write_all(requests.as_bytes()).await.is_ok() {}
        }));
    }
    for _ in 0..20 {
        let response = listener.talk(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    }
    for client in idle {
        tokio::time::timeout(PATIENCE, client).await.expect("the connection stays open").unwrap();
    }
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn unread_small_answers_disconnect_the_client() {
    /// Number of requests whose answers exceed the client's receive buffer, but fit into the server's send buffer.
    const REQUESTS: usize = 60;
    let write_time = Duration::from_millis(500);
    let options = ServerOptions { write_time, connections_per_client: 1, ..ServerOptions::default() };
    let listener = listen_with(crate::support::patient_settings(), options).await;
    let mut silent = listener.connect().await;
    silent.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n".repeat(REQUESTS).as_slice()).await.unwrap();
    silent.readable().await.unwrap();
    // The limit is one connection, so a new one is accepted only after the first has ended.
    let later_connection = async {
        while !listener
            .talk(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 200")
        {}
    };
    tokio::time::timeout(PATIENCE, later_connection).await.expect("the connection stays open");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn endless_head_times_out_behind_pipelined_requests() {
    const ASK: &str = "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n";
    let options = ServerOptions { head_time: Duration::from_millis(500), ..ServerOptions::default() };
    let listener = listen_with(crate::support::patient_settings(), options).await;
    let mut waiting = listener.used_connection(ASK).await;
    for (before, rest) in
        [(1, "G"), (1, "GET /livez HTTP/1.1\r\nhost"), (40, "GET /livez HTTP/1.1\r\nhost"), (1, "\r\n")]
    {
        let requests = format!("{}{rest}", ASK.repeat(before));
        let response = listener.talk_in_time(requests.as_bytes()).await;
        assert_eq!(response.matches("HTTP/1.1 200 ").count(), before, "{response}");
        let (_, late) = response.split_once("HTTP/1.1 408 ").unwrap_or_else(|| panic!("{rest:?}: {response}"));
        let (head, body) = late.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert!(head.contains("connection: close") && body["error"]["request_id"].is_string(), "{late}");
    }
    // An idle connection may wait longer than `head_time`: the timer starts with the first byte of a head.
    waiting.write_all("GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".as_bytes()).await.unwrap();
    let mut response = String::new();
    tokio::time::timeout(PATIENCE, waiting.read_to_string(&mut response)).await.unwrap().unwrap();
    assert_eq!(response.matches("HTTP/1.1 200 ").count(), 1, "{response}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn pipelined_requests_with_bodies_and_close_are_accepted() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let file = "email,first_name,last_name\r\nada@example.com,Ada,Moreau\r\n";
    let head = format!("host: x\r\nauthorization: Bearer {}\r\n", listener.key);
    let csv = format!("POST /v1/employees/csv?dry_run=true HTTP/1.1\r\n{head}content-type: text/csv\r\n");
    let requests = [
        format!("HEAD /livez HTTP/1.1\r\n{head}\r\n"),
        format!("{csv}content-length: {}\r\n\r\n{file}", file.len()),
        format!("{csv}transfer-encoding: chunked\r\n\r\n{:x}\r\n{file}\r\n0\r\n\r\n", file.len()),
        format!("GET /v1/nothing HTTP/1.1\n{}\n", head.replace('\r', "")),
        format!("GET /livez HTTP/1.1\r\n{head}connection: close\r\n\r\n"),
    ];
    let response = listener.talk(requests.concat().as_bytes()).await;
    let statuses: Vec<_> = response.split("HTTP/1.1 ").skip(1).map(|response| &response[..3]).collect();
    assert_eq!(statuses, ["200", "200", "200", "404", "200"], "{response}");
    assert_eq!(response.matches("\"created\":1").count(), 2, "{response}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn connection_survives_an_unread_request_body() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let body = "x".repeat(60_000);
    let request_of_length = |length: usize| {
        format!(
            "POST /v1/departments HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        )
    };
    let last = "GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let responses =
        listener.talk(format!("{}{body}{0}{body}{last}", request_of_length(body.len())).as_bytes()).await;
    let statuses: Vec<_> =
        responses.match_indices("HTTP/1.1 ").map(|(at, start)| &responses[at + start.len()..][..3]).collect();
    assert_eq!(statuses, ["401", "401", "200"], "{responses}");
    let large = listener.talk(format!("{}{body}", request_of_length(10_000_000)).as_bytes()).await;
    assert!(large.starts_with("HTTP/1.1 401") && large.contains("connection: close"), "{large}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let paths = ["/livez", "/v1/openapi.json", "/v1/nothing", "/docs"];
    let statuses = ["200", "200", "404", "200"];
    let (mut bytes, mut wanted) = (String::new(), Vec::new());
    for number in 0..200 {
        let end = if number == 199 { "connection: close\r\n\r\n" } else { "\r\n" };
        bytes.push_str(&format!("GET {} HTTP/1.1\r\nhost: x\r\n{end}", paths[number % 4]));
        wanted.push(statuses[number % 4]);
    }
    let response = listener.talk(bytes.as_bytes()).await;
    let pipelined_response: Vec<_> =
        response.split("HTTP/1.1 ").skip(1).filter_map(|text| Some(text.get(..3)?.to_owned())).collect();
    assert_eq!(pipelined_response, wanted);
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn large_body_and_large_answer_arrive_complete() {
    let listener = listen_with(crate::support::patient_settings(), ServerOptions::default()).await;
    let rows: String =
        (0..5_000).map(|number| format!("person{number}@example.com,Ada,{}\r\n", "x".repeat(60))).collect();
    let file = format!("email,first_name,last_name\r\n{rows}");
    let head = format!("host: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n", listener.key);
    let request = format!(
        "POST /v1/employees/csv?dry_run=true HTTP/1.1\r\n{head}content-type: text/csv\r\n\
         content-length: {}\r\n\r\n{file}",
        file.len()
    );
    let response = listener.talk(request.as_bytes()).await;
    let body: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["data"]["created"], 5_000, "{response}");
    let response = listener.talk(format!("GET /docs/scalar.js HTTP/1.1\r\n{head}\r\n").as_bytes()).await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {}", body.len())) && body.len() > 1_000_000, "{head}");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn client_over_its_connection_limit_gets_an_error() {
    let options = ServerOptions { connections_per_client: 2, ..ServerOptions::default() };
    let listener = listen_with(crate::support::patient_settings(), options).await;
    let ask = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(listener.address).await.unwrap();
        stream.write_all(ask).await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        open.push(stream);
    }
    // Sends nothing: unread input would reset the connection and lose the answer.
    let response = listener.talk(b"").await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 ") && head.contains("retry-after: 1"), "{head}");
    assert!(head.contains("connection: close"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["error"]["code"], "unavailable");
    drop(open);
    let later_connection = async {
        while !listener
            .talk(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 200")
        {}
    };
    tokio::time::timeout(PATIENCE, later_connection).await.expect("closed connections still count");
    listener.handle.stop(false).await;
}

#[tokio::test]
async fn trusted_proxy_has_unlimited_connections() {
    let local: IpAddr = "127.0.0.1".parse().unwrap();
    let settings = HttpSettings {
        trusted_proxies: vec![local.to_string().parse().unwrap()],
        ..crate::support::patient_settings()
    };
    let listener =
        listen_with(settings, ServerOptions { connections_per_client: 1, ..ServerOptions::default() }).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        let mut stream = TcpStream::connect(listener.address).await.unwrap();
        stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        open.push(stream);
    }
    listener.handle.stop(false).await;
}
