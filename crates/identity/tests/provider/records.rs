//! TXT records, served by a name server of the test.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candor_identity::{HostNames, IdentityClient, IdentitySettings};
use candor_port_identity::IdentityTransport;
use candor_sign_in::fetch_failure::FetchError;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use crate::server::{AMPLE, SHORT, loopback};

/// The parts of each record of `example.com`. Other names do not exist.
type Records = Arc<Mutex<Vec<Vec<&'static str>>>>;

/// A name server with a time to live of an hour.
struct NameServer {
    address: SocketAddr,
    records: Records,
    task: JoinHandle<()>,
}

impl NameServer {
    async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let records = Records::default();
        let shared_records = Arc::clone(&records);
        let task = tokio::spawn(async move {
            let mut query = [0; 512];
            while let Ok((count, from)) = socket.recv_from(&mut query).await {
                let response = encode_response(&query[..count], &shared_records.lock().unwrap());
                socket.send_to(&response, from).await.unwrap();
            }
        });
        Self { address, records, task }
    }

    fn client(&self) -> IdentityClient {
        IdentityClient::new(IdentitySettings { names: HostNames::Server(self.address), ..loopback() }).unwrap()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns the response to a query (RFC 1035): records, none, or no such name.
fn encode_response(query: &[u8], records: &[Vec<&str>]) -> Vec<u8> {
    let mut end = 12;
    while query[end] != 0 {
        end += usize::from(query[end]) + 1;
    }
    let question = &query[12..end + 5];
    let is_known = question.to_ascii_lowercase().starts_with(b"\x07example\x03com\x00");
    let code = if is_known { 0 } else { 3 };
    let records = if is_known { records } else { &[] };
    let count = u8::try_from(records.len()).unwrap();
    let mut response = [&query[..2], &[0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0], question].concat();
    for parts in records {
        let data: Vec<u8> = parts
            .iter()
            .flat_map(|part| [&[u8::try_from(part.len()).unwrap()], part.as_bytes()].concat())
            .collect();
        // The name of the question, type TXT, class IN, an hour.
        response.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 14, 16]);
        response.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        response.extend(data);
    }
    response
}

#[tokio::test]
async fn text_records_are_read_with_joined_parts() {
    let server = NameServer::start().await;
    let client = server.client();
    assert_eq!(client.read_text_records("example.com").await, Ok(vec![]));
    *server.records.lock().unwrap() = vec![vec!["v=spf1 -all"], vec!["candor-verification=", "7d0f"]];
    let mut texts = client.read_text_records("example.com").await.unwrap();
    texts.sort();
    assert_eq!(texts, ["candor-verification=7d0f", "v=spf1 -all"], "the absence of records is not cached");
    server.records.lock().unwrap().clear();
    assert_eq!(client.read_text_records("example.com").await, Ok(vec![]), "records are not cached");
    assert_eq!(client.read_text_records("other.example").await, Ok(vec![]));
}

#[tokio::test]
async fn silent_name_server_is_reported_as_no_name_server() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let names = HostNames::Server(silent.local_addr().unwrap());
    let client =
        |time_limit: Duration| IdentityClient::new(IdentitySettings { names, time_limit, ..loopback() }).unwrap();
    assert_eq!(client(SHORT).read_text_records("example.com").await, Err(FetchError::NoNameServer));
    let unreadable_name = "a".repeat(64);
    assert_eq!(client(AMPLE).read_text_records(&unreadable_name).await, Err(FetchError::NoNameServer));
}
