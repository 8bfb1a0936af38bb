//! Listens: workers, limits on time, and an orderly end.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::{HttpService, KeepAlive, Protocol};
use actix_server::Server;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::App;
use actix_web::dev::AppConfig;
use actix_web::rt::net::TcpStream;

use crate::api::{Api, configure};
use crate::wire::Wire;

/// How the server treats connections.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// Threads that answer requests.
    pub workers: usize,
    /// How long a connection may wait for its next request.
    pub keep_alive: Duration,
    /// How long the head of a request may take to arrive.
    pub head_time: Duration,
    /// How long requests may take to finish when the server stops, in seconds.
    pub drain_seconds: u64,
    /// The most connections of one worker.
    pub connections_per_worker: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            keep_alive: Duration::from_secs(75),
            head_time: Duration::from_secs(10),
            drain_seconds: 15,
            connections_per_worker: 10_000,
        }
    }
}

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
    for listener in listeners {
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
                .finish(app);
            let api = Arc::clone(&api);
            fn_service(move |stream: TcpStream| {
                let api = Arc::clone(&api);
                async move {
                    // Answers are written whole, so waiting to fill packets would only delay them.
                    let _ = stream.set_nodelay(true);
                    let peer = stream.peer_addr().ok();
                    Ok((Wire::new(stream, peer.map(|it| it.ip()), api), Protocol::Http1, peer))
                }
            })
            .and_then(http)
        })?;
    }
    Ok(builder.run())
}
