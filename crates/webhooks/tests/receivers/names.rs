//! Host names with changing, mixed or missing addresses, served by a name server of the test.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use candor_domain::attempt_failure::FailureReason::{Forbidden, NotHttps, Timeout, Unresolvable};
use candor_domain::receiver_url::{ReceiverUrl, Verdict};
use candor_port_events::WebhookTransport;
use candor_webhooks::{HostNames, Sender, SenderSettings};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use crate::support::{AMPLE, OK, ORGANIZATION, Receiver, SHORT, acknowledged, failed, outcome_of, post, serve};

/// Addresses of a name at its first, second and later lookups; the last entry repeats.
type Script = Vec<Vec<IpAddr>>;

/// A name server for one name, with a time to live of 0.
struct NameServer {
    address: SocketAddr,
    asked: Arc<Mutex<usize>>,
    task: JoinHandle<()>,
}

impl NameServer {
    async fn start(script: Script) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let query_counts = Arc::new(Mutex::new(0));
        let count = Arc::clone(&query_counts);
        let task = tokio::spawn(async move {
            let mut asked_each = [0_usize; 2];
            let mut query = [0; 512];
            while let Ok((bytes, from)) = socket.recv_from(&mut query).await {
                let (question, kind) = question(&query[..bytes]);
                let query_count = &mut asked_each[usize::from(kind == AAAA)];
                if let Some(addresses) = script.get(*query_count).or(script.last()) {
                    socket.send_to(&encode_response(&query[..2], question, kind, addresses), from).await.unwrap();
                }
                *query_count += 1;
                *count.lock().unwrap() = asked_each[0];
            }
        });
        Self { address, asked: query_counts, task }
    }

    /// Returns the number of lookups of IPv4 addresses.
    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }

    /// Creates a sender that uses this server and trusts only 127.0.0.1.
    fn sender(&self) -> Sender {
        self.sender_trusting("127.0.0.1/32")
    }

    fn sender_trusting(&self, network: &str) -> Sender {
        let trusted_networks = vec![network.parse().unwrap()];
        Sender::new(SenderSettings {
            trusted: trusted_networks,
            names: HostNames::Server(self.address),
            ..SenderSettings::default()
        })
        .unwrap()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

const A: u16 = 1;
const AAAA: u16 = 28;

/// Returns the question of a query (RFC 1035, 4.1.2) and its type.
fn question(query: &[u8]) -> (&[u8], u16) {
    let mut end = 12;
    while query[end] != 0 {
        end += usize::from(query[end]) + 1;
    }
    (&query[12..end + 5], u16::from_be_bytes([query[end + 1], query[end + 2]]))
}

fn encode_response(id: &[u8], question: &[u8], kind: u16, addresses: &[IpAddr]) -> Vec<u8> {
    let data: Vec<Vec<u8>> = addresses
        .iter()
        .filter_map(|address| match address {
            IpAddr::V4(address) if kind == A => Some(address.octets().to_vec()),
            IpAddr::V6(address) if kind == AAAA => Some(address.octets().to_vec()),
            IpAddr::V4(_) | IpAddr::V6(_) => None,
        })
        .collect();
    let count = u8::try_from(data.len()).unwrap();
    let mut response = [id, &[0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0], question].concat();
    for octets in data {
        response.extend([0xc0, 12]);
        response.extend(kind.to_be_bytes());
        // Class IN, and a time to live of 0.
        response.extend([0, 1, 0, 0, 0, 0]);
        response.extend(u16::try_from(octets.len()).unwrap().to_be_bytes());
        response.extend(octets);
    }
    response
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn url(port: u16) -> String {
    format!("http://hooks.example.com:{port}/")
}

#[tokio::test]
async fn name_with_a_trusted_address_gets_deliveries() {
    let receiver = Receiver::answering(OK).await;
    let names = NameServer::start(vec![vec![ip("127.0.0.1")]]).await;
    let request = post(url(receiver.address.port()), AMPLE);
    assert_eq!(outcome_of(&names.sender(), request).await, acknowledged(200));
}

// Only Linux can listen at 127.0.0.2 without configuration.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn address_that_changes_between_check_and_attempt_is_refused() {
    let outside = Receiver::answering(OK).await;
    let port = outside.address.port();
    let inside = Receiver::at((Ipv4Addr::new(127, 0, 0, 2), port).into(), |socket| serve(socket, OK)).await;
    let names = NameServer::start(vec![vec![ip("127.0.0.1")], vec![ip("127.0.0.2")]]).await;
    let sender = names.sender();
    assert_eq!(sender.judge(ORGANIZATION, &ReceiverUrl::parse(&url(port)).unwrap()).await, Verdict::Allowed);
    assert_eq!(outcome_of(&sender, post(url(port), AMPLE)).await, failed(0, NotHttps));
    let secure = format!("https://hooks.example.com:{port}/");
    assert_eq!(outcome_of(&sender, post(secure, AMPLE)).await, failed(0, Forbidden));
    assert_eq!((outside.connections(), inside.connections()), (0, 0));
}

// Only Linux can listen at 127.0.0.2 without configuration.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn attempt_dials_the_vetted_address_without_a_second_lookup() {
    let outside = Receiver::answering(OK).await;
    let port = outside.address.port();
    let inside = Receiver::at((Ipv4Addr::new(127, 0, 0, 2), port).into(), |socket| serve(socket, OK)).await;
    let names = NameServer::start(vec![vec![ip("127.0.0.1")], vec![ip("127.0.0.2")]]).await;
    assert_eq!(outcome_of(&names.sender(), post(url(port), AMPLE)).await, acknowledged(200));
    assert_eq!((outside.connections(), inside.connections(), names.asked()), (1, 0, 1));
}

#[tokio::test]
async fn kept_connection_does_not_bypass_the_check() {
    let receiver = Receiver::answering(OK).await;
    let names = NameServer::start(vec![vec![ip("127.0.0.1")], vec![ip("10.0.0.1")]]).await;
    let sender = names.sender();
    let port = receiver.address.port();
    assert_eq!(outcome_of(&sender, post(url(port), AMPLE)).await, acknowledged(200));
    assert_eq!(outcome_of(&sender, post(url(port), AMPLE)).await, failed(0, NotHttps));
}

#[tokio::test]
async fn next_address_is_dialed_when_one_is_unreachable() {
    let receiver = Receiver::answering(OK).await;
    let names = NameServer::start(vec![vec![ip("127.0.0.3"), ip("127.0.0.1")]]).await;
    let request = post(url(receiver.address.port()), AMPLE);
    assert_eq!(outcome_of(&names.sender_trusting("127.0.0.0/8"), request).await, acknowledged(200));
}

#[tokio::test]
async fn one_forbidden_address_refuses_the_host() {
    let receiver = Receiver::answering(OK).await;
    let port = receiver.address.port();
    for mixed in [
        vec![ip("127.0.0.1"), ip("10.0.0.1")],
        vec![ip("10.0.0.1"), ip("127.0.0.1")],
        vec![ip("127.0.0.1"), ip("fd00::1")],
        vec![ip("127.0.0.1"), ip("::ffff:127.0.0.1")],
        vec![ip("9.9.9.9"), ip("169.254.169.254")],
        vec![ip("2620:fe::fe"), ip("fe80::1")],
    ] {
        let names = NameServer::start(vec![mixed.clone()]).await;
        let sender = names.sender();
        let secure = format!("https://hooks.example.com:{port}/");
        assert_eq!(
            sender.judge(ORGANIZATION, &ReceiverUrl::parse(&secure).unwrap()).await,
            Verdict::Private,
            "{mixed:?}"
        );
        assert_eq!(outcome_of(&sender, post(secure, AMPLE)).await, failed(0, Forbidden), "{mixed:?}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn name_with_public_addresses_may_be_called() {
    for public in [vec![ip("9.9.9.9")], vec![ip("2620:fe::fe")], vec![ip("9.9.9.9"), ip("2620:fe::fe")]] {
        let names = NameServer::start(vec![public.clone()]).await;
        let target = ReceiverUrl::parse("https://hooks.example.com/").unwrap();
        assert_eq!(names.sender().judge(ORGANIZATION, &target).await, Verdict::Allowed, "{public:?}");
    }
}

#[tokio::test]
async fn unknown_name_is_unresolvable_and_silent_server_times_out() {
    let names = NameServer::start(vec![vec![]]).await;
    let sender = names.sender();
    let target = ReceiverUrl::parse("https://hooks.example.com/").unwrap();
    assert_eq!(sender.judge(ORGANIZATION, &target).await, Verdict::Unresolvable);
    assert_eq!(outcome_of(&sender, post(target.as_str(), AMPLE)).await, failed(0, Unresolvable));
    let silent = NameServer::start(vec![]).await;
    assert_eq!(outcome_of(&silent.sender(), post(target.as_str(), SHORT)).await, failed(0, Timeout));
}
