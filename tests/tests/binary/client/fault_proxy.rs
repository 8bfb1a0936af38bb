//! A proxy that spoils responses in turn: reset, 503, 429, truncated, slow.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use crate::support::wire;

/// Treatment of one request. Faults named `…After` let the service act first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    None,
    Reset,
    ResetAfter,
    Unavailable,
    Limited,
    TruncatedAfter,
    SlowAfter,
}

type Plan = dyn Fn(usize) -> Fault + Send + Sync;

#[derive(Default)]
pub(super) struct Seen {
    requests: usize,
    pub(super) counts: HashMap<Fault, usize>,
    /// Idempotency keys of the requests, in order.
    pub(super) keys: Vec<String>,
}

/// A proxy in front of a service. Each connection carries one request.
pub(super) struct FaultProxy {
    address: SocketAddr,
    pub(super) seen: Arc<Mutex<Seen>>,
}

impl FaultProxy {
    /// Starts a proxy; `plan` chooses the fault of each request by its number.
    pub(super) fn start(service: SocketAddr, plan: impl Fn(usize) -> Fault + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (noted, plan): (_, Arc<Plan>) = (Arc::clone(&seen), Arc::new(plan));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (noted, plan) = (Arc::clone(&noted), Arc::clone(&plan));
                // Broken connections are expected: the proxy causes them.
                thread::spawn(move || drop(pass(client, service, &noted, &*plan)));
            }
        });
        Self { address, seen }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn count(&self, fault: Fault) -> usize {
        self.seen.lock().unwrap().counts.get(&fault).copied().unwrap_or_default()
    }
}

fn pass(client: TcpStream, service: SocketAddr, seen: &Mutex<Seen>, plan: &Plan) -> io::Result<()> {
    let mut reader = BufReader::new(client);
    let line = wire::line(&mut reader)?;
    let headers = wire::headers(&mut reader)?;
    let body = wire::body(&mut reader, &headers)?;
    let fault = note(seen, plan, wire::header(&headers, "idempotency-key"));
    let client = reader.get_mut();
    match fault {
        Fault::Reset => return SockRef::from(&*client).set_linger(Some(Duration::ZERO)),
        Fault::Unavailable => return refuse(client, "503 Unavailable", "unavailable", ""),
        Fault::Limited => return refuse(client, "429 Too Many", "rate_limited", "retry-after: 1\r\n"),
        Fault::None | Fault::ResetAfter | Fault::TruncatedAfter | Fault::SlowAfter => {}
    }
    let mut server = TcpStream::connect(service)?;
    let kept = headers.iter().filter(|(name, _)| name != "connection");
    let kept: String = kept.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    server.write_all(format!("{line}\r\n{kept}connection: close\r\n\r\n").as_bytes())?;
    server.write_all(&body)?;
    let mut response = Vec::new();
    server.read_to_end(&mut response)?;
    match fault {
        Fault::ResetAfter => SockRef::from(&*client).set_linger(Some(Duration::ZERO)),
        // A slow response never comes: the client's timeout ends the attempt.
        Fault::SlowAfter => client.read(&mut [0]).map(drop),
        Fault::TruncatedAfter => client.write_all(&response[..response.len() - 5]),
        Fault::None | Fault::Reset | Fault::Unavailable | Fault::Limited => client.write_all(&response),
    }
}

fn note(seen: &Mutex<Seen>, plan: &Plan, key: Option<&str>) -> Fault {
    let mut seen = seen.lock().unwrap();
    let fault = plan(seen.requests);
    seen.requests += 1;
    *seen.counts.entry(fault).or_default() += 1;
    seen.keys.extend(key.map(str::to_owned));
    fault
}

fn refuse(client: &mut TcpStream, status: &str, code: &str, headers: &str) -> io::Result<()> {
    let body =
        format!("{{\"error\": {{\"code\": \"{code}\", \"message\": \"spoiled\", \"request_id\": \"req_0\"}}}}");
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
    client.write_all(format!("{head}{body}").as_bytes())
}
