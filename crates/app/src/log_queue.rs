//! Bounded queue between the service and standard error: a log that is not read delays no request, and a stop by
//! at most half a second.
//!
//! The lines of a few milliseconds are written together. A thread that is woken for each line costs more than the
//! request that the line is about.

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
/// Time for which lines are collected before they are written.
const COLLECT: Duration = Duration::from_millis(5);
/// Number of waiting bytes that are written without waiting for the end of [`COLLECT`].
const BATCH: usize = 64 * 1024;
/// Time limit for writing the last lines at the end of the process.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Sender of log lines. A line that does not fit is dropped and counted.
#[derive(Clone)]
pub(crate) struct LogQueue(Arc<Shared>);

struct Shared {
    waiting: Mutex<WaitingLines>,
    changed: Condvar,
}

#[derive(Default)]
struct WaitingLines {
    /// The lines, one after another.
    text: Vec<u8>,
    /// Bytes of the waiting lines and of those that are being written.
    bytes: usize,
    /// Number of lines that were dropped since the last report.
    dropped: u64,
    /// `true` while the writing thread waits for the first line.
    is_idle: bool,
    /// `true` once lines are written at once instead of being collected, because the process ends.
    is_ending: bool,
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
            let batch = lines.next_batch();
            if out.write_all(&batch).is_err() {
                let count = batch.iter().filter(|byte| **byte == b'\n').count();
                metrics::counter!(DROPPED).increment(count as u64);
            }
            if let Some(dropped_count) = lines.finish(&batch) {
                tracing::warn!(
                    dropped_count,
                    "dropped log lines, because standard error was not read; check the log \
                                         collector"
                );
            }
        }
    };
    thread::Builder::new().name("candor-log".to_owned()).spawn(write)?;
    Ok(queue)
}

impl LogQueue {
    fn lock(&self) -> MutexGuard<'_, WaitingLines> {
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
        let length_before = waiting.text.len();
        waiting.text.extend_from_slice(line);
        waiting.bytes += line.len();
        let is_full = length_before < BATCH && waiting.text.len() >= BATCH;
        let is_awaited = std::mem::take(&mut waiting.is_idle) || is_full;
        drop(waiting);
        if is_awaited {
            self.0.changed.notify_all();
        }
    }

    /// Waits for lines, and then for those that follow within [`COLLECT`].
    fn next_batch(&self) -> Vec<u8> {
        let mut waiting = self.lock();
        while waiting.text.is_empty() {
            waiting.is_idle = true;
            waiting = self.0.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let is_small = |waiting: &mut WaitingLines| waiting.text.len() < BATCH && !waiting.is_ending;
        let wait_result = self.0.changed.wait_timeout_while(waiting, COLLECT, is_small);
        std::mem::take(&mut wait_result.unwrap_or_else(PoisonError::into_inner).0.text)
    }

    /// Frees the room of written lines. Once no line waits, returns the number of dropped lines if there are any.
    fn finish(&self, batch: &[u8]) -> Option<u64> {
        let mut waiting = self.lock();
        waiting.bytes -= batch.len();
        if waiting.bytes > 0 {
            return None;
        }
        let dropped_count = std::mem::take(&mut waiting.dropped);
        drop(waiting);
        self.0.changed.notify_all();
        (dropped_count > 0).then_some(dropped_count)
    }

    /// Waits until all lines are written. Returns `false` if that takes longer than the limit.
    fn wait_until_written(&self, limit: Duration) -> bool {
        let mut waiting = self.lock();
        waiting.is_ending = true;
        self.0.changed.notify_all();
        let wait_result = self.0.changed.wait_timeout_while(waiting, limit, |waiting| waiting.bytes > 0);
        !wait_result.unwrap_or_else(PoisonError::into_inner).1.timed_out()
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

    /// A reader that takes a batch when the test permits it.
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
        let mut length = 0;
        while length < CAPACITY {
            permit.send(()).unwrap();
            length += lines.recv().unwrap().len();
        }
        assert_eq!(length, CAPACITY);
        assert!(queue.wait_until_written(Duration::from_secs(60)));
        assert_eq!(counts(&queue), (0, 0));
    }

    #[test]
    fn lines_are_written_in_order_and_whole() {
        let ((permit, permits), (read, lines)) = (channel(), channel());
        let mut queue = start_with(SlowReader { permits, read }).unwrap();
        let expected_lines: Vec<_> = (0..100).map(|number| format!("line {number}\n")).collect();
        for line in &expected_lines {
            queue.write_all(line.as_bytes()).unwrap();
        }
        let (expected_lines, mut text) = (expected_lines.concat().into_bytes(), vec![]);
        while text.len() < expected_lines.len() {
            permit.send(()).unwrap();
            let batch = lines.recv().unwrap();
            assert!(batch.ends_with(b"\n"), "only whole lines are written");
            text.extend(batch);
        }
        assert_eq!(text, expected_lines);
    }

    #[test]
    fn reader_that_ended_leaves_no_line_behind() {
        let ((_, permits), (read, _)) = (channel(), channel());
        let queue = start_with(SlowReader { permits, read }).unwrap();
        queue.push(b"unread");
        assert!(queue.wait_until_written(Duration::from_secs(60)));
    }
}
