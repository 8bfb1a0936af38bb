//! Opens connections to vetted addresses.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use candor_domain::attempt_failure::FailureReason;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use url::Url;

use crate::connection::{Connection, Driver, Wire};
use crate::failure::AttemptFailure;
use crate::tls;
use crate::wire::MeteredSocket;

/// Largest head of a response, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Maximum number of headers of a response.
const MAX_HEADERS: usize = 100;
/// HTTP/2 flow-control window of one response body, in bytes. Bounds the memory per stream.
const STREAM_WINDOW: u32 = 16 * 1024;
/// HTTP/2 flow-control window of a connection, in bytes.
const CONNECTION_WINDOW: u32 = 64 * 1024;

/// Opens a connection to the first of these addresses that accepts one.
pub(crate) async fn open(
    url: &Url,
    addresses: &[SocketAddr],
    tls: &TlsConnector,
    deadline: Instant,
) -> Result<(SocketAddr, Connection), AttemptFailure> {
    let (address, socket) = dial(addresses, deadline).await.ok_or(FailureReason::Connect)?;
    let (metered, allowance) = MeteredSocket::new(socket);
    let wire = if url.scheme() == "https" {
        let name = tls::server_name(url).ok_or(FailureReason::Tls)?;
        let stream = tls.connect(name, metered).await.map_err(|error| AttemptFailure::from_tls(&error))?;
        match stream.get_ref().1.alpn_protocol() {
            Some(tls::HTTP2) => http2_over(stream).await,
            _ => http1_over(stream).await,
        }
    } else {
        http1_over(metered).await
    };
    let (wire, driver) = wire.map_err(|_| FailureReason::Closed)?;
    Ok((address, Connection { wire, allowance, driver: Arc::new(driver) }))
}

/// Connects to the first of these addresses that accepts. Each address gets an equal share of the remaining time.
/// Returns `None` if no address accepts in its time.
async fn dial(addresses: &[SocketAddr], deadline: Instant) -> Option<(SocketAddr, TcpStream)> {
    for (tried, address) in addresses.iter().enumerate() {
        let remaining_time = deadline.saturating_duration_since(Instant::now());
        let share = remaining_time / u32::try_from(addresses.len() - tried).unwrap_or(1);
        if let Ok(Ok(socket)) = timeout(share, connect(*address)).await {
            return Some((*address, socket));
        }
    }
    None
}

/// Connects and verifies that the peer has the vetted address.
async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(address).await?;
    let peer = socket.peer_addr()?;
    if (peer.ip(), peer.port()) != (address.ip(), address.port()) {
        return Err(io::Error::other("the connection has a different peer address than the vetted one"));
    }
    socket.set_nodelay(true)?;
    Ok(socket)
}

async fn http1_over<S>(stream: S) -> hyper::Result<(Wire, Driver)>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .title_case_headers(true)
        .handshake::<_, Full<Bytes>>(TokioIo::new(stream))
        .await?;
    Ok((Wire::One(sender), drive(connection)))
}

async fn http2_over<S>(stream: S) -> hyper::Result<(Wire, Driver)>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX))
        .handshake::<_, Full<Bytes>>(TokioIo::new(stream))
        .await?;
    Ok((Wire::Many(sender), drive(connection)))
}

/// Runs a connection until it ends. Its error is dropped, because the pending request gets the error too.
fn drive(connection: impl Future<Output = hyper::Result<()>> + Send + 'static) -> Driver {
    Driver::new(tokio::spawn(async move {
        connection.await.ok();
    }))
}
