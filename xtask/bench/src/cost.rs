//! Processor time of the processes that answer requests. Unlike rates, it hardly changes when other programs use the
//! machine.

use crate::Result;
use crate::database::Database;
use procfs::process::{Process, all_processes};
use std::time::Duration;

/// Milliseconds of a tick, in which the kernel reports processor time.
const TICK_MILLIS: u64 = 10;

/// The processes that answer requests: the service, and the first process of each database server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Processes(pub(crate) Vec<i32>);

/// Returns the id of the first process of a database server, which is the parent of the server's other processes.
pub(crate) fn server(database: &Database) -> Result<i32> {
    let backend = i32::try_from(database.number("pg_backend_pid()")?)?;
    Ok(Process::new(backend)?.stat()?.ppid)
}

impl Processes {
    /// Returns the processor time of all processes and their children so far. Ended children count.
    pub(crate) fn time(&self) -> Result<Duration> {
        let all = all_processes()?.flatten().filter_map(|process| process.stat().ok());
        let own = all.filter(|stat| self.0.contains(&stat.pid) || self.0.contains(&stat.ppid));
        let ticks =
            own.map(|stat| stat.utime + stat.stime + u64::try_from(stat.cutime + stat.cstime).unwrap_or_default());
        Ok(Duration::from_millis(ticks.sum::<u64>() * TICK_MILLIS))
    }
}
