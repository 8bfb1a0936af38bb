//! Requests on many connections for a few seconds, with their latencies.

use crate::http::Connection;
use crate::random::Random;
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

/// Result whose error is a text for the person at the terminal.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Writer of the requests of a load. Each connection has a clone.
pub trait WriteRequest: Clone + 'static {
    /// Appends one whole request.
    fn write(&self, random: &mut Random, out: &mut Vec<u8>);

    /// Returns `true` if a response with this status does not end the load.
    fn accepts(&self, status: u16) -> bool;
}

/// Time after the end of a burst within which all answers must arrive.
const PATIENCE: Duration = Duration::from_secs(30);
/// Upper bound for the number of requests of a burst.
const MAX_REQUESTS: usize = 5_000_000;

/// Connections, duration and size of a burst.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Number of connections, each with one request at a time.
    pub connections: usize,
    /// Duration of the burst.
    pub time: Duration,
    /// Upper bound for the requests of all connections together.
    pub requests: usize,
    /// Seed of the random numbers of all connections.
    pub seed: u64,
}

impl Shape {
    /// Returns a burst of as many requests as the time allows.
    pub const fn for_time(connections: usize, time: Duration, seed: u64) -> Self {
        Self { connections, time, requests: MAX_REQUESTS, seed }
    }

    /// Returns a burst of a number of requests on one connection, sent within 15 minutes at most.
    pub const fn for_requests(requests: usize, seed: u64) -> Self {
        Self { connections: 1, time: Duration::from_secs(900), requests, seed }
    }
}

/// Result of a burst.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Responses per second of all connections.
    pub rate: f64,
    /// Latencies in microseconds, ascending. Empty if only the rate is known.
    pub micros: Vec<u32>,
    /// Microseconds of processor time for each request, if they were measured.
    pub cost: Option<f64>,
}

impl Sample {
    /// Creates a sample without latencies.
    #[must_use]
    pub const fn from_rate(rate: f64) -> Self {
        Self { rate, micros: vec![], cost: None }
    }

    /// Creates the sample of requests with these latencies in microseconds, answered within this time.
    #[must_use]
    pub fn new(mut micros: Vec<u32>, time: Duration) -> Self {
        micros.sort_unstable();
        Self { rate: micros.len() as f64 / time.as_secs_f64(), micros, cost: None }
    }

    /// Adds the processor time of the requests.
    pub fn with_cost(self, time: Duration, requests: f64) -> Self {
        Self { cost: Some(time.as_secs_f64() * 1e6 / requests), ..self }
    }

    /// Returns the milliseconds within which this fraction of the requests was answered.
    pub fn millis_within(&self, part: f64) -> f64 {
        let last = self.micros.len().saturating_sub(1);
        let index = (last as f64 * part).round() as usize;
        self.micros.get(index).map_or(f64::NAN, |micros| f64::from(*micros) / 1000.0)
    }
}

/// Sends one burst to a service on this machine.
///
/// # Errors
///
/// If the service does not answer, or answers with a status that the traffic does not accept.
pub fn burst(address: SocketAddr, traffic: &impl WriteRequest, shape: Shape) -> Result<Sample> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    let result =
        async { timeout(shape.time + PATIENCE, tasks.run_until(send_all(address, traffic, shape))).await };
    runtime.block_on(result).map_err(|_| "the service stopped answering")?
}

async fn send_all(address: SocketAddr, traffic: &impl WriteRequest, shape: Shape) -> Result<Sample> {
    let mut connections = Vec::with_capacity(shape.connections);
    for _ in 0..shape.connections {
        connections.push(Connection::open(address).await?);
    }
    let start = Instant::now();
    let mut senders = JoinSet::new();
    for (number, connection) in (0_u64..).zip(connections) {
        let random = Random::from_seed(shape.seed.wrapping_mul(1_000_003).wrapping_add(number));
        let (most, deadline) = (shape.requests.div_ceil(shape.connections), start + shape.time);
        let continues = move |now, sent| now < deadline && sent < most;
        senders.spawn_local(send(connection, traffic.clone(), random, continues));
    }
    let mut micros = Vec::new();
    while let Some(sender_result) = senders.join_next().await {
        micros.extend(sender_result??);
    }
    Ok(Sample::new(micros, start.elapsed()))
}

/// Sends requests one after the other while `work` runs on another thread. Returns the result of `work`, and the
/// latencies of the requests.
///
/// # Errors
///
/// That of `work`, or if the service does not answer as the traffic accepts.
pub fn run_beside<T: Send>(
    address: SocketAddr,
    traffic: &impl WriteRequest,
    seed: u64,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<(T, Sample)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let connection = runtime.block_on(Connection::open(address))?;
    let start = Instant::now();
    thread::scope(|scope| {
        let worker = scope.spawn(work);
        let continues = |_, _| !worker.is_finished();
        let send_result = runtime.block_on(send(connection, traffic.clone(), Random::from_seed(seed), continues));
        let work_result = worker.join().map_err(|_| "the work beside the requests panicked")??;
        Ok((work_result, Sample::new(send_result?, start.elapsed())))
    })
}

/// Sends the requests of one connection. Returns their latencies in microseconds.
async fn send(
    mut connection: Connection,
    traffic: impl WriteRequest,
    mut random: Random,
    continues: impl Fn(Instant, usize) -> bool,
) -> std::result::Result<Vec<u32>, String> {
    const SHOWN: usize = 400;
    let mut micros = Vec::new();
    let mut request = Vec::with_capacity(2048);
    let mut now = Instant::now();
    while continues(now, micros.len()) {
        request.clear();
        traffic.write(&mut random, &mut request);
        let (status, body) = connection.exchange(&request).await.map_err(|error| error.to_string())?;
        if !traffic.accepts(status) {
            let text = String::from_utf8_lossy(&request);
            let body: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
            return Err(format!("{} answered {status}: {body}", text.lines().next().unwrap_or_default()));
        }
        let response_time = Instant::now();
        micros.push(u32::try_from((response_time - now).as_micros()).unwrap_or(u32::MAX));
        now = response_time;
    }
    Ok(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_is_read_from_the_latencies() {
        let sample = Sample::new((0..=100).map(|millis| millis * 1000).collect(), Duration::from_secs(1));
        assert_eq!(
            (sample.millis_within(0.5), sample.millis_within(0.99), sample.millis_within(1.0)),
            (50.0, 99.0, 100.0)
        );
        assert!(Sample::from_rate(1.0).millis_within(0.5).is_nan());
    }
}
