//! Requests on many connections for a few seconds, and how long each took.

use crate::Outcome;
use crate::cost::{Cost, Spent};
use crate::http::Connection;
use crate::random::Random;
use std::net::SocketAddr;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

/// A burst that hangs is given up so long after its time.
const PATIENCE: Duration = Duration::from_secs(30);
/// No burst sends more, whatever its time.
const MOST_REQUESTS: usize = 5_000_000;

/// Appends one whole request.
type Write = dyn Fn(&mut Random, &mut Vec<u8>);

/// What must come back.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Status(u16),
    Success,
    Anything,
}

impl Wanted {
    fn is_met_by(self, status: u16) -> bool {
        match self {
            Self::Status(it) => status == it,
            Self::Success => (200..300).contains(&status),
            Self::Anything => true,
        }
    }
}

/// What is sent, and what must come back.
pub(crate) struct Traffic {
    wanted: Wanted,
    write: Box<Write>,
}

impl Traffic {
    pub(crate) fn new(status: u16, write: impl Fn(&mut Random, &mut Vec<u8>) + 'static) -> Self {
        Self { wanted: Wanted::Status(status), write: Box::new(write) }
    }

    /// Requests of several kinds, each of which succeeds.
    pub(crate) fn that_succeed(write: impl Fn(&mut Random, &mut Vec<u8>) + 'static) -> Self {
        Self { wanted: Wanted::Success, write: Box::new(write) }
    }

    /// Requests that are answered or refused.
    pub(crate) fn of_any_status(write: impl Fn(&mut Random, &mut Vec<u8>) + 'static) -> Self {
        Self { wanted: Wanted::Anything, write: Box::new(write) }
    }

    /// Appends one whole request.
    pub(crate) fn write(&self, random: &mut Random, out: &mut Vec<u8>) {
        (self.write)(random, out);
    }
}

/// How a burst is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) connections: usize,
    pub(crate) time: Duration,
    /// At most so many, over all connections.
    pub(crate) requests: usize,
    pub(crate) seed: u64,
}

impl Shape {
    /// As many requests as there is time for.
    pub(crate) const fn of_time(connections: usize, time: Duration, seed: u64) -> Self {
        Self { connections, time, requests: MOST_REQUESTS, seed }
    }

    /// A few requests, one after the other.
    pub(crate) const fn of_few(requests: usize, seed: u64) -> Self {
        Self { connections: 1, time: Duration::from_secs(5), requests, seed }
    }

    /// So many requests on one connection, however long they take.
    pub(crate) const fn of_all(requests: usize, seed: u64) -> Self {
        Self { time: Duration::from_secs(900), ..Self::of_few(requests, seed) }
    }
}

/// What a burst came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// Answers per second.
    pub(crate) rate: f64,
    /// From request to response, ascending, in microseconds; none where only the rate is known.
    pub(crate) micros: Vec<u32>,
    /// What each request cost those who answered, if that was looked at.
    pub(crate) cost: Option<Cost>,
}

impl Sample {
    pub(crate) const fn of_rate(rate: f64) -> Self {
        Self { rate, micros: vec![], cost: None }
    }

    /// The same with what all its requests took.
    pub(crate) fn at_the_cost_of(self, spent: Spent, requests: f64) -> Self {
        Self { cost: Some(spent.by_each(requests)), ..self }
    }

    /// The time within which this part of the requests was answered, in milliseconds.
    pub(crate) fn within(&self, part: f64) -> f64 {
        let last = self.micros.len().saturating_sub(1);
        let at = (last as f64 * part).round() as usize;
        self.micros.get(at).map_or(f64::NAN, |it| f64::from(*it) / 1000.0)
    }
}

/// Sends one burst to a service on this machine.
pub(crate) fn burst(address: SocketAddr, traffic: &Rc<Traffic>, shape: Shape) -> Outcome<Sample> {
    burst_to(&[(address, Rc::clone(traffic))], shape)
}

/// Sends one burst to several services on this machine, each of which gets the same part of the connections.
pub(crate) fn burst_to(services: &[(SocketAddr, Rc<Traffic>)], shape: Shape) -> Outcome<Sample> {
    if !services.iter().all(|(address, _)| address.ip().is_loopback()) {
        return Err("only a service on this machine is measured".into());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    let run = tasks.run_until(all(services, shape));
    let limited = async { timeout(shape.time + PATIENCE, run).await };
    runtime.block_on(limited).map_err(|_| "the service stopped answering")?
}

async fn all(services: &[(SocketAddr, Rc<Traffic>)], shape: Shape) -> Outcome<Sample> {
    let mut connections = Vec::with_capacity(shape.connections);
    for (address, traffic) in services.iter().cycle().take(shape.connections) {
        connections.push((Connection::open(*address).await?, traffic));
    }
    let begun = Instant::now();
    let mut senders = JoinSet::new();
    for (number, (connection, traffic)) in (0_u64..).zip(connections) {
        let random = Random::seeded(shape.seed.wrapping_mul(1_000_003).wrapping_add(number));
        let (most, deadline) = (shape.requests.div_ceil(shape.connections), begun + shape.time);
        let go_on = move |now, sent| now < deadline && sent < most;
        senders.spawn_local(one(connection, Rc::clone(traffic), random, go_on));
    }
    let mut micros = Vec::new();
    while let Some(sent) = senders.join_next().await {
        micros.extend(sent??);
    }
    let rate = micros.len() as f64 / begun.elapsed().as_secs_f64();
    micros.sort_unstable();
    Ok(Sample { rate, micros, cost: None })
}

/// Sends requests one after the other for as long as some other work goes on, and answers what came of both.
pub(crate) fn beside<T: Send>(
    address: SocketAddr,
    traffic: &Rc<Traffic>,
    seed: u64,
    work: impl FnOnce() -> Outcome<T> + Send,
) -> Outcome<(T, Sample)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let connection = runtime.block_on(Connection::open(address))?;
    let begun = Instant::now();
    thread::scope(|scope| {
        let worker = scope.spawn(work);
        let go_on = |_, _| !worker.is_finished();
        let sent = runtime.block_on(one(connection, Rc::clone(traffic), Random::seeded(seed), go_on));
        let done = worker.join().map_err(|_| "the work beside the requests broke off")??;
        let mut micros = sent?;
        micros.sort_unstable();
        let rate = micros.len() as f64 / begun.elapsed().as_secs_f64();
        Ok((done, Sample { rate, micros, cost: None }))
    })
}

/// One connection's part, for as long as it is to go on.
async fn one(
    mut connection: Connection,
    traffic: Rc<Traffic>,
    mut random: Random,
    go_on: impl Fn(Instant, usize) -> bool,
) -> Result<Vec<u32>, String> {
    const SHOWN: usize = 400;
    let mut micros = Vec::new();
    let mut request = Vec::with_capacity(2048);
    let mut now = Instant::now();
    while go_on(now, micros.len()) {
        request.clear();
        traffic.write(&mut random, &mut request);
        let (status, body) = connection.exchange(&request).await.map_err(|it| it.to_string())?;
        if !traffic.wanted.is_met_by(status) {
            let line = request.split(|it| *it == b'\r').next().unwrap_or_default();
            let (line, body) = (String::from_utf8_lossy(line), String::from_utf8_lossy(body));
            let shown: String = body.chars().take(SHOWN).collect();
            return Err(format!("{line} answered {status} instead of {:?}: {shown}", traffic.wanted));
        }
        let answered = Instant::now();
        micros.push(u32::try_from((answered - now).as_micros()).unwrap_or(u32::MAX));
        now = answered;
    }
    Ok(micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers everything with this until its connections end.
    fn answering(response: &'static [u8], connections: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().take(connections) {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut request = [0; 512];
                    while matches!(stream.read(&mut request), Ok(read) if read > 0) {
                        stream.write_all(response).unwrap();
                    }
                });
            }
        });
        address
    }

    fn get(status: u16) -> Rc<Traffic> {
        Rc::new(Traffic::new(status, |_, out| out.extend(b"GET / HTTP/1.1\r\n\r\n")))
    }

    const SHAPE: Shape = Shape::of_time(3, Duration::from_millis(50), 1);

    #[test]
    fn every_answer_is_counted_and_timed() {
        let address = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", SHAPE.connections);
        let sample = burst(address, &get(200), SHAPE).unwrap();
        assert!(sample.rate > 0.0 && !sample.micros.is_empty() && sample.micros.is_sorted());
    }

    #[test]
    fn an_answer_of_another_status_ends_the_burst() {
        let address = answering(b"HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\nno", SHAPE.connections);
        let problem = burst(address, &get(200), SHAPE).unwrap_err().to_string();
        assert_eq!(problem, "GET / HTTP/1.1 answered 500 instead of Status(200): no");
    }

    #[test]
    fn a_part_of_the_requests_was_answered_within_a_time() {
        let sample = Sample { micros: (0..=100).map(|it| it * 1000).collect(), ..Sample::of_rate(1.0) };
        assert_eq!((sample.within(0.5), sample.within(0.99), sample.within(1.0)), (50.0, 99.0, 100.0));
        assert!(Sample::of_rate(1.0).within(0.5).is_nan());
    }
}
