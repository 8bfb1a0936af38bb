//! Webhook receiver for tests: records every request and replies as the test decides.

use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::PATIENCE;
use super::wire::{self, Headers};

/// A request that was received completely.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    /// Position in the order of arrival, from 0.
    pub(crate) number: usize,
    /// Number of service processes that had ended before the sender started.
    pub(crate) generation: usize,
    /// `true` for the first request on its connection.
    pub(crate) first: bool,
    pub(crate) at: Instant,
    pub(crate) path: String,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
    /// Status of the response, or `None` before it is written.
    pub(crate) answered: Option<u16>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        wire::header(&self.headers, name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        wire::header(&self.headers, name).is_some()
    }

    pub(crate) fn event(&self) -> &str {
        self.header("x-service-event-id")
    }

    pub(crate) fn delivery(&self) -> &str {
        self.header("x-service-delivery-id")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.answered.is_some_and(|status| (200..300).contains(&status))
    }
}

/// The receiver's reaction to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiverResponse {
    Status(u16),
    /// No response until the test changes the decision.
    Hold,
    /// Closes the connection without a response.
    Reset,
}

type Decide = Arc<dyn Fn(&ReceivedRequest) -> ReceiverResponse + Send + Sync>;

/// A webhook receiver on the loopback address.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    arrivals: Vec<ReceivedRequest>,
    decide: Decide,
    /// Number of decision changes; held requests compare it to notice a new decision.
    decided: usize,
    generation: usize,
    /// `true` once the sender of the held requests has ended.
    abandoned: bool,
    /// Peer addresses of all connections since the start.
    accepted: Vec<SocketAddr>,
    open: usize,
}

impl Receiver {
    /// Starts a receiver that acknowledges every request.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State {
            arrivals: Vec::new(),
            decide: Arc::new(|_| ReceiverResponse::Status(200)),
            decided: 0,
            generation: 0,
            abandoned: false,
            accepted: Vec::new(),
            open: 0,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                accepting.accept(stream);
            }
        });
        Self { address, shared }
    }

    /// Returns the URL of a path on the receiver.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the decision for all later requests and for held ones.
    pub(crate) fn answers(&self, decide: impl Fn(&ReceivedRequest) -> ReceiverResponse + Send + Sync + 'static) {
        let mut state = self.shared.lock();
        state.decide = Arc::new(decide);
        state.decided += 1;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Returns all requests received so far.
    pub(crate) fn arrivals(&self) -> Vec<ReceivedRequest> {
        self.shared.lock().arrivals.clone()
    }

    /// Returns the requests received at this path so far.
    pub(crate) fn requests_to(&self, path: &str) -> Vec<ReceivedRequest> {
        self.arrivals().into_iter().filter(|arrival| arrival.path == path).collect()
    }

    /// Waits until the received requests, with their responses, fulfil the condition.
    pub(crate) fn wait_for_requests(&self, what: &str, holds: impl Fn(&[ReceivedRequest]) -> bool) {
        self.wait_for_state(what, |state| holds(&state.arrivals));
    }

    /// Waits until every connection has ended, and starts the next generation. Call it only after every sender has
    /// ended.
    pub(crate) fn next_generation(&self) {
        self.shared.lock().abandoned = true;
        self.shared.changed.notify_all();
        // Connections are accepted in order, so accepting this one means that all earlier ones are accepted.
        let last = TcpStream::connect(self.address).unwrap();
        let last_address = last.local_addr().unwrap();
        self.wait_for_state("every connection is accepted", |state| state.accepted.contains(&last_address));
        drop(last);
        self.wait_for_state("every connection has ended", |state| state.open == 0);
        let mut state = self.shared.lock();
        state.generation += 1;
        state.abandoned = false;
    }

    fn wait_for_state(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let wait_result =
            self.shared.changed.wait_timeout_while(self.shared.lock(), PATIENCE, |state| !holds(state));
        let (state, ended) = wait_result.unwrap();
        assert!(
            !ended.timed_out(),
            "not within {PATIENCE:?}: {what}; {} requests have arrived",
            state.arrivals.len()
        );
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn accept(self: &Arc<Self>, stream: TcpStream) {
        let Ok(peer) = stream.peer_addr() else { return };
        let mut state = self.lock();
        state.accepted.push(peer);
        state.open += 1;
        drop(state);
        self.changed.notify_all();
        let shared = Arc::clone(self);
        thread::spawn(move || {
            // Broken connections are expected: some tests cause them.
            let _ = shared.serve(stream);
            shared.lock().open -= 1;
            shared.changed.notify_all();
        });
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        let mut first = true;
        loop {
            let line = wire::line(&mut reader)?;
            let headers = wire::headers(&mut reader)?;
            let body = wire::body(&mut reader, &headers)?;
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let number = self.note(path, headers, body, first);
            let Some(status) = self.answer(number) else { return Ok(()) };
            let response = format!("HTTP/1.1 {status} Whatever\r\nContent-Length: 0\r\n\r\n");
            // The response is written under the lock, so that a test sees it recorded no later than its effects.
            let mut state = self.lock();
            reader.get_mut().write_all(response.as_bytes())?;
            state.arrivals[number].answered = Some(status);
            drop(state);
            self.changed.notify_all();
            first = false;
        }
    }

    fn note(&self, path: String, headers: Headers, body: Vec<u8>, first: bool) -> usize {
        let mut state = self.lock();
        let (number, generation) = (state.arrivals.len(), state.generation);
        let now = Instant::now();
        state.arrivals.push(ReceivedRequest {
            number,
            generation,
            first,
            at: now,
            path,
            headers,
            body,
            answered: None,
        });
        drop(state);
        self.changed.notify_all();
        number
    }

    /// Returns the response status, or `None` to close the connection. Blocks while the decision holds the
    /// request.
    fn answer(&self, number: usize) -> Option<u16> {
        let mut state = self.lock();
        while !state.abandoned {
            let (decide, decided, arrival) =
                (Arc::clone(&state.decide), state.decided, state.arrivals[number].clone());
            drop(state);
            match decide(&arrival) {
                ReceiverResponse::Status(status) => return Some(status),
                ReceiverResponse::Reset => return None,
                ReceiverResponse::Hold => {}
            }
            state = self
                .changed
                .wait_while(self.lock(), |state| state.decided == decided && !state.abandoned)
                .unwrap();
        }
        None
    }
}
