//! How many attempts one receiver is given at once.

use std::time::Duration;

/// A receiver that nothing is known of.
const START: usize = 8;
/// One that answers quickly; as many connections are kept for it.
const MOST: usize = 32;
/// So many wait here for each that may be under way, so that a quick receiver need not wait for the next claim.
const DEPTH: usize = 8;
/// The same for one that answers promptly: it has done with fewer before the next claim comes back.
const DEPTH_IF_PROMPT: usize = 16;
/// What waits for one that takes no longer than this begins long before its leases end.
const PROMPT: Duration = Duration::from_millis(100);
/// Whoever takes longer than this could take up all the room with little work.
const QUICK: Duration = Duration::from_secs(1);

/// How a receiver took an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether it answered at all.
    pub answered: bool,
    /// Whether it acknowledged.
    pub acknowledged: bool,
    /// How long it took, or until it was given up.
    pub took: Duration,
}

/// What is known of one receiver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    width: usize,
    quick: bool,
    prompt: bool,
    round: u32,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self { width: START, quick: false, prompt: false, round: 0 }
    }

    /// So many attempts may be under way.
    pub(super) const fn width(self) -> usize {
        self.width
    }

    /// The same where nobody else needs the room.
    pub(super) fn at_ease(self) -> usize {
        self.width.max(START)
    }

    /// So many may wait.
    pub(super) fn depth(self) -> usize {
        let depth = if self.prompt { DEPTH_IF_PROMPT } else { DEPTH };
        (self.width * depth).max(START)
    }

    /// Whether its newest answer came quickly. Nobody is thought quick before the first one.
    pub(super) const fn is_quick(self) -> bool {
        self.quick
    }

    /// What attempts that begin now are to be known by.
    pub(super) const fn round(self) -> u32 {
        self.round
    }

    /// Learns from an attempt that began in this round. Those that fail together halve the width once.
    pub(super) fn learn(&mut self, round: u32, answer: Answer) {
        self.quick = answer.took < QUICK;
        self.prompt = answer.answered && answer.took < PROMPT;
        if !answer.answered && round == self.round {
            self.width = (self.width / 2).max(1);
            self.round = self.round.wrapping_add(1);
        } else if answer.acknowledged && self.quick {
            self.width = (self.width + 1).min(MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Answer = Answer { answered: true, acknowledged: true, took: Duration::from_millis(3) };
    const REFUSED: Answer = Answer { answered: true, acknowledged: false, took: Duration::from_millis(3) };
    const STEADY: Answer = Answer { answered: true, acknowledged: true, took: Duration::from_millis(700) };
    const SLOW: Answer = Answer { answered: true, acknowledged: true, took: Duration::from_secs(14) };
    const SILENT: Answer = Answer { answered: false, acknowledged: false, took: Duration::from_secs(15) };

    fn after(pace: &mut Pace, answers: &[Answer]) -> (usize, bool) {
        let round = pace.round();
        for it in answers {
            pace.learn(round, *it);
        }
        (pace.width(), pace.is_quick())
    }

    #[test]
    fn quick_acknowledgements_widen_up_to_a_bound_and_other_answers_do_not() {
        let mut pace = Pace::new();
        assert_eq!((pace.width(), pace.is_quick()), (8, false));
        assert_eq!(after(&mut pace, &[GOOD]), (9, true));
        assert_eq!(after(&mut pace, &[REFUSED]), (9, true));
        assert_eq!(after(&mut pace, &[SLOW]), (9, false));
        assert_eq!(after(&mut pace, &[GOOD; 100]), (32, true));
    }

    #[test]
    fn more_waits_for_whoever_answers_promptly() {
        let mut pace = Pace::new();
        assert_eq!(pace.depth(), 64);
        after(&mut pace, &[GOOD; 100]);
        assert_eq!(pace.depth(), 512);
        after(&mut pace, &[STEADY]);
        assert_eq!(pace.depth(), 256);
        after(&mut pace, &[GOOD, SILENT]);
        assert_eq!(pace.depth(), 128);
    }

    #[test]
    fn silence_halves_down_to_one_and_once_for_attempts_that_were_under_way_together() {
        let mut pace = Pace::new();
        for width in [4, 2, 1, 1] {
            assert_eq!(after(&mut pace, &[SILENT; 8]), (width, false));
        }
        assert_eq!((pace.at_ease(), pace.depth()), (8, 8));
        assert_eq!(after(&mut pace, &[GOOD]), (2, true));
    }
}
