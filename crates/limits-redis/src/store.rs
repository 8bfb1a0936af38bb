//! The windows on the server, over one connection that comes back by itself.

use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::QuotaClass;
use candor_domain::fields::Word;
use candor_domain::id::KeyId;
use candor_domain::window::RateLimitStatus;
use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::{Client, ErrorKind, IntoConnectionInfo, RedisError};
use tokio::runtime::Handle;

use crate::script::WindowScript;
use crate::server::RedisServer;

/// How long a connection may take to come about, name and TLS included.
const CONNECT: Duration = Duration::from_secs(1);
/// How long an answer is waited for at all, so that nothing piles up behind a server that hangs. Whoever asks has given up
/// long before.
const ANSWER: Duration = Duration::from_secs(1);
/// How long what was sent may stay unconfirmed before the connection counts as broken.
const UNCONFIRMED: Duration = Duration::from_secs(2);
/// Requests that may wait to be sent. As many are under way at once in a busy process.
const WAITING: usize = 1024;
/// The names of windows begin with this.
const PREFIX: &str = "candor:limit";

/// Windows on a server.
pub struct RedisRateLimits(Arc<Shared>);

struct Shared {
    client: Client,
    script: WindowScript,
    connection: Mutex<ConnectionManager>,
    /// Where the connection is served: not on the threads that answer requests, each of which may be at work for a while.
    runtime: Handle,
}

impl RedisRateLimits {
    /// Prepares to talk to a server; a connection is made when it is needed.
    ///
    /// # Errors
    /// [`RateLimitStoreError::Unreachable`] outside of a runtime.
    pub fn new(server: &RedisServer) -> Result<Self, RateLimitStoreError> {
        let runtime = Handle::try_current().map_err(|it| RateLimitStoreError::Unreachable(it.to_string()))?;
        let tcp = TcpSettings::default().set_nodelay(true);
        #[cfg(target_os = "linux")]
        let tcp = tcp.set_user_timeout(UNCONFIRMED);
        let place = server.url.reveal().into_connection_info().map_err(|it| told(&it))?;
        let client = Client::open(place.set_tcp_settings(tcp)).map_err(|it| told(&it))?;
        let connection = Mutex::new(connection(&client).map_err(|it| told(&it))?);
        Ok(Self(Arc::new(Shared { client, script: WindowScript::new(), connection, runtime })))
    }

    async fn decide(&self, name: String, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError> {
        let shared = Arc::clone(&self.0);
        let asked = self.0.runtime.spawn(async move { shared.ask(&name, limit).await });
        asked.await.unwrap_or_else(|it| Err(RateLimitStoreError::Unreachable(it.to_string())))
    }
}

impl Shared {
    async fn ask(&self, name: &str, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let asked = self.script.admit(&mut connection, name, limit).await;
        asked.map_err(|error| {
            if !error.is_io_error() && error.code().is_none() {
                // The connection keeps such an answer for good, a refused password for one, and never asks again.
                self.begin_anew();
            }
            told(&error)
        })
    }

    fn begin_anew(&self) {
        if let Ok(new) = connection(&self.client) {
            *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = new;
        }
    }
}

#[async_trait]
impl RateLimitStore for RedisRateLimits {
    async fn admit(&self, key: KeyId, class: QuotaClass, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError> {
        self.decide(format!("{PREFIX}:{key}:{}", class.word()), limit).await
    }

    async fn check(&self) -> Result<(), RateLimitStoreError> {
        self.decide(format!("{PREFIX}:check"), 0).await.map(drop)
    }
}

/// A connection that is made when it is needed, and made again when it breaks: at once, and then whenever somebody asks,
/// which is rarely enough while nobody answers there.
fn connection(client: &Client) -> Result<ConnectionManager, RedisError> {
    let config = ConnectionManagerConfig::new()
        .set_number_of_retries(0)
        .set_connection_timeout(Some(CONNECT))
        .set_response_timeout(Some(ANSWER))
        .set_pipeline_buffer_size(WAITING);
    ConnectionManager::new_lazy_with_config(client.clone(), config)
}

/// What went wrong, in our words.
fn told(error: &RedisError) -> RateLimitStoreError {
    let text = error.to_string();
    if is_tls(error) {
        return RateLimitStoreError::Tls(text);
    }
    if error.kind() == ErrorKind::AuthenticationFailed || matches!(error.code(), Some("NOAUTH" | "WRONGPASS")) {
        return RateLimitStoreError::Credentials(text);
    }
    if error.is_timeout() {
        return RateLimitStoreError::TooSlow;
    }
    if error.is_io_error() { RateLimitStoreError::Unreachable(text) } else { RateLimitStoreError::Refused(text) }
}

/// Whether TLS is what failed, which is told as an error of the socket.
fn is_tls(error: &RedisError) -> bool {
    let shared = error.source().and_then(|it| it.downcast_ref::<Arc<dyn Error + Send + Sync>>());
    let socket = shared.and_then(|it| it.downcast_ref::<io::Error>()).and_then(io::Error::get_ref);
    socket.is_some_and(|it| it.is::<rustls::Error>())
}
