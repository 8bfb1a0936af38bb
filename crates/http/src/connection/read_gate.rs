//! Decides when a connection may be read: only for the next request head or the body of the current request.
//!
//! The protocol layer decodes all pipelined input and takes about 7 KB per waiting request. It also spins once its
//! buffer of 128 KiB is full. While a request is being answered, the gate therefore passes only the body of this
//! request. Between requests it passes only the next head.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

/// Size of a read if the remaining length is unknown.
pub(crate) const PIECE_BYTES: usize = 1024;

/// State of a connection.
#[derive(Debug, Clone, Copy, Default)]
enum Phase {
    /// Waiting for a request.
    #[default]
    Idle,
    /// Answering a request whose body is not wanted, or already complete.
    Answering,
    /// Receiving a body; the number of bytes still to come, if known.
    Receiving(Option<usize>),
}

/// Limit on the next read of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// No reads: a request is being answered.
    Nothing,
    /// At most this many bytes of a body.
    Body(usize),
    /// Up to the next blank line, which ends a head and also a chunked body.
    ToBlankLine,
}

#[derive(Debug, Default)]
struct State {
    phase: Cell<Phase>,
    /// `true` if bytes of the next request head arrived after the last request was answered.
    has_begun: Cell<bool>,
    /// Number of answers in progress whose size is unknown, such as exports.
    streaming: Cell<usize>,
    reader: RefCell<Option<Waker>>,
}

/// Controls reading from a connection; shared with the request that is being answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadGate(Rc<State>);

impl ReadGate {
    /// Marks a request as being answered until the guard is dropped.
    pub(crate) fn begin_response(&self) -> ResponseGuard {
        self.0.phase.set(Phase::Answering);
        self.0.has_begun.set(false);
        ResponseGuard(self.clone())
    }

    /// Marks an answer of unknown size as being sent until the guard is dropped.
    pub(crate) fn begin_stream(&self) -> StreamGuard {
        self.0.streaming.set(self.0.streaming.get() + 1);
        StreamGuard(self.clone())
    }

    /// Returns whether an answer of unknown size is being sent.
    pub(crate) fn is_streaming(&self) -> bool {
        self.0.streaming.get() > 0
    }

    /// Marks the body of the request as wanted until the guard is dropped.
    pub(crate) fn begin_body(&self, length: Option<u64>) -> BodyGuard {
        let length = length.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        self.pass(Phase::Receiving(length));
        BodyGuard(self.clone())
    }

    /// Returns the current permission to read.
    pub(crate) fn allowance(&self) -> Allowance {
        match self.0.phase.get() {
            Phase::Answering | Phase::Receiving(Some(0)) => Allowance::Nothing,
            Phase::Receiving(Some(left)) => Allowance::Body(left),
            Phase::Idle | Phase::Receiving(None) => Allowance::ToBlankLine,
        }
    }

    /// Records that bytes were read.
    pub(crate) fn record_read(&self, bytes: usize) {
        match self.0.phase.get() {
            Phase::Receiving(Some(left)) => self.0.phase.set(Phase::Receiving(Some(left.saturating_sub(bytes)))),
            Phase::Idle => self.0.has_begun.set(true),
            Phase::Receiving(None) | Phase::Answering => {}
        }
    }

    /// Returns whether bytes of the next request head were read while no request was being answered.
    pub(crate) fn has_head_begun(&self) -> bool {
        self.0.has_begun.get()
    }

    /// Returns whether no byte of the next request has been read.
    pub(crate) fn is_between_requests(&self) -> bool {
        matches!(self.0.phase.get(), Phase::Idle) && !self.0.has_begun.get()
    }

    /// Registers the reader to be woken when reading may continue.
    pub(crate) fn wait(&self, reader: &Waker) {
        self.0.reader.replace(Some(reader.clone()));
    }

    /// Wakes the waiting reader.
    pub(crate) fn wake(&self) {
        if let Some(reader) = self.0.reader.take() {
            reader.wake();
        }
    }

    fn pass(&self, phase: Phase) {
        self.0.phase.set(phase);
        self.wake();
    }
}

/// Guard of a request that is being answered.
pub(crate) struct ResponseGuard(ReadGate);

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.0.pass(Phase::Idle);
    }
}

/// Guard of an answer of unknown size.
pub(crate) struct StreamGuard(ReadGate);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let streaming = &self.0.0.streaming;
        streaming.set(streaming.get().saturating_sub(1));
    }
}

/// Guard of a body that is being received.
pub(crate) struct BodyGuard(ReadGate);

impl Drop for BodyGuard {
    fn drop(&mut self) {
        self.0.0.phase.set(Phase::Answering);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answering_request_allows_reads_of_its_body_only() {
        let gate = ReadGate::default();
        assert_eq!(gate.allowance(), Allowance::ToBlankLine);
        let answering = gate.begin_response();
        assert_eq!(gate.allowance(), Allowance::Nothing);
        let receiving = gate.begin_body(Some(100_000));
        assert_eq!(gate.allowance(), Allowance::Body(100_000));
        gate.record_read(99_999);
        assert_eq!(gate.allowance(), Allowance::Body(1));
        gate.record_read(1);
        assert_eq!(gate.allowance(), Allowance::Nothing, "what comes behind the body waits");
        drop(receiving);
        assert_eq!(gate.allowance(), Allowance::Nothing);
        drop(answering);
        assert_eq!(gate.allowance(), Allowance::ToBlankLine);
    }

    #[test]
    fn head_has_begun_until_its_request_is_answered() {
        let gate = ReadGate::default();
        assert!(!gate.has_head_begun());
        gate.record_read(1);
        assert!(gate.has_head_begun());
        let answering = gate.begin_response();
        assert!(!gate.has_head_begun());
        let receiving = gate.begin_body(None);
        assert_eq!(gate.allowance(), Allowance::ToBlankLine);
        gate.record_read(10);
        drop((receiving, answering));
        assert!(!gate.has_head_begun(), "that was a body");
    }
}
