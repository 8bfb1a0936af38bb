//! Cost of requests: processor time of the processes that answer them, and bytes that they write to files. These
//! figures hold on a machine with other users, where rates do not.

use crate::Result;
use crate::database::Database;
use procfs::process::{Process, all_processes};
use std::ops::Sub;
use std::time::Duration;

/// Milliseconds of a tick, in which the kernel reports processor time.
const TICK_MILLIS: u64 = 10;

/// The processes that answer requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Processes {
    pub(crate) service: Option<i32>,
    /// First process of the database server. All others descend from it.
    pub(crate) server: Option<i32>,
}

/// Resources that processes have used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) processor: Duration,
    written: u64,
}

/// Resources that one request uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) micros: f64,
    pub(crate) bytes: f64,
}

/// Returns the first process of a database server.
pub(crate) fn server(database: &Database) -> Result<i32> {
    let backend = i32::try_from(database.number("pg_backend_pid()")?)?;
    Ok(Process::new(backend)?.stat()?.ppid)
}

impl Processes {
    /// Returns the usage of all processes. Ended children of the server count with the server.
    pub(crate) fn usage(self) -> Result<Usage> {
        let named = self.service.into_iter().chain(self.server).filter_map(|id| Process::new(id).ok());
        let children = match self.server {
            Some(server) => all_processes()?
                .flatten()
                .filter(|process| process.stat().is_ok_and(|stat| stat.ppid == server))
                .collect(),
            None => vec![],
        };
        Ok(named.chain(children).filter_map(|process| usage(&process)).fold(Usage::default(), |sum, one| Usage {
            processor: sum.processor + one.processor,
            written: sum.written + one.written,
        }))
    }
}

/// Returns `None` for a process that has ended meanwhile.
fn usage(process: &Process) -> Option<Usage> {
    let stat = process.stat().ok()?;
    let of_children = u64::try_from(stat.cutime + stat.cstime).unwrap_or_default();
    let processor = Duration::from_millis((stat.utime + stat.stime + of_children) * TICK_MILLIS);
    Some(Usage { processor, written: process.io().map_or(0, |io| io.write_bytes) })
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            written: self.written.saturating_sub(before.written),
        }
    }
}

impl Usage {
    /// Divides the usage among requests.
    pub(crate) fn per_request(self, requests: f64) -> Cost {
        Cost { micros: self.processor.as_secs_f64() * 1e6 / requests, bytes: self.written as f64 / requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_since_an_earlier_one_is_divided_among_requests() {
        let later = Usage { processor: Duration::from_millis(30), written: 4_000 };
        let earlier = Usage { processor: Duration::from_millis(10), written: 2_000 };
        assert_eq!((later - earlier).per_request(100.0), Cost { micros: 200.0, bytes: 20.0 });
    }
}
