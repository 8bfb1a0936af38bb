//! Somebody who receives webhooks on this machine: answers at once, or not at all, and notes what came when.

use crate::Outcome;
use crate::http::length;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

/// What acknowledges a delivery.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// What stands before the id of the resource that a delivery is about.
const BEFORE_ID: &[u8] = b"\"data\":{\"id\":\"";
const BUFFER: usize = 16 * 1024;

/// What came, by the id of the resource that it is about.
pub(crate) type Arrival = (String, Instant);

/// A receiver, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    hangs: watch::Sender<bool>,
    _end: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Seen {
    count: AtomicUsize,
    first: Mutex<Option<Instant>>,
    noted: Mutex<Option<Vec<Arrival>>>,
}

impl Receiver {
    /// Listens, on a thread of its own.
    pub(crate) fn start() -> Outcome<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (hangs, hanging) = watch::channel(false);
        let (end, ended) = oneshot::channel::<()>();
        let seen = Arc::new(Seen::default());
        let serving = Arc::clone(&seen);
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = accept(listener, &serving, &hanging) => {}
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, seen, hangs, _end: end })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// From now on nothing is answered, or everything is; what has not been answered by then never is.
    pub(crate) fn hang(&self, hangs: bool) {
        self.hangs.send_replace(hangs);
    }

    /// How many have come since this was asked last, and when the first of them did.
    pub(crate) fn count_anew(&self) {
        self.seen.count.store(0, Ordering::Relaxed);
        *lock(&self.seen.first) = None;
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.count.load(Ordering::Relaxed)
    }

    pub(crate) fn first(&self) -> Option<Instant> {
        *lock(&self.seen.first)
    }

    /// From now on every arrival is noted.
    pub(crate) fn note(&self) {
        *lock(&self.seen.noted) = Some(vec![]);
    }

    /// What was noted; no more is from now on.
    pub(crate) fn noted(&self) -> Vec<Arrival> {
        lock(&self.seen.noted).take().unwrap_or_default()
    }
}

impl Seen {
    fn see(&self, body: &[u8]) {
        let now = Instant::now();
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            *lock(&self.first) = Some(now);
        }
        if let Some(noted) = lock(&self.noted).as_mut() {
            noted.extend(id(body).map(|it| (it, now)));
        }
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, seen: &Arc<Seen>, hanging: &watch::Receiver<bool>) -> Outcome {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let (seen, hanging) = (Arc::clone(seen), hanging.clone());
        tokio::spawn(async move { drop(answer(stream, &seen, hanging).await) });
    }
}

/// Answers one request after the other, until the connection ends.
async fn answer(mut stream: TcpStream, seen: &Seen, mut hanging: watch::Receiver<bool>) -> Outcome {
    stream.set_nodelay(true)?;
    let (mut buffer, mut filled) = (vec![0; BUFFER], 0);
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let Some((body, end)) = request(&buffer[..filled]).filter(|(_, end)| *end <= filled) else { continue };
        // Whoever sees the request counted may change the receiver's mind for the next one, not for this one.
        let hangs = *hanging.borrow();
        seen.see(&buffer[body..end]);
        if hangs {
            hanging.wait_for(|it| !it).await?;
            return Ok(());
        }
        stream.write_all(ANSWER).await?;
        filled = 0;
    }
}

/// Where the body of a request begins and ends, once the head is there.
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let body = bytes.windows(4).position(|it| it == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..body]).ok()?;
    Some((body, body + length(head).unwrap_or_default()))
}

fn id(body: &[u8]) -> Option<String> {
    let begin = body.windows(BEFORE_ID.len()).position(|it| it == BEFORE_ID)? + BEFORE_ID.len();
    let end = body[begin..].iter().position(|it| *it == b'"')?;
    Some(String::from_utf8_lossy(&body[begin..begin + end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    const POST: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: 23\r\n\r\n{\"x\":1,\"data\":{\"id\":\"a\"";

    #[test]
    fn a_request_ends_with_its_body() {
        assert_eq!(request(POST), Some((POST.len() - 23, POST.len())));
        assert_eq!(request(&POST[..20]), None);
        assert_eq!(id(&POST[POST.len() - 23..]), Some("a".to_owned()));
        assert_eq!(id(b"{}"), None);
    }

    #[test]
    fn what_comes_is_answered_counted_and_noted() {
        let receiver = Receiver::start().unwrap();
        receiver.note();
        let mut stream = std::net::TcpStream::connect(receiver.address).unwrap();
        let mut answer = [0; ANSWER.len()];
        for _ in 0..2 {
            stream.write_all(POST).unwrap();
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, ANSWER);
        }
        let ids: Vec<String> = receiver.noted().into_iter().map(|(id, _)| id).collect();
        assert_eq!((receiver.count(), ids.as_slice()), (2, ["a".to_owned(), "a".to_owned()].as_slice()));
        receiver.count_anew();
        assert_eq!((receiver.count(), receiver.first()), (0, None));
    }

    #[test]
    fn what_hangs_is_never_answered() {
        let receiver = Receiver::start().unwrap();
        receiver.hang(true);
        let mut stream = std::net::TcpStream::connect(receiver.address).unwrap();
        stream.write_all(POST).unwrap();
        while receiver.count() == 0 {
            std::thread::yield_now();
        }
        receiver.hang(false);
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    }
}
