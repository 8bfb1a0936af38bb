//! What the processes behind a request spend on it: time on the processors, and bytes written to files. On a machine that
//! others use as well these hold where rates do not.

use crate::Outcome;
use crate::admin::Admin;
use std::fs;
use std::ops::Sub;
use std::time::Duration;

/// The kernel counts in hundredths of a second, whatever its own clock does.
const TICK_MILLIS: u64 = 10;

/// The processes that answer: the service, or the server of its database, or both.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Processes {
    pub(crate) service: Option<u32>,
    /// The one that all others of the server descend from.
    pub(crate) server: Option<u32>,
}

/// What processes have spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) processor: Duration,
    written: u64,
}

/// What one request costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    pub(crate) micros: f64,
    pub(crate) bytes: f64,
}

/// The first process of a database server.
pub(crate) fn server(admin: &Admin) -> Outcome<u32> {
    let backend = admin.number("SELECT pg_backend_pid()")?;
    let stat = fs::read_to_string(format!("/proc/{backend}/stat"))?;
    Ok(parent(&stat).ok_or("no parent in the state of the server's process")?)
}

impl Processes {
    /// Those that are gone and were the server's count with it.
    pub(crate) fn spent(self) -> Outcome<Spent> {
        let mut all: Vec<u32> = self.service.into_iter().chain(self.server).collect();
        if let Some(server) = self.server {
            all.extend(children(server)?);
        }
        // A process that has ended meanwhile counts with its parent from now on.
        let found = all.into_iter().filter_map(spent_by);
        Ok(found.fold(Spent::default(), |sum, it| Spent {
            processor: sum.processor + it.processor,
            written: sum.written + it.written,
        }))
    }
}

impl Sub for Spent {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            processor: self.processor.saturating_sub(before.processor),
            written: self.written.saturating_sub(before.written),
        }
    }
}

impl Spent {
    /// By each of so many requests.
    pub(crate) fn by_each(self, requests: f64) -> Cost {
        Cost { micros: self.processor.as_secs_f64() * 1e6 / requests, bytes: self.written as f64 / requests }
    }
}

fn children(of: u32) -> Outcome<Vec<u32>> {
    let all = fs::read_dir("/proc")?.filter_map(Result::ok);
    let processes = all.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |it: &u32| fs::read_to_string(format!("/proc/{it}/stat")).is_ok_and(|it| parent(&it) == Some(of));
    Ok(processes.filter(is_child).collect())
}

fn spent_by(process: u32) -> Option<Spent> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let io = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    Some(Spent { processor: processor_time(&stat)?, written: written(&io).unwrap_or_default() })
}

/// Of the process, and of its children that have ended.
fn processor_time(stat: &str) -> Option<Duration> {
    let times = fields(stat)?.skip(11).take(4).map(str::parse::<u64>);
    Some(Duration::from_millis(times.sum::<Result<u64, _>>().ok()? * TICK_MILLIS))
}

fn parent(stat: &str) -> Option<u32> {
    fields(stat)?.nth(1)?.parse().ok()
}

/// Those behind the name, which may have spaces in it.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

fn written(io: &str) -> Option<u64> {
    io.lines().find_map(|it| it.strip_prefix("write_bytes: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_ended_children_count_and_the_parent_is_found() {
        let stat = "42 (a ) b) S 7 0 0 0 0 0 0 0 0 0 150 25 20 5 20 0 3";
        assert_eq!((processor_time(stat), parent(stat)), (Some(Duration::from_secs(2)), Some(7)));
        assert_eq!(processor_time("42"), None);
    }

    #[test]
    fn what_is_written_is_told_apart_from_what_is_given_to_the_system() {
        assert_eq!(written("wchar: 9\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n"), Some(4096));
    }

    #[test]
    fn the_work_is_divided_among_the_requests() {
        let spent = Spent { processor: Duration::from_millis(30), written: 4_000 };
        let before = Spent { processor: Duration::from_millis(10), written: 2_000 };
        assert_eq!((spent - before).by_each(100.0), Cost { micros: 200.0, bytes: 20.0 });
    }
}
