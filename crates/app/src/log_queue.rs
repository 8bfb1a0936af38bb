//! Bounded queue between the service and standard error: a log that is not read delays no request and no stop.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// The metric that counts dropped lines.
pub(crate) const DROPPED: &str = "candor_log_lines_dropped_total";
/// Maximum number of waiting bytes: some thousand lines, so a short pause of the reader loses none.
const CAPACITY: usize = 1024 * 1024;
/// Time limit for writing the last lines at the end of the process.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Sender of log lines. A line that does not fit is dropped and counted.
#[derive(Clone)]
pub(crate) struct LogQueue(Arc<Shared>);

struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    /// Bytes of the waiting lines and of the line that is being written.
    bytes: usize,
    /// Number of lines that were dropped since the last report.
    dropped: u64,
}

/// Guard that waits at the end of the process until the last lines are written, for a limited time.
pub(crate) struct LastLines(LogQueue);

impl Drop for LastLines {
    fn drop(&mut self) {
        self.0.wait_until_written(LAST_LINES);
    }
}

/// Starts the thread that writes lines to standard error.
///
/// # Errors
/// The operating system refuses another file descriptor or thread.
pub(crate) fn start() -> io::Result<(LogQueue, LastLines)> {
    // A file of its own: the lock of `std::io::stderr` would be held during a write that never ends.
    let file = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let queue = start_with(file)?;
    Ok((queue.clone(), LastLines(queue)))
}

fn start_with(mut out: impl Write + Send + 'static) -> io::Result<LogQueue> {
    let queue = LogQueue(Arc::new(Shared { waiting: Mutex::default(), changed: Condvar::new() }));
    let lines = queue.clone();
    let write = move || {
        loop {
            let line = lines.next();
            if out.write_all(&line).is_err() {
                metrics::counter!(DROPPED).increment(1);
            }
            if let Some(dropped) = lines.finish(&line) {
                tracing::warn!(dropped, "log lines were dropped because standard error was not read");
            }
        }
    };
    thread::Builder::new().name("candor-log".to_owned()).spawn(write)?;
    Ok(queue)
}

impl LogQueue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut waiting = self.lock();
        if waiting.bytes + line.len() > CAPACITY {
            waiting.dropped += 1;
            drop(waiting);
            metrics::counter!(DROPPED).increment(1);
            return;
        }
        waiting.bytes += line.len();
        waiting.lines.push_back(line.to_vec());
        drop(waiting);
        self.0.changed.notify_all();
    }

    /// Waits for the next line.
    fn next(&self) -> Vec<u8> {
        let mut waiting = self.lock();
        loop {
            if let Some(line) = waiting.lines.pop_front() {
                return line;
            }
            waiting = self.0.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Frees the room of a written line. Returns the number of dropped lines once no line waits.
    fn finish(&self, line: &[u8]) -> Option<u64> {
        let mut waiting = self.lock();
        waiting.bytes -= line.len();
        if waiting.bytes > 0 {
            return None;
        }
        let dropped = std::mem::take(&mut waiting.dropped);
        drop(waiting);
        self.0.changed.notify_all();
        (dropped > 0).then_some(dropped)
    }

    /// Waits until all lines are written. Returns `false` if that takes longer than the limit.
    fn wait_until_written(&self, limit: Duration) -> bool {
        let waited = self.0.changed.wait_timeout_while(self.lock(), limit, |waiting| waiting.bytes > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A reader that takes a line when the test permits it.
    struct SlowReader {
        permits: Receiver<()>,
        read: Sender<Vec<u8>>,
    }

    impl Write for SlowReader {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.permits.recv().map_err(io::Error::other)?;
            self.read.send(line.to_vec()).map_err(io::Error::other)?;
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the numbers of dropped lines and of waiting bytes.
    fn counts(queue: &LogQueue) -> (u64, usize) {
        let waiting = queue.lock();
        (waiting.dropped, waiting.bytes)
    }

    #[test]
    fn reader_that_reads_nothing_delays_no_line_and_no_stop() {
        let ((permit, permits), (read, lines)) = (channel(), channel());
        let queue = start_with(SlowReader { permits, read }).unwrap();
        let line = [b'x'; 1024];
        for _ in 0..CAPACITY / line.len() {
            queue.push(&line);
        }
        assert_eq!(queue.lock().dropped, 0);
        queue.push(b"too much");
        assert_eq!(counts(&queue), (1, CAPACITY));
        assert!(!queue.wait_until_written(Duration::ZERO));
        for _ in 0..CAPACITY / line.len() {
            permit.send(()).unwrap();
            assert_eq!(lines.recv().unwrap(), line);
        }
        assert!(queue.wait_until_written(Duration::from_secs(60)));
        assert_eq!(counts(&queue), (0, 0));
    }

    #[test]
    fn lines_are_written_in_order_and_whole() {
        let ((permit, permits), (read, lines)) = (channel(), channel());
        let mut queue = start_with(SlowReader { permits, read }).unwrap();
        for number in 0..100 {
            queue.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        for number in 0..100 {
            permit.send(()).unwrap();
            assert_eq!(lines.recv().unwrap(), format!("line {number}\n").into_bytes());
        }
    }

    #[test]
    fn reader_that_ended_leaves_no_line_behind() {
        let ((_, permits), (read, _)) = (channel(), channel());
        let queue = start_with(SlowReader { permits, read }).unwrap();
        queue.push(b"unread");
        assert!(queue.wait_until_written(Duration::from_secs(60)));
    }
}
