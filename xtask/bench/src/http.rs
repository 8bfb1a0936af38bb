//! The least of HTTP/1.1 that sending requests over and over takes.

use crate::Outcome;
use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// Room for the head of a response, and for most bodies.
const BUFFER: usize = 64 * 1024;
/// For one request by itself.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection that is kept alive.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// Where the parts of a response are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Where the body begins.
    bytes: usize,
    body_bytes: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER] })
    }

    /// Sends a request and waits for its whole response.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<(u16, &[u8])> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let mut head: Option<Head> = None;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the service closed the connection"));
            }
            filled += read;
            if head.is_none() {
                head = parse(&self.buffer[..filled])?;
            }
            if let Some(it) = head.filter(|it| filled >= it.bytes + it.body_bytes) {
                return Ok((it.status, &self.buffer[it.bytes..it.bytes + it.body_bytes]));
            }
        }
    }
}

/// The head, once all of it is there.
fn parse(bytes: &[u8]) -> io::Result<Option<Head>> {
    let unknown = |what| io::Error::new(io::ErrorKind::InvalidData, format!("the response has no {what}"));
    let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&bytes[..end]).map_err(|_| unknown("readable head"))?;
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|it| it.get(..3)?.parse().ok());
    Ok(Some(Head {
        status: status.ok_or_else(|| unknown("status"))?,
        bytes: end + 4,
        body_bytes: length(text).ok_or_else(|| unknown("length"))?,
    }))
}

/// Reads something.
pub(crate) fn get(address: SocketAddr, path: &str, key: &str) -> Outcome<Value> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
    Ok(exchange(address, path, request.as_bytes(), 200)?.1)
}

/// Sends a request on a connection of its own; the seconds from its first byte to the last of the answer.
pub(crate) fn post(
    address: SocketAddr,
    path: &str,
    key: &str,
    kind: &str,
    body: &str,
    wanted: u16,
) -> Outcome<(f64, Value)> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: {kind}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    exchange(address, path, &[head.as_bytes(), body.as_bytes()].concat(), wanted)
}

fn exchange(address: SocketAddr, path: &str, request: &[u8], wanted: u16) -> Outcome<(f64, Value)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let exchanged = async {
        let mut connection = Connection::open(address).await?;
        let begun = Instant::now();
        let (status, answer) = connection.exchange(request).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(answer);
        if status == wanted {
            Ok((seconds, serde_json::from_str(&text)?))
        } else {
            Err(format!("{path}: {text}").into())
        }
    };
    let limited = async { timeout(PATIENCE, exchanged).await };
    runtime.block_on(limited).map_err(|_| format!("{path} was not answered in time"))?
}

/// What a head says of the length of its body.
pub(crate) fn length(head: &str) -> Option<usize> {
    let fields = head.lines().filter_map(|it| it.split_once(':'));
    fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).find_map(|(_, it)| it.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_complete() {
        let text = b"HTTP/1.1 201 Created\r\nX: y\r\ncontent-length: 12\r\n\r\nbody";
        assert_eq!(parse(text).unwrap(), Some(Head { status: 201, bytes: text.len() - 4, body_bytes: 12 }));
        assert_eq!(parse(&text[..text.len() - 5]).unwrap(), None);
    }

    #[test]
    fn a_response_without_a_length_is_refused() {
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse(b"SSH-2.0\r\ncontent-length: 1\r\n\r\n").is_err());
    }
}
