//! A receiver of webhooks on this machine. It answers at once and records arrivals.

use crate::Result;
use candor_test_load::{content_length, head_end};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// Response that acknowledges a delivery.
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// Text before the id of the resource in the body of a delivery.
const BEFORE_ID: &[u8] = b"\"data\":{\"id\":\"";
const BUFFER: usize = 16 * 1024;

/// Id of the resource of a delivery, and its time.
pub(crate) type Arrival = (String, Instant);

/// A webhook receiver on this machine. It stops on drop.
#[derive(Debug)]
pub(crate) struct Receiver {
    address: SocketAddr,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    _end: oneshot::Sender<()>,
}

impl Receiver {
    /// Listens on a thread of its own.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let arrivals = Arc::default();
        let serving = Arc::clone(&arrivals);
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = accept(listener, &serving) => {}
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, arrivals, _end: end })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Returns the number of deliveries since the last [`Self::take`].
    pub(crate) fn count(&self) -> usize {
        lock(&self.arrivals).len()
    }

    /// Removes and returns the arrivals so far.
    pub(crate) fn take(&self) -> Vec<Arrival> {
        std::mem::take(&mut *lock(&self.arrivals))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, arrivals: &Arc<Mutex<Vec<Arrival>>>) -> Result {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let arrivals = Arc::clone(arrivals);
        tokio::spawn(async move { drop(respond(stream, &arrivals).await) });
    }
}

/// Answers the requests of a connection until it ends.
async fn respond(mut stream: TcpStream, arrivals: &Mutex<Vec<Arrival>>) -> Result {
    stream.set_nodelay(true)?;
    let (mut buffer, mut filled) = (vec![0; BUFFER], 0);
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let Some((body, end)) = body_range(&buffer[..filled]).filter(|(_, end)| *end <= filled) else { continue };
        let arrival = (resource_id(&buffer[body..end]).unwrap_or_default(), Instant::now());
        lock(arrivals).push(arrival);
        stream.write_all(RESPONSE).await?;
        filled = 0;
    }
}

/// Returns where the body of a request begins and ends, once the head is complete.
fn body_range(bytes: &[u8]) -> Option<(usize, usize)> {
    let start = head_end(bytes)?;
    let head = std::str::from_utf8(&bytes[..start]).ok()?;
    Some((start, start + content_length(head).unwrap_or_default()))
}

fn resource_id(body: &[u8]) -> Option<String> {
    let begin = body.windows(BEFORE_ID.len()).position(|window| window == BEFORE_ID)? + BEFORE_ID.len();
    let end = body[begin..].iter().position(|byte| *byte == b'"')?;
    Some(String::from_utf8_lossy(&body[begin..begin + end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    const POST: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: 23\r\n\r\n{\"x\":1,\"data\":{\"id\":\"a\"";

    #[test]
    fn delivery_is_answered_and_recorded() {
        let receiver = Receiver::start().unwrap();
        let mut stream = std::net::TcpStream::connect(receiver.address).unwrap();
        let mut response = [0; RESPONSE.len()];
        for part in [POST, &POST[..20], &POST[20..]] {
            stream.write_all(part).unwrap();
            if part.len() != 20 {
                stream.read_exact(&mut response).unwrap();
            }
        }
        let ids: Vec<String> = receiver.take().into_iter().map(|(id, _)| id).collect();
        assert_eq!((ids, receiver.count()), (vec!["a".to_owned(), "a".to_owned()], 0));
    }
}
