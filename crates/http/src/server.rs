//! Listens: workers, limits on time, and an orderly end.

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

use crate::api::Api;
use crate::connections::Connections;
use crate::dispatch;
use crate::paced::Times;
use crate::wire::{ErrorBodyStream, reject};

/// How the server treats connections.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// Threads that answer requests.
    pub workers: usize,
    /// How long a connection may wait for its next request.
    pub keep_alive: Duration,
    /// How long the head of a request may take to arrive, once it has begun or the connection is new.
    pub head_time: Duration,
    /// How long requests may take to finish when the server stops, in seconds.
    pub drain_seconds: u64,
    /// How long a write may wait for a client that takes nothing.
    pub write_time: Duration,
    /// The most connections of one worker.
    pub connections_per_worker: usize,
    /// The most connections of one client address, proxies that are trusted aside.
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
            connections_per_worker: 10_000,
            connections_per_client: 256,
        }
    }
}

/// How long a client may take nothing of what is written to it, unless it is told otherwise.
pub(crate) const WRITE_TIME: Duration = Duration::from_secs(20);

/// Size of the send buffer of a connection, in bytes; Linux counts its own overhead in and doubles it. A system that
/// chooses takes up to 4 MB for a client that does not read. This much still fills a line of 10 Mbit/s at 100 ms.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// How long a closing connection may take to take note of it.
const DISCONNECT_TIME: Duration = Duration::from_secs(2);

/// Serves the API on these listeners. It stops by the handle of the answer, never by itself on a signal.
///
/// # Errors
/// A listener cannot be used.
pub fn server(api: &Arc<Api>, listeners: Vec<TcpListener>, options: ServerOptions) -> io::Result<Server> {
    let mut builder = Server::build()
        .workers(options.workers.max(1))
        .max_concurrent_connections(options.connections_per_worker)
        .shutdown_timeout(options.drain_seconds)
        .disable_signals();
    let connections = Connections::of_at_most(options.connections_per_client, api.settings.trusted_proxies.clone());
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

/// Takes a connection, unless its client has too many.
fn accept(
    stream: TcpStream,
    api: Arc<Api>,
    connections: &Arc<Connections>,
    options: ServerOptions,
) -> Result<(ErrorBodyStream, Protocol, Option<SocketAddr>), DispatchError> {
    let peer = stream.peer_addr().ok();
    let client = peer.map(|it| it.ip());
    let Some(permit) = connections.admit(client) else {
        reject(stream, client, &api);
        return Err(DispatchError::Io(io::ErrorKind::ConnectionRefused.into()));
    };
    // Answers are written whole, so waiting to fill packets would only delay them.
    let _ = stream.set_nodelay(true);
    bound_send_buffer(&stream);
    end_when_not_taken(&stream, options.write_time);
    let times = Times { head: options.head_time, write: options.write_time };
    Ok((ErrorBodyStream::new(stream, client, api, times, permit), Protocol::Http1, peer))
}

/// Limits what the system keeps of answers that the client does not read. A system that refuses the size keeps its own.
fn bound_send_buffer(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_send_buffer_size(SEND_BUFFER_BYTES);
}

/// Ends a connection whose client takes nothing for so long of what has been written, where the system can. Small answers
/// wait in the buffers of the system, so that no write ever waits for them.
pub(crate) fn end_when_not_taken(stream: &TcpStream, time: Duration) {
    #[cfg(target_os = "linux")]
    let _ = SockRef::from(stream).set_tcp_user_timeout(Some(time));
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, time);
}

/// Adds the API to an actix application: it answers every path.
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
        // Linux doubles what is asked for.
        assert!(SockRef::from(&stream).send_buffer_size().unwrap() <= 2 * SEND_BUFFER_BYTES);
        let written = std::iter::from_fn(|| stream.try_write(&[0; 65_536]).ok()).sum::<usize>();
        assert!(written < 1_000_000, "the system took {written} bytes for a client that reads nothing");
    }
}
