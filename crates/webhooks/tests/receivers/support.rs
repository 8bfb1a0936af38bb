//! Scripted receivers on loopback sockets, and a sender that trusts loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use candor_domain::attempt_failure::FailureReason;
use candor_domain::id::OrganizationId;
use candor_domain::ulid::Ulid;
use candor_port_events::{Attempt, WebhookRequest, WebhookTransport};
use candor_subscriptions::AttemptOutcome;
use candor_webhooks::{Sender, SenderSettings};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Deadline for attempts that must not time out.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);
/// Deadline for attempts that must time out.
pub(crate) const SHORT: Duration = Duration::from_millis(300);
/// Time limit of every wait of a test. Only a broken program reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
pub(crate) const BODY: &str = r#"{"id":"evt_00000000000000000000000001"}"#;

/// A receiver that runs the same script on every connection.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Receiver {
    pub(crate) async fn start<F>(script: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script).await
    }

    pub(crate) async fn at<F>(address: SocketAddr, script: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let closed_count = Arc::new(AtomicUsize::new(0));
        let (counted, done) = (Arc::clone(&connections), Arc::clone(&closed_count));
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let (script, done) = (script(socket), Arc::clone(&done));
                tokio::spawn(async move {
                    script.await;
                    done.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, connections, ended: closed_count, task }
    }

    /// Starts a receiver that sends this response to every request.
    pub(crate) async fn answering(response: &'static [u8]) -> Self {
        Self::start(move |socket| serve(socket, response)).await
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of connections that have ended.
    pub(crate) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook?x=1", self.address)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends a response to every request until the sender closes.
pub(crate) async fn serve(mut socket: TcpStream, response: &'static [u8]) {
    while request(&mut socket).await.is_some() {
        socket.write_all(response).await.unwrap();
    }
}

/// Reads one request up to the body length that its head states. Returns `None` if the connection ends before.
pub(crate) async fn request<S: AsyncRead + Unpin>(socket: &mut S) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let content_length =
                head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or("0");
            if body.len() >= content_length.parse().unwrap() {
                return Some(text);
            }
        }
        let mut more = [0; 1024];
        match socket.read(&mut more).await {
            Ok(0) | Err(_) => return None,
            Ok(bytes) => read.extend(&more[..bytes]),
        }
    }
}

/// The organization of the requests.
pub(crate) const ORGANIZATION: OrganizationId = OrganizationId::from_ulid(Ulid(1));

pub(crate) fn loopback() -> SenderSettings {
    SenderSettings { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..SenderSettings::default() }
}

pub(crate) fn sender() -> Sender {
    Sender::new(loopback()).unwrap()
}

pub(crate) fn post(url: impl Into<String>, deadline: Duration) -> WebhookRequest {
    let headers =
        vec![("Content-Type", "application/json".to_owned()), ("X-Service-Event", "test.ping".to_owned())];
    let body = Bytes::from_static(BODY.as_bytes());
    WebhookRequest { organization: ORGANIZATION, url: url.into(), headers, custom_headers: vec![], body, deadline }
}

/// Makes one attempt with a new sender.
pub(crate) async fn attempt(url: impl Into<String>, deadline: Duration) -> (u16, AttemptOutcome) {
    outcome_of(&sender(), post(url, deadline)).await
}

pub(crate) async fn outcome_of(sender: &Sender, request: WebhookRequest) -> (u16, AttemptOutcome) {
    let attempt = tokio::time::timeout(PATIENCE, sender.send(request)).await;
    let Attempt { response_status, outcome, .. } = attempt.expect("the attempt ends at its deadline");
    (response_status, outcome)
}

/// Makes one attempt and returns the `failure_detail` for the delivery log.
pub(crate) async fn detail(sender: &Sender, request: WebhookRequest) -> Option<String> {
    let attempt = tokio::time::timeout(PATIENCE, sender.send(request)).await;
    attempt.expect("the attempt ends at its deadline").failure_detail
}

pub(crate) const fn acknowledged(status: u16) -> (u16, AttemptOutcome) {
    (status, AttemptOutcome::Acknowledged)
}

pub(crate) const fn failed(status: u16, reason: FailureReason) -> (u16, AttemptOutcome) {
    (status, AttemptOutcome::Failed(reason))
}

/// Waits for a condition and fails after [`PATIENCE`].
pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "not reached in time: {what}");
}

/// Resets a connection, as a crashed process does.
pub(crate) fn reset(socket: &TcpStream) {
    socket.set_zero_linger().unwrap();
}
