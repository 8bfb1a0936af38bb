//! Shared support: the process under test, a client, a data folder, a database.

mod client;
mod place;
mod pooler;
mod process;
mod proxy;
mod receiver;
mod standby;
mod tls;
pub(crate) mod wire;

use std::thread;
use std::time::{Duration, Instant};

pub(crate) use client::{Client, Response};
pub(crate) use place::{Installation, Key};
pub(crate) use pooler::{Mode, Pooler};
pub(crate) use process::{
    CommandResult, Service, candor, candor_as, fed, finished, freeze, signal, spawn, watched, watched_with,
};
pub(crate) use proxy::Proxy;
pub(crate) use receiver::{ReceivedRequest, Receiver, ReceiverResponse};
pub(crate) use standby::PrimaryAndStandby;
pub(crate) use tls::TlsServer;

/// Limit on every wait for a condition. It only ends the test of a broken program: no condition takes this long,
/// not even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Interval between two checks of a condition.
const POLL: Duration = Duration::from_millis(10);

/// Waits until a condition holds. Returns the time that it took, or `None` on timeout.
#[expect(clippy::disallowed_methods, reason = "this waits for a condition, with a deadline")]
pub(crate) fn wait_until(most: Duration, mut holds: impl FnMut() -> bool) -> Option<Duration> {
    let start = Instant::now();
    loop {
        if holds() {
            return Some(start.elapsed());
        }
        if start.elapsed() > most {
            return None;
        }
        thread::sleep(POLL);
    }
}
