//! A provider on a loopback socket. Each path has an answer, which a test can change.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use candor_domain::id::OrganizationId;
use candor_domain::ulid::Ulid;
use candor_identity::{IdentityClient, IdentitySettings};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

pub(crate) const ORGANIZATION: OrganizationId = OrganizationId::from_ulid(Ulid(1));
/// Time limit of requests that must not time out. It only ends the test of a broken program.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);
/// Time limit of requests that must time out.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// The behaviour of the provider for a path.
#[derive(Debug, Clone)]
pub(crate) enum ServerResponse {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends these bytes and nothing more, and keeps the connection open.
    Silence(Vec<u8>),
    /// Sends this head, then the chunk again and again.
    Endless(&'static str, Vec<u8>),
}

impl ServerResponse {
    pub(crate) fn json(body: impl ToString) -> Self {
        Self::with_headers("200 OK", "content-type: application/json\r\n", &body.to_string())
    }

    pub(crate) fn with_headers(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Bytes(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes())
    }
}

#[derive(Debug, Default)]
struct State {
    responses: HashMap<String, ServerResponse>,
    requests: Vec<String>,
    connections: usize,
}

/// The running provider.
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        Self::over(None).await
    }

    /// Starts a provider, with TLS if there is an acceptor.
    pub(crate) async fn over(acceptor: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared_state = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                shared_state.lock().unwrap().connections += 1;
                let (state, acceptor) = (Arc::clone(&shared_state), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(socket, &state).await,
                        Some(acceptor) => match acceptor.accept(socket).await {
                            Ok(stream) => serve(stream, &state).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Self { address, state, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the answer of a path.
    pub(crate) fn set(&self, path: &str, response: ServerResponse) {
        self.state.lock().unwrap().responses.insert(path.to_owned(), response);
    }

    /// Returns the requests as they came.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(mut socket: S, state: &Mutex<State>) -> Option<()> {
    let request = read_request(&mut socket).await?;
    let path = request.split(' ').nth(1)?.to_owned();
    let response = {
        let mut state = state.lock().unwrap();
        state.requests.push(request);
        state.responses.get(&path).cloned()
    };
    match response.unwrap_or_else(|| ServerResponse::with_headers("404 Not Found", "", "")) {
        ServerResponse::Bytes(bytes) => {
            socket.write_all(&bytes).await.ok()?;
            socket.shutdown().await.ok()
        }
        ServerResponse::Silence(bytes) => {
            socket.write_all(&bytes).await.ok()?;
            // The client sends nothing more, so the read ends when it closes.
            socket.read(&mut [0]).await.ok().map(|_| ())
        }
        ServerResponse::Endless(head, chunk) => {
            socket.write_all(head.as_bytes()).await.ok()?;
            while socket.write_all(&chunk).await.is_ok() {}
            None
        }
    }
}

/// Reads one request with the body length that its head states.
async fn read_request<S: AsyncRead + Unpin>(socket: &mut S) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
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
            Ok(count) => bytes.extend(&more[..count]),
        }
    }
}

/// Returns settings that trust loopback.
pub(crate) fn loopback() -> IdentitySettings {
    IdentitySettings {
        trusted: vec!["127.0.0.0/8".parse().unwrap()],
        time_limit: AMPLE,
        ..IdentitySettings::default()
    }
}

pub(crate) fn client() -> IdentityClient {
    IdentityClient::new(loopback()).unwrap()
}
