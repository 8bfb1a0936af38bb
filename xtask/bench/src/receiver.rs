//! A receiver of webhooks on this machine. It answers at once or not at all, and records arrivals.

use crate::Result;
use crate::http::{content_length, head_end};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

/// Response that acknowledges a delivery.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// Text before the id of the resource in the body of a delivery.
const BEFORE_ID: &[u8] = b"\"data\":{\"id\":\"";
const BUFFER: usize = 16 * 1024;

/// Id of the resource of a delivery, and its time.
pub(crate) type Arrival = (String, Instant);

/// A webhook receiver on this machine. It stops on drop.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    arrivals: Arc<Arrivals>,
    hangs: watch::Sender<bool>,
    _end: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct Arrivals {
    count: AtomicUsize,
    first: Mutex<Option<Instant>>,
    recorded: Mutex<Option<Vec<Arrival>>>,
}

impl Receiver {
    /// Listens on a thread of its own.
    pub(crate) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (hangs, hanging) = watch::channel(false);
        let (end, ended) = oneshot::channel::<()>();
        let arrivals = Arc::new(Arrivals::default());
        let serving = Arc::clone(&arrivals);
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = accept(listener, &serving, &hanging) => {}
                    _ = ended => {}
                }
            });
        });
        Ok(Self { address, arrivals, hangs, _end: end })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Stops answering, or answers again. Requests that hang by then are never answered.
    pub(crate) fn set_hanging(&self, hangs: bool) {
        self.hangs.send_replace(hangs);
    }

    /// Sets the count to zero.
    pub(crate) fn reset(&self) {
        self.arrivals.count.store(0, Ordering::Relaxed);
        *lock(&self.arrivals.first) = None;
    }

    /// Returns the number of deliveries since the last reset.
    pub(crate) fn count(&self) -> usize {
        self.arrivals.count.load(Ordering::Relaxed)
    }

    /// Returns the time of the first delivery since the last reset.
    pub(crate) fn first(&self) -> Option<Instant> {
        *lock(&self.arrivals.first)
    }

    /// Starts to record every arrival.
    pub(crate) fn start_recording(&self) {
        *lock(&self.arrivals.recorded) = Some(vec![]);
    }

    /// Stops recording. Returns the recorded arrivals.
    pub(crate) fn take_recorded(&self) -> Vec<Arrival> {
        lock(&self.arrivals.recorded).take().unwrap_or_default()
    }
}

impl Arrivals {
    fn add(&self, body: &[u8]) {
        let now = Instant::now();
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            *lock(&self.first) = Some(now);
        }
        if let Some(recorded) = lock(&self.recorded).as_mut() {
            recorded.extend(resource_id(body).map(|id| (id, now)));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, arrivals: &Arc<Arrivals>, hanging: &watch::Receiver<bool>) -> Result {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let (arrivals, hanging) = (Arc::clone(arrivals), hanging.clone());
        tokio::spawn(async move { drop(answer(stream, &arrivals, hanging).await) });
    }
}

/// Answers the requests of a connection until it ends.
async fn answer(mut stream: TcpStream, arrivals: &Arrivals, mut hanging: watch::Receiver<bool>) -> Result {
    stream.set_nodelay(true)?;
    let (mut buffer, mut filled) = (vec![0; BUFFER], 0);
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let Some((body, end)) = body_range(&buffer[..filled]).filter(|(_, end)| *end <= filled) else { continue };
        // Read before the request is counted, so that a call of `set_hanging` after the count affects only later
        // requests.
        let hangs = *hanging.borrow();
        arrivals.add(&buffer[body..end]);
        if hangs {
            hanging.wait_for(|hangs| !hangs).await?;
            return Ok(());
        }
        stream.write_all(ANSWER).await?;
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
    fn request_ends_with_its_body() {
        assert_eq!(body_range(POST), Some((POST.len() - 23, POST.len())));
        assert_eq!(body_range(&POST[..20]), None);
        assert_eq!(resource_id(&POST[POST.len() - 23..]), Some("a".to_owned()));
        assert_eq!(resource_id(b"{}"), None);
    }

    #[test]
    fn delivery_is_answered_counted_and_recorded() {
        let receiver = Receiver::start().unwrap();
        receiver.start_recording();
        let mut stream = std::net::TcpStream::connect(receiver.address).unwrap();
        let mut answer = [0; ANSWER.len()];
        for _ in 0..2 {
            stream.write_all(POST).unwrap();
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, ANSWER);
        }
        let ids: Vec<String> = receiver.take_recorded().into_iter().map(|(id, _)| id).collect();
        assert_eq!((receiver.count(), ids.as_slice()), (2, ["a".to_owned(), "a".to_owned()].as_slice()));
        receiver.reset();
        assert_eq!((receiver.count(), receiver.first()), (0, None));
    }

    #[test]
    fn hanging_request_is_never_answered() {
        let receiver = Receiver::start().unwrap();
        receiver.set_hanging(true);
        let mut stream = std::net::TcpStream::connect(receiver.address).unwrap();
        stream.write_all(POST).unwrap();
        while receiver.count() == 0 {
            std::thread::yield_now();
        }
        receiver.set_hanging(false);
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    }
}
