//! Closes a listener gracefully: new clients are refused, accepted connections are still served.

use std::io;
use std::net::TcpListener;

/// Refuses new connections. Pending handshakes and connections in the accept queue still get through. Closing a
/// listener directly would reset them, and their clients could not tell whether a request was read.
///
/// The kernel drops SYN packets, so that a client finds the port closed when it retries a second later.
/// Supported on Linux only.
///
/// # Errors
/// The error of the system call; the listener is unchanged.
#[cfg(target_os = "linux")]
pub fn refuse_connections(listener: &TcpListener) -> io::Result<()> {
    use socket2::{SockFilter, SockRef};

    /// Offset of the flags in a TCP header, in bytes.
    const FLAGS_AT: u32 = 13;
    /// Flag of the first packet of a connection.
    const SYN: u32 = 0x02;
    /// Flag of a packet that acknowledges another one.
    const ACK: u32 = 0x10;
    // Instructions of the classic BPF, as numbered in linux/filter.h.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;

    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_AT),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ])
}

/// Returns an error, because only Linux has the packet filter that refuses new connections.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn refuse_connections(_: &TcpListener) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    #[test]
    fn closing_listener_serves_the_backlog_and_refuses_new_clients() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = TcpStream::connect(address).unwrap();
        refuse_connections(&listener).unwrap();
        waiting.write_all(b"x").unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        let mut byte = [0];
        accepted.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
        let late = TcpStream::connect_timeout(&address, Duration::from_millis(100)).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }
}
