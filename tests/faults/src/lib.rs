//! A proxy that breaks responses by a plan: reset, 503, 429, truncated, slow.

mod pass;

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// Path of the proxy's own report: the counts of faults, and the idempotency keys.
const REPORT: &str = "/faults";

/// Treatment of one request. Faults named `…After` let the service act first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// No fault: the response reaches the client.
    None,
    /// The connection is reset instead of a request to the service.
    Reset,
    /// The connection is reset instead of the response.
    ResetAfter,
    /// A 503 takes the place of the request to the service.
    Unavailable,
    /// A 429 with `Retry-After` takes the place of the request to the service.
    Limited,
    /// The end of the response is missing.
    TruncatedAfter,
    /// The response never comes: the client's time limit ends the attempt.
    SlowAfter,
}

impl Fault {
    /// Every treatment of a request, also the one without a fault, in no particular order.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Reset,
        Self::ResetAfter,
        Self::Unavailable,
        Self::Limited,
        Self::TruncatedAfter,
        Self::SlowAfter,
    ];

    /// Returns the name of the fault in plans and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reset => "reset",
            Self::ResetAfter => "reset_after",
            Self::Unavailable => "unavailable",
            Self::Limited => "limited",
            Self::TruncatedAfter => "truncated_after",
            Self::SlowAfter => "slow_after",
        }
    }

    /// Returns the plan of the tests with 200 creates: every fault comes often, a slow response every 50 requests.
    #[must_use]
    pub fn mixed() -> Vec<Self> {
        let usual = [
            Self::None,
            Self::Reset,
            Self::None,
            Self::Unavailable,
            Self::ResetAfter,
            Self::None,
            Self::TruncatedAfter,
            Self::None,
            Self::None,
            Self::Limited,
            Self::None,
        ];
        let fault = |number: usize| if number == 25 { Self::SlowAfter } else { usual[number % usual.len()] };
        (0..50).map(fault).collect()
    }
}

#[derive(Default)]
struct Seen {
    requests: usize,
    counts: HashMap<Fault, usize>,
    /// Idempotency keys of the requests, in order.
    keys: Vec<String>,
}

struct Shared {
    service: SocketAddr,
    plan: Vec<Fault>,
    seen: Mutex<Seen>,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request and returns its fault.
    fn note(&self, key: Option<&str>) -> Fault {
        let mut requests = self.seen();
        let fault = self.plan.get(requests.requests % self.plan.len().max(1)).copied().unwrap_or(Fault::None);
        requests.requests += 1;
        *requests.counts.entry(fault).or_default() += 1;
        requests.keys.extend(key.map(str::to_owned));
        fault
    }

    fn report(&self) -> Value {
        let requests = self.seen();
        let counts: HashMap<&str, usize> =
            requests.counts.iter().map(|(fault, count)| (fault.name(), *count)).collect();
        json!({"counts": counts, "keys": requests.keys})
    }
}

/// A proxy in front of a service. Each connection carries one request.
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl FaultProxy {
    /// Starts a proxy in front of `service`. `plan` has the fault of each request in turn; after its last entry, the
    /// plan starts again.
    ///
    /// # Errors
    /// If no port is free.
    pub fn start(service: SocketAddr, plan: Vec<Fault>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { service, plan, seen: Mutex::default() });
        let shared_state = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state_of_connection = Arc::clone(&shared_state);
                // Broken connections are expected: the proxy causes them.
                thread::spawn(move || drop(pass::pass(client, &state_of_connection)));
            }
        });
        Ok(Self { address, shared })
    }

    /// Returns the address for clients, as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the number of requests with this fault.
    #[must_use]
    pub fn count(&self, fault: Fault) -> usize {
        self.shared.seen().counts.get(&fault).copied().unwrap_or_default()
    }

    /// Returns the idempotency keys of the requests, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.shared.seen().keys.clone()
    }
}
