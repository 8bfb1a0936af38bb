//! When a connection may be read: enough for the next request, and no more than the request at hand asks for.
//!
//! The protocol layer reads and decodes whatever a client sends ahead, takes some 7 KB for each request that waits, and
//! asks again and again once its buffer of 128 KiB is full. So it is given little at a time: while a request is being
//! answered nothing but its body, and between requests no more than the head of the next one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

/// What is read at a time where it is not known how much there is to be.
pub(crate) const PIECE_BYTES: usize = 1024;

/// What the connection is busy with.
#[derive(Debug, Clone, Copy, Default)]
enum Phase {
    /// Waiting for a request.
    #[default]
    Idle,
    /// Answering a request whose body is not, or no longer, asked for.
    Answering,
    /// Receiving a body of which so many bytes are still to come, if that is known.
    Receiving(Option<usize>),
}

/// What may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// Nothing: a request is being answered.
    Nothing,
    /// So many bytes of a body.
    Body(usize),
    /// Up to the next blank line, which ends a head and also a body in chunks.
    ToBlankLine,
}

#[derive(Debug, Default)]
struct State {
    phase: Cell<Phase>,
    /// Whether something was read since the last request came.
    has_begun: Cell<bool>,
    reader: RefCell<Option<Waker>>,
}

/// Tells a connection when to read; shared with the request that is being answered on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadGate(Rc<State>);

impl ReadGate {
    /// A request is being answered, until the guard is dropped.
    pub(crate) fn answering(&self) -> Answering {
        self.0.phase.set(Phase::Answering);
        self.0.has_begun.set(false);
        Answering(self.clone())
    }

    /// The body of the request is asked for, until the guard is dropped.
    pub(crate) fn receiving(&self, length: Option<u64>) -> Receiving {
        let length = length.map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        self.pass(Phase::Receiving(length));
        Receiving(self.clone())
    }

    /// What may be read now.
    pub(crate) fn allowance(&self) -> Allowance {
        match self.0.phase.get() {
            Phase::Answering | Phase::Receiving(Some(0)) => Allowance::Nothing,
            Phase::Receiving(Some(left)) => Allowance::Body(left),
            Phase::Idle | Phase::Receiving(None) => Allowance::ToBlankLine,
        }
    }

    /// So many bytes were read.
    pub(crate) fn took(&self, bytes: usize) {
        match self.0.phase.get() {
            Phase::Receiving(Some(left)) => self.0.phase.set(Phase::Receiving(Some(left.saturating_sub(bytes)))),
            Phase::Idle => self.0.has_begun.set(true),
            Phase::Receiving(None) | Phase::Answering => {}
        }
    }

    /// Whether a head has begun to arrive and is not complete, as far as this is known.
    pub(crate) fn has_head_begun(&self) -> bool {
        self.0.has_begun.get()
    }

    /// Whether nothing of the next request was read yet.
    pub(crate) fn is_between_requests(&self) -> bool {
        matches!(self.0.phase.get(), Phase::Idle) && !self.0.has_begun.get()
    }

    /// Wakes this reader when it may go on.
    pub(crate) fn wait(&self, reader: &Waker) {
        self.0.reader.replace(Some(reader.clone()));
    }

    /// Lets whoever waits look again.
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

/// A request that is being answered.
pub(crate) struct Answering(ReadGate);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.pass(Phase::Idle);
    }
}

/// A body that is being received.
pub(crate) struct Receiving(ReadGate);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.0.phase.set(Phase::Answering);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_its_body_is_read_while_a_request_is_answered() {
        let gate = ReadGate::default();
        assert_eq!(gate.allowance(), Allowance::ToBlankLine);
        let answering = gate.answering();
        assert_eq!(gate.allowance(), Allowance::Nothing);
        let receiving = gate.receiving(Some(100_000));
        assert_eq!(gate.allowance(), Allowance::Body(100_000));
        gate.took(99_999);
        assert_eq!(gate.allowance(), Allowance::Body(1));
        gate.took(1);
        assert_eq!(gate.allowance(), Allowance::Nothing, "what comes behind the body waits");
        drop(receiving);
        assert_eq!(gate.allowance(), Allowance::Nothing);
        drop(answering);
        assert_eq!(gate.allowance(), Allowance::ToBlankLine);
    }

    #[test]
    fn a_head_has_begun_until_its_request_is_answered() {
        let gate = ReadGate::default();
        assert!(!gate.has_head_begun());
        gate.took(1);
        assert!(gate.has_head_begun());
        let answering = gate.answering();
        assert!(!gate.has_head_begun());
        let receiving = gate.receiving(None);
        assert_eq!(gate.allowance(), Allowance::ToBlankLine);
        gate.took(10);
        drop((receiving, answering));
        assert!(!gate.has_head_begun(), "that was a body");
    }
}
