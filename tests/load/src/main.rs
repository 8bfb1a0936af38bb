//! Sends the requests of a file to an HTTP server, for `cargo xtask peers`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program prints the figures, and people read errors"
)]

use candor_test_load::{Random, Result, Shape, WriteRequest, burst};
use serde_json::json;
use std::cell::Cell;
use std::fs;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

/// Requests in their order, and then again from the first one.
#[derive(Clone)]
struct RequestsInOrder {
    requests: Rc<[Vec<u8>]>,
    next: Rc<Cell<usize>>,
}

impl WriteRequest for RequestsInOrder {
    fn write(&self, _: &mut Random, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.requests[self.next.get() % self.requests.len()]);
        self.next.set(self.next.get() + 1);
    }

    fn accepts(&self, status: u16) -> bool {
        (200..300).contains(&status)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Sends the requests of a file, which NUL bytes separate. With 0 seconds, each is sent once. Prints the figures as JSON.
fn run(arguments: &[String]) -> Result {
    let [address, file, clients, seconds] = arguments else {
        return Err("usage: candor-test-load ADDRESS FILE CLIENTS SECONDS".into());
    };
    let requests: Rc<[_]> = fs::read(file)?.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    let (connections, time) = (clients.parse()?, Duration::from_secs_f64(seconds.parse()?));
    let shape = if time.is_zero() {
        Shape { connections, ..Shape::for_requests(requests.len(), 0) }
    } else {
        Shape::for_time(connections, time, 0)
    };
    let sample = burst(address.parse()?, &RequestsInOrder { requests, next: Rc::default() }, shape)?;
    let (p50, p99) = (sample.millis_within(0.5), sample.millis_within(0.99));
    println!("{}", json!({"sent": sample.micros.len(), "rate": sample.rate, "p50_ms": p50, "p99_ms": p99}));
    Ok(())
}
