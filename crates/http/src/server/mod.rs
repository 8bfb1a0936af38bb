//! HTTP server: workers, timeouts and graceful shutdown.

pub(crate) mod admin;
mod wire;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Protocol};
use actix_server::Server;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::App;
use actix_web::dev::AppConfig;
use actix_web::rt::net::TcpStream;
use actix_web::web::{self, ServiceConfig};
use socket2::SockRef;

use crate::connection::connections::Connections;
use crate::connection::paced::Times;
use crate::pipeline::api::Api;
use crate::pipeline::dispatch;
use crate::server::wire::{ErrorBodyStream, reject};

/// Connection settings of the server.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// Number of threads that answer requests.
    pub workers: usize,
    /// Timeout for the next request of a connection.
    pub keep_alive: Duration,
    /// Timeout for a request head, from its first byte or from the start of a new connection.
    pub head_time: Duration,
    /// Time for requests to finish at shutdown, in seconds.
    pub drain_seconds: u64,
    /// Timeout of a blocked write.
    pub write_time: Duration,
    /// Time in which the client of an export must take 64 kB.
    pub export_time: Duration,
    /// Maximum connections per worker.
    pub connections_per_worker: usize,
    /// Maximum connections per client address, trusted proxies excepted.
    pub connections_per_client: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            keep_alive: Duration::from_secs(75),
            head_time: Duration::from_secs(10),
            drain_seconds: 15,
            write_time: WRITE_TIME,
            export_time: EXPORT_TIME,
            connections_per_worker: 10_000,
            connections_per_client: 256,
        }
    }
}

/// Default timeout of a blocked write.
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(20);

/// Default time in which the client of an export must take 64 kB.
const EXPORT_TIME: Duration = Duration::from_secs(10);

/// Size of a connection's send buffer, in bytes; Linux doubles it for its own overhead. The automatic size would
/// grow to 4 MB for a client that does not read. This size still saturates 10 Mbit/s at a round-trip time of 100
/// ms.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Timeout for closing a connection gracefully.
const DISCONNECT_TIME: Duration = Duration::from_secs(2);

/// Creates the server for these listeners. It stops only through its handle, never on a signal.
///
/// # Errors
/// A listener cannot be used.
pub fn server(api: &Arc<Api>, listeners: Vec<TcpListener>, options: ServerOptions) -> io::Result<Server> {
    let mut builder = Server::build()
        .workers(options.workers.max(1))
        .max_concurrent_connections(options.connections_per_worker)
        .shutdown_timeout(options.drain_seconds)
        .disable_signals();
    let connections =
        Connections::with_limit(options.connections_per_client, api.settings.trusted_proxies.clone());
    for listener in listeners {
        let connections = Arc::clone(&connections);
        let (api, stop) = (Arc::clone(api), builder.graceful_shutdown_signal());
        builder = builder.listen("api", listener, move || {
            let (app, stop) = (Arc::clone(&api), stop.clone());
            let app = map_config(App::new().configure(configure(app)).into_factory(), |()| AppConfig::default());
            let http = HttpService::build()
                .graceful_shutdown_signal(move || {
                    let stop = stop.clone();
                    async move { stop.notified().await }
                })
                .keep_alive(KeepAlive::Timeout(options.keep_alive))
                .client_request_timeout(options.head_time)
                .client_disconnect_timeout(DISCONNECT_TIME)
                .on_connect_ext(|stream: &ErrorBodyStream, data| {
                    data.insert(stream.gate());
                })
                .finish(app);
            let (api, connections) = (Arc::clone(&api), Arc::clone(&connections));
            fn_service(move |stream: TcpStream| {
                let (api, connections) = (Arc::clone(&api), Arc::clone(&connections));
                async move { accept(stream, api, &connections, options) }
            })
            .and_then(http)
        })?;
    }
    Ok(builder.run())
}

/// Accepts a connection, unless its client has too many.
fn accept(
    stream: TcpStream,
    api: Arc<Api>,
    connections: &Arc<Connections>,
    options: ServerOptions,
) -> Result<(ErrorBodyStream, Protocol, Option<SocketAddr>), DispatchError> {
    let peer = stream.peer_addr().ok();
    let client = peer.map(|peer| peer.ip());
    let Some(permit) = connections.admit(client) else {
        reject(stream, client, &api);
        return Err(DispatchError::Io(io::ErrorKind::ConnectionRefused.into()));
    };
    // Answers are written in one go, so Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    bound_send_buffer(&stream);
    end_when_not_taken(&stream, options.write_time);
    let times = Times { head: options.head_time, write: options.write_time, pace: options.export_time };
    Ok((ErrorBodyStream::new(stream, client, api, times, permit), Protocol::Http1, peer))
}

/// Bounds the kernel's buffer of unread answers. If the kernel refuses the size, its default size stays.
fn bound_send_buffer(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_send_buffer_size(SEND_BUFFER_BYTES);
}

/// Sets `TCP_USER_TIMEOUT` where supported: the kernel ends a connection whose client acknowledges nothing for
/// `time`. Small answers fit into kernel buffers, so their writes never block, and `write_time` does not apply.
pub(crate) fn end_when_not_taken(stream: &TcpStream, time: Duration) {
    #[cfg(target_os = "linux")]
    let _ = SockRef::from(stream).set_tcp_user_timeout(Some(time));
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, time);
}

/// Adds the API to an actix application, for all paths.
pub fn configure(api: Arc<Api>) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        config.app_data(web::Data::from(api)).default_service(web::to(dispatch::entry));
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn send_buffer_of_a_connection_stays_small() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        bound_send_buffer(&stream);
        stream.writable().await.unwrap();
        // Linux doubles the requested size.
        assert!(SockRef::from(&stream).send_buffer_size().unwrap() <= 2 * SEND_BUFFER_BYTES);
        let byte_count = std::iter::from_fn(|| stream.try_write(&[0; 65_536]).ok()).sum::<usize>();
        assert!(byte_count < 1_000_000, "the system took {byte_count} bytes for a client that reads nothing");
    }
}
