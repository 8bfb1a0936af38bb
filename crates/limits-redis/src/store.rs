//! Shared windows on a Redis server, over one connection that reconnects automatically.

use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use candor_domain::access::QuotaClass;
use candor_domain::fields::StringEnum;
use candor_domain::id::KeyId;
use candor_domain::window::RateLimitStatus;
use candor_port_limits::{RateLimitStore, RateLimitStoreError};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::{Client, ErrorKind, IntoConnectionInfo, RedisError};
use tokio::runtime::Handle;

use crate::script::WindowScript;
use crate::server::RedisServer;

/// Longest time for connecting, including name lookup and TLS.
const CONNECT: Duration = Duration::from_secs(1);
/// Longest wait for a response, so that requests do not pile up behind a server that hangs. Callers give up much
/// earlier.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest time that sent data may stay unacknowledged (TCP) before the connection counts as broken.
const UNCONFIRMED: Duration = Duration::from_secs(2);
/// Maximum number of requests in the send buffer; a busy process has as many in flight.
const WAITING: usize = 1024;
/// Prefix of the keys of all windows.
const PREFIX: &str = "candor:limit";

/// A store of windows on a Redis server.
pub struct RedisRateLimits(Arc<Shared>);

struct Shared {
    client: Client,
    script: WindowScript,
    connection: Mutex<ConnectionManager>,
    /// Runtime that drives the connection, because the threads that serve requests may be busy for a while.
    runtime: Handle,
}

impl RedisRateLimits {
    /// Prepares the connection to a server, which is opened at first use.
    ///
    /// # Errors
    /// Returns [`RateLimitStoreError::Unreachable`] outside of a Tokio runtime, or the error of the client library
    /// if it cannot use the URL.
    pub fn new(server: &RedisServer) -> Result<Self, RateLimitStoreError> {
        let runtime =
            Handle::try_current().map_err(|error| RateLimitStoreError::Unreachable(error.to_string()))?;
        let tcp = TcpSettings::default().set_nodelay(true);
        #[cfg(target_os = "linux")]
        let tcp = tcp.set_user_timeout(UNCONFIRMED);
        let connection_info = server.url.reveal().into_connection_info().map_err(|error| map_error(&error))?;
        let client = Client::open(connection_info.set_tcp_settings(tcp)).map_err(|error| map_error(&error))?;
        let connection = Mutex::new(connection(&client).map_err(|error| map_error(&error))?);
        Ok(Self(Arc::new(Shared { client, script: WindowScript::new(), connection, runtime })))
    }

    async fn decide(&self, name: String, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError> {
        let shared = Arc::clone(&self.0);
        let decision = self.0.runtime.spawn(async move { shared.ask(&name, limit).await });
        decision.await.unwrap_or_else(|error| Err(RateLimitStoreError::Unreachable(error.to_string())))
    }
}

impl Shared {
    async fn ask(&self, name: &str, limit: u32) -> Result<RateLimitStatus, RateLimitStoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let status = self.script.admit(&mut connection, name, limit).await;
        status.map_err(|error| {
            if !error.is_io_error() && error.code().is_none() {
                // The connection would return this error, for instance a refused password, for every later
                // request, and never connect again.
                self.replace_connection();
            }
            map_error(&error)
        })
    }

    fn replace_connection(&self) {
        if let Ok(new) = connection(&self.client) {
            *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = new;
        }
    }
}

#[async_trait]
impl RateLimitStore for RedisRateLimits {
    async fn admit(
        &self,
        key: KeyId,
        class: QuotaClass,
        limit: u32,
    ) -> Result<RateLimitStatus, RateLimitStoreError> {
        self.decide(format!("{PREFIX}:{key}:{}", class.word()), limit).await
    }

    async fn check(&self) -> Result<(), RateLimitStoreError> {
        self.decide(format!("{PREFIX}:check"), 0).await.map(drop)
    }
}

/// Creates a connection that is opened at first use and reopened after an error. After a failed attempt to
/// connect, only the next request tries again; callers send few requests while the server is down.
fn connection(client: &Client) -> Result<ConnectionManager, RedisError> {
    let config = ConnectionManagerConfig::new()
        .set_number_of_retries(0)
        .set_connection_timeout(Some(CONNECT))
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_pipeline_buffer_size(WAITING);
    ConnectionManager::new_lazy_with_config(client.clone(), config)
}

/// Maps an error of the client library to the error of the port.
fn map_error(error: &RedisError) -> RateLimitStoreError {
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

/// Returns `true` if TLS failed, which the library reports as a socket error.
fn is_tls(error: &RedisError) -> bool {
    let shared = error.source().and_then(|source| source.downcast_ref::<Arc<dyn Error + Send + Sync>>());
    let socket = shared.and_then(|error| error.downcast_ref::<io::Error>()).and_then(io::Error::get_ref);
    socket.is_some_and(|error| error.is::<rustls::Error>())
}
