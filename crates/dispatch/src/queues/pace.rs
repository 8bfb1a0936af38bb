//! Concurrency of attempts per receiver.

use std::time::Duration;

/// Concurrency for a receiver without any response so far.
const START: usize = 8;
/// Maximum concurrency, for quick receivers. The same number of idle connections is kept per receiver.
const MOST: usize = 32;
/// Number of waiting deliveries per concurrent attempt, so that a quick receiver does not wait for the next claim.
const DEPTH: usize = 8;
/// Number of waiting deliveries per concurrent attempt of a prompt receiver, which handles more before the next
/// claim is answered.
const DEPTH_IF_PROMPT: usize = 16;
/// Maximum response time of a prompt receiver. Its waiting deliveries begin long before their leases expire.
const PROMPT: Duration = Duration::from_millis(100);
/// Maximum response time of a quick receiver. Slower receivers could occupy the whole capacity with few
/// deliveries.
const QUICK: Duration = Duration::from_secs(1);

/// Response of a receiver to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// `true` if a response arrived.
    pub answered: bool,
    /// `true` if the response acknowledged the event.
    pub acknowledged: bool,
    /// Time until the response, the failure or the timeout.
    pub took: Duration,
}

/// Concurrency of one receiver, which adapts to its responses.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConcurrencyWindow {
    width: usize,
    quick: bool,
    prompt: bool,
    round: u32,
}

impl ConcurrencyWindow {
    pub(super) const fn new() -> Self {
        Self { width: START, quick: false, prompt: false, round: 0 }
    }

    /// Returns the maximum number of concurrent attempts.
    pub(super) const fn width(self) -> usize {
        self.width
    }

    /// Returns the maximum number of concurrent attempts while there is spare capacity.
    pub(super) fn at_ease(self) -> usize {
        self.width.max(START)
    }

    /// Returns the number of deliveries that may wait.
    pub(super) fn depth(self) -> usize {
        let depth = if self.prompt { DEPTH_IF_PROMPT } else { DEPTH };
        (self.width * depth).max(START)
    }

    /// Returns `true` if the latest attempt took less than [`QUICK`]. A receiver without any attempt so far is not
    /// quick.
    pub(super) const fn is_quick(self) -> bool {
        self.quick
    }

    /// Returns the current round. The first attempt of a round that gets no response begins the next round.
    pub(super) const fn round(self) -> u32 {
        self.round
    }

    /// Adapts the width to the result of an attempt that began in `round`. Attempts of the same round that get no
    /// response halve the width only once.
    pub(super) fn learn(&mut self, round: u32, response: ReceiverResponse) {
        self.quick = response.took < QUICK;
        self.prompt = response.answered && response.took < PROMPT;
        if !response.answered && round == self.round {
            self.width = (self.width / 2).max(1);
            self.round = self.round.wrapping_add(1);
        } else if response.acknowledged && self.quick {
            self.width = (self.width + 1).min(MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: ReceiverResponse =
        ReceiverResponse { answered: true, acknowledged: true, took: Duration::from_millis(3) };
    const REFUSED: ReceiverResponse =
        ReceiverResponse { answered: true, acknowledged: false, took: Duration::from_millis(3) };
    const STEADY: ReceiverResponse =
        ReceiverResponse { answered: true, acknowledged: true, took: Duration::from_millis(700) };
    const SLOW: ReceiverResponse =
        ReceiverResponse { answered: true, acknowledged: true, took: Duration::from_secs(14) };
    const SILENT: ReceiverResponse =
        ReceiverResponse { answered: false, acknowledged: false, took: Duration::from_secs(15) };

    fn after(pace: &mut ConcurrencyWindow, responses: &[ReceiverResponse]) -> (usize, bool) {
        let round = pace.round();
        for it in responses {
            pace.learn(round, *it);
        }
        (pace.width(), pace.is_quick())
    }

    #[test]
    fn prompt_acknowledgements_widen_the_window_to_a_bound() {
        let mut pace = ConcurrencyWindow::new();
        assert_eq!((pace.width(), pace.is_quick()), (8, false));
        assert_eq!(after(&mut pace, &[GOOD]), (9, true));
        assert_eq!(after(&mut pace, &[REFUSED]), (9, true));
        assert_eq!(after(&mut pace, &[SLOW]), (9, false));
        assert_eq!(after(&mut pace, &[GOOD; 100]), (32, true));
    }

    #[test]
    fn queue_depth_grows_with_prompt_acknowledgements() {
        let mut pace = ConcurrencyWindow::new();
        assert_eq!(pace.depth(), 64);
        after(&mut pace, &[GOOD; 100]);
        assert_eq!(pace.depth(), 512);
        after(&mut pace, &[STEADY]);
        assert_eq!(pace.depth(), 256);
        after(&mut pace, &[GOOD, SILENT]);
        assert_eq!(pace.depth(), 128);
    }

    #[test]
    fn timeouts_halve_the_window_once_per_concurrent_group() {
        let mut pace = ConcurrencyWindow::new();
        for width in [4, 2, 1, 1] {
            assert_eq!(after(&mut pace, &[SILENT; 8]), (width, false));
        }
        assert_eq!((pace.at_ease(), pace.depth()), (8, 8));
        assert_eq!(after(&mut pace, &[GOOD]), (2, true));
    }
}
