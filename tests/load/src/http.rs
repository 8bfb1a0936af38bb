//! A minimal HTTP/1.1 client for load: it sends prepared bytes and leaves the processors to the service.

use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes for the head of a response and for most bodies.
const BUFFER: usize = 64 * 1024;

/// A kept-alive HTTP/1.1 connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// If the server does not accept the connection.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER] })
    }

    /// Sends a request and returns the status and body of its response.
    ///
    /// # Errors
    ///
    /// If the server closes the connection, or its response has no status or no length.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<(u16, &[u8])> {
        self.stream.write_all(request).await?;
        let (mut filled, mut head) = (0, None);
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
            if let Some((status, start, end)) = head.filter(|(.., end)| is_whole(&self.buffer[..filled], *end)) {
                return Ok((status, &self.buffer[start..end.unwrap_or(filled)]));
            }
        }
    }
}

/// Status of a response, and where its body begins and ends. A body in chunks has no known end.
type Head = (u16, usize, Option<usize>);

/// Returns `true` if the bytes contain a whole response. The end of chunks is found for JSON, which contains no line
/// breaks with a carriage return.
fn is_whole(bytes: &[u8], end: Option<usize>) -> bool {
    end.map_or_else(|| bytes.ends_with(b"\r\n0\r\n\r\n"), |end| bytes.len() >= end)
}

/// Returns the head of a response. Returns `None` while the head is incomplete.
fn parse(bytes: &[u8]) -> io::Result<Option<Head>> {
    let missing = |what| io::Error::new(io::ErrorKind::InvalidData, format!("the response has no {what}"));
    let Some(start) = head_end(bytes) else { return Ok(None) };
    let text = std::str::from_utf8(&bytes[..start]).map_err(|_| missing("readable head"))?;
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let length = content_length(text);
    if length.is_none() && !text.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return Err(missing("length"));
    }
    Ok(Some((status.ok_or_else(|| missing("status"))?, start, length.map(|length| start + length))))
}

/// Returns the position after the head of a message. `None` while the head is incomplete.
pub fn head_end(bytes: &[u8]) -> Option<usize> {
    Some(bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4)
}

/// Returns the length of the body that the head of a message states. `None` without a valid length.
pub fn content_length(head: &str) -> Option<usize> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{is_whole, parse};

    #[test]
    fn head_without_end_status_or_length_is_not_parsed() {
        let text = b"HTTP/1.1 201 Created\r\nX: y\r\ncontent-length: 12\r\n\r\nbody";
        assert_eq!(parse(text).unwrap(), Some((201, text.len() - 4, Some(text.len() + 8))));
        assert_eq!(parse(&text[..text.len() - 5]).unwrap(), None);
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse(b"SSH-2.0\r\ncontent-length: 1\r\n\r\n").is_err());
    }

    #[test]
    fn response_in_chunks_is_whole_after_its_last_chunk() {
        let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n";
        let (status, _, end) = parse(text).unwrap().unwrap();
        assert_eq!((status, end, is_whole(text, end)), (200, None, true));
        assert!(!is_whole(&text[..text.len() - 2], end));
    }
}
